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


@check("sympy", "mpmath", "networkx")
def mathematics():
    import mpmath
    import networkx
    import sympy

    x = sympy.Symbol("x")
    equal(str(sympy.integrate(sympy.sin(x) ** 2, x)), "x/2 - sin(x)*cos(x)/2")
    equal(sympy.solve(x**2 - 5 * x + 6, x), [2, 3])
    equal(str(sympy.series(sympy.exp(x), x, 0, 4)), "1 + x + x**2/2 + x**3/6 + O(x**4)")
    f = sympy.lambdify(x, sympy.diff(x**3), "numpy")
    equal(f(2.0), 12.0)
    with mpmath.workdps(30):
        equal(str(mpmath.zeta(3)), "1.20205690315959428539973816151")
    equal(networkx.shortest_path(networkx.path_graph(4), 0, 3), [0, 1, 2, 3])
    central = networkx.betweenness_centrality(networkx.karate_club_graph())
    equal(round(central[0], 6), 0.437635)
    groups = networkx.community.greedy_modularity_communities(networkx.karate_club_graph())
    equal([len(group) for group in groups], [17, 9, 8])


@check("seaborn", "patsy", "joblib")
def statistics():
    import joblib
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd
    import patsy
    import seaborn

    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "g": ["a", "b", "a", "b"], "y": [2, 4, 5, 9]})
    axes = seaborn.barplot(frame, x="g", y="y", errorbar=None)
    equal([bar.get_height() for bar in axes.patches], [3.5, 6.5])
    plt.close("all")
    grid = seaborn.FacetGrid(frame, col="g").map(plt.scatter, "x", "y")
    equal(grid.axes.shape, (1, 2))
    plt.close("all")
    equal(len(seaborn.heatmap(np.eye(3), annot=True).texts), 9)
    plt.close("all")
    _, matrix = patsy.dmatrices("y ~ x + C(g)", frame)
    equal(matrix.design_info.column_names, ["Intercept", "C(g)[T.b]", "x"])
    equal(np.asarray(matrix)[1].tolist(), [1.0, 1.0, 2.0])
    equal(joblib.Parallel(n_jobs=1)(joblib.delayed(pow)(n, 2) for n in range(4)), [0, 1, 4, 9])
    try:
        equal(joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(abs)(-n) for n in range(3)), [0, 1, 2])
    except RuntimeError as error:
        # A runtime without threads, for which only the profile science is prepared.
        equal((str(error), importlib.util.find_spec("scipy")), ("can't start new thread", None))
    equal(joblib.hash([1, "a"]), joblib.hash([1, "a"]))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "frame")
        joblib.dump(frame, path)
        equal(joblib.load(path).equals(frame), True)


@check("click", "rich", "tqdm", "pygments", "colorama", "humanize")
def programs_for_terminals():
    import click
    import click.testing
    import humanize
    import pygments
    import pygments.formatters
    import pygments.lexers
    import rich.console
    import rich.table
    import tqdm

    @click.command()
    @click.option("--count", default=2)
    @click.argument("name")
    def hello(count, name):
        click.echo(f"hello {name} " * count)

    done = click.testing.CliRunner().invoke(hello, ["--count", "1", "you"])
    equal((done.exit_code, done.output), (0, "hello you \n"))
    table = rich.table.Table("a", "b")
    table.add_row("1", "[b]x[/b]")
    console = rich.console.Console(file=io.StringIO(), width=40)
    console.print(table)
    equal(console.file.getvalue().split("\n")[3], "│ 1 │ x │")
    bar = io.StringIO()
    equal(sum(tqdm.tqdm(range(10), file=bar, ncols=60)), 45)
    equal("100%" in bar.getvalue(), True)
    tokens = pygments.highlight("x = 1", pygments.lexers.PythonLexer(), pygments.formatters.NullFormatter())
    equal(tokens, "x = 1\n")
    html = pygments.highlight("1", pygments.lexers.get_lexer_by_name("json"), pygments.formatters.HtmlFormatter())
    equal(html, '<div class="highlight"><pre><span></span><span class="mi">1</span>\n</pre></div>\n')
    equal((humanize.naturalsize(3_000_000), humanize.intcomma(12345)), ("3.0 MB", "12,345"))


