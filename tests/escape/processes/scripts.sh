#: attacks = scripts that are their own interpreters
#: status = any
cd /tmp
printf '#!/tmp/a\n' > a; printf '#!/tmp/c\n' > b; printf '#!/tmp/b\n' > c; printf '#!%s\n' "$(printf '%5000s' | tr ' ' /)" > d
printf '#!\n' > e; printf '#!/bin/sh /tmp/f\n' > f; printf '#!/bin/env -S /tmp/g\n' > g; printf '#! \t/dev/stdin\n' > h; ln -s /dev/stdin i
chmod 755 a b c d e f g h
for p in a b c d e g h i; do ./$p; exec 8< $p; bash -c "./$p" < /dev/null; done
