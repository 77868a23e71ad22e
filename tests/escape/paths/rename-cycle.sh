#: attacks = directories moved into themselves by processes at the same time
#: timeout = 1
#: status = 124
cd /tmp; mkdir -p a/b/c d/e/f
(while :; do mv a/b d/e/f/b; mv d/e/f/b a/b; done 2> /dev/null) &
(while :; do mv d/e a/b/c/e; mv a/b/c/e d/e; done 2> /dev/null) &
(while :; do mv a a/b/c/a; mv d d/e; mv a/b a/b/c; done 2> /dev/null) &
while :; do find . > /dev/null; pwd -P > /dev/null; (cd a/b/c && cd ../../.. && pwd -P) > /dev/null; done 2> /dev/null
