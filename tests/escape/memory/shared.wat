;;: attacks = a shared memory and waiting on it for ever
;;: timeout = 1
;;: status = any
(module
  (memory (export "memory") 1 100 shared)
  (func (export "_start") (loop $again (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))) (br $again))))
