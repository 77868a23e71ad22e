;;: attacks = preparing that traps, and a memory that is changed before
;;: timeout = 1
;;: status = any
(module
  (memory (export "memory") 1)
  (func (export "wasibox_prepare") (memory.fill (i32.const 0) (i32.const 255) (i32.const 65536)) (unreachable))
  (func (export "wasibox_resume") (result i32) (unreachable))
  (func (export "_start")))
