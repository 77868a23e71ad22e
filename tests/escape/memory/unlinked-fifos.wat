;;: attacks = bytes that lie in named pipes without a name, in a session with next to no memory
;;: finding = H5
;;: timeout = 2
;;: memory = 4M
;;: disk = 1M
;;: grows = 32M
;;: status = any
;;: targets = exec
(module
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $unlink (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 4)
  (data (i32.const 0) ".box/metatmp/f")
  (data (i32.const 64) "\05\80\01/tmp/f")
  (data (i32.const 128) "\40\00\00\00\09\00\00\00")
  (data (i32.const 136) "\00\00\01\00\00\00\01\00")
  (func (export "_start")
    (drop (call $open (i32.const 3) (i32.const 1) (i32.const 0) (i32.const 9) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 200)))
    (loop $again
      (drop (call $write (i32.load (i32.const 200)) (i32.const 128) (i32.const 1) (i32.const 208)))
      (drop (call $open (i32.const 3) (i32.const 1) (i32.const 9) (i32.const 5) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 4) (i32.const 204)))
      (drop (call $unlink (i32.const 3) (i32.const 9) (i32.const 5)))
      (drop (call $write (i32.load (i32.const 204)) (i32.const 136) (i32.const 1) (i32.const 208)))
      (br $again))))
