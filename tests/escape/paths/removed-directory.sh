#: attacks = walking up from directories that are gone
#: mount = work:/w:rw
#: status = 0
#: says = contained
for at in /tmp /w; do
  mkdir -p $at/a/b/c; cd $at/a/b/c; rm -rf $at/a
  cat ../../../secret ../../../outside/secret; ls ../../../..; echo x > new; mkdir dir; cd ..; pwd; cd ../..; ls
  mkdir -p $at/a/b; cd $at/a/b; mv $at/a /tmp/moved; ls ../..; cat ../../outside/secret; cd ../../..; pwd
done 2> /dev/null
echo contained
