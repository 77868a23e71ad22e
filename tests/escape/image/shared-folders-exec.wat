;;: attacks = the same image, when a program of it is run
;;: finding = H7
;;: targets = exec
;;: rootfs = root
;;: before = p=root; for i in $(seq 45); do mkdir -p $p/a $p/b; p=$p/a; done; mkdir root/z && mv root/a root/b root/z
;;: wrap = python3 -c "import re; d = open('hostile.webc', 'rb').read(); e = re.sub(rb'(?s)(.{8}.{32})(\x01\0{7}a).{40}(\x01\0{7}b)', rb'\1\2\1\3', d); assert d != e; open('hostile.webc', 'wb').write(e)"
;;: runner = exec --timeout 1 --memory 32M hostile.webc -- hostile
;;: timeout = 2
;;: grows = 200M
;;: status = 0 124 125
(module (memory (export "memory") 1) (func (export "_start"))
  (func (export "wasibox_prepare")) (func (export "wasibox_resume") (result i32) (i32.const 1)))
