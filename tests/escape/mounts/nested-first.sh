#: attacks = the same two mounts in the other order
#: finding = low: nested mounts
#: mount = work/w:/w:rw
#: mount = work/a:/w/a/b:ro
#: before = mkdir -p work/a work/w/a/b; echo inner > work/a/file; echo outer > work/w/a/b/file
#: status = 0 125
#: never = hidden
test "$(cat /w/a/b/file)" = inner || { echo hidden; exit 7; }
exit 0
