;;: attacks = imports of memories, tables, globals and tags
;;: status = 125 126 1
(module
  (import "env" "memory" (memory 1 10 shared))
  (import "env" "table" (table 1 funcref))
  (import "env" "stack" (global $g (mut i32)))
  (import "env" "tag" (tag (param i32)))
  (func (export "_start") (global.set $g (i32.const 0))))
