;;: attacks = machine code that is a link to a file elsewhere, which must not be written through
;;: targets = exec
;;: wrap = "$@" && cd cache/wasibox/aot && for f in *; do rm -f $f; ln -s ../../../outside/secret $f; done; cd ../../..
;;: status = 0 125
(module (memory (export "memory") 1) (data (i32.const 0) "x") (func (export "_start")))
