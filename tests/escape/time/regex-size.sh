#: attacks = patterns whose machines are large
#: timeout = 1
#: memory = 64M
#: status = any
for r in '(((a{1,255}){1,255}){1,255}){1,255}' 'a{255}{255}{255}{255}' '(\w{200}){200}' '[a-z]{65535}' '(a|b|c|d|e){32767}' '\p{L}{1000}{1000}'; do
  echo x | grep -E "$r"; echo x | grep -P "$r"; echo x | sed -E "s/$r//"; echo x | awk "/$r/"; [[ x =~ $r ]]; jq -n "\"x\" | test(\"${r//\\/\\\\}\")"
  python3 -c "import re; re.match(r'$r', 'a' * 1000)"
done > /dev/null 2>&1
