//! Tests the command line of `runner`: statuses and one-line messages for users' mistakes.

use std::path::Path;
use std::process::{Command, Output};

use wasibox_tests::exec::Exec;
use wasibox_tests::{image, runner};

fn raw(args: &[&str]) -> Output {
    Command::new(runner()).args(args).output().expect("runner")
}

fn message(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[test]
fn status_is_passed_through() {
    for status in [0, 1, 2, 42, 126, 127, 128, 200, 255] {
        assert_eq!(Exec::sh(&format!("exit {status}")).run().status, status);
    }
    assert_eq!(Exec::sh("bash -c 'exit 200'; echo $?").ok(), "200\n");
}

#[test]
fn an_installation_tests_itself() {
    let image = image();
    let out = raw(&["self-test", "--image", image.to_str().expect("UTF-8 path")]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && text.lines().all(|line| line.starts_with("ok ")), "{text}");
    assert!(text.contains("undo") && text.contains("JavaScript"), "{text}");
}

#[test]
fn stdin_environment_and_directory() {
    assert_eq!(Exec::new(&["cat"]).stdin(b"through\n").ok(), "through\n");
    assert_eq!(Exec::sh("echo $K").opt(&["--env", "K=a b"]).ok(), "a b\n");
    assert_eq!(Exec::new(&["pwd"]).opt(&["--cwd", "/tmp"]).ok(), "/tmp\n");
    assert_eq!(Exec::sh("id -un; echo $HOME; echo ~").ok(), "user\n/home/user\n/home/user\n");
    assert_eq!(
        Exec::new(&["python3", "-c", "import os; print(os.getcwd())"]).opt(&["--cwd", "/tmp"]).ok(),
        "/tmp\n"
    );
}

#[test]
fn mistakes_give_one_clear_line() {
    let image = image();
    let image = image.to_str().expect("UTF-8 path");
    for (args, status) in [
        (vec!["exec", "/nonexistent.webc", "--", "true"], 1..=127),
        (vec!["exec", "--mount", "/nonexistent:/x", image, "--", "true"], 1..=127),
        (vec!["exec", "--mount", "nonsense", image, "--", "true"], 2..=2),
        (vec!["exec", "--no-such-option", image, "--", "true"], 2..=2),
        (vec!["exec", image, "--", "no-such-command"], 127..=127),
        (vec!["nonsense"], 2..=2),
    ] {
        let out = raw(&args);
        let code = out.status.code().expect("no signal");
        assert!(status.contains(&code), "{args:?}: {code}");
        let text = message(&out);
        assert!((1..=3).contains(&text.lines().count()), "{args:?}: {text:?}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn a_damaged_image_is_refused() {
    let dir = tempfile::tempdir().expect("dir");
    for (name, data) in [("empty", &b""[..]), ("text", b"not an image"), ("head", b"\0webc003")] {
        let path = dir.path().join(name);
        std::fs::write(&path, data).expect("file");
        let out = raw(&["exec", path.to_str().expect("UTF-8"), "--", "true"]);
        assert!(!out.status.success());
        assert_eq!(message(&out).lines().count(), 1, "{}", message(&out));
    }
}

#[test]
fn help_and_inspect() {
    let help = raw(&["--help"]);
    assert!(help.status.success());
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(text.contains("exec") && text.contains("runner exec"), "{text}");
    let inspect = raw(&["inspect", image().to_str().expect("UTF-8")]);
    let text = String::from_utf8_lossy(&inspect.stdout).into_owned();
    assert!(inspect.status.success() && text.contains("box") && text.contains("cpython"), "{text}");
}

#[test]
fn mounts_cannot_be_escaped() {
    let dir = tempfile::tempdir().expect("dir");
    let inside = dir.path().join("inside");
    std::fs::create_dir(&inside).expect("dir");
    std::fs::write(dir.path().join("secret"), "secret").expect("file");
    std::fs::write(inside.join("plain"), "plain").expect("file");
    std::os::unix::fs::symlink("../secret", inside.join("up")).expect("link");
    std::os::unix::fs::symlink(dir.path().join("secret"), inside.join("absolute")).expect("link");
    std::os::unix::fs::symlink("plain", inside.join("good")).expect("link");
    let run =
        |script: &str, mode: &str| Exec::sh(script).mount(&inside, &format!("/m:{mode}")).run();
    for mode in ["ro", "rw"] {
        assert_eq!(run("cat /m/good", mode).stdout, "plain");
        for path in ["/m/up", "/m/absolute", "/m/../secret", "/m/../../../etc/shadow"] {
            let done = run(&format!("cat {path}"), mode);
            assert_ne!(done.status, 0, "{path}: {done:?}");
            assert!(!done.stdout.contains("secret"));
        }
        run("ln -s / /m/top; cat /m/top/etc/shadow; echo x > /m/top/tmp/escaped-by-link", mode);
    }
    assert!(!Path::new("/tmp/escaped-by-link").exists());
    let done = run("echo x > /m/new", "ro");
    assert_ne!(done.status, 0);
    assert!(!inside.join("new").exists());
    assert_eq!(run("echo x > /m/new && cat /m/new", "rw").stdout, "x\n");
}

#[test]
fn json_outcome_lists_files() {
    let done =
        Exec::sh("echo hi; echo err >&2; echo data > /output/a.txt; exit 3").opt(&["--json"]).run();
    let outcome: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(outcome["exit_code"], 3);
    assert_eq!(outcome["stdout"], "hi\n");
    assert_eq!(outcome["stderr"], "err\n");
    let files = outcome["files"].as_array().expect("files");
    let file = files.iter().find(|f| f["path"] == "/output/a.txt").expect("the changed file");
    assert_eq!(file["size"], 5);
    // sha256sum of "data\n"
    assert_eq!(file["sha256"], "6667b2d1aab6a00caa5aee5af8ad9f1465e567abf1c209d15727d57b3e8f6e5f");
}
