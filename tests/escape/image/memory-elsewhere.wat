;;: attacks = a memory that is exported under another name, and a function under this one
;;: status = any
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "other") 1)
  (func (export "memory"))
  (func (export "_start") (drop (call $random (i32.const 0) (i32.const 99)))))
