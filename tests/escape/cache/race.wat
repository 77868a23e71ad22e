;;: attacks = machine code that changes between the look at its digest and its use
;;: finding = low: mapping hashed and then copied
;;: targets = exec
;;: timeout = 2
;;: seconds = 8
;;: wrap = "$@"; cat > race.py <<'E'
;;: wrap = import glob, time
;;: wrap = n, = glob.glob('cache/wasibox/aot/*.aot')
;;: wrap = d = open(n, 'rb').read(); f = open(n, 'r+b', 0); end = time.time() + 2
;;: wrap = while time.time() < end: f.seek(4096); f.write(b'\xcc' * (len(d) - 8192)); f.seek(0); f.write(d); open('begun', 'w')
;;: wrap = E
;;: wrap = python3 race.py & sleep 0.2; [ -e begun ] || sleep 1; [ -e begun ] || exit 98; for i in $(seq 60); do "$@" > /dev/null 2>&1; s=$?; [ $s -le 125 ] || exit 99; done; wait
;;: status = 0 125
(module
  (memory (export "memory") 1)
  (func (export "_start"))
;;* 300 (func $f% (param i32) (result i32) (i32.div_u (i32.const %) (local.get 0)))
  )
