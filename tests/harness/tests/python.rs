//! Tests the image's Python through `runner exec`, by its own checks and by scripts whose expected
//! output comes from this machine's CPython.

use std::process::Command;

use wasibox_tests::exec::Exec;
use wasibox_tests::root;

/// Runs a script of `tests/python` with this machine's Python and in the guest, and compares the
/// output.
fn same_as_native(script: &str) {
    let dir = root().join("tests/python");
    let native = Command::new("python3")
        .arg(dir.join(script))
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("python3");
    assert!(native.status.success(), "{}", String::from_utf8_lossy(&native.stderr));
    let native = String::from_utf8(native.stdout).expect("UTF-8");
    let ours = Exec::new(&["python3", &format!("/t/{script}")])
        .mount(&dir, "/t:ro")
        .opt(&["--timeout", "300"])
        .run();
    let (ours, errors) = (ours.stdout, ours.stderr);
    for (line, (ours, native)) in ours.lines().zip(native.lines()).enumerate() {
        assert_eq!(ours, native, "line {} of {script}'s output\n{errors}", line + 1);
    }
    assert_eq!(ours.lines().count(), native.lines().count(), "{ours}\n{errors}");
}

#[test]
fn smoke() {
    let dir = root().join("python-dist");
    for script in ["smoke.py", "smoke_packages.py"] {
        let done = Exec::new(&["python3", &format!("/p/{script}")]).mount(&dir, "/p:ro").run();
        assert_eq!(done.status, 0, "{script}: {}{}", done.stdout, done.stderr);
    }
}

#[test]
fn imports() {
    let dir = root().join("tests/python");
    assert_eq!(Exec::new(&["python3", "/t/imports.py"]).mount(&dir, "/t:ro").ok(), "");
}

#[test]
fn processes() {
    same_as_native("processes.py");
}

#[test]
fn threads() {
    same_as_native("threads.py");
}

#[test]
fn executors() {
    same_as_native("executors.py");
}

/// Compares some hundred expressions over integers in NumPy and pandas with what they give on x86-64
/// (tests/python/integers.py).
#[test]
fn integers() {
    let dir = root().join("tests/python");
    let expected = std::fs::read_to_string(dir.join("integers.expected")).expect("the values");
    let done = Exec::new(&["python3", "/t/integers.py"]).mount(&dir, "/t:ro").run();
    for (ours, native) in done.stdout.lines().zip(expected.lines()) {
        assert_eq!(ours, native);
    }
    assert_eq!(done.stdout.lines().count(), expected.lines().count(), "{}", done.stderr);
}

/// Tests termios, resource and syslog without a terminal or a system log, and the texts of errors.
#[test]
fn terminals_and_limits() {
    same_as_native("terminals.py");
}

#[test]
fn in_pipelines_of_the_shell() {
    let script = "printf 'b\\na\\n' > /tmp/s.txt
        python3 -c 'for l in open(\"/tmp/s.txt\"): print(l.strip() * 2)' | sort | tr '\\n' ' '
        python3 -c 'print(\"x\\n\" * 200000)' | head -1
        python3 -c 'import os; print(os.read(5, 10))' 5< /tmp/s.txt";
    assert_eq!(Exec::sh(script).ok(), "aa bb x\nb'b\\na\\n'\n");
}

/// Tests that a signal without a handler ends a process even while it only computes (POSIX 2.4.3).
#[test]
fn signals_end_a_busy_interpreter() {
    let done = Exec::sh("timeout 1 python3 -c 'while True: pass'; echo $?").run();
    assert_eq!(done.stdout, "124\n", "{}", done.stderr);
}

