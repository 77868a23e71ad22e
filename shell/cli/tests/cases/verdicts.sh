# What happens after errors: the rows of shell/exec/src/verdict.rs and verdict/syntax.rs (POSIX 2.8.1).
# Each script is run from a file, by -c and in POSIX mode, as it is and with set -e.
dir=$(mktemp -d); trap 'rm -r "$dir"' EXIT
each() {
    printf '%s\n' "$1" "${2-echo after}" > "$dir/script"
    for mode in '' -e '-o posix' '-e -o posix'; do
        out=$("$BASH" $mode "$dir/script" 2> /dev/null) ; printf '%s %s|' "${out//$'\n'/,}" $?
        out=$("$BASH" $mode -c "$(< "$dir/script")" 2> /dev/null); printf '%s %s|' "${out//$'\n'/,}" $?
    done
    echo
}
echo refused in a subscript; each 'readonly r=1; a=(1); echo ${a[r=2]}; echo same'
echo failed in a subscript; each 'a=(1); eval "echo \${a[1/0]}; echo same"; echo outside'
echo no number for an integer; each 'declare -i n; false; n=1/0; echo $? ${PIPESTATUS[@]}'
echo unset in an expression; each 'set -u; echo $((nosuch)); echo same'
echo unset in the EXIT trap; each 'trap "echo \$((nosuch)); echo same" EXIT; set -u'
echo unset; each 'set -u; echo $nosuch; echo same'
echo missing; each '{ echo ${nosuch?gone}; echo same; } || echo or'
echo missing in a subshell; each '(echo ${nosuch?gone}; echo same); echo $?'
echo bad substitution; each 'echo ${x!}; echo same'
echo division by zero; each 'echo $((1/0)); echo same'
echo division in an expansion of an expression; each 'echo $(( $((1/0)) )); echo same'
echo division in an offset; each 'x=abc; echo ${x:1/0}; echo same'
echo negative length; each 'x=abc; echo ${x:2:-2}; echo same'
echo readonly variable; each 'readonly r=1; r=2; echo same'
echo readonly default; each 'readonly r; echo ${r=2}; echo same' 'echo $?'
echo invalid indirection; each 'echo ${!nosuch}; echo same'
echo invalid name; each 'n=1-1; echo ${!n}; echo same'
echo reference that is no name; each 'declare -n n; n=1; echo same'
echo command that evaluates; each '((1/0)); echo $?; let 1/0; echo $?; [[ 1 -eq 1/0 ]]; echo $?; for ((;1/0;)); do :; done; echo $?'
echo readonly in a command that evaluates; each 'readonly r=1; ((r=2)); echo $?; let r=2; echo $?'
echo builtins that assign; each 'readonly r; read r <<< x; echo $?; printf -v r x; echo $?; read "a[-9]" <<< x; echo $?; read 1 <<< x; echo $?'
echo syntax errors; each 'false
echo ; ; echo same'
echo eval; each 'eval ";"; echo $?'
for mode in '' -e '-o posix'; do
    for text in $'echo a\n;\necho b'; do
        out=$("$BASH" $mode 2> /dev/null <<< "$text"); printf '%s %s|' "${out//$'\n'/,}" $?
    done
    echo
done
