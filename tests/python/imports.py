"""Imports the packages of the image's profile (`data`, or `science` if it has SciPy). Prints the
failures; there must be none."""

import importlib
import importlib.util
import sys

DATA = """
numpy pandas matplotlib.pyplot PIL.Image seaborn plotly.graph_objects altair narwhals
lxml.etree lxml.html docx pptx openpyxl xlsxwriter xlrd pypdf reportlab.pdfgen.canvas
sympy mpmath networkx patsy joblib cloudpickle
bs4 html5lib markdown markdown_it jinja2 regex yaml tomlkit lark pyparsing pygments tabulate humanize
attrs jsonschema requests urllib3 httpx anyio certifi click rich tqdm colorama pytest pluggy
dateutil pytz tzdata pip setuptools wheel flit_core hatchling
""".split()

SCIENCE = """
scipy.cluster.hierarchy scipy.cluster.vq scipy.constants scipy.differentiate scipy.fft scipy.integrate
scipy.interpolate scipy.io scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.sparse
scipy.sparse.csgraph scipy.sparse.linalg scipy.spatial scipy.spatial.transform scipy.special scipy.stats
scipy.stats.qmc scipy.stats.sampling
sklearn.calibration sklearn.cluster sklearn.compose sklearn.covariance sklearn.cross_decomposition
sklearn.datasets sklearn.decomposition sklearn.discriminant_analysis sklearn.dummy sklearn.ensemble
sklearn.feature_extraction.text sklearn.feature_selection sklearn.gaussian_process sklearn.impute
sklearn.inspection sklearn.isotonic sklearn.kernel_approximation sklearn.kernel_ridge
sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.mixture sklearn.model_selection
sklearn.multiclass sklearn.multioutput sklearn.naive_bayes sklearn.neighbors sklearn.neural_network
sklearn.pipeline sklearn.preprocessing sklearn.random_projection sklearn.semi_supervised sklearn.svm
sklearn.tree
statsmodels.api statsmodels.formula.api statsmodels.stats.api statsmodels.tsa.api threadpoolctl
""".split()


def arrives(kind, call, *args, **options):
    """Checks that an error in C or C++, which throws or jumps, arrives as an exception."""
    try:
        call(*args, **options)
    except kind:
        return
    print("no", kind.__name__, flush=True)


has_science = importlib.util.find_spec("scipy") is not None
for name in DATA + SCIENCE * has_science:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error).__name__, error, flush=True)

from lxml import etree
from numpy.linalg import LinAlgError, inv

arrives(etree.XMLSyntaxError, etree.fromstring, "<a><b></a>")
arrives(LinAlgError, inv, [[1.0, 1.0], [1.0, 1.0]])

if has_science:
    import scipy.linalg
    from scipy.optimize import linprog
    from scipy.spatial import ConvexHull, QhullError
    from scipy.stats.sampling import NumericalInversePolynomial, UNURANError

    class Flat:
        def pdf(self, x):
            return 0.0

    arrives(LinAlgError, scipy.linalg.cholesky, [[1.0, 2.0], [2.0, 1.0]])
    arrives(QhullError, ConvexHull, [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    arrives(UNURANError, NumericalInversePolynomial, Flat(), domain=(0, 1))
    if linprog([-1, -2], A_ub=[[1, 1]], b_ub=[4]).fun != -8.0:
        print("HiGHS is wrong")
