#: attacks = the image in a writable mount, rewritten with noise while its files are read
#: finding = medium: image in a mount
#: mount = work:/w:rw
#: image = work/image.webc
#: before = cp "$IMAGE" work/image.webc
#: timeout = 8
#: status = any
dd if=/dev/urandom of=/w/image.webc bs=1M seek=20 count=60 conv=notrunc 2> /dev/null
find /usr/lib -name '*.py' | head -n 300 | xargs cat 2> /dev/null | wc -c
python3 -c 'import numpy' 2>&1 | tail -n 1
exit 0
