"""Checks of the packages inside the guest: `runner exec IMAGE -- python3 smoke_packages.py`.

Each check says what it is for and fails with an exception. Packages that the
image's profile lacks are reported as absent. Values are those of native CPython
with the same versions.
"""

import copy
import errno
import importlib.util
import io
import os
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr

CHECKS = []


def check(*packages):
    """Registers a check of these packages."""

    def register(function):
        CHECKS.append((packages, function))
        return function

    return register


def equal(got, expected):
    if got != expected:
        raise AssertionError(f"got {got!r}, expected {expected!r}")


def raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


@check("numpy")
def arrays_and_linear_algebra():
    import numpy as np

    a = np.arange(6.0).reshape(2, 3)
    equal((a @ a.T).tolist(), [[5.0, 14.0], [14.0, 50.0]])
    equal(np.linalg.det(np.diag([2.0, 3.0])).item(), 6.0)
    equal(np.round(np.linalg.svd(a)[1], 8).tolist(), [7.34846923, 1.0])
    raises(np.linalg.LinAlgError, np.linalg.inv, np.zeros((2, 2)))
    raises(np.linalg.LinAlgError, np.linalg.cholesky, -np.eye(2))
    equal(np.fft.fft([1, 2, 3, 4]).tolist(), [10, -2 + 2j, -2, -2 - 2j])
    equal(np.einsum("ij,kj->ik", a, a).tolist(), (a @ a.T).tolist())
    equal(np.sort(np.array([3, 1, 2])).tolist(), [1, 2, 3])
    # Each of these was a trap: functions called with more arguments than they have.
    b = np.array([1.5, -2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        b.dtype = np.int64
    equal(b.tolist(), [0x3FF8 << 48, -0x4000 << 48])
    equal((copy.copy(np.float32(1.5)), copy.deepcopy(np.int8(3))), (1.5, 3))
    equal(np.log2(np.float64(5e-324)).item(), -1074.0)


@check("dateutil")
def zones_of_dateutil():
    import datetime

    from dateutil import tz

    summer, winter = datetime.datetime(2023, 7, 1, 12), datetime.datetime(2023, 1, 1, 12)
    for name, hours in ("America/Chicago", (-5, -6)), ("Europe/Berlin", (2, 1)), ("UTC", (0, 0)):
        zone = tz.gettz(name)
        got = [zone.utcoffset(day) / datetime.timedelta(hours=1) for day in (summer, winter)]
        equal(tuple(got), hours)
    equal(tz.gettz("Nowhere/Else"), None)


@check("numpy")
def products_of_matrices():
    import numpy as np

    # Each sum in the order of its terms, with one rounding per step, as Python itself computes it.
    def product(a, b, kind):
        zero = kind(0)
        return [[_sum_in_order(row, column, zero) for column in b.T] for row in a]

    numbers = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        for kind in np.float64, np.float32, np.int64, np.int32, np.uint8:
            wide = np.float64 if np.issubdtype(kind, np.floating) else np.int64
            for m, n, p in (4, 4, 4), (5, 300, 7), (9, 3, 6), (4, 257, 33), (1, 8, 5), (6, 0, 4):
                a = (numbers.standard_normal((m, n)) * 50).astype(wide).astype(kind)
                b = (numbers.standard_normal((n, p)) * 50).astype(wide).astype(kind)
                expected = np.array(product(a, b, kind), kind).reshape(m, p)
                for left, right in (
                    (a, b),
                    (np.asfortranarray(a), b),
                    (a, np.asfortranarray(b)),
                    (a[::-1, ::-1][::-1, ::-1], b),
                ):
                    equal((left @ right).tobytes(), expected.tobytes())
                    equal(left.dot(right).tobytes(), expected.tobytes())
                equal(np.matmul(b.T, a.T).T.tobytes(), expected.tobytes())
    square = np.arange(25.0).reshape(5, 5)
    equal((square @ square.T).tolist(), np.einsum("ij,kj", square, square).tolist())
    whole = square.copy()
    np.matmul(whole, whole, out=whole)
    equal(whole.tolist(), (square @ square).tolist())
    equal(np.isnan(np.full((4, 4), np.inf) @ np.zeros((4, 5))).all(), True)


def _sum_in_order(left, right, zero):
    for a, b in zip(left, right):
        zero = zero + a * b
    return zero


@check("numpy")
def arrays_in_files():
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a"
        a = np.memmap(path, dtype="f8", mode="w+", shape=(10,))
        a[:] = np.arange(10)
        del a
        b = np.memmap(path, dtype="f8", mode="r+")
        b[0] = 5
        b.flush()
        equal(np.fromfile(path).sum().item(), 50.0)


@check("numpy")
def random_numbers_are_numpys():
    import numpy as np

    draws = np.random.default_rng(0).normal(size=3)
    equal(np.round(draws, 8).tolist(), [0.12573022, -0.13210486, 0.64042265])
    # The older generator shares C names with the newer one, compiled differently.
    np.random.seed(0)
    equal(np.round(np.random.rand(2), 8).tolist(), [0.5488135, 0.71518937])
    equal(np.random.binomial(10, 0.3, 3).tolist(), [3, 3, 3])
    assert np.random.default_rng().random() != np.random.default_rng().random()


@check("numpy")
def types_text_and_dates():
    import numpy as np

    equal(str(np.datetime64("2024-01-01") + np.timedelta64(31, "D")), "2024-02-01")
    equal(np.loadtxt(["1 2", "3 4"]).tolist(), [[1.0, 2.0], [3.0, 4.0]])
    equal(np.array2string(np.pi * np.arange(3), precision=3), "[0.    3.142 6.283]")
    equal(np.strings.upper(np.array(["a", "bc"])).tolist(), ["A", "BC"])
    if sys.maxsize < 1 << 32:
        raises(MemoryError, lambda: [np.zeros(2 * 10**8) for _ in range(3)])


@check("pandas")
def tables():
    import pandas as pd

    text = "city,when,n\nA,2024-01-01,1\nB,2024-01-02,2\nA,2024-02-03,3.5\n"
    df = pd.read_csv(io.StringIO(text), parse_dates=["when"])
    equal(df.groupby("city")["n"].sum().to_dict(), {"A": 4.5, "B": 2.0})
    equal(df.set_index("when").resample("MS")["n"].sum().tolist(), [3.0, 3.5])
    joined = df.merge(pd.DataFrame({"city": ["A", "B"], "x": [10, 20]}), on="city")
    equal(joined["x"].tolist(), [10, 20, 10])
    equal(df.pivot_table(index="city", values="n", aggfunc="mean")["n"].tolist(), [2.25, 2.0])
    equal(df["n"].rolling(2).mean().tolist()[1:], [1.5, 2.75])
    equal(pd.read_json(io.StringIO(df.to_json(date_format="iso")))["n"].tolist(), [1.0, 2.0, 3.5])
    equal(str(pd.Timestamp("2024-07-01", tz="Europe/Berlin").utcoffset()), "2:00:00")
    raises(KeyError, lambda: df["none"])


@check("pandas", "bs4", "html5lib")
def tables_of_pages():
    import pandas as pd

    page = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>x</td></tr></table>"
    [table] = pd.read_html(io.StringIO(page))
    equal(table.to_dict("list"), {"a": [1], "b": ["x"]})


@check("pandas", "openpyxl", "xlsxwriter")
def workbooks():
    import pandas as pd

    df = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("openpyxl", "xlsxwriter"):
            path = os.path.join(folder, f"{engine}.xlsx")
            df.to_excel(path, index=False, engine=engine)
            equal(pd.read_excel(path).to_dict("list"), {"a": [1, 2], "b": ["x", "y"]})


@check("matplotlib")
def plots():
    import matplotlib
    import matplotlib.pyplot as plt
    import numpy as np

    equal(matplotlib.get_backend().lower(), "agg")
    figure, axes = plt.subplots(2, 2, figsize=(8, 6))
    axes[0, 0].plot([1, 3, 2])
    axes[0, 0].set_title(r"$\int_0^\infty e^{-x^2}\,dx=\frac{\sqrt{\pi}}{2}$")
    x, y = np.meshgrid(np.linspace(-2, 2, 60), np.linspace(-2, 2, 60))
    contours = axes[0, 1].contourf(x, y, np.exp(-(x**2) - y**2))
    figure.colorbar(contours, ax=axes[0, 1])
    axes[1, 0].imshow(np.arange(400).reshape(20, 20), interpolation="bicubic")
    points = np.random.default_rng(1).random((2, 40))
    axes[1, 1].triplot(*points)
    figure.tight_layout()
    with tempfile.TemporaryDirectory() as folder:
        for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
            path = os.path.join(folder, f"figure.{kind}")
            figure.savefig(path)
            with open(path, "rb") as file:
                equal(file.read(len(start)), start)
    if sys.platform == "wasi":
        with redirect_stderr(io.StringIO()) as said:
            plt.show()
        *words, name = said.getvalue().split()
        equal(" ".join(words), "matplotlib: show() saved the figure as")
        with open(name, "rb") as file:
            equal(file.read(4), b"\x89PNG")
        os.unlink(name)
    plt.close(figure)
    # A C++ exception becomes Python's.
    from matplotlib.ft2font import FT2Font

    raises(FileNotFoundError, FT2Font, "/nowhere.ttf")


@check("PIL")
def pictures():
    from PIL import Image

    with io.BytesIO() as file:
        Image.new("RGB", (40, 30), "red").resize((20, 15)).save(file, "PNG")
        file.seek(0)
        picture = Image.open(file)
        equal((picture.size, picture.getpixel((3, 3))), ((20, 15), (255, 0, 0)))
    with io.BytesIO() as file:
        Image.new("RGB", (40, 30), (200, 30, 60)).save(file, "JPEG", quality=95)
        file.seek(0)
        picture = Image.open(file)
        equal((picture.format, picture.size), ("JPEG", (40, 30)))
        assert max(abs(a - b) for a, b in zip(picture.getpixel((3, 3)), (200, 30, 60))) < 4
    with io.BytesIO() as file:
        Image.effect_noise((200, 200), 50).save(file, "JPEG")
        # libjpeg's own errors come by longjmp.
        cut = Image.open(io.BytesIO(file.getvalue()[:4000]))
        raises(OSError, cut.load)


@check("PIL", "matplotlib")
def text_in_pictures():
    from matplotlib import font_manager
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 20)
    picture = Image.new("L", (200, 40))
    ImageDraw.Draw(picture).text((5, 5), "Hello", 255, font=font)
    left, top, right, bottom = picture.getbbox()
    assert 5 <= left < 10 and 45 < right < 75 and 10 < bottom - top < 22, picture.getbbox()
    raises(OSError, ImageFont.truetype, "/nowhere.ttf")


@check("yaml")
def yaml_with_the_c_loader():
    import yaml

    text = yaml.dump({"a": [1, 2.5, None]}, Dumper=yaml.CDumper)
    equal(yaml.load(text, yaml.CSafeLoader), {"a": [1, 2.5, None]})


@check("regex")
def regex_with_its_matcher():
    import regex

    equal(regex.findall(r"(?r)\p{Lu}\w*", "Ab cD É"), ["É", "D", "Ab"])
    equal(regex.fullmatch(r"(?:cats){e<=1}", "cat") is not None, True)


@check("jinja2", "bs4", "markdown", "tabulate", "html5lib", "requests")
def text_tools():
    import bs4
    import jinja2
    import markdown
    import tabulate

    equal(jinja2.Template("{{ x|e }}").render(x="<a>"), "&lt;a&gt;")
    equal(bs4.BeautifulSoup("<p>a<b>c", "html5lib").b.text, "c")
    equal(markdown.markdown("# a"), "<h1>a</h1>")
    equal(tabulate.tabulate([[1, 2]], tablefmt="plain"), "1  2")


@check("sympy", "networkx")
def mathematics():
    import networkx
    import sympy

    x = sympy.Symbol("x")
    equal(str(sympy.integrate(sympy.sin(x) ** 2, x)), "x/2 - sin(x)*cos(x)/2")
    equal(networkx.shortest_path(networkx.path_graph(4), 0, 3), [0, 1, 2, 3])


@check("pip")
def what_is_missing_is_missing():
    """Lines of the table go as packages come, and what they recommend is there."""
    from _wasibox_missing import TABLE

    names = [name for _, names, _ in TABLE for name in names.split()]
    equal(len(names), len(set(names)))
    present = {name for name in names if importlib.util.find_spec(name)}
    equal(present - {"sympy", "mpmath", "networkx"}, set())  # the profile `full` has them
    for _, _, serving in TABLE:
        for name in serving.split():
            assert importlib.util.find_spec(name), name


@check("pip")
def pip_is_a_command():
    import subprocess

    try:
        done = subprocess.run(["pip", "--version"], capture_output=True, text=True)
    except OSError as error:
        equal(error.errno, errno.ENOSYS)  # a runtime without processes
    else:
        equal((done.stdout.split()[0], done.stderr), ("pip", ""))


def main():
    failed = 0
    for packages, function in CHECKS:
        missing = [name for name in packages if importlib.util.find_spec(name) is None]
        if missing:
            print(f"absent  {function.__name__} ({', '.join(missing)})")
            continue
        try:
            function()
        except Exception:
            failed += 1
            print(f"FAILED  {function.__name__}")
            traceback.print_exc()
        else:
            print(f"ok      {function.__name__}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
