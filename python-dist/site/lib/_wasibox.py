"""The Python half of a prepared interpreter (snapshot.c): what happens before its
memory is kept, when a process goes on from it, and at that process's end.

Modules that take long to import are imported when the interpreter is prepared and
then *hidden*: taken out of ``sys.modules`` and kept in a stash. A script finds the
modules that every interpreter begins with and no others; when it imports one of the
stash, a finder hands it over instead of running its file again. A file of the same
name in the script's folder, or a library file that was changed since, comes first for
the script; prepared modules keep what they were prepared with, since modules in C
cannot be loaded twice.
"""

import sys

_STARTUP = frozenset(sys.modules)

import builtins
import itertools

# Names of modules that a module's own code imports, and those that came with it.
_imports = {}


class _Recorder:
    """Stands for ``__import__`` while modules are imported here; notes who imports what."""

    def __init__(self):
        self.real = builtins.__import__

    def __call__(self, name, globals=None, locals=None, fromlist=(), level=0):
        full = name
        if level:
            package = globals.get("__package__") or globals["__name__"].rpartition(".")[0]
            full = ".".join(package.split(".")[: len(package.split(".")) + 1 - level])
            full += "." + name if name else ""
        is_new, count = full not in sys.modules, len(sys.modules)
        module = self.real(name, globals, locals, fromlist, level)
        if is_new:
            _note_new(full, count)
        # The module's own code, not a function that it may call later.
        if globals is not None and locals is globals:
            names = _imports.setdefault(globals.get("__name__"), set())
            names.add(full)
            for part in fromlist or ():
                if f"{full}.{part}" in sys.modules:
                    names.add(f"{full}.{part}")
        return module


def _note_new(name, count):
    """Notes the modules beyond the first `count` as those that came with one."""
    new = itertools.islice(reversed(sys.modules), max(len(sys.modules) - count, 0))
    _imports.setdefault(name, set()).update(new)


_recorder = builtins.__import__ = _Recorder()

import atexit
import gc
import importlib
import io
import os
import site
import time
import warnings
from importlib.machinery import ModuleSpec, PathFinder

# What is worth having at hand: the modules that scripts import most, and the
# packages that take longest. Those that an image lacks are left out.
_PREPARED = """
_wasibox_http
__future__ abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath
codecs collections collections.abc colorsys concurrent.futures configparser contextlib
contextvars copy copyreg csv dataclasses datetime decimal difflib dis email
email.message email.mime.multipart email.mime.text email.parser email.policy
encodings.idna encodings.latin_1 encodings.ascii encodings.utf_16 enum errno filecmp
fileinput fnmatch fractions functools getopt getpass glob graphlib gzip hashlib heapq
hmac html html.entities html.parser http http.client importlib.metadata
importlib.resources importlib.util inspect io ipaddress itertools json keyword
linecache locale logging lzma marshal math mimetypes
multiprocessing multiprocessing.connection multiprocessing.pool multiprocessing.popen_spawn_posix
multiprocessing.queues multiprocessing.spawn multiprocessing.synchronize
concurrent.futures.process numbers operator optparse os.path
pathlib pickle pkgutil platform pprint queue random re reprlib runpy sched secrets
select selectors shlex shutil signal socket sqlite3 stat statistics string stringprep
struct subprocess sysconfig tarfile tempfile textwrap threading time timeit token
tokenize tomllib traceback types typing unicodedata unittest urllib.error
urllib.parse urllib.request uuid warnings weakref xml.dom.minidom
xml.etree.ElementTree zipfile zlib zoneinfo

dateutil.parser dateutil.relativedelta dateutil.tz
numpy numpy.fft numpy.linalg numpy.ma numpy.polynomial numpy.random numpy.testing
pandas pandas.io.formats.csvs pandas.io.formats.excel pandas.io.formats.html
pandas.io.formats.string pandas.io.json pandas.plotting
PIL.Image PIL.PngImagePlugin
matplotlib matplotlib.backends.backend_agg matplotlib.backends.backend_svg
matplotlib.dates matplotlib.pyplot pandas.plotting._matplotlib
openpyxl requests yaml
""".split()

