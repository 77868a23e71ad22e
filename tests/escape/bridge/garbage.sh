#: attacks = the bridge's nodes, by everything that is no message
#: status = any
#: timeout = 2
exec 9<> /.box/meta
for i in $(seq 300); do head -c $((RANDOM % 5000)) /dev/urandom >&9; head -c 100 <&9 > /dev/null; done 2> /dev/null
for t in '\1' '\2' '\3' '\4' '\5' '\6' '\377'; do printf "$t" >&9; printf "$t\\1/w/../outside/secret" >&9; printf "$t\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377/tmp/../../x" >&9; printf "$t\\1/tmp/\\0x" >&9; cat <&9 | wc -c; done > /dev/null 2>&1
