#: attacks = symbolic links that lead to themselves
#: mount = work:/w:rw
#: status = 0
#: says = contained
for at in /tmp /w; do
  cd $at; ln -s self self; ln -s b a; ln -s a b; ln -s ../$at/c c; ln -s d/d d; ln -s . here; ln -s here/here/here there
  cat self a b c d/x there/there/self; echo x > self; cd there/there; rm -rf there/; find -L . ; cp -rL . /tmp/copy; ls -LR .
done > /dev/null 2>&1
echo contained
