;;: attacks = a folder of machine code below one that every user of the host may write to
;;: finding = H2
;;: targets = exec
;;: host-env = XDG_CACHE_HOME=cache/open
;;: before = mkdir -p cache/open; chmod 777 cache/open; mkdir cache/open/wasibox; chmod 777 cache/open/wasibox; mkdir -m 700 cache/open/wasibox/aot
;;: status = 0 125
;;: after = test -z "$(find cache/open -name '*.aot')"
(module (memory (export "memory") 1) (func (export "_start")))
