"""The kernel for Jupyter: jupyter_kernel_test's tests, and tests of its sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

jupyter_kernel_test = pytest.importorskip("jupyter_kernel_test")
pytest.importorskip("ipykernel")

from jupyter_client.manager import start_new_kernel
from wasibox.jupyter._code import ReportSplitter

NAME = "wasibox-test"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory):
    """The kernel, installed where only these tests look for it."""
    prefix = tmp_path_factory.mktemp("jupyter")
    command = [sys.executable, "-m", "wasibox", "kernel", "install", "--prefix", prefix, "--name", NAME]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    folder = prefix / "share/jupyter/kernels"
    assert printed == f"the kernel {NAME} is in {folder / NAME}\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(prefix / "share/jupyter"))
        yield folder


class TestStandard(jupyter_kernel_test.KernelTests):
    """The tests of jupyter_kernel_test, with its samples for IPython's kernel."""

    kernel_name = NAME
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]
    invalid_code_samples = ["import = 7q"]
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
        {"code": "'text'", "result": "'text'"},
    ]
    code_display_data = [
        {"code": "from IPython.display import HTML, display; display(HTML('<b>test</b>'))", "mime": "text/html"},
        {"code": "from IPython.display import Math, display; display(Math('\\\\frac{1}{2}'))", "mime": "text/latex"},
        {"code": "import matplotlib.pyplot as plt; plt.plot([1, 3, 2]); plt.show()", "mime": "image/png"},
    ]
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "1?2*"
    code_inspect_sample = "zip"


