;;: attacks = exceptions thrown and caught in a loop, each kept by the engine
;;: finding = C2
;;: timeout = 5
;;: memory = 8M
;;: disk = 1M
;;: status = any
(module
  (memory (export "memory") 1)
  (tag $e (param
;;* 150 i64
  ))
  (func (export "_start")
    (loop $again
      (block $caught (result
;;* 150 i64
        )
        (try_table (catch $e $caught)
          (throw $e
;;* 150 (i64.const %)
          ))
        (unreachable))
;;* 150 drop
      (br $again))))
