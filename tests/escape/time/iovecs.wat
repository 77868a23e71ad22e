;;: attacks = one read of random bytes into a thousand views of the same buffer
;;: finding = H4
;;: timeout = 1
;;: memory = 128M
;;: status = 124
;;: limit = timeout
(module
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1900)
  (data (i32.const 0) "dev/urandom")
  (func (export "_start") (local $i i32)
    (drop (call $open (i32.const 3) (i32.const 1) (i32.const 0) (i32.const 11) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 64)))
    (loop $fill
      (i64.store (i32.add (i32.const 65536) (i32.shl (local.get $i) (i32.const 3))) (i64.const 0x073000000_00100000))
      (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1024))))
    (loop $again
      (drop (call $read (i32.load (i32.const 64)) (i32.const 65536) (i32.const 1024) (i32.const 72)))
      (br $again))))
