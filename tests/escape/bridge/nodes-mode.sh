#: attacks = the bridge, hidden or opened by permissions
#: status = 0
#: says = alive
chmod 000 /.box /.box/meta /.box/pipe; chmod 777 /.box/..; (cd /.box && chmod 0 . meta pipe); mkdir /.box2; mv /.box2 /.box; ln -s /tmp /.box/pipe/x
echo alive | cat | cat; mkfifo /tmp/f && echo alive > /tmp/f & cat /tmp/f
exit 0