/// Tests that a virtual environment has the image's pip, and that pip installs wheels from a
/// folder.
#[test]
fn virtual_environments_and_pip() {
    let script = r#"
        cd /tmp; mkdir wheels
        python3 - <<'END'
import zipfile
with zipfile.ZipFile("wheels/hello_pkg-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("hello_pkg.py", "def main():\n    print('hello from', __file__)\n")
    info = "hello_pkg-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: hello-pkg\nVersion: 1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\nhello-pkg = hello_pkg:main\n")
    names = ["hello_pkg.py"] + [info + n for n in ("METADATA", "WHEEL", "entry_points.txt", "RECORD")]
    wheel.writestr(info + "RECORD", "".join(f"{name},,\n" for name in names))
END
        python3 -m venv e || exit 1
        e/bin/python3 -c 'import sys; print(sys.prefix, sys.base_prefix)'
        e/bin/pip install -q --no-index --find-links wheels hello-pkg 2>/dev/null
        e/bin/hello-pkg
        . e/bin/activate; python -m pip list 2>/dev/null | tail -n +3 | tr -s ' '; deactivate
        python3 -c 'import hello_pkg' 2>&1 | tail -1
        python3 -m pip install --no-index --find-links wheels cython 2>&1 | grep -o 'built in: .*numpy'
    "#;
    let expected = "/tmp/e /usr\n\
        hello from /tmp/e/lib/python3.13/site-packages/hello_pkg.py\n\
        hello-pkg 1.0\npip 26.3\n\
        ModuleNotFoundError: No module named 'hello_pkg'\n";
    let done = Exec::sh(script).run();
    let (start, built_in) = done.stdout.split_at(expected.len().min(done.stdout.len()));
    assert_eq!(start, expected, "{}", done.stderr);
    assert!(built_in.starts_with("built in: ") && built_in.contains("numpy"), "{built_in}");
}

/// Tests pip as a command: two packages at once, sources that are built with the image's tools, and
/// messages for packages that are not available.
#[test]
fn pip_installs_packages_and_sources() {
    let script = r#"
        cd /tmp; mkdir wheels from_setup from_hatch
        python3 - <<'END'
import zipfile
for name in "one", "two":
    with zipfile.ZipFile(f"wheels/{name}-1.0-py3-none-any.whl", "w") as wheel:
        info = f"{name}-1.0.dist-info/"
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "".join(f"{n},,\n" for n in [f"{name}.py", info + "RECORD"]))
END
        pip install --no-index --find-links wheels one two | tail -1
        echo 'def main(): print("three")' > from_setup/three.py
        cat > from_setup/setup.py <<'END'
from setuptools import setup
setup(name="three", version="3", py_modules=["three"], entry_points={"console_scripts": ["three=three:main"]})
END
        pip3 install ./from_setup | tail -1; three
        mkdir from_hatch/four; touch from_hatch/four/__init__.py
        cat > from_hatch/pyproject.toml <<'END'
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "four"
version = "4"
END
        pip install -e ./from_hatch | tail -1; python3 -c 'import four; print(four.__file__)'
        pip install scipy 2>&1 | sed 's/built in: .*/built in: .../'
    "#;
    let expected = "Successfully installed one-1.0 two-1.0\n\
        Successfully installed three-3\nthree\n\
        Successfully installed four-4\n/tmp/from_hatch/four/__init__.py\n\
        WARNING: pypi.org:443 is not allowed by the sandbox's policy\n\
        ERROR: Could not find a version that satisfies the requirement scipy (from versions: none)\n\
        ERROR: scipy is not built in, and with its compiled parts it cannot be installed; instead: \
        numpy, statistics\n\
        ERROR: This Python loads no compiled extension modules: only packages in Python alone \
        (NAME-VERSION-py3-none-any.whl, or their sources) can be installed, from an index that the \
        sandbox's policy allows, or from a folder (--no-index --find-links FOLDER). What is built in: \
        ...\n\
        ERROR: No matching distribution found for scipy\n";
    let done = Exec::sh(script).run();
    assert_eq!(done.stdout, expected, "{}", done.stderr);
}

/// Tests that a line naming a replacement for a well-known module follows the traceback, unless the
/// error was caught.
#[test]
fn missing_modules() {
    let stderr = |script| Exec::new(&["python3", "-c", script]).run().stderr;
    let line = "ModuleNotFoundError: No module named 'bokeh'\n\
        python3: bokeh is not built in; pip install gets it from an index that the sandbox's policy \
        allows, or from a folder (pip install --no-index --find-links FOLDER NAME); instead: \
        plotly, matplotlib\n";
    assert!(stderr("import bokeh.plotting").ends_with(line));
    assert!(stderr("import nosuch").ends_with("No module named 'nosuch'\n"));
    let caught = "import sys\ntry:\n  import scipy\nexcept ImportError:\n  sys.exit('none')";
    assert_eq!(stderr(caught), "none\n");
    let own = "import sys\nsys.excepthook = lambda *e: print(e[1], file=sys.stderr)\nimport scipy";
    assert_eq!(stderr(own), "No module named 'scipy'\n");
}
