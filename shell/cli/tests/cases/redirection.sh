# Redirections and here-documents (bash manual 3.6).
cd "$(mktemp -d)" || exit
echo one > f; echo two >> f; cat < f; cat f > g 2>&1; wc -l < g
{ echo out; echo err >&2; } > both 2>&1; cat both
{ echo out; echo err >&2; } &> both2; cat both2; echo more &>> both2; cat both2
exec 3> fd3; echo to3 >&3; exec 3>&-; cat fd3; { echo x >&3; } 2>&1
exec 4< f; read a <&4; read b <&4; echo $a $b; exec 4<&-
exec 5<> rw; echo rw >&5; exec 5>&-; cat rw
cat <<EOF
plain $HOME-less ${x:-default} $(echo sub) $((1+1)) \$escaped \\
EOF
cat <<'EOF'
quoted $x `y` \
EOF
cat <<-EOF
	tabs stripped
	  kept spaces
	EOF
cat <<A; cat <<B
first
A
second
B
cat <<< "here string $((2*3))"
set -C; echo x > f 2>&1 || echo refused; echo forced >| f; cat f; set +C
exec {v}> dyn; echo dynamic >&$v; exec {v}>&-; cat dyn; [ $v -ge 10 ] && echo high
echo a b c | { read x y; echo "$y $x"; }
while read -r line; do echo "[$line]"; done <<EOF
l1
  l2 \n
EOF
(echo stdout; echo stderr >&2) 2>/dev/null; (echo swap >&2) 3>&1 1>&2 2>&3 | cat
echo hi > /nonexistent/x 2>&1; echo $?; cat < nosuch 2>&1; echo $?
f() { echo in f; echo err >&2; }; f > ff 2>&1; cat ff
for i in 1 2; do echo $i; done > loop; cat loop
if true; then echo in; fi > iff; cat iff
: > empty; [ -s empty ] || echo empty
cat <(echo ps) - <<< stdin; echo to-out > >(cat); wait
tee copy >/dev/null <<< teed; cat copy
x=$(cat <<E1
sub heredoc
E1
); echo $x
echo noclobber >&1 2>&2; echo "a>b" > 'name with space'; cat name*
exec 6>&1; echo six >&6; exec 6>&-
printf 'a\nb\nc\n' > lines; { read one; cat; } < lines; echo $one
mapfile -t m < lines; echo ${#m[@]} ${m[2]}; mapfile -n 1 -s 1 m2 < lines; printf '%q\n' "${m2[0]}"
read -n 2 two < lines; echo "$two"; read -d b upto < lines; echo "$upto"; read -N 3 three < lines; printf '%q\n' "$three"
