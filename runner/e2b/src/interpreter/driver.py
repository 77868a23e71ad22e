"""Runs the code of an execution in the namespace of `__main__`, and reports results and errors.

It is a module of the interpreter that stays between executions. Reports are lines on standard
output that begin with a mark, which the host chooses for each execution.
"""

import ast
import asyncio
import base64
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import traceback
import types

_NAME = "_wasibox_e2b"
_FILE = "<cell>"
#: The kinds of results: the field of a result, the media type, the method of objects.
_FORMATS = (
    ("html", "text/html", "_repr_html_"),
    ("markdown", "text/markdown", "_repr_markdown_"),
    ("svg", "image/svg+xml", "_repr_svg_"),
    ("png", "image/png", "_repr_png_"),
    ("jpeg", "image/jpeg", "_repr_jpeg_"),
    ("pdf", "application/pdf", "_repr_pdf_"),
    ("latex", "text/latex", "_repr_latex_"),
    ("json", "application/json", "_repr_json_"),
    ("javascript", "application/javascript", "_repr_javascript_"),
)
_FIELDS = {media: field for field, media, _ in _FORMATS}

#: Whether results are shown as IPython shows them, with the quotes of texts, and without pictures
#: that a program only saves. The kernel for Jupyter sets it.
IS_JUPYTER = globals().get("IS_JUPYTER", False)

_mark = b""
_loop = None


def _report(kind, **fields):
    sys.stdout.flush()
    sys.stderr.flush()
    text = json.dumps({"type": kind, **fields}, default=str)
    data = _mark + text.encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def _plain(value):
    """Returns a value as JSON can have it: no other numbers, no numbers that are none."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value)


def _as_text(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _bundle(value):
    """Returns the fields of a result for an object."""
    fields = {}
    whole = getattr(value, "_repr_mimebundle_", None)
    if callable(whole) and not isinstance(value, type):
        try:
            found = whole()
        except Exception:
            found = {}
        fields.update(_raw(found[0] if isinstance(found, tuple) else found or {}))
    for field, _, method in _FORMATS:
        describe = getattr(value, method, None)
        if field in fields or not callable(describe) or isinstance(value, type):
            continue
        try:
            found = describe()
        except Exception:
            continue
        found = found[0] if isinstance(found, tuple) else found
        if found is not None:
            fields[field] = _as_text(found)
    if isinstance(value, (dict, list)) and "json" not in fields and not IS_JUPYTER:
        try:
            json.dumps(value)
            fields["json"] = value
        except (TypeError, ValueError):
            pass
    _add_data(value, fields)
    if "text" not in fields:
        fields["text"] = repr(value)
    return fields


def _add_data(value, fields):
    # An object of these packages can exist only if the program has imported them.
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, getattr(pandas, "DataFrame", ())):
        fields["data"] = _plain(value.to_dict(orient="list"))
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, figure.Figure):
        image = io.BytesIO()
        value.savefig(image, format="png", bbox_inches="tight")
        fields["png"] = _as_text(image.getvalue())
        try:
            fields["chart"] = _plain(_charts().describe_figure(value))
        except Exception:
            pass


def _raw(data):
    """Returns the fields of a result that is given as media types."""
    fields, extra = {}, {}
    for media, value in data.items():
        if media == "text/plain":
            fields["text"] = value
        elif media in _FIELDS:
            fields[_FIELDS[media]] = _as_text(value)
        elif media == "e2b/data":
            fields["data"] = value
        elif media == "e2b/chart":
            fields["chart"] = value
        else:
            extra[media] = _as_text(value)
    if extra:
        fields["extra"] = extra
    return fields


def _show_result(fields, is_main):
    text = fields.get("text")
    has_quotes = isinstance(text, str) and len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    if has_quotes and not IS_JUPYTER:
        fields["text"] = text[1:-1]
    _report("result", is_main_result=is_main, **fields)


def display(*values, raw=False, **_options):
    """Shows objects as results, as IPython's `display` does."""
    for value in values:
        _show_result(_raw(value) if raw else _bundle(value), False)


def clear_output(wait=False):
    """Clears what was shown, in a notebook; E2B's interface has nothing like it."""
    if IS_JUPYTER:
        _report("clear_output", wait=bool(wait))


