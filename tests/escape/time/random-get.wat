;;: attacks = random bytes for the whole memory at once, again and again
;;: finding = H4
;;: timeout = 1
;;: memory = 256M
;;: status = 124
;;: limit = timeout
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 3900)
  (func (export "_start") (loop $again (drop (call $random (i32.const 0) (i32.const 255000000))) (br $again))))
