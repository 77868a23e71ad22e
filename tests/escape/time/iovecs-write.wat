;;: attacks = writing and reading the same buffer thousands of times in one call, to files and devices
;;: finding = H4
;;: timeout = 1
;;: memory = 128M
;;: disk = 8M
;;: status = 124
(module
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_pwrite" (func $pwrite (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_pread" (func $pread (param i32 i32 i32 i64 i32) (result i32)))
  (memory (export "memory") 1900)
  (data (i32.const 0) "tmp/filedev/zero")
  (func (export "_start") (local $i i32)
    (drop (call $open (i32.const 3) (i32.const 1) (i32.const 0) (i32.const 8) (i32.const 1) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 64)))
    (drop (call $open (i32.const 3) (i32.const 1) (i32.const 8) (i32.const 8) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 68)))
    (loop $fill
      (i64.store (i32.add (i32.const 65536) (i32.shl (local.get $i) (i32.const 3))) (i64.const 0x070000000_00100000))
      (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1024))))
    (loop $again
      (drop (call $write (i32.load (i32.const 64)) (i32.const 65536) (i32.const 1024) (i32.const 72)))
      (drop (call $pwrite (i32.load (i32.const 64)) (i32.const 65536) (i32.const 1024) (i64.const 0x7fffffffffffffff) (i32.const 72)))
      (drop (call $pread (i32.load (i32.const 68)) (i32.const 65536) (i32.const 1024) (i64.const 0) (i32.const 72)))
      (drop (call $pread (i32.load (i32.const 64)) (i32.const 65536) (i32.const 1024) (i64.const 0) (i32.const 72)))
      (br $again))))
