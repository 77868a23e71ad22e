;;: attacks = a program without a beginning
;;: status = 125 126 127 134 1
(module (memory (export "memory") 1))
