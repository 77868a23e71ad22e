#: attacks = a folder that the host exchanges for a link out of the mount, read again and again
#: mount = work:/w:ro
#: before = mkdir work/a; echo inside > work/a/secret; ln -s ../outside work/b
#: swap = work/a work/b
#: timeout = 1
#: status = 124
#: limit = timeout
while :; do
  read -r x < /w/a/secret && [ "$x" != inside ] && echo "$x"
  cat /w/a/secret /w/b/secret
  ls /w/a/folder /w/b/folder
done 2> /dev/null
