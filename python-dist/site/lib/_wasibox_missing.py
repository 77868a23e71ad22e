"""What serves instead of well-known packages that the image lacks, in one line behind the
traceback of a ModuleNotFoundError that nobody caught. pip says the same.

`sitecustomize` appends `Finder` to ``sys.meta_path``, where it is asked for what no one else
finds. It finds nothing; for a name of the table it sets ``sys.excepthook``, if that is the
interpreter's own. So nothing is changed in programs that miss nothing, or have a hook.
"""

import sys

# Why it is missing.
COMPILED = "is not built in, and with its compiled parts it cannot be installed"
PURE = ("is not built in; pip install gets it from an index that the sandbox's policy allows, or from "
        "a folder (pip install --no-index --find-links FOLDER NAME)")
NETWORK = ("is not built in; pip install gets it from an index that the sandbox's policy allows, but it "
           "reaches only servers in the sandbox: connections other than HTTP do not leave it")
PROGRAM = "is not built in, and the program that it runs is not here"
FORK = "is not built in, and the fork() by which it starts programs is not here"
SCREEN = "is not built in: there is no screen here"
REMOVED = "is no longer part of Python"

# Why, names of modules, and modules that serve instead.
TABLE = [
    (COMPILED, "scipy", "numpy statistics"),
    (COMPILED, "sklearn statsmodels xgboost lightgbm catboost", "numpy pandas statistics"),
    (COMPILED, "torch tensorflow keras jax onnxruntime transformers", "numpy"),
    (COMPILED, "ortools cvxpy", "numpy"),
    (PROGRAM, "pulp", "numpy"),
    (COMPILED, "numba llvmlite cython Cython cffi cupy numexpr bottleneck", "numpy"),
    (COMPILED, "polars pyarrow fastparquet duckdb h5py tables netCDF4", "pandas sqlite3"),
    (COMPILED, "shapely geopandas pyproj fiona rasterio", "math numpy"),
    (COMPILED, "cv2 skimage", "PIL numpy"),
    (COMPILED, "cryptography Crypto nacl bcrypt OpenSSL argon2", "hashlib hmac secrets"),
    (COMPILED, "ujson orjson rapidjson", "json"),
    (PURE, "pydantic", "dataclasses typing json"),
    (COMPILED, "pydantic_core msgspec", "dataclasses typing json"),
    (COMPILED, "Levenshtein rapidfuzz", "difflib"),
    (COMPILED, "spacy sentencepiece tokenizers", "re regex"),
    (COMPILED, "zstandard lz4 brotli snappy", "lzma zlib bz2"),
    (COMPILED, "psutil", "os resource"),
    (PURE, "hypothesis", "random pytest"),
    (COMPILED, "fitz", "pypdf reportlab"),
    (PURE, "bokeh", "plotly matplotlib"),
    (PURE, "nltk textblob", "re regex"),
    (PURE, "nose", "pytest unittest"),
    (PURE, "faker", "random"),
    (PURE, "typer docopt fire", "click argparse"),
    (PURE, "termcolor prettytable", "rich colorama tabulate"),
    (PURE, "toml tomli", "tomllib"),
    (PURE, "ruamel", "yaml"),
    (PURE, "simplejson demjson", "json"),
    (PURE, "tzlocal arrow pendulum", "datetime zoneinfo"),
    (PURE, "chardet", "charset_normalizer"),
    (PURE, "xlwt pyxlsb odf", "openpyxl"),
    (PURE, "PyPDF2", "pypdf"),
    (COMPILED, "pdfplumber", "pypdf"),
    (PURE, "fpdf", "reportlab"),
    (PURE, "more_itertools toolz", "itertools functools"),
    (PURE, "sortedcontainers", "bisect heapq"),
    (PURE, "mako chevron pystache", "jinja2"),
    (PURE, "ply parsimonious", "lark pyparsing"),
    (PURE, "sqlalchemy peewee dataset", "sqlite3"),
    (PURE, "dask", "joblib concurrent.futures"),
    (PURE, "loguru structlog", "logging"),
    (PURE, "dotenv", "os configparser"),
    (PURE, "aiohttp", "httpx requests urllib.request"),
    (COMPILED, "openai anthropic", "requests urllib.request"),
    (COMPILED, "tornado uvloop httptools", "asyncio http.server"),
    (PURE, "httplib2", "requests urllib.request"),
    (PURE, "boto3 botocore tweepy praw", "requests"),
    (PURE, "fastapi flask django bottle uvicorn starlette", "http.server jinja2"),
    (FORK, "gunicorn", "http.server"),
    (COMPILED, "streamlit", "jinja2"),
    (NETWORK, "websockets websocket", ""),
    (COMPILED, "grpc zmq paramiko", ""),
    (NETWORK, "pymysql redis", "sqlite3"),
    (COMPILED, "psycopg2 psycopg MySQLdb pymongo asyncpg", "sqlite3"),
    (PROGRAM, "selenium playwright", "lxml bs4"),
    (PURE, "mechanize", "requests lxml bs4"),
    (COMPILED, "scrapy yfinance", "requests lxml bs4"),
    (PURE, "git", "subprocess"),
    (PROGRAM, "docker", ""),
    (PURE, "IPython ipywidgets", "code"),
    (COMPILED, "jupyter notebook", "code"),
    (FORK, "pexpect ptyprocess", "pty subprocess"),
    (PURE, "trio", "asyncio"),
    (PURE, "prompt_toolkit blessed", "curses"),
    (SCREEN, "pygame turtle PyQt5 PyQt6 PySide6 wx pyglet", "matplotlib PIL"),
    (REMOVED, "pkg_resources", "importlib.metadata importlib.resources"),
    (REMOVED, "imp", "importlib"),
    (REMOVED, "cgi cgitb", "html urllib.parse email"),
    (REMOVED, "pipes", "shlex subprocess"),
    (REMOVED, "asyncore asynchat smtpd", "asyncio"),
    (REMOVED, "crypt", "hashlib"),
    (REMOVED, "imghdr sndhdr", "PIL mimetypes"),
    (REMOVED, "audioop aifc sunau chunk", "wave struct"),
    (REMOVED, "xdrlib uu", "struct binascii"),
    (REMOVED, "nntplib telnetlib", ""),
]

