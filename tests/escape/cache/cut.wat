;;: attacks = machine code that is cut short while it is mapped
;;: targets = exec
;;: timeout = 2
;;: wrap = "$@" ; (sleep 0.3; for f in cache/wasibox/aot/*; do : > $f; done) &
;;: status = any
(module
  (import "wasix_32v1" "thread_sleep" (func $sleep (param i64) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (drop (call $sleep (i64.const 600000000))) (call $f0 (i32.const 0)))
;;* 300 (func $f% (param i32) (drop (i32.div_u (i32.const %) (i32.const 3))))
  )
