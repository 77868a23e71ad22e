;;: attacks = a handler that starts processes, sleeps and throws
;;: finding = H1
;;: timeout = 2
;;: status = any
(module
  (import "wasi_snapshot_preview1" "proc_raise" (func $raise (param i32) (result i32)))
  (import "wasix_32v1" "callback_signal" (func $callback (param i32 i32) (result i32)))
  (import "wasix_32v1" "proc_signal" (func $kill (param i32 i32) (result i32)))
  (import "wasix_32v1" "thread_sleep" (func $sleep (param i64) (result i32)))
  (import "wasix_32v1" "proc_spawn3" (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (tag $e)
  (global $n (mut i32) (i32.const 0))
  (data (i32.const 0) "__wasm_signal")
  (data (i32.const 32) "/bin/hostile\00")
  (data (i32.const 64) "\20\00\00\00")
  (func (export "__wasm_signal") (param i32)
    (global.set $n (i32.add (global.get $n) (i32.const 1)))
    (drop (call $spawn (i32.const 32) (i32.const 12) (i32.const 64) (i32.const 1) (i32.const 0) (i32.const 0)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128)))
    (drop (call $kill (i32.const 0) (i32.const 10)))
    (drop (call $sleep (i64.const 1000)))
    (if (i32.gt_u (global.get $n) (i32.const 500)) (then (throw $e))))
  (func (export "_start")
    (drop (call $callback (i32.const 0) (i32.const 13)))
    (loop $again (drop (call $raise (i32.const 10))) (br $again))))
