;;: attacks = machine code whose bytes were changed after it was kept
;;: targets = exec
;;: wrap = "$@" && python3 -c "import glob; [(f.seek(n), f.write(b'\xcc' * 64)) for f in (open(n, 'r+b') for n in glob.glob('cache/wasibox/aot/*.aot')) for n in range(4096, f.seek(0, 2) - 64, 997)]"
;;: status = 0
(module (memory (export "memory") 1) (func (export "_start")))
