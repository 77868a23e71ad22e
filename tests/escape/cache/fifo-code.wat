;;: attacks = a named pipe where machine code should be, and one for its template
;;: finding = H2
;;: targets = exec
;;: timeout = 1
;;: wrap = "$@" && for f in cache/wasibox/aot/*.aot cache/wasibox/aot/*.mem; do rm -f $f; mkfifo $f; done
;;: status = 0 125
(module (memory (export "memory") 1) (data (i32.const 0) "x") (func (export "_start")))
