;;: attacks = a kill within memory.init, which takes a lock of the engine
;;: finding = medium: kill within memory.init
;;: timeout = 1
;;: memory = 64M
;;: status = 124
;;: limit = timeout
(module
  (memory (export "memory") 100)
  (table $t 1000 funcref)
  (elem $e func $f $f $f $f $f $f $f $f)
  (func $f)
;;* 1 (data $d "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789")
  (func (export "_start")
    (loop $again
      (memory.init $d (i32.const 0) (i32.const 0) (i32.const 100))
      (memory.init $d (i32.const 100) (i32.const 0) (i32.const 99))
      (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 8))
      (drop (table.grow $t (ref.func $f) (i32.const 1)))
      (table.fill $t (i32.const 0) (ref.func $f) (i32.const 1000))
      (br $again))))
