#: attacks = patterns that backtrack in jq
#: timeout = 1
#: status = any
jq -n '"a" * 5000 | test("(a*)*b"), test("(a|aa)+$b"), [match("(a?){200}a{200}b"; "g")], gsub("(?<x>a*)"; "\(.x)\(.x)")'
