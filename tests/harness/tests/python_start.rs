//! Tests that Python starts from a prepared interpreter, which makes no difference except in time.
//!
//! The authority is the same CPython started the ordinary way, to which it is forced by a fixed
//! `PYTHONHASHSEED`. Every invocation must do the same both ways.

use std::process::Command;
use wasibox_tests::exec::{Exec, ExecResult};
use wasibox_tests::{image, runner};

/// Runs a bash script twice: with python starting from its prepared memory, and the ordinary way.
fn both(script: &str) -> [ExecResult; 2] {
    let run = |start: &str| {
        let script = format!("export HOME=/home/user {start}; cd /tmp; {script}");
        Exec::sh(&script).opt(&["--env", "TERM=dumb"]).run()
    };
    [run("WARM=1"), run("PYTHONHASHSEED=5")]
}

/// Removes the addresses of objects, which may differ.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str("0x");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    out
}

/// Runs a script in both ways of starting. Returns the result, which must be the same.
fn same(script: &str) -> ExecResult {
    let [warm, cold] = both(script);
    let seen =
        |d: &ExecResult| (d.status, without_addresses(&d.stdout), without_addresses(&d.stderr));
    assert_eq!(seen(&warm), seen(&cold), "{script}");
    warm
}

fn prints(script: &str, expected: &str) {
    let done = same(script);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), (expected, ""), "{script}");
}

#[test]
fn it_is_really_prepared() {
    let script = r#"python3 -c 'import gc; print(gc.get_freeze_count() > 1000)'"#;
    let [warm, cold] = both(script);
    assert_eq!((warm.stdout.as_str(), cold.stdout.as_str()), ("True\n", "False\n"));
}

#[test]
fn what_sys_says() {
    for how in [
        "-c \"$code\" a -b 'c d'",
        "-uc \"$code\" -x",
        "x.py 1 2",
        "./x.py",
        "/tmp/x.py",
        "-m x 3",
        "-Bm x",
        "- 4 < x.py",
        "< x.py",
        "-I x.py",
        "-S -c \"$code\"",
        "-O x.py",
        "-W ignore x.py",
        "-X utf8 x.py",
        "-E x.py",
        "-s x.py",
        "d/y.py",
        "z.zip",
    ] {
        same(&format!(
            r#"code='import sys
print(sys.argv, sys.orig_argv[1:], sys.path, sys.flags, sys.executable, sys.warnoptions, __name__)
imported = sorted(sys.modules)
print(globals().get("__file__"), __spec__, sorted(globals()))
print([(s.name, s.encoding, s.errors, s.line_buffering, s.write_through, s.mode)
    for s in (sys.stdin, sys.stdout, sys.stderr)], sys.stdin is sys.__stdin__)
if "runpy" not in imported: print(imported)'
            mkdir d; printf '%s\n' "$code" | tee x.py d/y.py > __main__.py
            python3 -c 'import zipfile; zipfile.ZipFile("z.zip", "w").write("__main__.py")'
            python3 {how}"#
        ));
    }
}

#[test]
fn statuses_and_errors() {
    for code in [
        "import sys; sys.exit(3)",
        "import sys; sys.exit(-1)",
        "raise SystemExit(\"no\")",
        "1/0",
        "import os; os._exit(7)",
        "import nosuch",
        "def f(:",
        "raise KeyboardInterrupt",
        "import sys; sys.stdout.close()",
        "import os; os.abort()",
        "import atexit; atexit.register(lambda: 1/0)",
        "import sys; sys.exit(300)",
        "import json; json.loads(\"{\")",
        "import sys; print(1); sys.stdout.write(chr(0xdc80))",
    ] {
        same(&format!("python3 -c '{code}'; echo $?"));
    }
    same(
        "python3 nosuch.py; echo $?; python3 -m nosuch; echo $?; python3 -c; echo $?; python3 -Q; echo $?",
    );
    same("python3 -V; python3 --version; python3 -h | head -1");
}

