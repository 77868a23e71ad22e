;;: attacks = an image with folders as deep and names as many as fit
;;: rootfs = root
;;: before = mkdir -p root/d root/e; (cd root/d; seq 20000 | xargs touch); p=root/e; for i in $(seq 80); do p=$p/d; done; mkdir -p $p
;;: status = any
;;: seconds = 8
(module
  (import "wasi_snapshot_preview1" "path_filestat_get" (func $stat (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "e/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d")
  (func (export "_start") (drop (call $stat (i32.const 3) (i32.const 1) (i32.const 0) (i32.const 35) (i32.const 256)))))
