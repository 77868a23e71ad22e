;;: attacks = many memories in one module
;;: memory = 32M
;;: status = any
;;: seconds = 4
(module
  (memory (export "memory") 1)
;;* 90 (memory $m% 100)
  (func (export "_start")
;;* 90 (memory.fill $m% (i32.const 0) (i32.const 1) (i32.const 6000000))
  ))
