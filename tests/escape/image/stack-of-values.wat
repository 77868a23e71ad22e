;;: attacks = compiling: a hundred thousand values on the stack
;;: finding = H7
;;: timeout = 2
;;: seconds = 8
;;: memory = 64M
;;: grows = 600M
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "_start") (local $x i64)
;;* 30000 (i64.load offset=% (i32.const %))
;;* 29999 i64.add
    drop))
