name=World; items=(one "two three" four)
render() { cat <<TPL
Hello, ${1:-$name}!
Items: ${#items[@]} (${items[*]@Q})
Sum: $((2 + 3)) \$not \`not\` $(printf '%03d' 7)
$(for i in "${!items[@]}"; do echo "  $((i + 1)). ${items[i]^}"; done)
TPL
}
render; render "Ann"; cat <<-'RAW'
	tabs stripped $name
	  two spaces stay
	RAW
cat > gen.sh <<EOT
#!/bin/sh
echo "generated for $name with \$# args: \$*"
exit \${1:-0}
EOT
chmod +x gen.sh; ./gen.sh 4 x; echo "status $?"; tr a-z A-Z <<< "here $name"; bash -s -- p q <<'S'
echo "script on stdin: $1 $2"; cat <<I
inner $#
I
S
while read -r a b; do echo "$b<$a"; done <<X | sort
1 one
2 two
X
printf '%s\n' "$(cat <<'Q'
it's "quoted"
Q
)"
