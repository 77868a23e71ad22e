#: attacks = the same folder, seen through a mount of the folder it is in by a link
#: finding = H2
#: targets = exec
#: host-env = XDG_CACHE_HOME=link
#: mount = work:/w:rw
#: before = mkdir -p work/c/wasibox/aot; ln -s work/c link; chmod -R go-rwx work; find "$CODE" -size -40M -exec cp -p {} work/c/wasibox/aot \;
#: timeout = 10
#: status = 0 125
#: never = reached
f=$(ls /w/c/wasibox/aot/*.aot 2> /dev/null | head -n 1)
[ -n "$f" ] && printf '\314' >> "$f" && echo reached
exit 0
