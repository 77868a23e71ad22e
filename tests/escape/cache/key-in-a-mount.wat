;;: attacks = the key that vouches for machine code, in a writable mount
;;: targets = exec
;;: finding = H2
;;: host-env = XDG_STATE_HOME=work
;;: mount = work:/w:rw
;;: before = mkdir -p work/wasibox; chmod -R go-rwx work
;;: status = 0 125
;;: never = reached
(module
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_rename" (func $rename (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "w/wasibox/key\00\00\00\00")
  (data (i32.const 32) "w/moved")
  (data (i32.const 64) "reached\n")
  (data (i32.const 128) "\40\00\00\00\08\00\00\00")
  (func $say (drop (call $write (i32.const 1) (i32.const 128) (i32.const 1) (i32.const 256))))
  (func (export "_start")
    (if (i32.eqz (call $open (i32.const 3) (i32.const 1) (i32.const 0) (i32.const 13) (i32.const 0) (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 256)))
      (then (call $say)))
    (if (i32.eqz (call $rename (i32.const 3) (i32.const 0) (i32.const 9) (i32.const 3) (i32.const 32) (i32.const 7))) (then (call $say)))))
