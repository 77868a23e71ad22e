#: attacks = moving and removing a mount's own folder
#: mount = work:/w:rw
#: before = echo kept > kept
#: status = 0
#: says = contained
#: after = test -d work && grep -qx kept kept
rmdir /w; rm -rf /w; mv /w /x; mv /tmp /w; mv -T /w /tmp/w; ln -s / /w/../w; mkdir /w; mv /w/. /x; rm -rf /w/..
python3 -c 'import os; os.rename("/w", "/w2")'; python3 -c 'import os; os.rmdir("/w")'
echo contained
