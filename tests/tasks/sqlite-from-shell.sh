cat > load.py <<'P'
import csv, sqlite3, sys
db = sqlite3.connect("shop.db"); db.execute("create table sale(day text, item text, n int, price real)")
with open(sys.argv[1]) as f: db.executemany("insert into sale values(?,?,?,?)", list(csv.reader(f))[1:])
db.commit(); print(db.total_changes, "rows")
P
{ echo day,item,n,price; for d in 01 02 03; do for i in pen ink; do echo "2024-01-$d,$i,$((10#$d * ${#i} % 7)),1.$d"; done; done; } > sales.csv
python3 load.py sales.csv; python3 - <<'P'
import sqlite3
db = sqlite3.connect("shop.db"); db.row_factory = sqlite3.Row
for r in db.execute("select item, sum(n) total, round(sum(n * price), 2) money, group_concat(day, ' ') days from sale group by item order by money desc"): print(dict(r))
for r in db.execute("with t as (select day, sum(n) s from sale group by day) select day, s, sum(s) over (order by day) run from t"): print(tuple(r))
try: db.execute("insert into nope values(1)")
except sqlite3.OperationalError as e: print("error:", e)
with db: db.execute("update sale set n = n + 1 where item = 'ink'")
print(db.execute("select count(*), max(n) from sale").fetchone()[:])
P
python3 -m json.tool <<< '{"b":[1,{"c":null}],"a":"é"}'; file=$(python3 -c 'import sqlite3; print(sqlite3.connect("shop.db").execute("pragma integrity_check").fetchone()[0])'); echo "$file"; head -c 15 shop.db; echo
