;;: attacks = the kill, in a program that throws all the time: its handler meets locks of the allocator
;;: finding = C1
;;: timeout = 0.5
;;: memory = 256M
;;: grows = 600M
;;: status = 124 134 137
(module
  (memory (export "memory") 1)
  (tag $e (param i64))
  (func $deep (param $n i32)
    (if (i32.eqz (local.get $n)) (then (throw $e (i64.const 1))))
    (call $deep (i32.sub (local.get $n) (i32.const 1))))
  (func (export "_start")
    (loop $again
      (block $caught (result i64) (try_table (catch $e $caught) (call $deep (i32.const 40))) (unreachable))
      (drop)
      (br $again))))
