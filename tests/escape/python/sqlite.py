#: attacks = SQLite: files of the host, recursion, memory
#: timeout = 1
#: memory = 128M
#: disk = 4M
#: status = any
import sqlite3
d = sqlite3.connect("/tmp/d")
for s in ("attach '/w/../outside/secret' as x", "attach '/proc/self/mem' as y", "select load_extension('/lib/x.so')", "select randomblob(2000000000)", "select zeroblob(2147483647)",
          "select hex(randomblob(100000000))", "create table t(x)", "with recursive r(x) as (select 1 union all select x || x from r) select max(length(x)) from r limit 1",
          "insert into t with recursive r(x) as (select 1 union all select x + 1 from r) select randomblob(1000) from r limit 100000", "pragma journal_mode=wal", "pragma mmap_size=99999999999", "vacuum into '/w/x'",
          "select " + "(" * 10000 + "1" + ")" * 10000, "select writefile('/w/y', 'x')", "with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r"):
    try:
        print(d.execute(s).fetchall().__len__())
    except (Exception, MemoryError) as e:
        print(type(e).__name__)
