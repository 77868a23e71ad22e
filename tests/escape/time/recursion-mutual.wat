;;: attacks = the stack, through a table and a call of the host
;;: status = 139 134 0 124
(module
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (memory (export "memory") 1)
  (type $v (func (param i64 i64 i64 i64 i64 i64 i64 i64)))
  (table 2 funcref) (elem (i32.const 0) $a $b)
  (func $a (type $v) (drop (call $yield)) (call_indirect (type $v) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (local.get 0) (i32.const 1)))
  (func $b (type $v) (call_indirect (type $v) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (local.get 0) (i32.const 0)) (drop (call $yield)))
  (func (export "_start") (call $a (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1) (i64.const 1))))
