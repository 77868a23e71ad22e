;;: attacks = exceptions that nobody catches, traps in every form
;;: status = 134 139 136 132 1
(module
  (memory (export "memory") 1)
  (tag $e (param i64))
  (func (export "_start") (throw $e (i64.const 1))))
