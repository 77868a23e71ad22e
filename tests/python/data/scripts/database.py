"""A small warehouse in SQLite: joins, windows, text search, and tables through pandas."""

import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd

rng = np.random.default_rng(9)
Path("/tmp/shop.db").unlink(missing_ok=True)
db = sqlite3.connect("/tmp/shop.db")
db.executescript(
    """
    create table if not exists customer(id integer primary key, name text unique, city text);
    create table if not exists sale(id integer primary key, customer int references customer, day text, total real);
    create virtual table note using fts5(body);
    """
)
cities = ["Oslo", "Porto", "Quito"]
db.executemany("insert into customer values (?, ?, ?)", [(i, f"c{i:03d}", cities[i % 3]) for i in range(60)])
days = pd.date_range("2025-01-01", periods=90).strftime("%Y-%m-%d")
sales = [(int(rng.integers(60)), str(rng.choice(days)), round(float(rng.exponential(40)), 2)) for _ in range(900)]
with db:
    db.executemany("insert into sale(customer, day, total) values (?, ?, ?)", sales)
    db.executemany("insert into note values (?)", [("late delivery of bolts",), ("bolts and nuts arrived",), ("invoice",)])
query = """
    with monthly as (
        select city, substr(day, 1, 7) as month, sum(total) as revenue, count(*) as n
        from sale join customer on customer.id = sale.customer group by 1, 2)
    select *, revenue - lag(revenue) over (partition by city order by month) as change,
           rank() over (partition by month order by revenue desc) as place
    from monthly order by city, month
"""
print(pd.read_sql(query, db).to_string(float_format="%.4f"))
print(db.execute("select body from note where note match 'bolts' order by rank").fetchall())
db.create_function("band", 1, lambda v: int(v // 50))
print(db.execute("select band(total) b, count(*) from sale group by b order by b limit 4").fetchall())
try:
    with db:
        db.execute("insert into sale(customer, day, total) values (1, '2025-05-05', 1)")
        db.execute("insert into customer values (1, 'again', 'Oslo')")
except sqlite3.IntegrityError as error:
    print("rolled back:", error, db.execute("select count(*) from sale").fetchone())
frame = pd.read_sql("select * from sale", db, parse_dates=["day"])
frame.groupby(frame["day"].dt.day_of_week)["total"].sum().rename("total").to_sql("weekday", db, if_exists="replace")
print(pd.read_sql("select * from weekday", db).round(6).to_dict("list"))
