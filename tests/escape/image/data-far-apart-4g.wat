;;: attacks = the same over all of a memory
;;: finding = H7
;;: timeout = 2
;;: memory = 64M
;;: seconds = 6
;;: after = test "$(du -sm cache | cut -f 1)" -lt 128
;;: status = any
(module
  (memory (export "memory") 65536)
  (data (i32.const 0) "a")
  (data (i32.const 2147483648) "b")
  (data (i32.const -2) "c")
  (func (export "_start")))
