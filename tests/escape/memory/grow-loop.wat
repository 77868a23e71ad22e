;;: attacks = growing and failing to grow without end
;;: timeout = 1
;;: memory = 32M
;;: status = 124
;;: limit = timeout
(module
  (memory (export "memory") 1)
  (func (export "_start") (loop $again (drop (memory.grow (i32.const 1))) (drop (memory.grow (i32.const 65536))) (br $again))))
