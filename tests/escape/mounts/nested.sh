#: attacks = two mounts of which the outer one, given last, would hide the inner one without a word
#: finding = low: nested mounts
#: mount = work/a:/w/a/b:ro
#: mount = work/w:/w:rw
#: before = mkdir -p work/a work/w/a/b; echo inner > work/a/file; echo outer > work/w/a/b/file
#: status = 0 125
#: never = hidden
test "$(cat /w/a/b/file)" = inner || { echo hidden; exit 7; }
echo x > /w/a/b/new 2> /dev/null && { echo hidden; exit 8; }
exit 0
