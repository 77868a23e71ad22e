;;: attacks = single instructions that take long: fills and copies of the whole memory
;;: timeout = 1
;;: memory = 128M
;;: status = 124
;;: limit = timeout
(module
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (memory.grow (i32.const 1900)))
    (loop $again
      (memory.fill (i32.const 0) (i32.const 7) (i32.const 124000000))
      (memory.copy (i32.const 1) (i32.const 0) (i32.const 124000000))
      (br $again))))
