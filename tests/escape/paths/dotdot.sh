#: attacks = leaving a mount by dots, in every spelling
#: mount = work:/w:ro
#: status = 0
#: says = contained
for p in /w/../outside/secret /w/../../outside/secret /w/./../outside/secret /w//..//outside/secret \
    /../../../../../../../../etc/shadow /w/../../../../../../../../etc/shadow ../../../../../../etc/shadow; do
  cat "$p" && echo "read $p"
  head -c 5 < "$p" && echo "opened $p"
done 2> /dev/null
cd /w && cd .. && ls -a | grep -x outside && echo left
cd / && test -e /outside && echo seen
echo contained
