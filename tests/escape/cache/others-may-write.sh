#: attacks = a folder of machine code that every user of the host may write to
#: finding = H2
#: targets = exec
#: host-env = XDG_CACHE_HOME=open
#: before = mkdir -p open/wasibox/aot; chmod 777 open open/wasibox open/wasibox/aot
#: before = find "$CODE" -size -40M -exec cp {} open/wasibox/aot \;
#: before = python3 -c "import glob, hashlib; n = [x for x in glob.glob('open/wasibox/aot/*.aot')][0]; d = bytearray(open(n, 'rb').read()); d[9000000:12000000] = b'\xcc' * 3000000; o = hashlib.sha256(open(n, 'rb').read()).hexdigest(); open(n, 'wb').write(d); s = n[:-3] + 'sum'; t = open(s).read(); open(s, 'w').write(t.replace(o, hashlib.sha256(d).hexdigest()))"
#: seconds = 60
#: timeout = 50
#: grows = 1500M
#: threads = 80
#: status = 0 125
echo contained
