;;: attacks = a folder of machine code that is a file
;;: targets = exec
;;: host-env = XDG_CACHE_HOME=file
;;: before = echo x > file
;;: status = 0 125
(module (memory (export "memory") 1) (func (export "_start")))