def show(*_args, **_options):
    """Shows and closes all figures; this is the `show` of Matplotlib's backend."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if figure.axes or figure.lines or figure.images or figure.texts:
            display(figure)
        pyplot.close(figure)


def _charts():
    if "_wasibox_e2b_charts" not in sys.modules:
        module = types.ModuleType("_wasibox_e2b_charts")
        exec(compile(CHARTS, "<charts>", "exec"), module.__dict__)
        sys.modules[module.__name__] = module
    return sys.modules["_wasibox_e2b_charts"]


class _Shown:
    """An object that is shown as one media type."""

    method = "_repr_html_"

    def __init__(self, data=None, url=None, filename=None, **_options):
        if filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = data if data is not None else url
        setattr(self, self.method, lambda: self.data)

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class _ImageShown(_Shown):
    def __init__(self, data=None, url=None, filename=None, format=None, **_options):
        if isinstance(data, str) and filename is None:
            filename, data = data, None
        kind = (format or (filename or "").rsplit(".", 1)[-1]).lower()
        self.method = "_repr_jpeg_" if kind in ("jpg", "jpeg") else "_repr_png_"
        super().__init__(data, url, filename)


def _ipython(name):
    module = types.ModuleType(name)
    module.__path__ = []
    module.display = display
    module.clear_output = clear_output
    module.get_ipython = lambda: None
    for kind, method in (
        ("HTML", "_repr_html_"),
        ("Markdown", "_repr_markdown_"),
        ("SVG", "_repr_svg_"),
        ("Latex", "_repr_latex_"),
        ("Math", "_repr_latex_"),
        ("JSON", "_repr_json_"),
        ("Javascript", "_repr_javascript_"),
    ):
        setattr(module, kind, type(kind, (_Shown,), {"method": method}))
    module.Image = type("Image", (_ImageShown,), {})
    return module


class _IPythonFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the part of IPython that programs use for showing, unless IPython is there."""

    names = ("IPython", "IPython.display", "IPython.core", "IPython.core.display")

    def find_spec(self, name, path=None, target=None):
        if name in self.names or name == "IPython.core.display_functions":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _ipython(spec.name)

    def exec_module(self, module):
        pass


class _ChangeFinder(importlib.abc.MetaPathFinder):
    """Changes modules of packages when a program imports them."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path=None, target=None):
        change = self.changes.pop(name, None)
        if change is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                change(module)

            spec.loader.exec_module = exec_module
        return spec


def _change_axes(axes):
    """Keeps the figures of box plots, which the drawn lines do not show."""
    draw = axes.bxp

    def draw_kept(self, bxpstats, *args, **options):
        stats = list(bxpstats)
        self._wasibox_boxes = getattr(self, "_wasibox_boxes", []) + stats
        return draw(self, stats, *args, **options)

    axes.bxp = draw_kept


def _change_pyplot(module):
    """Shows figures as results, rather than saving them to a file as the image's `show` does."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    # This module is Matplotlib's backend.
    globals()["FigureCanvas"] = FigureCanvasAgg
    module.show = show
    _change_axes(module.Axes)


def _change_images(_module):
    """Shows images when a program shows them or saves them to a file."""
    image = importlib.import_module("PIL.Image").Image
    save = image.save

    def save_shown(self, fp, format=None, **options):
        if isinstance(fp, str) and not getattr(self, "_wasibox_shown", False):
            display(self)
        return save(self, fp, format, **options)

    def show_shown(self, title=None):
        display(self)

    if not IS_JUPYTER:
        image.save = save_shown
    image.show = show_shown


def shell(command):
    """Runs a command of a line that begins with `!`."""
    import subprocess

    sys.stdout.flush()
    sys.stderr.flush()
    code = subprocess.run(["bash", "-c", command]).returncode
    __main__ = sys.modules["__main__"]
    __main__._exit_code = code


def _change_folder(path):
    os.chdir(os.path.expanduser(path or "~"))
    print(os.getcwd())


