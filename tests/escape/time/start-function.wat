;;: attacks = a loop in the module's start function, before it is a process
;;: timeout = 1
;;: status = 124 125 126
(module (memory (export "memory") 1) (func $s (loop $again (br $again))) (start $s) (func (export "_start")))
