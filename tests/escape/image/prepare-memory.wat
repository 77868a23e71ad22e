;;: attacks = the memory limit, while a program is prepared
;;: finding = H7
;;: timeout = 2
;;: memory = 32M
;;: seconds = 20
;;: grows = 600M
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "wasibox_prepare")
    (block $full (loop $more
      (br_if $full (i32.eq (memory.grow (i32.const 160)) (i32.const -1)))
      (memory.fill (i32.mul (i32.sub (memory.size) (i32.const 160)) (i32.const 65536)) (i32.const 1) (i32.const 10485760))
      (br $more))))
  (func (export "wasibox_resume") (result i32) (i32.const 1))
  (func (export "_start")))
