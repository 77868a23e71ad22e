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
echo unset in an expression; each 'set -u; echo $((nosuch)); echo same'
echo unset in the EXIT trap; each 'trap "echo \$((nosuch)); echo same" EXIT; set -u'
echo unset; each 'set -u; echo $nosuch; echo same'
echo missing in a subshell; each '(echo ${nosuch?gone}; echo same); echo $?'
echo bad substitution; each 'echo ${x!}; echo same'
echo readonly variable; each 'readonly r=1; r=2; echo same'
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
