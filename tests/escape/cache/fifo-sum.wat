;;: attacks = a named pipe where the digests of machine code should be
;;: finding = H2
;;: targets = exec
;;: timeout = 1
;;: wrap = "$@" && for f in cache/wasibox/aot/*.sum; do rm $f; mkfifo $f; done
;;: status = 0 125
(module (memory (export "memory") 1) (func (export "_start")))
