;;: attacks = the same as fast as calls can be made
;;: finding = H5
;;: timeout = 5
;;: memory = 2M
;;: disk = 1M
;;: grows = 12M
;;: status = 124
;;: targets = exec
(module
  (import "wasi_snapshot_preview1" "path_symlink" (func $link (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_unlink_file" (func $unlink (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "tmp/f")
  (func (export "_start")
    (loop $again
      (if (call $link (i32.const 0) (i32.const 5) (i32.const 3) (i32.const 0) (i32.const 5)) (then (unreachable)))
      (if (call $unlink (i32.const 3) (i32.const 0) (i32.const 5)) (then (unreachable)))
      (br $again))))
