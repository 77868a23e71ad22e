//! Python's cells, in the image of `dist/` or of the folder that `WASIBOX_DIST` names
//! (`cargo xtask dist` makes it).

#[path = "common/cells.rs"]
mod cells;

use cells::{any, cell, move_over, sandbox, with};
use std::time::{Duration, Instant};
use wasibox_sandbox::streams::BytesInput;
use wasibox_sandbox::{LimitHit, RunSpec};

const INTERPRETER: &str = "python";
const PROGRAM: &str = "python3";
const TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn cells_share_an_interpreter() {
    let s = sandbox();
    assert_eq!(cell(&s, "x = 20\nimport json as j\ndef f(n):\n    return n + 1"), "");
    assert_eq!(cell(&s, "x += 1\nf(x)"), "22");
    assert_eq!(cell(&s, "_ + 1"), "23");
    assert_eq!(cell(&s, "None"), "");
    assert_eq!(cell(&s, "j.dumps([__name__])"), "'[\"__main__\"]'");
    let ran = any(
        &s,
        "print('out'); import sys; print('err', file=sys.stderr); {'a': [1, 2.5, None, True]}",
    );
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("out\n", "err\n"));
    assert_eq!(ran.value(), "{'a': [1, 2.5, None, True]}");
    assert_eq!(ran.json(), r#"{"a": [1, 2.5, null, true]}"#);
    for code in ["{1: 2}", "{1, 2}", "object", "float('nan')", "'\\ud800'"] {
        assert_eq!(any(&s, code).json(), "", "{code}");
    }
    // A list that contains itself.
    assert_eq!((cell(&s, "l = []; l.append(l); l"), any(&s, "l").json()), ("[[...]]".into(), ""));
    assert_eq!(cell(&s, "'x' * 100_000").len(), 64 << 10);
    assert_eq!(cell(&s, "from __future__ import annotations"), "");
    assert_eq!(cell(&s, "def g(a: nowhere): pass\ng.__annotations__"), "{'a': 'nowhere'}");
    assert_eq!(
        cell(&s, "import pickle\nclass C:\n    n = 3\npickle.loads(pickle.dumps(C())).n"),
        "3"
    );
}

#[test]
fn errors_name_the_cell_and_the_line() {
    let s = sandbox();
    cell(&s, "def f(n):\n    return 1 / n");
    let ran = any(&s, "a = 1\nf(a - 1)");
    assert_eq!((ran.status(), ran.value()), (1, ""));
    // CPython 3.13 writes the same for files of these names.
    let expected = "Traceback (most recent call last):\n  File \"<cell 2>\", line 2, in <module>\n    \
                    f(a - 1)\n    ~^^^^^^^\n  File \"<cell 1>\", line 2, in f\n    return 1 / n\n           \
                    ~~^~~\nZeroDivisionError: division by zero\n";
    assert_eq!(ran.err, expected);
    let ran = any(&s, "x = (1");
    let expected =
        "  File \"<cell 3>\", line 1\n    x = (1\n        ^\nSyntaxError: '(' was never closed\n";
    assert_eq!((ran.status(), ran.err.as_str()), (1, expected));
    assert_eq!(any(&s, "import sys; sys.exit(7)").status(), 7);
    let ran = any(&s, "raise SystemExit('no')");
    assert_eq!((ran.status(), ran.err.as_str()), (1, "no\n"));
    let ran = any(&s, "raise KeyboardInterrupt");
    assert_eq!((ran.status(), ran.err.ends_with("KeyboardInterrupt\n")), (130, true));
    assert_eq!(cell(&s, "f(2)"), "0.5");
    let ran = any(&s, "class Bad:\n    def __repr__(self): raise ValueError('bad')\nBad()");
    assert!(ran.status() == 1 && ran.err.ends_with("ValueError: bad\n"), "{}", ran.err);
    let ran = with(&s, "while True: pass", |s| s.timeout = Some(Duration::from_millis(300)));
    assert!(ran.cell.is_gone && ran.cell.run.limit == Some(LimitHit::Timeout));
    let ran = any(&s, "f(2)");
    assert!(ran.err.ends_with("NameError: name 'f' is not defined\n"), "{}", ran.err);
    let ran = with(&s, "import os; os._exit(3)", |_| {});
    assert!(ran.cell.is_gone && ran.status() == 3);
}

#[test]
fn await_is_allowed() {
    let s = sandbox();
    cell(&s, "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n + 1");
    assert_eq!(cell(&s, "await f(1)"), "2");
    assert_eq!(
        cell(&s, "a, b = await asyncio.gather(f(1), f(2))\nt = asyncio.create_task(f(3))\nawait t"),
        "4"
    );
    assert_eq!(cell(&s, "a + b"), "5");
    let ran = any(&s, "async def g():\n    1 / 0\nawait g()");
    assert!(
        ran.err.starts_with("Traceback (most recent call last):\n  File \"<cell 5>\", line 3"),
        "{}",
        ran.err
    );
}

