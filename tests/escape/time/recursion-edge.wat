;;: attacks = calls of the host with next to no stack left
;;: timeout = 1
;;: status = 139 134 124
(module
  (import "wasi_snapshot_preview1" "path_filestat_get" (func $stat (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "tmp/../tmp/../tmp/a")
  (global $depth (mut i32) (i32.const 0))
  (func $f (param i64 i64 i64 i64 i64 i64 i64 i64) (result i64)
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    ;; The calls are made only near the end, because they would use up the time limit otherwise.
    (if (i32.gt_u (global.get $depth) (i32.const 60000)) (then
      (drop (call $stat (i32.const 3) (i32.const 1) (i32.const 0) (i32.const 19) (i32.const 256)))
      (drop (call $random (i32.const 512) (i32.const 8)))
      (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 520)))))
    (i64.add (local.get 3) (call $f (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6) (local.get 7) (local.get 0))))
  (func (export "_start")
    (drop (call $f (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)))))
