#: attacks = a folder that the host exchanges for a link out of the mount, written to again and again
#: mount = work:/w:rw
#: before = mkdir work/a; ln -s ../outside work/b
#: swap = work/a work/b
#: timeout = 1
#: status = 124
i=0
while :; do
  i=$((i + 1))
  echo x > /w/a/new$i; echo x >> /w/b/secret; : > /w/a/secret; mkdir /w/b/dir$i; mv /w/a/new$i /w/b/n
  rm -f /w/a/secret /w/b/new$i; chmod 600 /w/a/folder; ln -s x /w/b/l
done 2> /dev/null