#[test]
fn input_environment_and_directory_are_the_sessions() {
    let s = sandbox();
    let typed =
        |text: &'static str| move |s: &mut RunSpec| s.stdin = Some(BytesInput::new(text.into()));
    assert_eq!(with(&s, "input()", typed("one\n")).value(), "'one'");
    assert_eq!(with(&s, "import sys; sys.stdin.read()", typed("two\n")).value(), "'two\\n'");
    assert_eq!(with(&s, "input()", typed("three\nrest\n")).value(), "'three'");
    assert_eq!(with(&s, "input()", typed("four\n")).value(), "'four'");
    let env = |more: &'static str| move |s: &mut RunSpec| s.env.push(more.into());
    assert_eq!(with(&s, "import os; os.environ['A']", env("A=1")).value(), "'1'");
    cell(&s, "os.environ['B'] = '2'");
    assert_eq!(cell(&s, "os.environ.get('A'), os.environ['B']"), "(None, '2')");
    assert_eq!(with(&s, "os.environ['A'], os.environ['B']", env("A=3")).value(), "('3', '2')");
    assert_eq!(cell(&s, "os.getcwd()"), "'/home/user'");
    assert_eq!(with(&s, "os.getcwd()", |s| s.cwd = "/tmp".into()).value(), "'/tmp'");
    cell(&s, "os.chdir('/tmp')");
    assert_eq!(cell(&s, "os.getcwd()"), "'/tmp'");
    // The interpreter keeps its process number.
    let pid = cell(&s, "os.getpid()");
    assert_eq!(cell(&s, "os.getpid()"), pid);
    cell(&s, "import time\nt = time.monotonic(), time.process_time()");
    assert_eq!(cell(&s, "time.monotonic() > t[0], time.process_time() >= t[1]"), "(True, True)");
    // Some variables must be known when the interpreter begins.
    let other = sandbox();
    let env = |s: &mut RunSpec| s.env.push(b"PYTHONOPTIMIZE=1".to_vec());
    assert_eq!(with(&other, "import sys; sys.flags.optimize", env).value(), "1");
    assert_eq!(with(&other, "sys.flags.optimize", env).value(), "1");
}

#[test]
fn an_object_graph_comes_back() {
    let (one, two) = (sandbox(), sandbox());
    cell(&one, "import random, threading, pickle, os, tempfile\nrandom.seed(5); random.random()");
    cell(
        &one,
        "def counter():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n        return n\n    return up\nup = counter(); up()",
    );
    cell(
        &one,
        "def squares():\n    k = 0\n    while True:\n        yield k * k\n        k += 1\ng = squares(); next(g), next(g), next(g)",
    );
    cell(&one, "lock = threading.Lock(); lock.acquire()");
    cell(
        &one,
        "class Point:\n    def __init__(self, x): self.x = x\np = Point(3); blob = pickle.dumps(p)",
    );
    cell(&one, "f = open('/tmp/t', 'w+'); f.write('0123456789'); f.flush(); f.seek(4)");
    cell(&one, "r, w = os.pipe()\ndeleted = tempfile.TemporaryFile(); deleted.write(b'abc')");
    cell(
        &one,
        "import re, collections\npattern = re.compile('a+'); d = collections.OrderedDict(a=1)",
    );
    cell(&one, "words = {str(n): n for n in range(1000)}; strings = frozenset(words)");
    // The file itself moves with the session's tree.
    cell(&two, "open('/tmp/t', 'w').write('0123456789')");
    let bytes = move_over(&one, &two, false);
    // The whole memory has 110 MiB.
    assert!(bytes < 2 << 20, "{bytes} bytes");
    // Each value is the same as in the original interpreter.
    for code in ["random.random()", "up()", "next(g)", "lock.locked()", "pickle.loads(blob).x"] {
        assert_eq!(cell(&two, code), cell(&one, code), "{code}");
    }
    assert_eq!(cell(&two, "lock.release(); lock.locked()"), "False");
    assert_eq!(cell(&two, "f.read(3), f.tell()"), "('456', 7)");
    assert_eq!(cell(&two, "f.write('x'); f.seek(0); f.read()"), "'0123456789x'");
    assert_eq!(
        cell(&two, "pattern.findall('aab'), d['a'], words['999'], '7' in strings"),
        "(['aa'], 1, 999, True)"
    );
    assert_eq!(cell(&two, "type(p) is Point and type(pickle.loads(blob)) is Point"), "True");
    // The answer is EBADF, because their numbers are not reused for other files.
    for code in ["os.read(r, 1)", "os.write(w, b'x')", "deleted.seek(0); deleted.read()"] {
        let ran = any(&two, code);
        assert!(
            ran.err.ends_with("OSError: [Errno 8] Bad file descriptor\n"),
            "{code}: {}",
            ran.err
        );
    }
    assert_eq!(
        cell(&two, "n = open('/tmp/n', 'w').fileno(); n not in (r, w, deleted.fileno())"),
        "True"
    );
    let ran = any(&two, "Point(1).y");
    assert!(ran.err.contains("File \"<cell "), "{}", ran.err);
    assert_eq!(
        cell(&two, "import inspect; inspect.getsource(Point.__init__)"),
        "'    def __init__(self, x): self.x = x\\n'"
    );
}

