"""GNU readline's interface, over the line editor of Python's own interactive prompt.

What is set here (completers, hooks, the history) is heeded by that prompt. `input()` reads a line as
the terminal edits it. Without a terminal there is a history, and nothing to edit.
"""

import functools as _functools
import os as _os

# rlcompleter, which the editor imports, sets its completer at once.
_completers = []
set_completer = _completers.append

from _pyrepl import readline as _editor
from _pyrepl.readline import (
    get_completer,
    get_completer_delims,
    get_history_length,
    parse_and_bind,
    read_init_file,
    redisplay,
    set_auto_history,
    set_completer,
    set_completer_delims,
    set_history_length,
    set_pre_input_hook,
    set_startup_hook,
)

if _completers:
    set_completer(_completers.pop())
backend = "readline"


class _NoTerminal:
    """The editor's state where there is no terminal."""

    def __init__(self):
        self.history = []
        self.buffer = []
        self.pos = 0

    def get_trimmed_history(self, maxlength):
        return self.history[-maxlength:] if maxlength > 0 else self.history

    def get_unicode(self):
        return "".join(self.buffer)

    def get_stem(self):
        return ""

    def insert(self, text):
        self.buffer.extend(text)
        self.pos = len(self.buffer)


def _edits(function):
    """A function of the editor, which gets a state first if there is no terminal."""

    @_functools.wraps(function)
    def call(*arguments, **keywords):
        if _editor._wrapper.reader is None and not _os.isatty(0):
            _editor._wrapper.reader = _NoTerminal()
        return function(*arguments, **keywords)

    return call


add_history = _edits(_editor.add_history)
clear_history = _edits(_editor.clear_history)
get_begidx = _edits(_editor.get_begidx)
get_current_history_length = _edits(_editor.get_current_history_length)
get_endidx = _edits(_editor.get_endidx)
get_history_item = _edits(_editor.get_history_item)
get_line_buffer = _edits(_editor.get_line_buffer)
insert_text = _edits(_editor.insert_text)
read_history_file = _edits(_editor.read_history_file)
remove_history_item = _edits(_editor.remove_history_item)
replace_history_item = _edits(_editor.replace_history_item)
write_history_file = _edits(_editor.write_history_file)


def append_history_file(nelements, filename=None):
    """Appends the last nelements entries of the history to a file."""
    path = _os.path.expanduser(filename or "~/.history")
    length = get_current_history_length()
    with open(path, "a", encoding="utf-8") as file:
        for index in range(max(length - nelements, 0) + 1, length + 1):
            file.write(get_history_item(index) + "\n")


def get_completion_type():
    """Returns the kind of the completion that runs; there is one."""
    return 0


def set_completion_display_matches_hook(function=None):
    """Takes the hook; the prompt shows matches in its own way."""
