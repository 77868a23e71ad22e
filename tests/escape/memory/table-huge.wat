;;: attacks = a table that is large from the start
;;: memory = 32M
;;: status = any
;;: seconds = 4
(module
  (memory (export "memory") 1)
  (table 400000000 funcref)
  (table 400000000 externref)
  (func (export "_start") (nop)))
