;;: attacks = compiling: one function with very many blocks and values alive
;;: finding = H7
;;: timeout = 2
;;: seconds = 8
;;: memory = 64M
;;: grows = 600M
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "_start") (local $a i64) (local $b i64) (local $c i32)
;;* 60000 (if (i32.eq (local.get $c) (i32.const %)) (then (local.set $a (i64.add (local.get $b) (i64.const %)))) (else (local.set $b (i64.mul (local.get $a) (i64.load (local.get $c))))))
  ))