@check("attr", "jsonschema", "referencing", "rpds")
def data_that_is_checked():
    import attrs
    import jsonschema
    import rpds

    @attrs.define(frozen=True)
    class Point:
        x: int = attrs.field(converter=int, validator=attrs.validators.ge(0))

    equal(attrs.asdict(Point("3")), {"x": 3})
    equal(raises(ValueError, Point, -1), "'x' must be >= 0: -1")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"n": {"type": "integer", "minimum": 1}},
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "array", "items": {"type": "string"}}},
        "required": ["a"],
    }
    checked = jsonschema.Draft202012Validator(schema)
    errors = sorted(error.message for error in checked.iter_errors({"a": 0, "b": ["x", 2]}))
    equal(errors, ["0 is less than the minimum of 1", "2 is not of type 'string'"])
    jsonschema.validate({"a": 1}, schema)
    raises(jsonschema.ValidationError, jsonschema.validate, {}, schema)
    one = rpds.HashTrieMap({"a": 1}).insert("b", 2)
    equal((dict(one), len(one.remove("a")), hash(one) == hash(rpds.HashTrieMap(b=2, a=1))), ({"a": 1, "b": 2}, 1, True))
    equal(one == {"a": 1, "b": 2}, False)
    raises(AttributeError, setattr, one, "x", 1)
    raises(TypeError, hash, rpds.HashTrieMap(a=[]))
    equal(repr(rpds.List([1, 2]).push_front(0).rest), "List([1, 2])")
    equal(rpds.HashTrieSet([1]) | rpds.HashTrieSet([2]), {1, 2})
    equal((rpds.Queue([1, 2]).peek(), list(rpds.Stack([1, 2]))), (1, [2, 1]))


@check("reportlab", "pypdf", "markdown_it")
def documents():
    import markdown_it
    import pypdf
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

    file, styles = io.BytesIO(), getSampleStyleSheet()
    story = [Paragraph("First page", styles["Title"]), PageBreak(), Table([["a", "b"], [1, 2]])]
    SimpleDocTemplate(file, pagesize=A4, title="Report").build(story)
    pages = pypdf.PdfReader(file)
    equal((len(pages.pages), pages.metadata.title), (2, "Report"))
    equal(pages.pages[0].extract_text().strip(), "First page")
    equal(pages.pages[1].extract_text().split(), ["a", "b", "1", "2"])
    writer, locked = pypdf.PdfWriter(), io.BytesIO()
    writer.append(pages)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(locked)
    equal(pypdf.PdfReader(locked, password="secret").pages[0].extract_text().strip(), "First page")
    equal(markdown_it.MarkdownIt().render("*a*"), "<p><em>a</em></p>\n")


