;;: attacks = moving descriptors over each other, over the root and beyond the table
;;: timeout = 1
;;: status = any
(module
  (import "wasi_snapshot_preview1" "fd_renumber" (func $renumber (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasix_32v1" "fd_dup2" (func $dup (param i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "fd_pipe" (func $pipe (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $i i32)
    (loop $again
      (drop (call $renumber (local.get $i) (i32.xor (local.get $i) (i32.const 7))))
      (drop (call $renumber (local.get $i) (i32.shl (local.get $i) (i32.const 12))))
      (drop (call $renumber (i32.const 3) (local.get $i)))
      (drop (call $dup (i32.const 1) (i32.shl (local.get $i) (i32.const 20)) (i32.const 0) (i32.const 16)))
      (drop (call $dup (i32.const 0) (i32.const -1) (i32.const 1) (i32.const -2)))
      (drop (call $pipe (i32.const 0) (i32.const -4)))
      (drop (call $close (i32.and (local.get $i) (i32.const 2047))))
      (br_if $again (local.tee $i (i32.add (local.get $i) (i32.const 1)))))))
