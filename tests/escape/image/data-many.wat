;;: attacks = very many data segments, each on a page of its own
;;: finding = H7
;;: timeout = 2
;;: memory = 64M
;;: seconds = 6
;;: after = test "$(du -sm cache | cut -f 1)" -lt 128
;;: status = any
(module
  (memory (export "memory") 16384)
;;* 16000 (data (i32.const %0000) "x")
  (func (export "_start")))
