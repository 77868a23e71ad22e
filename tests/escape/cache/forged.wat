;;: attacks = machine code that was changed together with the digests beside it
;;: finding = H2
;;: targets = exec
;;: wrap = "$@" && python3 -c "import glob, hashlib; n, = glob.glob('cache/wasibox/aot/*.aot'); o = open(n, 'rb').read(); d = bytearray(o); d[4096:-4096] = b'\xcc' * (len(o) - 8192); open(n, 'wb').write(d); h = lambda b: hashlib.sha256(b).hexdigest(); s = n[:-3] + 'sum'; t = open(s).read(); assert len(t) > 64; open(s, 'w').write(t.replace(h(o), h(d)))"
;;: status = 0
(module (memory (export "memory") 1) (func (export "_start")))
