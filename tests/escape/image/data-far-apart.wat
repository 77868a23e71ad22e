;;: attacks = two data segments a gigabyte apart: memory and disk of the host before anything runs
;;: finding = H7
;;: timeout = 2
;;: memory = 64M
;;: seconds = 6
;;: after = test "$(du -sm cache | cut -f 1)" -lt 128
;;: status = any
(module
  (memory (export "memory") 16384)
  (data (i32.const 0) "a")
  (data (i32.const 1073741000) "b")
  (func (export "_start")))
