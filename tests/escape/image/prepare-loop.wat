;;: attacks = the time limit, while a program is prepared
;;: finding = H7
;;: timeout = 1
;;: seconds = 100
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "wasibox_prepare") (loop $again (br $again)))
  (func (export "wasibox_resume") (result i32) (i32.const 1))
  (func (export "_start") (loop $again (br $again))))
