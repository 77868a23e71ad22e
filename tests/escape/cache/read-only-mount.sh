#: attacks = the same folder in a read-only mount: nothing of it is a guest's business, nor can it be changed
#: finding = H2
#: targets = exec
#: host-env = XDG_CACHE_HOME=work
#: mount = work:/w:ro
#: before = mkdir -p work/wasibox/aot; chmod -R go-rwx work; find "$CODE" -size -40M -exec cp -p {} work/wasibox/aot \;
#: timeout = 10
#: status = 0 125
#: never = reached
for f in /w/wasibox/aot/*; do printf x >> "$f" && echo reached; rm -f "$f" && echo reached; done 2> /dev/null
exit 0
