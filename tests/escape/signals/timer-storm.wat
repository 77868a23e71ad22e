;;: attacks = the host's time: a timer of one nanosecond whose handler sets it again
;;: timeout = 2
;;: status = 124 134 139 138
(module
  (import "wasix_32v1" "proc_raise_interval" (func $interval (param i32 i64 i32) (result i32)))
  (import "wasix_32v1" "callback_signal" (func $callback (param i32 i32) (result i32)))
  (import "wasix_32v1" "thread_sleep" (func $sleep (param i64) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "__wasm_signal")
  (func (export "__wasm_signal") (param i32)
    (drop (call $interval (local.get 0) (i64.const 1) (i32.const 1))))
  (func (export "_start")
    (drop (call $callback (i32.const 0) (i32.const 13)))
    (drop (call $interval (i32.const 14) (i64.const 1) (i32.const 1)))
    (loop $again (drop (call $sleep (i64.const 1000000))) (br $again))))
