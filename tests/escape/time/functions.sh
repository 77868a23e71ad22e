#: attacks = functions that call themselves, in every way a shell can nest
#: timeout = 1
#: status = any
f() { f; }; f; f() { $(f); }; f; f() { eval f; }; f; f() { (f); }; f; f() { f | f; }; f; f() { local x=$(f); f; }; f
g='eval "$g"'; eval "$g"; . /dev/stdin <<< '. /dev/stdin'; x='${x@P}'; echo "${x@P}"; PS4='$(echo $PS4)'; set -x; :
