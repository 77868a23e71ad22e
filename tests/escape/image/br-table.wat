;;: attacks = compiling: a table of a million branches
;;: finding = H7
;;: timeout = 2
;;: seconds = 8
;;: memory = 64M
;;: grows = 600M
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "_start")
    (block $a (block $b (block $c
      (i32.const 5)
      (br_table
;;* 300000 $a $b $c
        $a))))))
