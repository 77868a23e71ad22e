;;: attacks = stacks: every process fills its own and waits
;;: finding = H5
;;: timeout = 3
;;: memory = 64M
;;: processes = 64
;;: threads = 128
;;: status = any
;; Processes end all the time here, and the host's kernel counts the thread of an ended process until
;; it has removed it, so that there are seldom some more than the limit allows.
(module
  (import "wasix_32v1" "proc_spawn3" (func $spawn (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasix_32v1" "thread_sleep" (func $sleep (param i64) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "/bin/hostile\00")
  (data (i32.const 64) "\00\00\00\00")
  (global $depth (mut i32) (i32.const 0))
  (func $down (param $a i64) (param $b i64) (param $c i64) (param $d i64) (result i64)
    (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
    (if (i32.gt_u (global.get $depth) (i32.const 90000)) (then (drop (call $sleep (i64.const 9000000000)))))
    (i64.add (local.get $a) (call $down (local.get $d) (local.get $a) (local.get $b) (local.get $c))))
  (func (export "_start") (local $i i32)
    (loop $more
      (drop (call $spawn (i32.const 0) (i32.const 12) (i32.const 64) (i32.const 1) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 128)))
      (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 2))))
    (drop (call $down (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)))))
