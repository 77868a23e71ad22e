#: attacks = the list of changes over a writable mount
#: finding = C4
#: json = yes
#: mount = work:/w:rw
#: timeout = 4
#: status = any
mkdir -p /w/a/b/c/d; cd /w/a/b/c/d
for i in $(seq 20000); do : > f$i; ln -s $i l$i; done
rm -rf /w/a/b
