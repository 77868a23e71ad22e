;;: attacks = data and elements outside of their memory and table
;;: status = 125 126 132 134 139 1
(module
  (memory (export "memory") 1) (table 1 funcref)
  (data (i32.const 65530) "0123456789")
  (elem (i32.const -1) func 0)
  (func (export "_start")))