@check("lxml", "cssselect", "docx", "pptx", "bs4")
def documents_of_xml():
    import bs4
    import docx
    import pandas as pd
    import pptx
    from lxml import etree, html, objectify
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    root = etree.fromstring("<a xmlns:n='urn:n'><b id='1'>x</b><n:b>y</n:b>z</a>")
    equal(root.xpath("//n:b/text()", namespaces={"n": "urn:n"}), ["y"])
    equal(etree.tostring(root[0]), b'<b xmlns:n="urn:n" id="1">x</b>')
    sheet = etree.XSLT(etree.XML(
        '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" '
        'xmlns:s="http://exslt.org/strings"><xsl:output method="text"/><xsl:template match="/">'
        '<xsl:value-of select="count(//b)"/><xsl:for-each select="s:tokenize(\'p q\')">[<xsl:value-of '
        'select="."/>]</xsl:for-each></xsl:template></xsl:stylesheet>'
    ))
    equal(str(sheet(root)), "1[p][q]")
    raises(etree.XMLSyntaxError, etree.fromstring, "<a><b></a>")
    grammar = etree.RelaxNG(etree.XML('<element name="a" xmlns="http://relaxng.org/ns/structure/1.0"><empty/></element>'))
    equal((grammar(etree.XML("<a/>")), grammar(etree.XML("<b/>"))), (True, False))
    page = html.fromstring("<p class=x>caf\xe9<p>two<a href=/u>l</a>".encode("cp1252"), parser=html.HTMLParser(encoding="cp1252"))
    equal([p.get("class") for p in page.cssselect("p.x")], ["x"])
    equal([p.text_content() for p in page.xpath("//p")], ["caf\xe9", "twol"])
    equal([link for _, _, link, _ in page.iterlinks()], ["/u"])
    equal(objectify.fromstring("<r><n>3</n><n>4</n></r>").n[1] + 1, 5)
    equal(bs4.BeautifulSoup("<p>a<b>c", "lxml").b.text, "c")
    table = "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"
    equal(pd.read_html(io.StringIO(table), flavor="lxml")[0].to_dict("list"), {"a": [1]})
    text = pd.DataFrame({"a": [1]}).to_xml(index=False)
    equal(pd.read_xml(io.StringIO(text)).to_dict("list"), {"a": [1]})
    file, document = io.BytesIO(), docx.Document()
    document.add_heading("Head", 1)
    document.add_paragraph("text").add_run(" bold").bold = True
    document.add_table(1, 2).cell(0, 1).text = "cell"
    document.save(file)
    again = docx.Document(file)
    equal([p.text for p in again.paragraphs], ["Head", "text bold"])
    equal(again.tables[0].cell(0, 1).text, "cell")
    file, slides = io.BytesIO(), pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[0])
    slide.shapes.title.text = "Title"
    data = CategoryChartData()
    data.categories = ["a", "b"]
    data.add_series("s", (1, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 100, 100, data)
    slides.save(file)
    again = pptx.Presentation(file).slides[0].shapes
    equal((again.title.text, [list(p.categories) for p in again[-1].chart.plots]), ("Title", [["a", "b"]]))


@check("plotly", "altair", "narwhals")
def charts_for_browsers():
    import altair
    import narwhals
    import pandas as pd
    import plotly.express
    import plotly.graph_objects as go

    frame = pd.DataFrame({"x": [1, 2], "y": [3.0, 4.5]})
    figure = plotly.express.line(frame, x="x", y="y", title="T")
    equal((figure.layout.title.text, figure.data[0].type), ("T", "scatter"))
    page = go.Figure(go.Bar(x=["a"], y=[1])).to_html(include_plotlyjs=True)
    equal(len(page) > 4_000_000, True)
    raises(ValueError, lambda: go.Bar(nosuch=1))
    chart = altair.Chart(frame).mark_bar().encode(x="x:O", y="mean(y)").to_dict()
    equal(chart["encoding"]["y"], {"aggregate": "mean", "field": "y", "type": "quantitative"})
    equal(narwhals.from_native(frame).filter(narwhals.col("x") > 1)["y"].to_list(), [4.5])


@check("sqlalchemy")
def databases():
    import sqlalchemy as sa
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

    class Base(DeclarativeBase):
        pass

    class Item(Base):
        __tablename__ = "item"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]

    engine = sa.create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Item(name="a"), Item(name="b")])
        session.commit()
        equal(session.scalars(sa.select(Item.name).order_by(Item.id.desc())).all(), ["b", "a"])
    import pandas as pd

    with engine.connect() as connection:
        equal(pd.read_sql(sa.text("select count(*) as n from item"), connection)["n"].tolist(), [2])


@check("httpx", "anyio", "h11")
def requests_by_httpx():
    import asyncio
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    import anyio
    import httpx

    answer = httpx.MockTransport(lambda request: httpx.Response(200, json={"path": request.url.path}))
    with httpx.Client(transport=answer, base_url="http://h/a/") as client:
        equal(client.get("b").json(), {"path": "/a/b"})

    async def both():
        async with httpx.AsyncClient(transport=answer) as client:
            equal((await client.get("http://h/c")).json(), {"path": "/c"})
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 0)

    asyncio.run(both())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"here")

        def log_message(self, *words):
            pass

    try:
        server = HTTPServer(("127.0.0.1", 0), Handler)
    except OSError as error:
        equal(error.errno, errno.ENOSYS)  # a runtime without sockets
        return
    worker = threading.Thread(target=server.serve_forever, daemon=True)
    try:
        worker.start()
    except RuntimeError as error:
        equal(str(error), "can't start new thread")  # a runtime without threads
        server.server_close()
        return
    url = f"http://127.0.0.1:{server.server_port}/"
    equal(httpx.get(url).text, "here")

    async def one():
        async with httpx.AsyncClient() as client:
            equal((await client.get(url)).text, "here")

    asyncio.run(one())
    server.shutdown()


