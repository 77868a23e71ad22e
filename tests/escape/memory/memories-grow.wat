;;: attacks = second memories, which may be counted less well than the first
;;: memory = 32M
;;: timeout = 1
;;: status = any
(module
  (memory (export "memory") 1)
  (memory $b 1) (memory $c 1)
  (func (export "_start")
    (loop $again
      (if (i32.ne (memory.grow $b (i32.const 16)) (i32.const -1))
        (then (memory.fill $b (i32.mul (i32.sub (memory.size $b) (i32.const 16)) (i32.const 65536)) (i32.const 7) (i32.const 1048576))))
      (if (i32.ne (memory.grow $c (i32.const 16)) (i32.const -1))
        (then (memory.fill $c (i32.mul (i32.sub (memory.size $c) (i32.const 16)) (i32.const 65536)) (i32.const 7) (i32.const 1048576))))
      (br $again))))