#[test]
fn a_fork_is_not_its_twin() {
    let (one, two, three) = (sandbox(), sandbox(), sandbox());
    cell(
        &one,
        "import random, tempfile, os, uuid\nrandom.seed(5); own = random.Random(5); tempfile.gettempdir()",
    );
    cell(&one, "list(zip(range(2), tempfile._get_candidate_names()))");
    move_over(&one, &two, false);
    move_over(&one, &three, true);
    let names = "next(tempfile._get_candidate_names())";
    let [a, b, c] = [&one, &two, &three].map(|s| cell(s, "random.random()"));
    assert!(a == b && a != c, "{a} {b} {c}");
    let [a, b, c] = [&one, &two, &three].map(|s| cell(s, "own.random()"));
    assert!(a == b && a == c, "a generator of the user's own keeps its state: {a} {b} {c}");
    let [a, b, c] = [&one, &two, &three].map(|s| cell(s, names));
    assert!(a == b && a != c, "{a} {b} {c}");
    let [a, b, c] = [&one, &two, &three].map(|s| cell(s, "os.urandom(8), uuid.uuid4()"));
    assert!(a != b && a != c && b != c);
}

#[test]
fn processes_do_not_outlive_a_cell() {
    let s = sandbox();
    let start = "import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], stdout=subprocess.PIPE)";
    let begin = Instant::now();
    cell(&s, start);
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(cell(&s, "p.stdout.read()"), "b''");
    let run = "q = subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True); q.stdout, q.returncode";
    assert_eq!(cell(&s, run), "('42\\n', 0)");
    // Numbers are not reused while a process may wait for them.
    assert_eq!(
        cell(&s, "r = subprocess.Popen([sys.executable, '-c', '']); r.wait(), r.pid > p.pid"),
        "(0, True)"
    );
}

#[test]
fn data_and_figures_stay() {
    let (one, two, three) = (sandbox(), sandbox(), sandbox());
    cell(&one, "import pandas as pd, numpy as np");
    cell(
        &one,
        "df = pd.DataFrame({'a': np.arange(60_000), 'b': np.random.rand(60_000)}); s = df.b.sum()",
    );
    cell(&one, "np.random.seed(1); rng = np.random.default_rng(2); np.random.rand(), rng.random()");
    for to in [&two, &three] {
        move_over(&one, to, std::ptr::eq(to, &raw const three));
    }
    assert_eq!(
        cell(&two, "df.shape, bool(df.b.sum() == s), int(df.a.sum())"),
        "((60000, 2), True, 1799970000)"
    );
    let [a, b, c] = [&one, &two, &three].map(|s| cell(s, "np.random.rand()"));
    assert!(a == b && a != c, "{a} {b} {c}");
    cell(
        &two,
        "import matplotlib.pyplot as plt, os\nos.makedirs('/tmp/out'); os.chdir('/tmp/out')",
    );
    let ran = any(&two, "fig, ax = plt.subplots(); ax.plot([1, 2]); None");
    assert_eq!(ran.status(), 0, "{}", ran.err);
    assert!(ran.err.contains("saved the figure as"), "{}", ran.err);
    let ran = any(&two, "len(plt.get_fignums())");
    assert_eq!((ran.value(), ran.err.as_str()), ("1", ""));
    let ran = any(&two, "ax.set_title('more'); None");
    assert!(ran.err.contains("saved the figure as"), "{}", ran.err);
}

/// Figures for docs/performance.md.
#[test]
#[ignore = "a measurement"]
fn figures() {
    let s = sandbox();
    let t = Instant::now();
    cell(&s, "x = 0");
    println!("the first cell {:?}", t.elapsed());
    s.cell_changes("python", false).unwrap();
    let (mut run, mut take, mut bytes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..300 {
        let t = Instant::now();
        cell(&s, "x += 1");
        run = run.min(t.elapsed());
        let t = Instant::now();
        bytes = s.cell_changes("python", false).unwrap().layer.len();
        take = take.min(t.elapsed());
    }
    println!("x += 1: {run:?}; its {bytes} bytes of changes: {take:?}");
    cell(
        &s,
        "import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': np.arange(65536.), 'b': np.arange(65536.)})",
    );
    cell(&s, "df.shape");
    let change = s.cell_changes("python", true).unwrap();
    println!(
        "pandas and a frame of 1 MB: {} bytes, rest {} bytes",
        change.layer.len(),
        change.rest.len()
    );
    let mut least = [Duration::MAX; 2];
    let to = sandbox();
    for _ in 0..30 {
        let t = Instant::now();
        to.restore_cell("python", &change.module, &[&change.layer], &change.rest, false).unwrap();
        least[0] = least[0].min(t.elapsed());
        let t = Instant::now();
        cell(&to, "df.shape");
        least[1] = least[1].min(t.elapsed());
        to.forget_cell("python");
    }
    println!("coming back {:?}, df.shape {:?}", least[0], least[1]);
}