class Notebook:
    """A notebook over a kernel of its own."""

    def __init__(self, name=NAME):
        self.manager, self.client = start_new_kernel(kernel_name=name)

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()

    def run(self, code, after_begin=None):
        """Runs a cell. Returns its reply, and the messages of its output by type."""
        shown = {}

        def take(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                shown[content["name"]] = shown.get(content["name"], "") + content["text"]
                if after_begin is not None:
                    after_begin()
            elif kind not in ("status", "execute_input"):
                shown.setdefault(kind, []).append(content)

        reply = self.client.execute_interactive(code, output_hook=take, timeout=60)["content"]
        return reply, shown

    def value(self, code):
        """Returns the text of a cell's value."""
        return self.run(code)[1]["execute_result"][0]["data"]["text/plain"]

    def complete(self, code, cursor=None):
        content = self.client.complete(code, cursor, reply=True, timeout=60)["content"]
        return content["matches"], code[content["cursor_start"] : content["cursor_end"]]

    def inspect(self, code, cursor=None, detail=0):
        content = self.client.inspect(code, cursor, detail, reply=True, timeout=60)["content"]
        return content["data"].get("text/plain")


@pytest.fixture(scope="module")
def notebook():
    made = Notebook()
    yield made
    made.close()


def test_cells_share_a_sandbox(notebook):
    notebook.run("import os\nx = [1]\nopen('kept', 'w').write('1')")
    assert notebook.value("(x, open('kept').read(), os.getcwd(), os.path.exists('/etc/hostname'))").startswith(
        "([1], '1', '/home/user', "
    )
    assert notebook.run("!ls kept; echo $HOME")[1] == {"stdout": "kept\n/home/user\n"}
    assert notebook.run("x;")[1] == {} and notebook.value("await __import__('asyncio').sleep(0, 5)") == "5"
    # The kernel's own modules leave no names.
    assert "wasibox" not in notebook.value("sorted(n for n in globals() if 'wasibox' in n or n in 'sbjm')")


def test_output_comes_as_it_is_written(notebook):
    begun = time.monotonic()
    seen = []
    code = "import sys, time\nprint('first', flush=True)\ntime.sleep(1)\nprint('last', file=sys.stderr)"
    _, shown = notebook.run(code, lambda: seen.append(time.monotonic() - begun))
    assert shown == {"stdout": "first\n", "stderr": "last\n"}
    assert seen[-1] - seen[0] > 0.8


def test_objects_have_their_formats(notebook):
    frame = notebook.run("import pandas\npandas.DataFrame({'a': [1, 2]})")[1]["execute_result"][0]["data"]
    assert "<table" in frame["text/html"] and "text/plain" in frame
    assert notebook.run("{'a': [1]}")[1]["execute_result"][0]["data"] == {"text/plain": "{'a': [1]}"}
    _, shown = notebook.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\n7")
    assert shown["display_data"][0]["data"]["image/png"].startswith("iVBORw0KGgo")
    assert shown["execute_result"][0]["data"] == {"text/plain": "7"}
    assert notebook.run("from PIL import Image\nImage.new('RGB', (2, 2)).save('a.png')")[1] == {}


def test_an_error_has_its_trace(notebook):
    reply, shown = notebook.run("def f():\n    return 1 / 0\nf()")
    (error,) = shown["error"]
    assert (reply["status"], error["ename"], error["evalue"]) == ("error", "ZeroDivisionError", "division by zero")
    assert error["traceback"][0] == "Traceback (most recent call last):"
    assert "    return 1 / 0" in error["traceback"]


def test_interrupting_ends_a_cell_and_keeps_the_state(notebook):
    notebook.run("kept = 5")
    code = "kept = 6\nprint('begun', flush=True)\nwhile True: pass"
    reply, _ = notebook.run(code, notebook.manager.interrupt_kernel)
    assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
    assert notebook.value("kept") == "5"


def test_a_cell_beyond_the_limits_is_an_error(notebook):
    notebook.run("kept = 7")
    reply, _ = notebook.run("b = bytearray((1 << 31) - 100)")
    assert reply["ename"] == "MemoryError"
    reply, shown = notebook.run("import os\nos._exit(3)")
    assert (reply["ename"], reply["evalue"]) == ("InterpreterEnded", "exit code 3")
    assert notebook.value("kept") == "7"


def test_completion(notebook):
    notebook.run("class Thing:\n    first = 1\n    @property\n    def second(self):\n        print('looked')\n        global seen\n        seen = 1\n        return 'text'\nthing = Thing()")
    assert notebook.complete("thing.fi") == (["first"], "fi")
    assert notebook.complete("thing.first.bit_c")[0] == ["bit_count"]
    # Properties are not looked at.
    assert notebook.complete("thing.second.up")[0] == [] and "second" in notebook.complete("thing.")[0]
    assert notebook.value("'seen' in globals()") == "False"
    begun = time.monotonic()
    for _ in range(20):
        notebook.complete("thing.fi")
    # Without a fork: 20 forks of an interpreter with pandas take longer.
    assert time.monotonic() - begun < 10
    assert notebook.value("1 + 1") == "2" and notebook.complete("zi")[0] == ["zip"] and notebook.value("_ + 1") == "3"
    assert notebook.complete("x = thi + 1", 7) == (["thing"], "thi")
    assert "json" in notebook.complete("import jso")[0]
    assert notebook.complete("from json.dec") == (["decoder"], "dec")
    assert notebook.complete("from json import dum") == (["dump", "dumps"], "dum")
    assert notebook.complete("nothing.x") == ([], "x")


def test_descriptions(notebook):
    notebook.run("def add(a, b=1):\n    'Adds numbers.'\n    return a + b\nnumber = 12")
    assert notebook.inspect("add") == "Signature: add(a, b=1)\nType: function\nDocstring:\nAdds numbers."
    assert notebook.inspect("add(1, ", 7) == notebook.inspect("add")
    assert "    return a + b" in notebook.inspect("add", 3, detail=1)
    assert "String form: 12\nType: int" in notebook.inspect("number")
    assert notebook.inspect("missing") is None
    payload = notebook.run("missing?")[0]["payload"]
    assert payload == [{"source": "page", "data": {"text/plain": "Object `missing` not found."}, "start": 0}]


@pytest.mark.parametrize(
    "code, status, indent",
    [
        ("for i in x:", "incomplete", "    "),
        ("if 1:\n    f()", "incomplete", "    "),
        ("if 1:\n    f()\n", "complete", None),
        ("a = 1\nb = 2", "complete", None),
        ("await f()", "complete", None),
        ("!ls", "complete", None),
        ("f(", "incomplete", ""),
        (")", "invalid", None),
    ],
)
def test_whether_code_is_complete(notebook, code, status, indent):
    asked = notebook.client.is_complete(code)
    while (message := notebook.client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != asked:
        pass
    content = message["content"]
    assert (content["status"], content.get("indent")) == (status, indent)


def test_restarting_begins_a_new_session(installed):
    notebook = Notebook()
    try:
        notebook.run("x = 1")
        notebook.manager.restart_kernel(now=False)
        notebook.client.wait_for_ready(timeout=60)
        assert notebook.run("x")[0]["ename"] == "NameError"
    finally:
        notebook.close()


def test_a_policy_file_grants(installed, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a").write_text("hi")
    policy = tmp_path / "policy.toml"
    policy.write_text(f"[[mount]]\nhost = '{tmp_path / 'data'}'\nguest = '/data'\n")
    prefix = installed.parents[2]
    command = [sys.executable, "-m", "wasibox", "kernel", "install", "--prefix", prefix, "--name", "wasibox-policy"]
    subprocess.run([*command, "--policy", policy, "--display-name", "Data"], check=True, stdout=subprocess.DEVNULL)
    assert json.loads((installed / "wasibox-policy/kernel.json").read_text())["display_name"] == "Data"
    notebook = Notebook("wasibox-policy")
    try:
        assert notebook.value("open('/data/a').read()") == "'hi'"
    finally:
        notebook.close()


def test_a_policy_file_that_is_missing_is_an_error(tmp_path):
    command = [sys.executable, "-m", "wasibox", "kernel", "install", "--prefix", tmp_path, "--policy", "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "wasibox: no policy file none\n")
    assert not (tmp_path / "share").exists()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_reports_are_found_in_any_pieces(size):
    splitter = ReportSplitter("\x1emark ")
    text = "a\x1e\x1ema b" + '\x1emark {"n": 1}\n' + '\x1emark {"n": 2}\n' + "c\x1emar"
    parts = [part for at in range(0, len(text), size) for part in splitter.take(text[at : at + size])]
    assert [part for part in parts if isinstance(part, dict)] == [{"n": 1}, {"n": 2}]
    assert "".join(part for part in parts if isinstance(part, str)) + splitter.finish() == "a\x1e\x1ema bc\x1emar"
