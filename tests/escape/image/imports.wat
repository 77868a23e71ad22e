;;: attacks = imports that nobody offers, with types that nobody expects
;;: status = any
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $a (param f64) (result i64)))
  (import "nobody" "memory" (func $b (param i32) (result i32)))
  (import "wasix_32v1" "thread_spawn" (func $c (param i32) (result i32)))
  (import "wasix_32v1" "dl_open" (func $d (param i32 i32 i32) (result i64 i64)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $b (i32.const 1))) (drop (call $c (i32.const 1)))
    (drop (call $a (f64.const 1)))))
