"""The Python half of cells (cell.c): code that runs in an interpreter that stays.

Each cell runs in ``__main__``, so that classes of it can be pickled, under a file name of its own,
``<cell 3>``, whose lines `linecache` knows. The value of the last expression is the cell's, as at
a prompt. ``await`` is allowed outside of functions; each cell that uses it has an event loop of
its own.

Environment and directory are the session's. What has changed in the session since the last cell is
taken over; what the cells have changed themselves stays.
"""

import __future__
import _thread
import ast
import builtins
import io
import json
import linecache
import os
import random
import sys
import time
import weakref
from collections import deque

_main = sys.modules["__main__"]

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag
_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_COROUTINE = 0x80

# Most bytes of a value as text, of one as JSON; parts of one that are looked at.
_MOST_TEXT = 64 << 10
_MOST_JSON = 1 << 20
_MOST_PARTS = 100_000
_DEEPEST = 50
# Characters of cells whose lines are kept for tracebacks.
_MOST_SOURCE = 8 << 20

_count = 0
# Flags of `from __future__ import ...` in the cells so far.
_flags = 0
_sources = deque()
_kept = 0
# The environment as the session gave it last.
_given = {}
# Managers of figures that were saved.
_shown = weakref.WeakSet()
# Variables that tell the C library something, and nobody else.
_PRIVATE = b"BOX_FDS", b"BOX_UMASK"


def run(source, variables, is_fork):
    """Runs a cell; its status, its value as text and as JSON (bytes or None)."""
    global _count
    if _count == 0:
        sys.path.insert(0, "")
    _count += 1
    status, value, plain = 1, None, None
    try:
        if variables is not None:
            _take_over(dict(variables))
        if is_fork:
            _make_unique()
        _begin_input()
        sys.modules["__main__"] = _main
        result = _execute(source, f"<cell {_count}>")
        if result is not None:
            builtins._ = result
            value, plain = _text(result), _json(result)
        status = 0
    except SystemExit as e:
        status, value, plain = _status(e.code), None, None
    except BaseException as e:
        value = plain = None
        _report(e)
        status = 130 if isinstance(e, KeyboardInterrupt) else 1
    try:
        _wait_for_threads()
        _save_figures()
    except BaseException as e:
        _report(e)
    return status if _flush() else status or 120, value, plain


def _execute(source, filename):
    """Runs the code; the value of its last expression, or None."""
    global _flags
    _remember(source, filename)
    flags = _AWAIT | _flags
    tree = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    body = compile(tree, filename, "exec", flags, dont_inherit=True)
    _flags |= body.co_flags & _FUTURES
    if last is not None:
        last = compile(last, filename, "eval", _AWAIT | _flags, dont_inherit=True)
    names = _main.__dict__
    waits = body.co_flags | (0 if last is None else last.co_flags)
    if not waits & _COROUTINE:
        exec(body, names)
        return None if last is None else eval(last, names)
    import asyncio

    with asyncio.Runner() as runner:
        value = None
        for code in body, last:
            if code is not None:
                value = eval(code, names)
                if code.co_flags & _COROUTINE:
                    value = runner.run(value)
    return None if last is None else value


def _remember(source, filename):
    """Lets tracebacks find the lines of a cell."""
    global _kept
    text = source.decode("utf-8", "replace")
    linecache.cache[filename] = len(text), None, [f"{l}\n" for l in text.splitlines()], filename
    _sources.append((filename, len(text)))
    _kept += len(text)
    while _kept > _MOST_SOURCE and len(_sources) > 1:
        old, size = _sources.popleft()
        linecache.cache.pop(old, None)
        _kept -= size


def _text(value):
    text = repr(value).encode("utf-8", "backslashreplace")
    if len(text) > _MOST_TEXT:
        text = text[: _MOST_TEXT - 3].decode("utf-8", "ignore").encode() + b"..."
    return text


