;;: attacks = argument lists of replaced programs: two megabytes of empty lines each, by many processes
;;: finding = H5
;;: timeout = 4
;;: memory = 64M
;;: processes = 16
;;: status = any
(module
  (import "wasix_32v1" "proc_spawn3" (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "proc_exec3" (func $exec (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 40)
  (data (i32.const 0) "/bin/hostile\00")
  (data (i32.const 64) "\00\00\00\00")
  (func (export "_start")
    (drop (call $spawn (i32.const 0) (i32.const 12) (i32.const 64) (i32.const 1) (i32.const 0) (i32.const 0)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128)))
    (memory.fill (i32.const 65536) (i32.const 10) (i32.const 2097152))
    (drop (call $exec (i32.const 0) (i32.const 12) (i32.const 65536) (i32.const 2097152) (i32.const 65536) (i32.const 2097152)
      (i32.const 0) (i32.const 0) (i32.const 0)))))
