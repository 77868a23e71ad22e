#: attacks = symbolic links of a mount that lead out of it
#: mount = work:/w:ro
#: before = ln -s ../outside work/up; ln -s ../outside/secret work/file
#: before = mkdir work/d; ln -s ../../outside work/d/up; ln -s /proc/self/root/etc/passwd work/proc
#: status = 0
#: says = contained
#: never = root:x:
for p in /w/up/secret /w/file /w/d/up/secret /w/d/../up/secret /w/d/up/../outside/secret; do
  cat "$p"; cp "$p" /tmp/x; tail -c 9 < "$p"; grep . "$p"; tar cf - -h "$p" | tr -d '\0'
done 2> /dev/null
cat /w/proc 2> /dev/null | grep -v '^user:' | grep root:x:0:0:root:/root:/bin/bash
find -L /w -name secret -exec cat {} + 2> /dev/null
echo contained
