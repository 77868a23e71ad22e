;;: attacks = a memory of 64 bits
;;: status = any
(module
  (memory (export "memory") i64 1)
  (func (export "_start") (i64.store (i64.const 0xffffffffffff0000) (i64.const 1)) (drop (memory.grow (i64.const 0x1000000000000)))))
