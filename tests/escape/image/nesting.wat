;;: attacks = compiling: blocks within blocks
;;: finding = H7
;;: timeout = 2
;;: seconds = 8
;;: memory = 64M
;;: grows = 600M
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "_start")
;;* 20000 block
;;* 20000 loop
;;* 40000 end
  ))
