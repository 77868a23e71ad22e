;;: attacks = compiling: very many functions
;;: finding = H7
;;: timeout = 2
;;: seconds = 60
;;: memory = 64M
;;: grows = 600M
;;: status = any
(module
  (memory (export "memory") 1)
;;* 40000 (func $f% (param i64) (result i64) (i64.add (local.get 0) (i64.const %)))
  (func (export "_start") (drop (call $f39999 (i64.const 1)))))
