#: attacks = a working directory that the host moves out of the mount while the guest walks up from it
#: mount = work:/w:ro
#: before = mkdir -p work/a/b/c aside/b/c
#: before = cp outside/secret aside/secret
#: swap = work/a/b aside/b
#: timeout = 1
#: status = 124
cd /w/a/b/c
while :; do
  cat ../../secret ../../../secret ../../../outside/secret; ls ../.. | grep secret
  cd /w/a/b/c; cd ../..; cat secret; cd b/c
done 2> /dev/null
