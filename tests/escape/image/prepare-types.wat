;;: attacks = exports with the right names and wrong types
;;: status = any
(module
  (memory (export "memory") 1)
  (global (export "wasibox_prepare") i32 (i32.const 7))
  (func (export "wasibox_resume") (param i64) (result f32) (f32.const 1))
  (func (export "__wasm_signal") (param f64) (result f64) (f64.const 1))
  (func (export "_start") (param i32) (result i32) (i32.const 1)))