# Distributions whose name is not their module's.
PROJECTS = {
    "scikit-learn": "sklearn",
    "scikit-image": "skimage",
    "opencv-python": "cv2",
    "opencv-python-headless": "cv2",
    "pymupdf": "fitz",
    "pycryptodome": "Crypto",
    "pynacl": "nacl",
    "pyopenssl": "OpenSSL",
    "argon2-cffi": "argon2",
    "psycopg2-binary": "psycopg2",
    "mysqlclient": "MySQLdb",
    "python-levenshtein": "Levenshtein",
    "pyzmq": "zmq",
    "grpcio": "grpc",
    "gitpython": "git",
    "python-dotenv": "dotenv",
    "ruamel-yaml": "ruamel",
    "websocket-client": "websocket",
}


def _module(name):
    return PROJECTS.get(name.lower().replace("_", "-"), name)


def needs_compiler(project):
    """Whether the sources of a distribution cannot be built: those of the table that are compiled."""
    module = _module(project).lower().replace("-", "_")
    return any(why is COMPILED and module in names.lower().split() for why, names, _ in TABLE)


def advice(name):
    """The line for a module or distribution, or None if it is not in the table."""
    from importlib.util import find_spec

    module = _module(name).replace("-", "_")
    for why, names, serving in TABLE:
        if module in names.split():
            # Images differ in what they have; submodules come with their packages.
            serving = [s for s in serving.split() if find_spec(s.partition(".")[0])]
            instead = f"; instead: {', '.join(serving)}" if serving else ""
            return f"{name} {why}{instead}"
    return None


_NAMES = {name for _, names, _ in TABLE for name in names.split()}


class Finder:
    """Finds nothing; last of ``sys.meta_path``."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is None and name in _NAMES and sys.excepthook is sys.__excepthook__:
            sys.excepthook = _hook
        return None


def _hook(kind, error, trace):
    """The interpreter's own, and the line behind it."""
    sys.__excepthook__(kind, error, trace)
    # `import pandas` and its kin raise another ImportError for what they miss.
    while isinstance(error, ImportError):
        if isinstance(error, ModuleNotFoundError) and error.name:
            line = advice(error.name.partition(".")[0])
            if line is not None:
                print(f"python3: {line}", file=sys.stderr)
                return
        error = error.__cause__ or error.__context__
