#: attacks = the parser, by nesting
#: timeout = 1
#: status = any
for o in '(' '{ ' '$(' '${x:-' '$((' '"$(' 'if ' 'while ' 'case x in x) ' '! ' '[[ ( ' '<(' '`' 'for i in ' 'f() { '; do
  t=$(printf '%100000s' | sed "s/ /$o/g"); bash -c "$t" ; eval "$t"; bash --analyze -c "$t"
done > /dev/null 2>&1
