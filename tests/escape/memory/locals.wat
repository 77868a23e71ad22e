;;: attacks = frames of a megabyte: thousands of locals in a function that calls itself
;;: memory = 32M
;;: status = 139 134 125 126
;;: seconds = 8
(module
  (memory (export "memory") 1)
  (func $f (param i64) (result i64)
;;* 20000 (local $l% i64)
;;* 4000 (local.set $l% (i64.add (local.get 0) (i64.const %)))
    (drop (call $f (local.get $l17)))
;;* 4000 (local.set 0 (i64.xor (local.get 0) (local.get $l%)))
    (local.get 0))
  (func (export "_start") (drop (call $f (i64.const 1)))))
