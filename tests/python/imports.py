"""Imports what the profile `data` has, and names what fails to. No output means that all is there."""

import importlib
import sys

NAMES = """
numpy pandas matplotlib.pyplot PIL.Image seaborn plotly.graph_objects altair narwhals
lxml.etree lxml.html docx pptx openpyxl xlsxwriter xlrd pypdf reportlab.pdfgen.canvas
sympy mpmath networkx patsy joblib cloudpickle
bs4 html5lib markdown markdown_it jinja2 regex yaml tomlkit lark pyparsing pygments tabulate humanize
attrs jsonschema requests urllib3 httpx anyio certifi click rich tqdm colorama pytest pluggy
dateutil pytz tzdata pip setuptools wheel flit_core hatchling
""".split()

for name in NAMES:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error).__name__, error, flush=True)

# C and C++ that throws or jumps: an error of each kind arrives as an exception.
from lxml import etree
from numpy.linalg import LinAlgError, inv

for call, kind in (
    (lambda: etree.fromstring("<a><b></a>"), etree.XMLSyntaxError),
    (lambda: inv([[1.0, 1.0], [1.0, 1.0]]), LinAlgError),
):
    try:
        call()
        sys.exit(f"no {kind.__name__}")
    except kind:
        pass
