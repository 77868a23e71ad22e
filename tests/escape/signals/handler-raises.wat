;;: attacks = the host's stack: a handler of signals that raises the signal anew
;;: finding = H1
;;: timeout = 2
;;: status = 124 134 139 138 132
(module
  (import "wasi_snapshot_preview1" "proc_raise" (func $raise (param i32) (result i32)))
  (import "wasix_32v1" "callback_signal" (func $callback (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "__wasm_signal")
  (func (export "__wasm_signal") (param i32) (drop (call $raise (local.get 0))))
  (func (export "_start")
    (drop (call $callback (i32.const 0) (i32.const 13)))
    (drop (call $raise (i32.const 10)))
    (loop $again (drop (call $raise (i32.const 12))) (br $again))))
