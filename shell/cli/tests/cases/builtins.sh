# Builtins' output and statuses (bash manual 4).
echo -n no; echo -e 'a\tb\x41\0101'; echo -E 'a\tb'; echo -ne 'x\c y'; echo
printf '%5d|%-5s|%05.1f|%x|%c|%q|%b\n' 42 ab 3.14159 255 xyz 'a b' 'c\td'
printf '%s-%s\n' a b c; printf '%d\n' 0x1f 010 "'A"; printf '%(%Y-%m-%d)T\n' 0
type cd if ls 2>&1 | sed 's|/usr/bin/||'; type -t echo for f; f() { echo body; }; type f; type -t f
command -v cd; command -v f; command -V f | head -1; builtin echo built
cd /; pwd; cd /usr; cd -; echo $OLDPWD; cd /nonexistent 2>&1; echo $?
pushd /usr > /dev/null; dirs; pushd /etc; popd; popd; popd 2>&1; dirs -v
test -d / -a -e /etc && [ ! -f / ] && echo test; [ 1 -eq 1 ] && [ abc \< abd ] && [ -n x ] && [ -z "" ]; echo $?
[ a = b 2>&1; echo $?; [ 1 -eq x ] 2>&1; echo $?; test; echo $?
while getopts ab:c o -a -b val -cx rest; do echo "$o ${OPTARG-}"; done 2>&1; echo $OPTIND
set -- -x -y foo bar; OPTIND=1; while getopts :xyz: o; do echo $o; done; shift $((OPTIND-1)); echo $1
let 'v=3*4' v++; echo $v; let 0; echo $?
umask; umask 027; umask; umask -S; umask u=rwx,go=; umask
alias ll='ls -l'; alias ll; alias; unalias ll; alias ll 2>&1; echo $?
trap 'echo exiting' EXIT; trap 'echo int' INT; trap; trap -p INT; trap - INT; trap -p
hash -r; hash 2>&1; hash nosuchcmd 2>&1; echo $?
set -o | head -3; set +o | head -2; shopt -p extglob nullglob; shopt -q extglob; echo $?
export -p | grep -c declare >/dev/null && echo ok; readonly -p | grep BASHOPTS | cut -c1-20
eval "echo 'nested quotes' \"\$v\""; source /dev/stdin <<< 'echo sourced $1' ; . /dev/stdin arg <<< 'echo sourced $1'
printf '%s\n' x y | { mapfile -t z; echo ${z[1]}; }
kill -l 9 15; kill -l TERM; kill -s NOSUCH $$ 2>&1; echo $?
nosuchcommand 2>&1; echo $?; /etc 2>&1; echo $?; /etc/passwd 2>&1; echo $?
declare -f f; declare -F f; unset -f f; f 2>&1; echo $?
caller; fc() { caller 0; }; fc
times > /dev/null; ulimit -n > /dev/null; echo $?
shift 5; echo $?; exit_in_sub=$(exit 7); echo $?
disown 2>&1; jobs; wait; echo $?
enable -n test; type -t test; enable test; type -t test
compgen -W 'apple apricot banana' ap; compgen -b ec
cd . ; cd '' ; echo $?; cd a b 2>&1; echo $?
read -r x y <<< '  lead  trail  '; echo "[$x][$y]"; read x <<< 'back\slash'; echo $x; read -r x <<< 'back\slash'; echo $x
read -a arr <<< 'p q r'; echo ${arr[2]}; IFS=, read -a arr <<< 'a,,b,'; echo ${#arr[@]}; IFS=' ' read a b <<< ' x '; echo "[$a][$b]"
