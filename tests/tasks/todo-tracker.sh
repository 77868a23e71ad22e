# A little program with its state in a file.
cat > todo <<'T'
#!/usr/bin/env bash
f=${TODO_FILE:-todo.txt}; touch "$f"
case ${1-} in
  add) shift; echo "[ ] $*" >> "$f"; echo "added $(wc -l < "$f")" ;;
  done) sed -i "${2:?which}s/^\[ \]/[x]/" "$f"; sed -n "${2}p" "$f" ;;
  rm) sed -i "${2}d" "$f" ;;
  list) nl -w2 -s'. ' "$f" | { [ "${2-}" = open ] && grep '\[ \]' || cat; } ;;
  stats) awk '/^\[x\]/ { d++ } END { printf "%d/%d done (%.0f%%)\n", d, NR, NR ? 100 * d / NR : 0 }' "$f" ;;
  *) echo "usage: todo add|done|rm|list|stats" >&2; exit 2 ;;
esac
T
chmod +x todo; ./todo add buy milk; ./todo add 'write "docs" & tests'; ./todo add ship; ./todo done 2; ./todo list; ./todo list open; ./todo rm 1; ./todo stats; ./todo; echo "status $?"; ./todo done 2>&1 | sed 's/.*: //'; TODO_FILE=other ./todo stats; cat todo.txt