#[test]
fn streams() {
    prints(
        "printf 'a\\nb\\n' | python3 -c 'import sys; print([l for l in sys.stdin])'",
        "['a\\n', 'b\\n']\n",
    );
    prints("printf 'first\\nsecond\\n' | (python3 -c 'print(input())'; cat)", "first\n");
    prints("python3 -c 'print(1)' > f; python3 -c 'print(2)' >> f; cat f", "1\n2\n");
    same("python3 -c 'import sys; print(sys.stdout)' >&-; echo $?");
    same("python3 -c 'import sys; print(sys.stdin)' <&-; echo $?");
    same("python3 -c 'import sys; sys.stderr.write(\"e\"); print(\"o\")' 2>&1");
    prints("python3 -uc 'import os; print(1); os._exit(0)'", "1\n");
    prints("python3 -c 'import os; print(1); os._exit(0)'", "");
    prints("PYTHONUNBUFFERED=1 python3 -c 'import os; print(1); os._exit(0)'", "1\n");
    same("python3 -c 'print(\"x\" * 10**6)' | head -c 3");
    prints("echo 'print(5)' | python3", "5\n");
}

#[test]
fn environment_and_directory() {
    prints(
        "mkdir sub; cd sub; A=1 B= python3 -c 'import os; print(os.getcwd(), os.environ[\"A\"], repr(os.getenv(\"B\")), os.environb[b\"A\"])'",
        "/tmp/sub 1 '' b'1'\n",
    );
    prints(
        "mkdir p q; echo v=1 > p/m.py; echo v=2 > q/m.py; PYTHONPATH=p:q python3 -c 'import m, sys; print(m.v, sys.path[:3])'",
        "1 ['', '/tmp/p', '/tmp/q']\n",
    );
    prints(
        "mkdir p; echo 'print(\"custom\")' > p/sitecustomize.py; PYTHONPATH=p python3 -c 'print(1)'",
        "custom\n1\n",
    );
    prints(
        "d=~/.local/lib/python3.13/site-packages; mkdir -p $d/e; echo 'v = 7' > $d/mine.py; echo $d/e > $d/x.pth; python3 -c 'import mine, sys; print(mine.v, [p for p in sys.path if \"local\" in p])'",
        "7 ['/home/user/.local/lib/python3.13/site-packages', '/home/user/.local/lib/python3.13/site-packages/e']\n",
    );
    prints(
        "mkdir e; echo v=9 > e/mine.py; echo $PWD/e > /usr/lib/python3.13/site-packages/x.pth; python3 -c 'import mine, sys; print(mine.v, sys.path[-1])'",
        "9 /tmp/e\n",
    );
    prints(
        "HOME=/tmp/h; d=$HOME/.local/lib/python3.13/site-packages; mkdir -p $d; echo v=8 > $d/mine.py; python3 -c 'import mine, site; print(mine.v, site.USER_BASE)'",
        "8 /tmp/h/.local\n",
    );
}

#[test]
fn what_the_kernel_knows_of_a_process() {
    same(
        "echo x > f; python3 -c 'import os; print(os.stat(\"f\")[:6]); os.chmod(\"f\", 0o600); print(oct(os.stat(\"f\").st_mode))'",
    );
    same(
        "umask 077; python3 -c 'import os; print(oct(os.umask(0)))'; umask 022; python3 -c 'import os; print(oct(os.umask(0)))'",
    );
    same("exec 5< <(echo five); python3 -c 'import os; print(os.read(5, 9))'");
    same("trap '' INT; python3 -c 'import signal; print(signal.getsignal(2))'");
    same(
        "python3 -c 'import signal, os; signal.signal(15, lambda *a: print(a[0])); os.kill(os.getpid(), 15); print(0)'; echo $?",
    );
    same("python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)'; echo $?");
    same("python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGINT)'; echo $?");
    same(
        "python3 -c 'import subprocess; print(subprocess.run(\"echo $0 | tr a-z A-Z\", shell=True, capture_output=True, text=True))'",
    );
    same(
        "python3 -c 'import os; print(os.getuid(), os.getppid() > 0, os.environ.get(\"BOX_UMASK\"), os.environ.get(\"BOX_FDS\"))'",
    );
}

#[test]
fn scripts_come_before_prepared_modules() {
    prints("echo 'v = \"mine\"' > json.py; python3 -c 'import json; print(json.v)'", "mine\n");
    prints(
        "echo 'v = \"mine\"' > random.py; echo 'import random; print(random.v)' > s.py; python3 s.py",
        "mine\n",
    );
    prints(
        "mkdir xml; echo 'v = 3' > xml/__init__.py; python3 -c 'import xml; print(xml.v)'",
        "3\n",
    );
    prints(
        "python3 -c 'import sys, types; sys.modules[\"csv\"] = m = types.ModuleType(\"csv\"); import csv; print(csv is m)'",
        "True\n",
    );
}

