;;: attacks = references to exceptions, put into a table
;;: finding = C2
;;: timeout = 5
;;: memory = 32M
;;: disk = 1M
;;: status = any
(module
  (memory (export "memory") 1)
  (tag $e (param i64))
  (table $t 1 exnref)
  (func (export "_start") (local $x exnref)
    (loop $again
      (block $caught (result exnref)
        (try_table (catch_all_ref $caught) (throw $e (i64.const 1)))
        (unreachable))
      (local.set $x)
      (table.set $t (i32.const 0) (local.get $x))
      (drop (table.grow $t (local.get $x) (i32.const 1)))
      (br $again))))
