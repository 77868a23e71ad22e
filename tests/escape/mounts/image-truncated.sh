#: attacks = the image itself, which lies in a writable mount and is cut short by the guest
#: finding = medium: image in a mount
#: mount = work:/w:rw
#: image = work/image.webc
#: before = cp "$IMAGE" work/image.webc
#: timeout = 8
#: status = 0 1 125 126 127 141
cd /w; : > image.webc; truncate -s 0 image.webc; ls /usr/lib > /dev/null; cat /usr/lib/python3.13/os.py | wc -c
for f in /usr/lib/python3.13/*.py; do cat $f; done | wc -c
python3 -c 'import xml.dom.minidom, ctypes, sqlite3'
exit 0
