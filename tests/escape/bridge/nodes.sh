#: attacks = the bridge's nodes, by every tool
#: status = 0
#: says = contained
#: timeout = 4
cd /.box; ls -laR /.box; rm -rf /.box; mv /.box /x; mv meta x; ln meta /tmp/m; ln -s / l; chmod 777 meta pipe; mkdir pipe/x; touch pipe/1/r new; echo x > pipe/1; rmdir pipe
cat pipe; ls pipe/1 pipe/..; truncate -s 9 meta; cp meta /tmp/; mkfifo /.box/f; tar cf /tmp/t /.box; find /.box
timeout 0.2 cat meta; echo contained
