;;: attacks = the same by several processes at once
;;: finding = C1
;;: timeout = 0.5
;;: memory = 256M
;;: grows = 900M
;;: processes = 12
;;: status = 124 134 137
(module
  (import "wasix_32v1" "proc_spawn3" (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "/bin/hostile\00")
  (data (i32.const 64) "\00\00\00\00")
  (tag $e)
  (func (export "_start") (local $i i32)
    (loop $more
      (drop (call $spawn (i32.const 0) (i32.const 12) (i32.const 64) (i32.const 1) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128)))
      (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 3))))
    (loop $again
      (block $caught (try_table (catch $e $caught) (throw $e)))
      (br $again))))