def _json(value):
    """The value as JSON if it is plain data, as one writes it in JSON."""
    waiting, parts = [(value, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        kind = type(part)
        if kind is dict:
            if any(type(key) is not str for key in part):
                return None
            inner = part.values()
        elif kind is list or kind is tuple:
            inner = part
        elif part is None or kind is bool or kind is int or kind is float or kind is str:
            continue
        else:
            return None
        parts += len(part)
        if parts > _MOST_PARTS or depth >= _DEEPEST:
            return None
        waiting.extend((p, depth + 1) for p in inner)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return None
    return text if len(text) <= _MOST_JSON else None


def _status(code):
    """The exit status of a SystemExit."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255
    try:
        print(code, file=sys.stderr)
    except (AttributeError, OSError, ValueError):
        pass
    return 1


def _report(error):
    """Tells of an error as the interpreter does, from the cell's own lines on."""
    trace = error.__traceback__
    own = trace
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell "):
        trace = trace.tb_next
    if trace is None:
        # Not of the cell's own doing: a syntax error, or how a value is shown.
        trace = own
        while trace is not None and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_exc = sys.last_value = error
    sys.last_type, sys.last_traceback = type(error), trace
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException:
        sys.__excepthook__(type(error), error, trace)


def _flush():
    """Flushes the standard streams; false if what was printed is lost."""
    done = True
    for stream in sys.stdout, sys.stderr:
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException as e:
            done = done and stream is not sys.stdout
            if stream is sys.stdout and sys.stderr is not None:
                _report(e)
    return done


def _executors():
    """Pools of threads with their threads, and those threads."""
    futures = sys.modules.get("concurrent.futures.thread")
    found, workers = set(), set()
    for worker in list(futures._threads_queues) if futures is not None else ():
        arguments = getattr(worker, "_args", None)
        pool = arguments[0]() if arguments else None
        if pool is not None:
            found.add(pool)
            workers.add(worker)
    return found, workers


def _wait_for_threads():
    """Waits for the threads that the cell has begun and that will end, and for the work of pools.

    What is left then is daemons and threads of pools that wait for work; `forget_threads` comes after
    their end.
    """
    threading = sys.modules.get("threading")
    if threading is None or not _thread._count():
        return
    own = threading.current_thread()
    while True:
        pools, workers = _executors()
        waiting = [
            t for t in threading.enumerate() if t is not own and not t.daemon and t not in workers
        ]
        for thread in waiting:
            thread.join()
        busy = [
            p for p in pools if p._work_queue.qsize() or p._idle_semaphore._value < len(p._threads)
        ]
        if not waiting and not busy:
            return
        if busy:
            time.sleep(0.001)


def forget_threads():
    """No thread but this one is left: what `threading._after_fork` does, whose locks have no
    method for it where there is no fork."""
    pools, _ = _executors()
    threading = sys.modules.get("threading")
    if threading is None:
        return
    own = threading.current_thread()
    threading._active_limbo_lock = threading.RLock()
    threading._limbo.clear()
    threading._active.clear()
    threading._active[own.ident] = own
    futures = sys.modules.get("concurrent.futures.thread")
    if futures is not None:
        futures._threads_queues.clear()
        futures._global_shutdown_lock = threading.Lock()
    for pool in pools:
        # They begin new threads when there is work.
        pool._threads.clear()
        pool._idle_semaphore = threading.Semaphore(0)


def _begin_input():
    """Begins standard input again: it is another one for each cell."""
    stream = sys.__stdin__
    if stream is None or sys.stdin is not stream:
        return
    buffer = io.open(0, "rb", closefd=False)
    buffer.raw.name = "<stdin>"
    stream.__init__(buffer, stream.encoding, stream.errors, "\n")


def _take_over(variables):
    """Takes over what the session has changed in the environment since the last cell."""
    global _given
    for name in _PRIVATE:
        variables.pop(name, None)
    before, _given = _given, variables
    for name in before:
        if name not in variables:
            os.environb.pop(name, None)
    for name, value in variables.items():
        if before.get(name) != value and os.environb.get(name) != value:
            os.environb[name] = value
    if before.get(b"TZ") != variables.get(b"TZ"):
        time.tzset()


def _make_unique():
    """In a copy of another interpreter: nothing of chance is what it is there."""
    random.seed()
    for name in "numpy.random", "numpy.random.mtrand":
        module = sys.modules.get(name)
        if module is not None:
            module.seed()
    for name, variable in ("tempfile", "_name_sequence"), ("uuid", "_node"):
        module = sys.modules.get(name)
        if module is not None:
            setattr(module, variable, None)


def _save_figures():
    """Saves figures that were drawn or changed and not shown, as ``pyplot.show()`` does."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is None:
        return
    for manager in helpers.Gcf.get_all_fig_managers():
        figure = manager.canvas.figure
        is_new = getattr(manager, "_shown_as", None) is not None and manager not in _shown
        # A figure that is empty but for its background is not meant to be seen yet. One that this
        # cell has shown itself is saved; saving leaves it stale.
        if figure.stale and not is_new and len(figure.get_children()) > 1:
            manager.show()
            is_new = True
        if is_new:
            _shown.add(manager)
            figure.stale = False
