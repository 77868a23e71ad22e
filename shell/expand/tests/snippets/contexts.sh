# case and [[
x='a*'; case 'a*' in "$x") p lit;; esac; case abc in "$x") p no;; $x) p glob;; esac; case abc in a"*") p no;; a*) p y;; esac
x=abc; case $x in a?c) p 1;; esac; case "$x" in [a-c]*) p 2;; esac; case '' in '') p e;; esac; case $u in ?) p no;; *) p any;; esac
case 'a b' in 'a b') p 1;; esac; y='a b'; case $y in a\ b) p 2;; esac; case $y in "a b") p 3;; esac; case $y in a?b) p 4;; esac
case '\' in \\) p bs;; esac; case 'a\b' in 'a\b') p 1;; esac; x='\'; case $x in "$x") p 2;; esac; case 'a]' in a]) p 3;; esac; case '[' in [) p 4;; esac
case x in @(x|y)) p ext;; esac; case ab in +([ab])) p ext2;; esac; case -x in -*) p dash;; esac; case '*' in \*) p star;; esac
x='[[:digit:]]'; case 5 in $x) p d;; esac; case 5 in "$x") p no;; *) p lit;; esac; [[ 5 == $x ]] && p y; [[ 5 == "$x" ]] || p n
[[ abc == a* ]] && p 1; [[ abc == "a*" ]] || p 2; [[ abc != b* ]] && p 3; [[ -z $u && -n $x$x1 ]] || p 4; [[ 'a b' == a\ b ]] && p 5; x='a b'; [[ $x == 'a b' ]] && p 6; [[ $x = $x ]] && p 7
set -- a b; [[ "$@" == 'a b' ]] && p 1; [[ $* == 'a b' ]] && p 2; a=(x y); [[ ${a[@]} == 'x y' ]] && p 3; [[ "${a[*]}" == 'x y' ]] && p 4
shopt -s nocasematch; case ABC in abc) p y;; esac; [[ Ab == aB ]] && p y; [[ É == é ]] && p y; [[ ab == A[B] ]] && p y; [[ AB == [a]@(b|c) ]] && p y; x=aBc; p "${x//[b]/-}" "${x/#A/-}" "${x%C}"
# here-documents and here-strings
x='a  b'; cat <<E⏎$x "$x" '$x' \$x \x ${x:-"d"} ${u:-"d e"} ${u:-'d'} `echo hi` $((1+2)) $(echo "a  b")⏎E
cat <<'E'⏎$x \$x `y`⏎E
set -- 'a b' c; cat <<E⏎$* "$*" $@ "$@" ${*} ${@:1}⏎E
IFS=:; set -- 'a b' c; a=(3 4); cat <<E⏎$@ ${@:1} ${a[*]}⏎E
a=(1 '2 3'); cat <<E⏎${a[@]} ${a[*]} "${a[@]}" ${#a[@]} ${a[@]:1} ${!a[@]}⏎E
IFS=:; a=(1 '2 3'); cat <<E⏎${a[@]} ${a[*]} "${a[*]}"⏎E
x='*'; cat <<< $x; cat <<< "$x  $x"; cat <<<a\ b; cat <<<'a  b'; y='a   b'; cat <<<$y; cat <<<$y$y" "$y
cat <<E⏎~ {a,b} * "q" \"⏎E
# Assignments
x='a b'; y=$x; p "$y"; y=$x$x; p "$y"; y="$x"'c'; p "$y"; y=*; p "$y"; y={a,b}; p "$y"; y=~/x; p "$y"; y=$(echo 'a  b'); p "$y"; y=a\ b; p "$y"
x=1 y=$x z=$y; p "$x" "$y" "$z"; x=a; x+=b; x+=$x; p "$x"; a=(x "y z" *.c); p "${a[@]}"; a+=(n); p "${a[@]}"; a[7]=q; p "${!a[@]}"; a[-1]=r; p "${a[7]}"
x='a b c'; a=($x); p "${#a[@]}"; a=("$x"); p "${#a[@]}"; a=($x{1,2}); p "${a[@]}"; a=([2]=x y [1]=z w); p "${!a[@]}" "${a[@]}"; a=([1+1]=q); p "${!a[@]}"; i=3; a=([i]=x [$i+1]=y); p "${!a[@]}"
declare -A A=([a b]=1 ['c d']=2 ["e f"]=3); k='g h'; A[$k]=4; A['$k']=5; A["$k"]+=6; p "${!A[@]}" "${A[@]}" "${A[g h]}" "${A['c d']}" "${A["e f"]}" "${A[$k]}"
declare -A A=(k1 v1 k2 'v 2' k3); p "${!A[@]}" "${A[@]}"; declare -A B=([x]=1 [y]=2); unset 'B[x]'; p "${!B[@]}"; A=([a]=$(echo 1 2)); p "${A[a]}"
declare -A A=([@]=at [*]=star); p "${A[@]}"; k=@; p "${A[$k]}" "${#A[@]}"
export x='a b' y=~; p "$x" "$y"; readonly z=$x; p "$z"; declare w=*.c; p "$w"; declare -a v=(1 2); p "${v[@]}"
declare -n r=x; x=1; r=2; p $x $r; r+=3; p $x; unset x; p "${r-unset}"; declare -n s=a; a=(1 2); p "${s[1]}" "${s[@]}" "${!s}" "${#s[@]}"; s[3]=z; p "${!a[@]}"
declare -n r='a[1]'; a=(x y z); p "$r" "${r}" "${r^^}"; r=Q; p "${a[@]}"
# Indirection
a=(x y z); b='a[@]'; p "${!b}" "${#a[@]}"; c='a[1]'; p "${!c}"; v=w; w=5; p "${!v}" "${!v:-d}" "${!v#5}" "${!v:+alt}"; d=1; set -- pos; p "${!d}"
v=w; unset w; p "${!v-unset}" "${!v:=set}" "$w"
declare -A A=([k]=v); r='A[k]'; p "${!r}"; n=k; r='A[$n]'; p "${!r}"
# Budgets and depth
x=${#u}; p "$x"; p ${u:-${u:-${u:-deep}}} "${u:-"${u:-'deep'}"}" ${u:-"a b" c} ${u:-$(echo a b)} "${u:-$(echo "a  b")}"
# Quoting
p "a'b" 'a"b' a\'b "a\"b" "\a\$\`\\" $'a\tb\n\x41\u00e9' $'it\'s' a$'b'"c"'d' "" '' ""'' "$u" "$u$u" $u $u"" x$u
p \* "*" '*' \[a] "[a]" \~ "~" \{a,b} "{a,b}" a\⏎b
x="a⏎b"; p "$x" $x; p "a\⏎b"
p "${u:-a\"b}" "${u:-\$x}" "${u:-a\\b}" "${u:-'}'}" ${u:-\}} "${u:-\}}" ${u:-"}"} "${u:-"}"}" ${u:-'a b'} "${u:-'a b'}" "${u:-$'a'}" ${u:-$'a\tb'}
x='a"b'\''c\d$e`f'; p "$x" $x "${x}" "${x#a}" "${x@Q}"
p a=b a= =b a==b 'a'=b "$u"=b a+=c [a]=b
p $ a$ $= "$" "$ " $% $. "a$" ${u}$ '$x' \$x
p "${x:-~}" ${x:-~} ${u:-~/y} ${u:-a~} ${u:-a:~} ${u-~root} ${u+~} "${u:-~}"
a=(1 2); p "${a[@]/#/x}" "${a[@]/%/y}" "${a[*]/1/z}" ${a[@]/2} ; set -- a.c b.c; p "${@%.c}" "${@/./-}" "${#@}" "${@^^}" "${@@Q}"
x=abcdef; p "${x:2}" "${x:2:2}" "${x:(-2)}" "${x: -3:2}" "${x:2:-1}" ${x:0:1}${x:5} "${x:${#x}-1}" "${x:$((1+1)):1}" "${x:1?2:3}" "${x:u:2}" "${x:0:99}" "${x:6}" "${x:7}z"
x=/a/b.c/d.tar.gz; p "${x##*/}" "${x%/*}" "${x%%.*}" "${x%.*}" "${x#*.}" "${x##*.}" "${x/tar/zip}" "${x//a/A}" "${x//\//|}" "${x^^}" "${x#/}" "${x%.gz}" "${x%%/*}" "${x#/*/}" "${x##/*/}" 
x=' a b '; p "${x# }" "${x% }" "${x// /}" "${x//[[:space:]]/_}" "${x#"${x%%[![:space:]]*}"}" "${x%"${x##*[![:space:]]}"}"
x=aaa; p "${x/a/b}" "${x//a/b}" "${x//aa/b}" "${x/#a/b}" "${x/%a/b}" "${x//a}" "${x/a*/b}" "${x//?/(&)}" "${x//a/\\&}" "${x//a/[&&]}"
x='$HOME `id` $(id)'; p "$x" "${x@Q}"; x=$'\x01\n'; p "${x@Q}"; x="it's"; p "${x@Q}"; x=''; p "${x@Q}" "${u@Q}"
x=ünïcödé; p ${#x} "${x:1:2}" "${x^^}" "${x^}" "${x//ï/i}" "${x%é}" "${x#?}" "${x: -2}" "${x/c*d/X}" "${x//[ïö]/_}"; x=$'a\xffb'; p ${#x} "${x:1:1}" "${x#a?}" "${x//?/.}"
x=1; y=x; z=y; p "${!y}" "${!z}"; p "${!y@Q}" "${!y/1/2}" "${#y}"
shopt -s extglob; x=foobarbaz; p "${x/@(bar|baz)/-}" "${x//@(bar|baz)/-}" "${x##+([a-o])}" "${x%%+([a-z])}" "${x//!(foo)/-}" "${x#!(foo)}" "${x##!(foo)}" "${x%?(baz)}" "${x%%?(baz)}" "${x/+(o)/0}"
x=a.b.c; IFS=.; set -- $x; p "$#" "$@" "$*"; y="$*"; p "$y"; unset IFS; p "$*"; IFS=; p "$*" $*
p ${x!}; p no
p ${u?}; p no
x=abc; p ${x:0:-5}; p no
p "${u:?a b}" x
