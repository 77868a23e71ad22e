#: attacks = machine code whose bytes were changed after it was kept
#: targets = exec
#: host-env = XDG_CACHE_HOME=cache
#: before = mkdir -p cache/wasibox/aot; chmod -R go-rwx cache; find "$CODE" -size -40M -exec cp -p {} cache/wasibox/aot \;
#: before = python3 -c "import glob; [(f.seek(9000000), f.write(b'\xcc' * 3000000)) for f in (open(n, 'r+b') for n in glob.glob('cache/wasibox/aot/*.aot'))]"
#: seconds = 60
#: timeout = 50
#: grows = 1500M
#: threads = 80
#: status = 0 125
#: limit = none
echo contained