def _magic(line):
    name, _, rest = line.partition(" ")
    rest = rest.strip()
    if name in ("pip", "conda", "ls", "cat", "mkdir", "rm", "cp", "mv"):
        return shell(line)
    if name == "cd":
        return _change_folder(rest)
    if name == "pwd":
        return os.getcwd()
    if name == "env":
        key, found, value = rest.partition("=")
        if found:
            os.environ[key.strip()] = value.strip()
        return None if found else dict(os.environ)
    if name in ("matplotlib", "load_ext", "autoreload", "config"):
        return None
    print(f"UsageError: Line magic function `%{name}` not found.", file=sys.stderr)
    return None


def _without_indent(code):
    lines = code.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return code
    return "\n".join(line.removeprefix(indent) for line in lines)


def _with_commands(code):
    """Replaces lines of IPython's: `!command`, `%magic`, `%%bash`."""
    if code.lstrip().startswith("%%"):
        head, _, body = code.lstrip().partition("\n")
        name = head[2:].split(" ")[0]
        if name in ("bash", "sh", "script"):
            return f"__import__({_NAME!r}).shell({body!r})"
        return body
    lines = []
    for line in code.split("\n"):
        text = line.lstrip()
        indent = line[: len(line) - len(text)]
        if text.startswith("!"):
            line = f"{indent}__import__({_NAME!r}).shell({text[1:]!r})"
        elif text.startswith("%"):
            line = f"{indent}__import__({_NAME!r})._magic({text[1:]!r})"
        lines.append(line)
    return "\n".join(lines)


def _parse(code):
    code = _without_indent(code)
    try:
        return code, ast.parse(code, _FILE)
    except SyntaxError:
        changed = _with_commands(code)
        if changed == code:
            raise
        return changed, ast.parse(changed, _FILE)


def _run_part(tree, mode):
    code = compile(tree, _FILE, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    value = eval(code, sys.modules["__main__"].__dict__)
    if code.co_flags & 0x80:  # CO_COROUTINE
        global _loop
        if _loop is None:
            _loop = asyncio.new_event_loop()
            asyncio.set_event_loop(_loop)
        value = _loop.run_until_complete(value)
    return value


def _run_code(code):
    import linecache

    source, tree = _parse(code)
    linecache.cache[_FILE] = (len(source), None, source.splitlines(True), _FILE)
    last = tree.body[-1] if tree.body else None
    is_shown = isinstance(last, ast.Expr) and not source.rstrip().endswith(";")
    if is_shown:
        tree.body.pop()
    if tree.body:
        _run_part(tree, "exec")
    value = _run_part(ast.Expression(last.value), "eval") if is_shown else None
    if value is not None:
        sys.modules["__main__"].__dict__["_"] = value
        figure = sys.modules.get("matplotlib.figure")
        if figure is not None and isinstance(value, figure.Figure):
            sys.modules["matplotlib.pyplot"].close(value)
        fields = _bundle(value)
    show()
    if value is not None:
        _show_result(fields, True)


def run(mark, code, variables, globals_):
    """Runs code. `variables` are set during it only, `globals_` as long as nothing replaces them."""
    global _mark
    _mark = mark.encode()
    for key, value in globals_.items():
        os.environ.setdefault(key, value)
    before = {key: os.environ.get(key) for key in variables}
    os.environ.update(variables)
    try:
        _run_code(code)
    except BaseException as error:
        if isinstance(error, SystemExit) and not error.code:
            return
        _report_error(error)
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
        sys.stdout.flush()
        sys.stderr.flush()


def _report_error(error):
    # The frames of this module are none of the program's.
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != _FILE:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    _report("error", name=type(error).__name__, value=str(error), traceback=text)


def serve():
    """Runs one execution after another, as lines of JSON on standard input describe them."""
    source = os.fdopen(os.dup(0), "rb")
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    sys.stdout.reconfigure(line_buffering=True)
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    while True:
        try:
            line = source.readline()
        except KeyboardInterrupt:
            continue
        if not line:
            return
        asked = json.loads(line)
        try:
            run(asked["mark"], asked["code"], asked["variables"], asked["globals"])
        except KeyboardInterrupt:
            pass
        _report("end_of_execution")


sys.meta_path.append(_IPythonFinder())
sys.meta_path.insert(
    0,
    _ChangeFinder(
        {
            "PIL": _change_images,
            "matplotlib.pyplot": _change_pyplot,
        }
    ),
)
os.environ.setdefault("MPLBACKEND", f"module://{_NAME}")
