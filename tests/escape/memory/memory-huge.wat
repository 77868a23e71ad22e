;;: attacks = a memory that is as large as can be from the start
;;: memory = 32M
;;: status = any
;;: seconds = 4
(module (memory (export "memory") 65536 65536) (func (export "_start") (memory.fill (i32.const 0) (i32.const 1) (i32.const -1))))
