#: attacks = a deep folder of the host with links in it that lead back to its top, each walked in steps that ask the host
#: finding = H3
#: mount = work:/w:ro
#: before = cd work; p=$(printf '%900s' | sed 's# #d/#g'); mkdir -p "$p"; i=0
#: before = while [ $i -lt 40 ]; do ln -s "/w/${p}l$((i + 1))" "${p}l$i"; i=$((i + 1)); done
#: timeout = 1
#: seconds = 3
#: status = 124
#: limit = timeout
p=/w/$(printf '%900s' | sed 's# #d/#g')
for i in 1 2 3 4 5 6 7 8; do (while :; do stat "${p}l$i" "${p}l$i/x" "${p}missing"; done > /dev/null 2>&1) & done
while :; do stat "${p}l0" "${p}l5/x" "${p}missing"; done > /dev/null 2>&1