@check("pytz", "tzdata", "lark", "xlrd", "cloudpickle")
def small_ones():
    import datetime

    import cloudpickle
    import lark
    import pytz
    import xlrd

    summer = pytz.timezone("Europe/Berlin").localize(datetime.datetime(2024, 7, 1))
    equal(summer.isoformat(), "2024-07-01T00:00:00+02:00")
    importlib.import_module("tzdata")
    grammar = lark.Lark('start: NUMBER ("+" NUMBER)*\n%import common.NUMBER\n%ignore " "', parser="lalr")
    equal([str(token) for token in grammar.parse("1 + 2+3").children], ["1", "2", "3"])
    raises(xlrd.XLRDError, lambda: xlrd.open_workbook(file_contents=b"nothing of a workbook"))
    double = cloudpickle.loads(cloudpickle.dumps(lambda n: 2 * n))
    equal(double(4), 8)


@check("docutils", "faker")
def of_the_profile_full():
    import docutils.core
    import faker

    parts = docutils.core.publish_parts("Title\n=====\n\n*a* ``b``", writer="html5")
    equal(parts["body"], '<p><em>a</em> <span class="docutils literal">b</span></p>\n')
    faker.Faker.seed(0)
    equal(faker.Faker().name(), "Norma Fisher")


@check("pytest")
def tests_by_pytest():
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/test_it.py", "w") as file:
            file.write(
                "import pytest\n\n\n"
                "@pytest.mark.parametrize('n', [1, 2])\n"
                "def test_number(n, tmp_path):\n    assert n == 1\n\n\n"
                "def test_raises():\n    with pytest.raises(ZeroDivisionError):\n        1 / 0\n"
            )
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
                capture_output=True,
                text=True,
            )
        except OSError as error:
            equal(error.errno, errno.ENOSYS)  # a runtime without processes
            return
        equal((done.returncode, "assert 2 == 1" in done.stdout), (1, True))
        equal("1 failed, 2 passed" in done.stdout, True)


@check("pydantic")
def models():
    from decimal import Decimal
    from typing import Annotated

    from pydantic import BaseModel, Field, TypeAdapter, ValidationError, field_validator

    class Item(BaseModel):
        name: str = Field(pattern=r"^\w+$")
        price: Annotated[Decimal, Field(gt=0)]
        tags: set[str] = set()

        @field_validator("name")
        @classmethod
        def lower(cls, value):
            return value.lower()

    item = Item.model_validate_json('{"name": "Bolt", "price": "1.50", "tags": ["a", "a"]}')
    equal(item.model_dump_json(), '{"name":"bolt","price":"1.50","tags":["a"]}')
    try:
        Item.model_validate({"name": "?", "price": -1})
    except ValidationError as error:
        equal([e["type"] for e in error.errors()], ["string_pattern_mismatch", "greater_than"])
    else:
        raise AssertionError("no error")
    equal(TypeAdapter(dict[int, float]).validate_python({"1": "2.5"}), {1: 2.5})
    equal(sorted(Item.model_json_schema()["properties"]), ["name", "price", "tags"])
    # Deep data is an error of depth, not the end of the process.
    raises(ValidationError, TypeAdapter(list).validate_json, "[" * 100_000)


