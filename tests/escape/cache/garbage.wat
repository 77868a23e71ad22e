;;: attacks = links, folders and devices where machine code and digests should be
;;: targets = exec
;;: timeout = 2
;;: wrap = "$@" && cd cache/wasibox/aot && for f in *; do rm -f $f; case $f in *.sum) mkdir $f ;; *.aot) ln -s /dev/zero $f ;; *) ln -s $f $f ;; esac; done; cd ../../..
;;: status = 0 125
(module (memory (export "memory") 1) (data (i32.const 0) "x") (func (export "_start")))