#[test]
fn packages_after_a_shadowed_module() {
    let has = Exec::new(&["python3", "-c", "import numpy"]).run().status == 0;
    if !has {
        return;
    }
    for name in ["queue", "calendar"] {
        let script = format!(
            "echo v=1 > {name}.py; python3 -c 'import {name}, numpy; print({name}.v, numpy.arange(3))'"
        );
        prints(&script, "1 [0 1 2]\n");
    }
    let plot = "python3 -c 'import pandas, matplotlib.pyplot as plt
pandas.DataFrame({\"a\": [1, 2]}).plot()
print(len(plt.gcf().axes), plt.get_backend(), plt.rcParams[\"lines.linewidth\"])'";
    prints(plot, "1 agg 1.5\n");
    prints(&format!("MPLBACKEND=svg {plot}"), "1 svg 1.5\n");
    prints(&format!("MPLBACKEND=agg {plot}"), "1 agg 1.5\n");
    prints(&format!("echo 'lines.linewidth: 7' > matplotlibrc; {plot}"), "1 agg 7.0\n");
    prints(&format!("HOME=/tmp/h; mkdir h; {plot}"), "1 agg 1.5\n");
    prints(&format!("NPY_DISABLE_CPU_FEATURES= {plot}"), "1 agg 1.5\n");
}

#[test]
fn imports_of_prepared_modules() {
    for code in [
        "import json; print(json.__spec__, json.__loader__, json.__file__, json.__package__)",
        "import sys; print(\"json\" in sys.modules); import json; print(sys.modules[\"json\"] is json)",
        "import xml.etree.ElementTree as E, xml; print(E.fromstring(\"<a/>\").tag, xml.etree.ElementTree is E)",
        "import importlib, json; print(importlib.reload(json) is json)",
        "import importlib.util as u; print(u.find_spec(\"json\").origin, u.find_spec(\"nosuch\"))",
        "from concurrent.futures import ThreadPoolExecutor as T; print(T.__module__)",
        "import sys; sys.path.clear(); import math; print(math.pi)",
        "import pickle, collections; print(pickle.loads(pickle.dumps(collections.Counter(\"aa\"))))",
        "import pkgutil; print(len(list(pkgutil.iter_modules())) > 200)",
        "import inspect, json; print(inspect.getsource(json.dumps)[:9])",
        "import inspect, concurrent.futures as c; print(inspect.getfile(c.ThreadPoolExecutor))",
        "import xml.etree.ElementTree; import xml.parsers.expat.errors as e; print(e.__name__)",
        "import sys; sys.modules[\"_heapq\"] = None; import heapq; print(heapq.heappop.__module__)",
        "import typing, json.decoder as j; print(typing.get_type_hints(j.JSONDecoder.decode))",
        "import sys, json; del sys.modules[\"json\"]; import json as j; print(j is json)",
        "import warnings; print(warnings.filters)",
        "import site, sys; print(sys.path_hooks, site.ENABLE_USER_SITE)",
        "import logging; logging.warning(\"w\"); print(logging.root.handlers)",
        "import threading; print(threading.main_thread(), threading.active_count())",
    ] {
        same(&format!("python3 -c '{code}'"));
    }
}

/// Tests that an import also loads the modules that it imports in turn, as far as the importing
/// code is Python.
#[test]
fn modules_that_come_with_an_import() {
    for name in [
        "json",
        "asyncio",
        "unittest",
        "subprocess",
        "concurrent.futures",
        "email.parser",
        "logging",
    ] {
        let code = format!("import sys, {name}; print(sorted(sys.modules))");
        let [warm, cold] = both(&format!("python3 -c '{code}'"));
        let names = |text: &str| -> std::collections::BTreeSet<String> {
            text.split('\'').map(ToString::to_string).collect()
        };
        let (warm, cold) = (names(&warm.stdout), names(&cold.stdout));
        let missing: Vec<_> = cold.difference(&warm).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}

/// Tests that `-m` runs the code of a module that was prepared.
#[test]
fn prepared_modules_as_programs() {
    prints("echo hello | python3 -m gzip | python3 -m gzip -d", "hello\n");
    prints("echo '[1]' | python3 -m json.tool --compact", "[1]\n");
    same("python3 -m calendar 2024 2");
    same("echo hi | python3 -m base64 -e");
    same("echo 'x = 1' > m.py; python3 -m ast m.py; python3 -m tokenize m.py; python3 -m dis m.py");
    same(
        "python3 -m timeit -n 1 -r 1 pass | cut -c1-9; python3 -m platform; python3 -m inspect json | sed -n 1,3p",
    );
}

/// Tests that TZ is read by each process, not taken from the prepared memory.
#[test]
fn time_zones() {
    for zone in ["Europe/Berlin", "EST5EDT,M3.2.0,M11.1.0", "UTC", "", "Nowhere/Else"] {
        same(&format!(
            "export TZ='{zone}'; python3 -c 'import time, datetime as d
print(time.tzname, time.timezone, time.altzone, time.localtime(1719835200)[:6])
print(d.datetime.fromtimestamp(0).astimezone())'"
        ));
    }
    prints(
        "TZ=Asia/Tokyo python3 -c 'import time; print(time.strftime(\"%H %Z %z\", time.localtime(0)))'",
        "09 JST +0900\n",
    );
}

#[test]
fn the_end_of_a_process() {
    for code in [
        "f = open(\"f\", \"w\"); f.write(\"kept\")",
        "import builtins; builtins.f = open(\"f\", \"w\"); builtins.f.write(\"kept\")",
        "import json; json.f = open(\"f\", \"wb\"); json.f.write(b\"kept\")",
        "f = open(\"f\", \"w\"); f.write(\"kept\"); 1/0",
        "f = open(\"f\", \"w\"); f.write(\"kept\"); raise SystemExit(2)",
        "class C:\n def __del__(s): print(\"gone\")\nc = C()",
        "class C:\n def __del__(s): print(\"gone\")\nc = C(); c.c = c",
        "import atexit; atexit.register(print, 1); atexit.register(print, 2)",
        "import weakref\nclass C: pass\nc = C(); weakref.finalize(c, print, \"final\")",
        "import tempfile, os; d = tempfile.TemporaryDirectory(); print(len(os.listdir(\"/tmp\")))",
        "import sys; sys.stdout.write(\"no newline\")",
        "import gzip; f = gzip.open(\"g\", \"wt\"); f.write(\"x\" * 10)",
    ] {
        same(&format!("python3 -c '{code}'; echo $?; cat f 2>&1; ls"));
    }
}

#[test]
fn nothing_that_should_be_unique_repeats() {
    let script = "python3 -c '
import random, uuid, secrets, tempfile, os
print(random.random(), random.SystemRandom().random(), uuid.uuid4(), secrets.token_hex(), os.urandom(8))
print(uuid.uuid1(), random.Random().random(), tempfile.mktemp())'
python3 -c 'import random; print([random.random() for _ in range(3)])'";
    let (one, two) = (Exec::sh(script).ok(), Exec::sh(script).ok());
    for (a, b) in one.split_whitespace().zip(two.split_whitespace()) {
        assert_ne!(a, b);
    }
}

/// Tests the files of prepared memories: a page with the header, then the content
/// (`runner/kernel/src/parked.rs`, `PreparedHeader`).
#[test]
fn compile_writes_prepared_memories() {
    const PAGE: usize = 64 << 10;
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("new/folder");
    let mut cmd = Command::new(runner());
    let out = cmd.args(["compile", "--memories"]).arg(&folder).arg(image()).output();
    let out = out.expect("runner");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    for (program, imported) in [("python", "pandas"), ("js", "node:fs")] {
        let path = folder.join(program).with_extension("memory");
        let file = std::fs::read(&path).expect("a memory");
        let number = |at: usize| u64::from_le_bytes(*file[at..].first_chunk().expect("a head"));
        assert!(file.starts_with(b"wasibox memory 1"), "{program}");
        let (start, len, size) = (number(16) as usize, number(24) as usize, number(33) as usize);
        assert_eq!((start % PAGE, len), (0, file.len() - PAGE), "{program}");
        assert!(start + len <= size && size <= 256 << 20, "{program}: {start} {len} {size}");
        let has = |text: &str| file[PAGE..].windows(text.len()).any(|w| w == text.as_bytes());
        assert!(has(imported), "{program} has not imported {imported}");
    }
    let mut cmd = Command::new(runner());
    let out = cmd.args(["compile", "--memories", "/dev/null/no"]).arg(image()).output();
    let out = out.expect("runner");
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(125) && stderr.contains("/dev/null/no: "), "{stderr}");
}
