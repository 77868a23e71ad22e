#: attacks = a named pipe where the digests of machine code should be
#: finding = H2
#: targets = exec
#: host-env = XDG_CACHE_HOME=cache
#: before = mkdir -p cache/wasibox/aot; chmod -R go-rwx cache; find "$CODE" -size -40M -exec cp -p {} cache/wasibox/aot \;
#: before = for f in cache/wasibox/aot/*.sum; do rm $f; mkfifo $f; done
#: seconds = 60
#: timeout = 50
#: grows = 1500M
#: threads = 80
#: status = 0 125
echo contained