@check("scipy")
def each_part_of_scipy():
    import numpy as np
    from scipy import cluster, fft, integrate, interpolate, linalg, ndimage, optimize
    from scipy import signal, sparse, spatial, special, stats
    from scipy.sparse.linalg import eigsh, spsolve

    def close(got, expected):
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-13)

    a = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    close(linalg.eigh(a)[0], [1.2679491924311228, 3.0, 4.732050807568877])
    close(linalg.expm(a)[0, 2], 12.818438622318942)
    raises(linalg.LinAlgError, linalg.cholesky, -a)
    raises(linalg.LinAlgError, linalg.solve, np.zeros((2, 2)), np.ones(2))
    close([special.gamma(5.5), special.jv(2, 3.5)], [52.34277778455352, 0.4586291841943075])
    close(special.hyp2f1(0.5, 1, 2, 0.25), 1.0717967697244903)
    close(optimize.brentq(lambda x: x * x - 2, 0, 2), 2**0.5)
    found = optimize.minimize(optimize.rosen, [1.3, 0.7], method="BFGS")
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-4)
    found = optimize.linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6], method="highs")
    close(found.x, [3, 1])
    close(stats.norm.ppf(0.975), 1.959963984540054)
    close(stats.ttest_ind([1, 2, 3, 4.0], [2, 3, 4, 6.0]).pvalue, 0.2872081404442227)
    found = stats.studentized_range.cdf(3.5, 3, 10)
    np.testing.assert_allclose(found, 0.9228966891615896, rtol=1e-9)
    close(integrate.quad(np.exp, 0, 1)[0], np.e - 1)
    solved = integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(solved.y[0, -1], np.exp(-1), rtol=1e-8)
    close(interpolate.CubicSpline([0, 1, 2, 3], [0, 1, 8, 27])(1.5), 3.375)
    smooth = interpolate.splrep(np.arange(9.0), np.arange(9.0) ** 3)
    close(interpolate.splev(2.5, interpolate.splder(smooth, 2)), 15.0)
    raises(ValueError, interpolate.splder, interpolate.insert(4.0, smooth, m=2), 2)
    close(fft.dct([1.0, 2, 3, 4]), [20.0, -6.308644059797899, 0.0, -0.4483415291679651])
    with fft.set_backend("scipy"), fft.skip_backend("scipy"):
        raises(NotImplementedError, fft.fft, [1.0])
    with fft.set_backend("scipy"):
        close(fft.fft([1.0, 0, 0]), [1, 1, 1])
    close(signal.butter(2, 0.3)[0], [0.13110643991662593, 0.26221287983325187, 0.13110643991662593])
    points = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.4, 0.6]])
    equal(sorted(spatial.ConvexHull(points).vertices.tolist()), [0, 1, 2, 3])
    equal(spatial.cKDTree(points).query([0.5, 0.5])[1], 4)
    # Qhull leaves by longjmp.
    raises(spatial.QhullError, spatial.ConvexHull, np.zeros((4, 2)))
    matrix = sparse.diags([[2.0] * 50, [-1.0] * 49, [-1.0] * 49], [0, 1, -1]).tocsc()
    close(spsolve(matrix, np.ones(50))[24], 325.0)
    close(eigsh(matrix, 2, which="LA")[0][1], 3.9962066574740884)
    close(ndimage.gaussian_filter(np.eye(5), 1)[2, 2], 0.2832123126451949)
    equal(ndimage.label([[1, 0, 1], [1, 0, 0]])[1], 2)
    tree = cluster.hierarchy.linkage(points, "ward")
    equal(cluster.hierarchy.fcluster(tree, 2, "maxclust").tolist(), [1, 2, 1, 2, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raises(integrate.IntegrationWarning, integrate.quad, lambda x: x**-1.5, 0, 1)


@check("scipy")
def each_compiled_module_of_science():
    """A function that is called with other parameters than it has is a trap, often at import."""
    families = ("scipy.", "sklearn.", "statsmodels.")
    names = [name for name in sys.builtin_module_names if name.startswith(families)]
    assert len(names) >= 100, names
    # The module that it imports imports it in turn.
    importlib.import_module("scipy.linalg._matfuncs_sqrtm")
    for name in names:
        importlib.import_module(name)


def scores_of_learners(np):
    """One number of each family of scikit-learn's compiled code, by the estimator's name."""
    from sklearn import cluster, covariance, decomposition, ensemble, isotonic, linear_model
    from sklearn import manifold, mixture, naive_bayes, neighbors, preprocessing, svm, tree
    from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file
    from sklearn.feature_extraction import DictVectorizer, FeatureHasher
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.metrics import adjusted_mutual_info_score, pairwise_distances, silhouette_score
    from sklearn.model_selection import cross_val_score
    from scipy import sparse

    x, y = load_iris(return_X_y=True)
    thin = sparse.csr_array(x)
    target = x[:, 3]
    found = {}

    def score(model, data=x, wanted=y):
        return float(model.fit(data, wanted).score(data, wanted))

    for name, model in {
        "logistic": linear_model.LogisticRegression(max_iter=500),
        "saga": linear_model.LogisticRegression(C=2, solver="saga", max_iter=3000, tol=1e-3),
        "libsvm": svm.SVC(),
        "nu": svm.NuSVC(nu=0.2),
        "forest": ensemble.ExtraTreesClassifier(20, random_state=0),
        "boosted": ensemble.HistGradientBoostingClassifier(max_iter=20, random_state=0),
        "ball": neighbors.KNeighborsClassifier(algorithm="ball_tree"),
        "kd": neighbors.KNeighborsClassifier(algorithm="kd_tree", metric="manhattan"),
        "brute": neighbors.KNeighborsClassifier(algorithm="brute"),
        "radius": neighbors.RadiusNeighborsClassifier(1.5, algorithm="brute"),
        "perceptron": linear_model.SGDClassifier(random_state=0, loss="log_loss"),
        "bayes": naive_bayes.GaussianNB(),
    }.items():
        found[name] = score(model)
    found["sparse vectors"] = score(svm.SVC(kernel="linear"), thin)
    found["sparse lines"] = score(svm.LinearSVC(random_state=0), thin)
    found["sparse tree"] = score(tree.DecisionTreeClassifier(random_state=0, max_depth=3), thin)
    for name, model in {
        "lasso": linear_model.Lasso(0.1),
        "angles": linear_model.LassoLars(0.01),
        "huber": linear_model.HuberRegressor(max_iter=1000),
        "gradients": ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0),
        "absolute": tree.DecisionTreeRegressor(criterion="absolute_error", max_depth=3, random_state=0),
        "process": GaussianProcessRegressor(alpha=0.1, optimizer=None),
        "poisson": linear_model.PoissonRegressor(),
        "vectors": svm.SVR(),
    }.items():
        found[name] = score(model, x[:, :3], target)
    found["sparse lasso"] = score(linear_model.Lasso(0.1), thin[:, :3], target)
    found["isotonic"] = float(isotonic.IsotonicRegression().fit(x[:, 2], target).score(x[:, 2], target))
    for name, model in {
        "lloyd": cluster.KMeans(3, n_init=2, random_state=0),
        "elkan": cluster.KMeans(3, n_init=2, random_state=0, algorithm="elkan"),
        "batches": cluster.MiniBatchKMeans(3, n_init=2, random_state=0),
        "dbscan": cluster.DBSCAN(0.8),
        "hdbscan": cluster.HDBSCAN(copy=True),
        "ward": cluster.AgglomerativeClustering(3),
        "graph": cluster.AgglomerativeClustering(3, connectivity=neighbors.kneighbors_graph(x, 20)),
        "spectral": cluster.SpectralClustering(3, random_state=0),
        "mixture": mixture.GaussianMixture(3, random_state=0),
    }.items():
        found[name] = float(adjusted_mutual_info_score(y, model.fit_predict(x)))
    found["parts"] = float(decomposition.NMF(2, init="nndsvd", max_iter=500).fit(x).reconstruction_err_)
    found["topics"] = float(decomposition.LatentDirichletAllocation(2, random_state=0).fit(x).perplexity(x))
    found["words"] = float(np.abs(decomposition.DictionaryLearning(2, max_iter=20, random_state=0).fit_transform(x)).sum())
    found["ledoit"] = float(covariance.LedoitWolf().fit(x).shrinkage_)
    found["embedding"] = float(manifold.TSNE(max_iter=300, random_state=0, init="pca").fit(x[::3]).kl_divergence_)
    found["isomap"] = float(manifold.Isomap().fit(x).reconstruction_error())
    found["density"] = float(neighbors.KernelDensity().fit(x).score(x))
    found["powers"] = float(preprocessing.PolynomialFeatures(3).fit_transform(thin).sum())
    found["target"] = float(preprocessing.TargetEncoder(random_state=0).fit_transform(y[:, None], target).sum())
    found["quantiles"] = float(preprocessing.QuantileTransformer(n_quantiles=20).fit_transform(x).sum())
    found["hashes"] = float(FeatureHasher(8).transform([{"a": 1, "b": 2.5}, {"c": -1}]).sum())
    found["dicts"] = float(DictVectorizer().fit_transform([{"a": 1, "b": 2.5}, {"c": -1}]).sum())
    found["distances"] = float(pairwise_distances(thin, metric="manhattan").sum())
    found["silhouette"] = float(silhouette_score(x, y))
    found["folds"] = float(cross_val_score(ensemble.RandomForestClassifier(10, random_state=0, n_jobs=2), x, y).mean())
    file = io.BytesIO()
    dump_svmlight_file(x, y, file)
    file.seek(0)
    found["file"] = float(load_svmlight_file(file)[0].sum())
    return found


def figures_of_models(np):
    """One number of each family of statsmodels' compiled code, by the model's name."""
    import pandas as pd
    import statsmodels.api as sm
    import statsmodels.formula.api as smf
    from statsmodels.robust.scale import qn_scale
    from statsmodels.tsa.api import STL, ETSModel, ExponentialSmoothing, MarkovAutoregression, SARIMAX, VAR
    from statsmodels.tsa.api import UnobservedComponents
    from statsmodels.tsa.arima.model import ARIMA
    from statsmodels.tsa.innovations import arma_innovations

    n = np.arange(72)
    noise = np.sin(n * 1.7) + np.cos(n * n * 0.3)
    frame = pd.DataFrame({"x": n / 4, "g": np.where(n % 3 == 0, "a", "b"), "y": n / 2 + noise})
    index = pd.date_range("2020-01-01", periods=72, freq="MS")
    walk = pd.Series(20 + np.cumsum(noise) * 0.3, index)
    season = pd.Series(30 + n * 0.2 + 4 * np.sin(n * np.pi / 6) + noise * 0.3, index)
    fit = smf.ols("y ~ x + C(g)", frame).fit()
    found = {"ols": float(fit.params["x"]), "robust": float(fit.get_robustcov_results("HC3").bse[2])}
    found["logit"] = float(smf.logit("late ~ noise", frame.assign(noise=noise, late=frame["y"] > 18).astype({"late": int})).fit(disp=0).llf)
    found["rlm"] = float(smf.rlm("y ~ x", frame).fit().params["x"])
    found["lowess"] = float(sm.nonparametric.lowess(frame["y"], frame["x"])[30, 1])
    found["density"] = float(sm.nonparametric.KDEUnivariate(noise).fit().evaluate(0.2)[0])
    found["qn"] = float(qn_scale(noise))
    found["arima"] = float(ARIMA(walk, order=(1, 0, 1)).fit().llf)
    found["innovations"] = float(ARIMA(walk, order=(1, 0, 1)).fit(method="innovations_mle").llf)
    found["recursion"] = float(arma_innovations.arma_loglike(noise, [0.4], [0.3]))
    found["sarimax"] = float(SARIMAX(season, order=(1, 1, 1), seasonal_order=(0, 1, 1, 12)).smooth([0.2, -0.4, -0.3, 0.5]).llf)
    found["level"] = float(UnobservedComponents(season, "lltrend", seasonal=12).smooth([0.1, 0.01, 0.02, 0.3]).smoothed_state[0, 5])
    found["stl"] = float(STL(season).fit().trend.iloc[10])
    found["smoothing"] = float(ExponentialSmoothing(season, trend="add", seasonal="add").fit().sse)
    found["ets"] = float(ETSModel(season, trend="add").smooth([0.4, 0.1, 29.0, 0.3]).llf)
    found["regimes"] = float(MarkovAutoregression(walk, k_regimes=2, order=1).smooth([0.8, 0.2, 18.0, 22.0, 0.5, 0.6, 0.4]).llf)
    found["var"] = float(VAR(np.column_stack([noise, np.roll(noise, 3)])).fit(2).params[1, 0])
    found["tests"] = float(sm.stats.diagnostic.acorr_ljungbox(noise, [5])["lb_pvalue"].iloc[0])
    return found


def alike(found, expected, loose):
    """Compares by name: `loose` has relative tolerances of what is found step by step."""
    equal(list(found), list(expected))
    differing = {
        name: (value, expected[name])
        for name, value in found.items()
        if abs(value - expected[name]) > loose.get(name, 1e-9) * abs(expected[name])
    }
    equal(differing, {})


@check("sklearn", "threadpoolctl")
def learners():
    import numpy as np
    import threadpoolctl

    equal(threadpoolctl.threadpool_info(), [])
    expected = {
        "logistic": 0.9733333333333334, "saga": 0.9866666666666667, "libsvm": 0.9733333333333334,
        "nu": 0.9933333333333333, "forest": 1.0, "boosted": 0.98, "ball": 0.9666666666666667,
        "kd": 0.9666666666666667, "brute": 0.9666666666666667, "radius": 0.8866666666666667,
        "perceptron": 0.8866666666666667, "bayes": 0.96, "sparse vectors": 0.9933333333333333,
        "sparse lines": 0.9666666666666667, "sparse tree": 0.9733333333333334,
        "lasso": 0.9215123532807827, "angles": 0.9296157172878312, "huber": 0.9377967112456576,
        "gradients": 0.9467286444630901, "absolute": 0.9390088475675542,
        "process": 0.9586630875388591, "poisson": 0.808431267419481, "vectors": 0.9493874975136929,
        "sparse lasso": 0.9215123532807834, "isotonic": 0.9489791571703767,
        "lloyd": 0.7386548254402864, "elkan": 0.7386548254402864, "batches": 0.7643762582034034,
        "dbscan": 0.7125764811325075, "hdbscan": 0.7315847607219573, "ward": 0.7671669615713111,
        "graph": 0.7671669615713111, "spectral": 0.7954205025674187, "mixture": 0.89843610336763,
        "parts": 3.940907144204862, "topics": 3.865959914601194, "words": 1028.2369209110166,
        "ledoit": 0.00757880145407865, "embedding": 0.0190729983150959,
        "isomap": 0.24488362670523553, "density": -744.9083297469724, "powers": 186696.53499999997,
        "target": 180.00588751002084, "quantiles": 300.7146932424309, "hashes": -0.5, "dicts": 2.5,
        "distances": 95646.6, "silhouette": 0.503477440693296, "folds": 0.9533333333333334,
        "file": 2078.7,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(scores_of_learners(np), expected, {"isomap": 1e-3})


@check("statsmodels")
def models_by_formula():
    import numpy as np

    expected = {
        "ols": 1.973028493580162, "robust": 0.025694523321544142, "logit": -49.51626069281174,
        "rlm": 1.9699566061225897, "lowess": 15.13614450217976,
        "density": 0.2827971845044074, "qn": 1.2322095931204322, "arima": -19.4568092895813,
        "innovations": -20.74084342770874, "recursion": -123.56467085868249,
        "sarimax": -55.22842942497151, "level": 31.031605681939624, "stl": 32.065955636745564,
        "smoothing": 6.781742509898806, "ets": -185.13164054799452, "regimes": -71.12299125659608,
        "var": -0.05074254217700219, "tests": 7.0911553868137156e-12,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(figures_of_models(np), expected, {"smoothing": 1e-6})


@check("pip")
def what_is_missing_is_missing():
    """Lines of the table go as packages come, and what they recommend is there."""
    from _wasibox_missing import TABLE

    names = [name for _, names, _ in TABLE for name in names.split()]
    equal(len(names), len(set(names)))
    present = {name for name in names if importlib.util.find_spec(name)}
    # The profiles `science` and `full` have them.
    larger = {"faker", "pydantic", "scipy", "sklearn", "sqlalchemy", "statsmodels"}
    equal(present - larger, set())
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
