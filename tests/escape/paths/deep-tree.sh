#: attacks = a directory chain as deep as the shell can make it
#: timeout = 1
#: disk = 4M
#: status = any
cd /tmp
for i in $(seq 3000); do mkdir d 2> /dev/null && cd d || break; done
pwd | wc -c; ls -R /tmp | tail -n 1 | wc -c; find /tmp | wc -l; du -s /tmp; rm -rf /tmp/d; tar cf /dev/null /tmp
