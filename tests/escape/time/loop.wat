;;: attacks = the time limit by a loop without calls
;;: timeout = 1
;;: status = 124
;;: limit = timeout
(module (memory (export "memory") 1) (func (export "_start") (loop $again (br $again))))
