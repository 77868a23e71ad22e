#: attacks = a guest that makes the links itself, in a writable mount
#: mount = work:/w:rw
#: status = 0
#: says = contained
ln -s ../outside /w/a; ln -s ../../outside /w/b; ln -s /w/../outside /w/c; ln -s .. /w/d; ln -s / /w/e
for l in a b c d/outside e/outside; do
  cat "/w/$l/secret"; cat "/w/$l/folder/../secret"; echo x > "/w/$l/new"; mkdir "/w/$l/dir"; ls "/w/$l/"
  mv /w/x "/w/$l/x"; ln "/w/$l/secret" /w/hard; cat /w/hard
done 2> /dev/null
echo contained
