//! Tests of `runner image`.

mod common;

use common::*;
use std::path::Path;
use std::process::Output;

/// A program that prints its first argument's length as a digit, so that its commands differ.
const PROGRAM: &str = r#"(module
    (import "wasi_snapshot_preview1" "args_sizes_get"
        (func $sizes (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write"
        (func $write (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (data (i32.const 16) "0\n")
    (func (export "_start")
        (drop (call $sizes (i32.const 0) (i32.const 4)))
        ;; The buffer has the name and a NUL.
        (i32.store8 (i32.const 16) (i32.add (i32.const 47) (i32.load (i32.const 4))))
        (i32.store (i32.const 8) (i32.const 16))
        (i32.store (i32.const 12) (i32.const 2))
        (drop (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 0)))))"#;

fn image_command(args: &[&str]) -> Output {
    runner().arg("image").args(args).output().unwrap()
}

fn text(o: &Output) -> String {
    assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
    String::from_utf8_lossy(&o.stdout).into_owned()
}

#[test]
fn an_added_program_runs_beside_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("p.wasm"), wat::parse_str(PROGRAM).unwrap()).unwrap();
    let image = IMAGE.to_str().unwrap();
    let add = format!("p={}:ab,abcd,wc", path("p.wasm"));
    text(&image_command(&["pack", "--image", image, "--add", &add, &path("new.webc")]));
    let run = |command: &str| {
        let mut exec = runner();
        exec.args(["exec", "--image", &path("new.webc"), "--", command, "x"]);
        text(&exec.output().unwrap())
    };
    // The length is that of all arguments with their NULs, less one.
    assert_eq!((run("ab"), run("abcd")), ("4\n".into(), "6\n".into()));
    // A command of another program was replaced, and the others are the same.
    assert_eq!((run("wc"), run("echo")), ("4\n".into(), "x\n".into()));
    let shown = text(&runner().args(["inspect", &path("new.webc")]).output().unwrap());
    assert!(shown.starts_with("test/cli 1.2.3\n") && shown.contains("program   p "), "{shown}");
}

#[test]
fn an_image_is_taken_apart() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("parts");
    let to = to.to_str().unwrap();
    text(&image_command(&["extract", to, IMAGE.to_str().unwrap()]));
    let guest = std::fs::read(Path::new(to).join("programs/guest.wasm")).unwrap();
    assert!(guest.starts_with(b"\0asm\x01\0\0\0"));
    assert!(Path::new(to).join("root").is_dir());
    // The folder must be new.
    let again = image_command(&["extract", to, IMAGE.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&again.stderr).contains("File exists"));
}

#[test]
fn what_is_no_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text"), "no module").unwrap();
    for (add, word) in [
        (format!("p={}", path("text")), "not a program for wasm32-wasip1"),
        (format!("p={}", path("missing")), "No such file"),
    ] {
        let image = IMAGE.to_str().unwrap();
        let o = image_command(&["pack", "--image", image, "--add", &add, &path("new.webc")]);
        let error = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(o.status.code() == Some(125) && error.contains(word), "{error}");
        assert!(!Path::new(&path("new.webc")).exists());
    }
}
