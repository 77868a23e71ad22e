// Forty programs of Python, of the kinds that agents write. Their output is compared with the
// native runner's.

const PANDAS = 'import pandas as pd, numpy as np\n';
const FRAME = `${PANDAS}df = pd.DataFrame({"city": ["Ulm", "Bonn", "Ulm", "Kiel", "Bonn"], "n": [3, 1, 4, 1, 5], "x": [0.5, 1.5, None, 2.25, -1]})\n`;

export const PROGRAMS = [
  // pandas
  `${FRAME}print(df.groupby("city").agg(n=("n", "sum"), x=("x", "mean")).to_string())`,
  `${FRAME}print(df.describe().round(6).to_string())`,
  `${FRAME}print(df.pivot_table(index="city", values="n", aggfunc=["min", "max"]).to_string())`,
  `${FRAME}print(df.sort_values(["n", "city"], ascending=[False, True]).to_csv(index=False))`,
  `${FRAME}print(df.merge(pd.DataFrame({"city": ["Ulm", "Kiel"], "land": ["BW", "SH"]}), how="left").to_json(orient="records"))`,
  `${FRAME}df["x"] = df["x"].fillna(df["x"].median()); print(df.x.rolling(2).mean().tolist())`,
  `${PANDAS}s = pd.Series(range(10), index=pd.date_range("2026-02-26", periods=10)); print(s.resample("W").sum().to_string())`,
  `${PANDAS}import io; print(pd.read_csv(io.StringIO("d,v\\n2026-01-02,1\\n2026-03-04,2\\n"), parse_dates=["d"]).d.dt.day_name().tolist())`,
  `${FRAME}print(pd.get_dummies(df.city).astype(int).sum().to_dict(), df.city.value_counts().to_dict())`,
  `${FRAME}print(df.melt(id_vars="city").query("value > 1").reset_index(drop=True).to_string())`,
  `${FRAME}print(df.query("n > 1 and city != 'Bonn'").index.tolist(), df.corr(numeric_only=True).round(9).values.tolist())`,
  `${FRAME}df.to_excel("/tmp/t.xlsx") if False else df.to_html("/tmp/t.html"); print(len(open("/tmp/t.html").read()))`,
  // NumPy
  `${PANDAS}print(np.linalg.solve(np.array([[3., 1], [1, 2]]), [9., 8]).tolist())`,
  `${PANDAS}print(np.linalg.eigvalsh(np.arange(16.).reshape(4, 4) + np.arange(16.).reshape(4, 4).T).round(9).tolist())`,
  `${PANDAS}print(np.fft.rfft(np.sin(np.arange(32))).round(9)[:4].tolist())`,
  `${PANDAS}g = np.random.default_rng(7); print(g.normal(size=4).tolist(), g.integers(0, 100, 5).tolist())`,
  `${PANDAS}print(np.einsum("ij,jk->ik", np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2)).tolist(), np.percentile([1, 5, 2], 30))`,
  `${PANDAS}a = np.random.default_rng(1).random((300, 300)); print((a @ a).sum().round(6), np.linalg.det(a).round(3))`,
  // Pictures
  `import hashlib, matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 4, 9], label="squares"); ax.legend(); ax.set_title("A title")\nfig.savefig("/tmp/p.png"); print(hashlib.sha256(open("/tmp/p.png", "rb").read()).hexdigest())`,
  `import io, hashlib\nfrom PIL import Image, ImageDraw\nim = Image.new("RGB", (64, 48), "white"); ImageDraw.Draw(im).ellipse((5, 5, 50, 40), fill="red"); im = im.rotate(30).resize((32, 24))\nprint(hashlib.sha256(im.tobytes()).hexdigest())`,
  // The library
  'import json; print(json.dumps(json.loads(\'{"b": [1, 2.5, null, true], "a": "\\\\u00e4"}\'), sort_keys=True, indent=1))',
  'import re; print(re.sub(r"(\\w+)@(\\w+)\\.org", r"\\2 has \\1", "ann@home.org, bob@work.org"), re.findall(r"(?<=a)b+", "abbb ab b"))',
  'import collections, heapq, bisect; print(collections.Counter("abracadabra").most_common(2), heapq.nsmallest(3, [5, 1, 4, 2]), bisect.bisect([1, 3, 5], 3))',
  'import datetime as d, zoneinfo; print(d.datetime(2026, 3, 29, 1, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")).astimezone(d.timezone.utc), d.date(2024, 2, 29) + d.timedelta(366))',
  'import decimal, fractions; decimal.getcontext().prec = 40; print(decimal.Decimal(2).sqrt(), fractions.Fraction(3, 7) + fractions.Fraction(1, 3), 2 ** 200)',
  'import hashlib, base64, zlib; d = b"abc" * 1000; print(hashlib.md5(d).hexdigest(), base64.b64encode(d[:7]), zlib.crc32(d), len(zlib.compress(d)))',
  'import sqlite3; c = sqlite3.connect(":memory:"); c.execute("create table t (a, b)"); c.executemany("insert into t values (?, ?)", [(i, i * i) for i in range(9)]); print(c.execute("select sum(b), max(a) from t where b % 2").fetchall())',
  'import csv, io; w = io.StringIO(); csv.writer(w).writerows([["a", "b,c"], ["d\\"e", None]]); print(repr(w.getvalue()))',
  'import itertools as i, functools as f, operator as o; print(list(i.islice(i.permutations("abc", 2), 4)), f.reduce(o.mul, range(1, 21)))',
  'import statistics as s, math; print(s.quantiles([1, 2, 4, 8], n=4), s.stdev([1, 2, 4]), math.sin(1), math.gamma(5.5), math.fsum([.1] * 10))',
  'import subprocess; print(subprocess.run("printf \'b\\\\na\\\\n\' | sort; exit 3", shell=True, capture_output=True, text=True))',
  'import os, pathlib, shutil; p = pathlib.Path("/tmp/tree/a/b"); p.mkdir(parents=True); (p / "c.txt").write_text("x"); print(sorted(str(q) for q in pathlib.Path("/tmp/tree").rglob("*"))); shutil.rmtree("/tmp/tree"); print(os.path.exists("/tmp/tree"))',
  'import asyncio\nasync def f(n):\n  await asyncio.sleep(0.01 * n); return n\nasync def main(): print(await asyncio.gather(*(f(n) for n in (3, 1, 2))))\nasyncio.run(main())',
  'import tarfile, zipfile, io; b = io.BytesIO(); z = zipfile.ZipFile(b, "w", zipfile.ZIP_DEFLATED); z.writestr("a", "a" * 999); z.close(); print(zipfile.ZipFile(b).infolist()[0].compress_size)',
  'import xml.etree.ElementTree as E; r = E.fromstring("<r><a k=\'1\'>x</a><a/></r>"); print([(a.get("k"), a.text) for a in r.iter("a")], E.tostring(r))',
  'import dataclasses, enum, typing\n@dataclasses.dataclass(order=True, frozen=True)\nclass P:\n  x: int\n  y: float = 2.0\nclass C(enum.Flag):\n  A = 1; B = 2\nprint(sorted([P(2), P(1, 3)]), C.A | C.B, typing.get_type_hints(P))',
  'import random; random.seed(5); print(random.sample(range(100), 5), random.gauss(0, 1), random.choices("ab", k=5))',
  'import ast, dis, inspect, textwrap; print(ast.unparse(ast.parse("x=1+ 2 if y else[3]")), textwrap.fill("a b c d e f", 5))',
  // Programs that fail
  'def f(n):\n  return 1 / n\ntry:\n  f(0)\nexcept ZeroDivisionError as e:\n  raise ValueError("no") from e',
  'import sys\ndef f(): f()\ntry: f()\nexcept RecursionError as e: print(e, sys.getrecursionlimit())\nsys.exit("the end")',
];