# Modules as they were when prepared, by name, without those that are no longer what
# an import would give.
_stash = {}
# Modification times of the files of top-level modules.
_times = {}
# Modules that the prepared interpreter knows, hidden or not.
_known = set()
# All that comes with a module of `_PREPARED`, by its name.
_closures = {}
# Hidden modules that no import makes: they came with another one.
_companions = {}


class _Finder:
    """Finds hidden modules; the first of ``sys.meta_path``."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        module = _stash.get(name)
        if module is None:
            return None
        if _is_blocked(name):
            del _stash[name]
            return None
        parent, _, _ = name.rpartition(".")
        if parent:
            # Below a package that the script made itself nothing of ours belongs.
            if id(sys.modules.get(parent)) not in _known:
                return None
        elif not _is_unchanged(name, module):
            for hidden in [n for n in _stash if _top(n) == name]:
                del _stash[hidden]
            return None
        _before_use(name)
        own = module.__spec__
        spec = ModuleSpec(name, _Loader(own.loader), origin=own.origin)
        spec.submodule_search_locations = getattr(module, "__path__", None)
        spec.has_location = own.has_location
        spec.cached = own.cached
        return spec


class _Loader:
    """Gives a hidden module out as it is; for the rest (`-m` runs its code) its own loader."""

    def __init__(self, own):
        self._own = own

    def __getattr__(self, name):
        return getattr(self._own, name)

    def create_module(self, spec):
        module = _stash.pop(spec.name)
        spec.loader_state = module, module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module):
        # The import system has just replaced the module's own specification.
        name = module.__spec__.name
        state = module.__spec__.loader_state
        if state is not None:
            module, module.__spec__, module.__loader__ = state
        _give_out_with(name)


def _is_unchanged(name, module):
    spec = module.__spec__
    if spec is None or not spec.has_location:
        return True  # built in or frozen: nothing on the path comes before it
    found = PathFinder.find_spec(name)
    if found is None or found.origin != spec.origin:
        return False
    try:
        return os.stat(spec.origin).st_mtime_ns == _times.get(name)
    except OSError:
        return False


def _is_blocked(name):
    """Whether the module would find one of those it imports blocked (``sys.modules`` has None)."""
    return any(sys.modules.get(other, name) is None for other in _imports.get(name, ()))


def _top(name):
    return name.partition(".")[0]


def _closure(name):
    """The hidden modules that the import of a module imports besides, in any order."""
    found, waiting = {}, [name]
    while waiting:
        for other in _imports.get(waiting.pop(), ()):
            while other and other not in found:
                found[other] = None
                waiting.append(other)
                other = other.rpartition(".")[0]
    return tuple(other for other in found if other in _stash or other in _companions)


def _give_out_with(name):
    """Gives out what the import of a module imports besides."""
    names = _closures.pop(name, None)
    if names is None:
        names = _closure(name)
    tops = {_top(other) for other in names} - {_top(name)}
    hidden = _hidden_by_script(tops)
    for other in names:
        if hidden and _top(other) in hidden:
            continue
        module = _stash.pop(other, None) or _companions.pop(other, None)
        if module is not None:
            sys.modules.setdefault(other, module)


def _hidden_by_script(tops):
    """Those of the top-level names that a folder before the library has."""
    hidden = set()
    for folder in sys.path:
        if folder.startswith(_LIBRARY):
            break
        # What the folder's finder has read of it just now, for the module itself.
        finder = sys.path_importer_cache.get(folder or os.getcwd())
        names = getattr(finder, "_path_cache", None)
        for top in tops:
            if not names or top in names or top + ".py" in names:
                spec = PathFinder.find_spec(top, [folder])
                if spec is not None and spec.loader is not None:
                    hidden.add(top)
    return hidden


_LIBRARY = os.path.dirname(os.path.dirname(os.__file__))
_PACKAGES = os.path.join(os.path.dirname(os.__file__), "site-packages")
_packages_time = os.stat(_PACKAGES).st_mtime_ns


_seed_arrays = None
# Exit handlers that prepared modules have asked for: function, arguments. They are
# registered when the script imports something.
_at_exit = []
# What the start of a script imports by itself: -c, -m, a folder or zip file.
_AT_START = {"linecache", "runpy", "pkgutil", "types", "typing", "zipimport"}
# The Python half of cells (cell.c).
cells = None
# Filters that packages have added to `warnings.filters`.
_filters = []
_register = atexit.register


def _note_at_exit(function, *args, **kwargs):
    """Stands for ``atexit.register`` while modules are prepared, and in what they kept of it."""
    if _at_exit is None:
        return _register(function, *args, **kwargs)
    _at_exit.append((function, args, kwargs))
    return function


def _before_use(name):
    """Does what the import of a module does that must be done in each process."""
    global _seed_arrays, _at_exit, _filters
    if _at_exit and _top(name) not in _AT_START and _top(name) != "importlib":
        handlers, _at_exit = _at_exit, None
        for function, args, kwargs in handlers:
            _register(function, *args, **kwargs)
    if _top(name) in sys.stdlib_module_names:
        return
    if _seed_arrays is not None:
        seed, _seed_arrays = _seed_arrays, None
        seed()
    if _filters:
        warnings.filters[:0], _filters = _filters, []
        warnings._filters_mutated()


def prepare():
    """Imports what scripts are likely to use and hides it."""
    global _seed_arrays, cells
    filters = list(warnings.filters)
    atexit.register = _note_at_exit
    cells = importlib.import_module("_wasibox_cell")
    for name in _PREPARED:
        count = len(sys.modules)
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        _note_new(name, count)
    builtins.__import__ = _recorder.real
    _warm_up()
    # What packages try to import and can do without is no news (_wasibox_missing).
    sys.excepthook = sys.__excepthook__
    # What this package imports when it is asked for, it shall import when the script asks.
    for name in "ThreadPoolExecutor", "ProcessPoolExecutor":
        vars(sys.modules["concurrent.futures"]).pop(name, None)
    atexit.register = _register
    _filters.extend(f for f in warnings.filters if f not in filters)
    warnings.filters[:] = filters
    warnings._filters_mutated()
    _known.update(map(id, sys.modules.values()))
    for name, module in list(sys.modules.items()):
        if name in _STARTUP or module is None:
            continue
        _stash[name] = module
        del sys.modules[name]
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.has_location and name == _top(name):
            _times[name] = os.stat(spec.origin).st_mtime_ns
    # A module without a specification cannot be given out as an import would.
    for name in [n for n, m in _stash.items() if getattr(m, "__spec__", None) is None]:
        _companions[name] = _stash.pop(name)
    _closures.update((name, _closure(name)) for name in _PREPARED if name in _stash)
    random = _stash.get("numpy.random")
    _seed_arrays = None if random is None else random.seed
    del sys.modules["_wasibox"], _stash["_wasibox_cell"]
    sys.meta_path.insert(0, _Finder)
    gc.collect()
    for fd in range(4, 64):
        try:
            os.fstat(fd)
        except OSError:
            continue
        raise RuntimeError(f"descriptor {fd} is still open")
    # The collector leaves alone what is here now: it would copy all pages.
    gc.freeze()


def _warm_up():
    """Fills caches that a first use fills: compiled patterns, fonts, lazy imports."""
    try:
        import pandas
        from matplotlib import pyplot

        frame = pandas.DataFrame({"a": [1, 2, 2], "b": [0.5, 1.5, 2.5], "c": ["x", "y", "x"]})
        text = frame.to_csv(index=False)
        frame = pandas.read_csv(io.StringIO(text))
        frame.groupby("c")["b"].mean().sort_values().to_string()
        frame.merge(frame, on="c").pivot_table(index="a_x", values="b_y").describe().to_string()
        repr(frame)
        figure, axes = pyplot.subplots()
        axes.plot([1, 2, 3], [1, 4, 9], label="line")
        axes.set(title="Title", xlabel="x", ylabel="$y^2$")
        axes.legend()
        axes.grid(True)
        figure.savefig(io.BytesIO(), format="png")
        figure.savefig(io.StringIO(), format="svg")
        pyplot.close("all")
        _close_fonts()
    except ImportError:
        pass


def _close_fonts():
    """Lets go of what caches hold of open font files."""
    from matplotlib import font_manager, mathtext

    font_manager._get_font.cache_clear()
    mathtext.MathTextParser._parse_cached.cache_clear()


def resume(variables, unbuffered):
    """What an interpreter reads when it starts; `variables` are pairs of bytes."""
    os.environ._data.clear()
    os.environ._data.update(variables)
    if "TZ" in os.environ or os.path.exists("/etc/localtime"):
        time.tzset()
    random = sys.modules.get("random") or _stash.get("random")
    if random is not None:
        random.seed()
    threading = sys.modules.get("threading") or _stash.get("threading")
    if threading is not None:
        # Prepared modules have made threads' objects; a new interpreter begins with Thread-1.
        threading._counter = itertools.count(1).__next__
    process = _stash.get("multiprocessing.process")
    if process is not None:
        # What is drawn when the module is imported; who is spawned gets the parent's.
        key = process.AuthenticationString(os.urandom(32))
        process.current_process()._config["authkey"] = key
    for name, fd in ("stdin", 0), ("stdout", 1), ("stderr", 2):
        stream = _open(getattr(sys, name), fd, f"<{name}>", unbuffered)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    _set_path(os.environ.get("PYTHONPATH"))
    _read_new_pth_files()


def _open(stream, fd, name, unbuffered):
    """Begins a standard stream again, as ``create_stdio`` in CPython's pylifecycle.c does.

    The object stays the same, since prepared modules may hold it.
    """
    try:
        os.fstat(fd)
    except OSError:
        return None
    writes = fd > 0
    raw = unbuffered and writes
    buffer = io.open(fd, "wb" if writes else "rb", 0 if raw else -1, closefd=False)
    raw = buffer if raw else buffer.raw
    raw.name = name
    stream.__init__(
        buffer,
        stream.encoding,
        stream.errors,
        "\n",
        line_buffering=not unbuffered and (fd == 2 or raw.isatty()),
        write_through=unbuffered,
    )
    return stream


def _set_path(added):
    """Adds what the environment names to ``sys.path``, as getpath.py and site.py do."""
    if os.environ.get("HOME") != "/home/user":
        site.USER_BASE = site.USER_SITE = None
    directory = site.getusersitepackages()
    has_user_site = site.ENABLE_USER_SITE and os.path.isdir(directory)
    if not added and not has_user_site:
        return
    base, packages = [], []
    for entry in sys.path:
        (packages if entry.endswith("-packages") else base).append(entry)
    front = [os.path.abspath(entry) for entry in added.split(":")] if added else []
    sys.path[:] = dict.fromkeys(front + base)
    if has_user_site:
        site.addsitedir(directory, set(sys.path))
    sys.path[:] = dict.fromkeys(sys.path + packages)
    # The image's has run, and one that now comes before it has not.
    sys.modules.pop("sitecustomize", None)
    site.execsitecustomize()
    if site.ENABLE_USER_SITE:
        site.execusercustomize()


def _read_new_pth_files():
    """Reads the .pth files of what was installed into the library since; the others do no more."""
    try:
        if os.stat(_PACKAGES).st_mtime_ns == _packages_time:
            return
    except OSError:
        return
    site.addsitedir(_PACKAGES, set(sys.path))


def finish(stage):
    """The visible parts of Py_FinalizeEx; its standard streams are flushed after each."""
    if stage == 0:
        threading = sys.modules.get("threading")
        if threading is not None:
            threading._shutdown()
        atexit._run_exitfuncs()
        return
    for name in "last_exc", "last_type", "last_value", "last_traceback":
        if hasattr(sys, name):
            delattr(sys, name)
    # The script's objects end as they do when its modules are cleared.
    gc.collect()
    dicts = []
    for name, module in list(sys.modules.items()):
        if (id(module) not in _known or name == "__main__") and hasattr(module, "__dict__"):
            dicts.insert(0, module.__dict__)
            del sys.modules[name]
    del module
    gc.collect()
    for names in dicts:
        private = [n for n in names if n[:1] == "_" and n[1:2] != "_"]
        for name in private + [n for n in names if n != "__builtins__"]:
            names[name] = None
    gc.collect()
    # What is still open was kept by something of ours, and ends with the process.
    for left in gc.get_objects():
        if isinstance(left, (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)):
            try:
                if not left.closed:
                    left.flush()
            except (OSError, ValueError):
                pass
