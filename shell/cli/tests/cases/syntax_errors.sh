# Syntax errors and how far a failure reaches.
for s in 'echo )' 'if true; then' 'for do' 'echo "unclosed' 'case x in' 'echo $(' '{ echo' 'fi' 'x() {' '[[ a' '((1+' 'cat <<E'; do
  $BASH -c "$s" >/dev/null 2>&1; echo "$? $s"
done
$BASH -c 'echo before
echo )' 2>/dev/null; echo $?
eval 'echo )' 2>/dev/null; echo $?
$BASH -c 'echo ${bad!x}; echo same line
echo next line' 2>/dev/null; echo $?
$BASH -c 'echo $((1/0)); echo same
echo next' 2>/dev/null; echo $?
$BASH -c 'echo ${x?message}; echo no' 2>/dev/null; echo $?
$BASH -c 'readonly r=1; r=2; echo same
echo next' 2>/dev/null; echo $?
$BASH -c 'set -u; echo $x; echo no' 2>/dev/null; echo $?
$BASH -c 'f() { echo ${x?}; }; f; echo no' 2>/dev/null; echo $?
$BASH -c '(echo ${x?}; echo no); echo goes on' 2>/dev/null; echo $?
$BASH -c 'y=$(echo ${x?}); echo goes on $?' 2>/dev/null; echo $?
$BASH -c 'eval "echo \${bad!x}
echo next in eval"; echo after' 2>/dev/null; echo $?
$BASH -n -c 'echo not run'; echo $?; $BASH -c 'exit 5; echo no'; echo $?
$BASH -c 'echo $0 $1 $#' name one two; echo 'echo stdin script $1' | $BASH -s arg; printf 'read x\nline two\necho got $x\n' | $BASH
$BASH --posix -c 'set -o | grep posix'; $BASH -e -c 'false; echo no'; echo $?; $BASH -o pipefail -c 'false | true'; echo $?
$BASH -O extglob -c 'shopt extglob; [[ aab == +(a)b ]] && echo ext'; $BASH +B -c 'echo {a,b}'
$BASH /nonexistent 2>/dev/null; echo $?; $BASH -Z 2>/dev/null; echo $?
