;;: attacks = the stack
;;: status = 139 134
(module (memory (export "memory") 1) (func $f (export "_start") (call $f) (call $f)))
