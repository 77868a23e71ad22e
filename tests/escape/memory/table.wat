;;: attacks = memory by a table that grows
;;: timeout = 1
;;: memory = 32M
;;: status = any
(module
  (memory (export "memory") 1)
  (table $t 1 externref)
  (table $f 1 funcref)
  (func (export "_start")
    (loop $again
      (drop (table.grow $t (ref.null extern) (i32.const 1000000)))
      (drop (table.grow $f (ref.null func) (i32.const 1000000)))
      (br $again))))
