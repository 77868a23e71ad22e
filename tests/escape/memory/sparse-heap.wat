;;: attacks = memory by growing to the last page that is given
;;: memory = 64M
;;: status = 0
(module
  (memory (export "memory") 1)
  (func (export "_start") (local $i i32)
    (block $full (loop $more
      (br_if $full (i32.eq (memory.grow (i32.const 16)) (i32.const -1)))
      (memory.fill (i32.mul (i32.sub (memory.size) (i32.const 16)) (i32.const 65536)) (i32.const 1) (i32.const 1048576))
      (br $more)))
    (loop $again
      (drop (memory.grow (i32.const 65535)))
      (drop (memory.grow (i32.const -1)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 50000))))))
