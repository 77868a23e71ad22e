//! Sessions in a store as their users see them: all tests that need no shell in the image. The
//! others are in `tests/harness/tests/sessions.rs`.

mod common;

use common::*;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with a store.
struct Place(TempDir);

impl Place {
    /// Makes a store with a session `a`.
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let o = place.run(&["session", "create", "a"]);
        assert_eq!((o.status.code(), &*out(&o), &*err(&o)), (Some(0), "a\n", ""));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut c = runner();
        c.env("WASIBOX_STORE", self.path("w.wbx")).env("WASIBOX_IMAGE", &*IMAGE).args(args);
        c.current_dir(self.0.path());
        c
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Returns the output of a command, which must succeed without messages on standard error.
    fn prints(&self, args: &[&str]) -> String {
        let o = self.run(args);
        assert_eq!((o.status.code(), &*err(&o)), (Some(0), ""), "{args:?}: {}", out(&o));
        out(&o)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.prints(args)).unwrap()
    }
}

fn out(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn err(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Creates or changes a file of the session.
fn fill(place: &Place, path: &str, bytes: usize) {
    place.prints(&["session", "exec", "a", "--", "fill", path, &bytes.to_string()]);
}

#[test]
fn calls_leave_commits_that_can_be_undone() {
    let place = Place::new();
    let j = place.json(&["session", "exec", "--json", "a", "--", "fill", "/tmp/one", "3"]);
    assert_eq!(
        (&j["exit_code"], &j["commit"], &j["stdout"]),
        (&0.into(), &2.into(), &"wrote 3\n".into())
    );
    let o = place.run(&["session", "exec", "a", "--", "exit", "7"]);
    assert_eq!(o.status.code(), Some(7));
    fill(&place, "/tmp/one", 5);
    let h = place.json(&["session", "history", "--json", "a"]);
    let all: Vec<_> = h
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            (
                c["number"].as_u64().unwrap(),
                c["exit_code"].as_u64(),
                c["changed_files"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(all, [(1, None, 0), (2, Some(0), 1), (3, Some(7), 0), (4, Some(0), 1)]);
    assert_eq!(h[3]["command"], "fill /tmp/one 5");
    assert_eq!(
        (&h[3]["head"], &h[3]["undone"], &h[2]["head"]),
        (&true.into(), &false.into(), &false.into())
    );
    assert_eq!(place.prints(&["session", "undo", "a"]), "3  exit 7\n");
    assert_eq!(
        place
            .prints(&["session", "exec", "--json", "a", "--", "cat", "/tmp/one"])
            .matches("\\u0007")
            .count(),
        3
    );
    let o = place.run(&["session", "redo", "a"]);
    assert_eq!((o.status.code(), &*err(&o)), (Some(125), "runner: there is nothing to redo\n"));
    let text = place.prints(&["session", "history", "a"]);
    let marks: Vec<_> = text.lines().skip(1).map(|l| l.chars().next().unwrap()).collect();
    assert_eq!(marks, [' ', ' ', ' ', '-', '*'], "{text}");
    assert_eq!(place.prints(&["session", "restore", "a", "4"]), "6  restore 4\n");
    let j = place.json(&["session", "show", "--json", "a", "4"]);
    assert_eq!(
        j["files"],
        serde_json::json!([{"path": "/tmp/one", "change": "modified", "size": 5}])
    );
    assert!(
        place
            .prints(&["session", "show", "a", "2"])
            .contains("  A          3  /tmp/one\n  | fill /tmp/one 3\n")
    );
    let log = place.prints(&["session", "log", "a"]);
    let log: Vec<Value> = log.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(log.iter().filter(|e| e["event"] == "exec").count(), 4);
    assert!(log.iter().all(|e| e["time"].as_str().unwrap().ends_with('Z')));
}

#[test]
fn sessions_are_made_listed_forked_and_removed() {
    let place = Place::new();
    fill(&place, "/tmp/f", 4);
    assert_eq!(place.prints(&["session", "fork", "a", "b", "1"]), "b\n");
    assert_eq!(place.prints(&["session", "fork", "a", "c"]), "c\n");
    let text = place.prints(&["session", "list"]);
    let names: Vec<_> = text.lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["NAME", "a", "b", "c"]);
    let heads = place.json(&["session", "list", "--json"]);
    let heads: Vec<_> =
        heads.as_array().unwrap().iter().map(|s| s["head"].as_u64().unwrap()).collect();
    assert_eq!(heads, [2, 1, 2]);
    // The guest's message for ENOENT.
    assert_eq!(place.prints(&["session", "exec", "b", "--", "cat", "/tmp/f"]), "/tmp/f: 44\n");
    assert_eq!(place.prints(&["session", "exec", "c", "--", "cat", "/tmp/f"]), "\x07\x07\x07\x07");
    place.prints(&["session", "rm", "b", "c"]);
    let o = place.run(&["session", "rm", "nope", "a"]);
    assert_eq!((o.status.code(), &*err(&o)), (Some(125), "runner: no session 'nope'\n"));
    assert_eq!(place.json(&["session", "list", "--json"]), serde_json::json!([]));
    let gone = place.prints(&["session", "gc"]);
    assert!(!gone.starts_with("0 commits"), "{gone}");
}

#[test]
fn commits_have_names_and_old_ones_go() {
    let place = Place::new();
    for n in 1..=4 {
        fill(&place, "/tmp/f", n);
    }
    place.prints(&["session", "tag", "a", "good", "2"]);
    place.prints(&["session", "tag", "a", "last"]);
    assert_eq!(place.prints(&["session", "tag", "a"]), "N  TAG\n2  good\n5  last\n");
    assert!(place.prints(&["session", "history", "a"]).contains("fill /tmp/f 1  [good]"));
    place.prints(&["session", "untag", "a", "last"]);
    assert_eq!(place.run(&["session", "untag", "a", "last"]).status.code(), Some(125));
    assert_eq!(place.prints(&["session", "compact", "--keep", "2", "a"]), "2 commits gone\n");
    let numbers = place.json(&["session", "history", "--json", "a"]);
    let numbers: Vec<_> =
        numbers.as_array().unwrap().iter().map(|c| c["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 4, 5]);
    let whole = place.prints(&["session", "check"]);
    assert!(whole.starts_with("whole: 3 commits, "), "{whole}");
    let show = place.json(&["session", "show", "--json", "a"]);
    assert_eq!((&show["commits"], &show["tags"][0]["tag"]), (&3.into(), &"good".into()));
    assert!(place.prints(&["session", "show", "a"]).contains("at        commit 5 of 3\n"));
}

#[test]
fn damage_is_named() {
    let place = Place::new();
    let f = place.path("random");
    std::fs::write(
        &f,
        (0..200_000u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect::<Vec<_>>(),
    )
    .unwrap();
    // 800,000 bytes are stored in objects of their own, in file order.
    let mount = format!("{}:/m", place.0.path().display());
    place.prints(&[
        "session",
        "exec",
        "--mount",
        &mount,
        "a",
        "--",
        "copy",
        "/m/random",
        "/tmp/lost",
    ]);
    let store = place.path("w.wbx");
    let mut bytes = std::fs::read(&store).unwrap();
    let needle: Vec<u8> =
        (100_000..100_010u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let at = bytes.windows(needle.len()).position(|w| w == needle).expect("not compressed");
    bytes[at] ^= 1;
    std::fs::write(&store, bytes).unwrap();
    let o = place.run(&["session", "check"]);
    assert_eq!(
        (o.status.code(), &*out(&o)),
        (Some(1), "a, commit 2: /tmp/lost is lost\n"),
        "{}",
        err(&o)
    );
}

#[test]
fn snapshots_go_out_and_come_in() {
    let place = Place::new();
    fill(&place, "/tmp/f", 4);
    fill(&place, "/tmp/f", 5);
    place.prints(&["kv", "set", "a", "k", "v"]);
    place.prints(&["snapshot", "export", "a", "a.wbs"]);
    assert_eq!(place.prints(&["snapshot", "import", "--store", "v.wbx", "a.wbs"]), "a\n");
    assert_eq!(
        place.prints(&["session", "exec", "--store", "v.wbx", "a", "--", "wc", "/tmp/f"]).trim(),
        "0"
    );
    assert_eq!(place.prints(&["kv", "get", "--store", "v.wbx", "a", "k"]), "v");
    assert_eq!(
        place
            .json(&["session", "history", "--json", "--store", "v.wbx", "a"])
            .as_array()
            .unwrap()
            .len(),
        2
    );
    // Exports the whole history through a pipe.
    let o = place.run(&["snapshot", "export", "--history", "a", "-"]);
    let mut child = place
        .command(&["snapshot", "import", "--name", "all", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&o.stdout).unwrap();
    assert_eq!(out(&child.wait_with_output().unwrap()), "all\n");
    assert_eq!(place.json(&["session", "history", "--json", "all"]).as_array().unwrap().len(), 3);
    for (args, status, word) in [
        (&["snapshot", "import", "a.wbs"][..], 125, "there is a session 'a' already"),
        (&["snapshot", "import", "--name", "x", "-"], 125, "snapshot"),
        (&["snapshot", "import", "-"], 2, "a session's name is missing"),
        (&["snapshot", "import", "none.wbs"], 125, "none.wbs: No such file"),
        (&["snapshot", "export", "nope", "n.wbs"], 125, "no session 'nope'"),
        (&["snapshot", "export", "a", "/no/such/n.wbs"], 125, "No such file"),
        (&["snapshot", "export", "--history", "a", "n.zip"], 2, "--history"),
        (&["snapshot", "export", "--format", "rar", "a", "n"], 2, "'rar' is not wbs|tar.zst|zip"),
    ] {
        let o = place.run(args);
        assert_eq!(o.status.code(), Some(status), "{args:?}: {}", err(&o));
        assert!(err(&o).contains(word), "{args:?}: {}", err(&o));
    }
    let left: Vec<_> = std::fs::read_dir(place.0.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.contains(".part") || n.starts_with("n."))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn files_go_out_as_archives() {
    let place = Place::new();
    fill(&place, "/tmp/f", 4);
    place.prints(&["snapshot", "export", "a", "f.zip"]);
    place.prints(&["snapshot", "export", "a", "f.tar.zst"]);
    let python =
        "import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile('f.zip').read('tmp/f'))";
    let o =
        Command::new("python3").args(["-c", python]).current_dir(place.0.path()).output().unwrap();
    assert_eq!(o.stdout, b"\x07\x07\x07\x07", "{}", err(&o));
    let tar = std::fs::read(place.path("f.tar.zst")).unwrap();
    assert!(tar.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "a Zstandard frame (RFC 8878)");
}

#[test]
fn values_are_kept() {
    let place = Place::new();
    place.prints(&["kv", "set", "a", "key", "value"]);
    assert_eq!(place.prints(&["kv", "get", "a", "key"]), "value");
    let mut child =
        place.command(&["kv", "set", "a", "bytes", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\0\xff\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(place.run(&["kv", "get", "a", "bytes"]).stdout, b"\0\xff\n");
    assert_eq!(place.prints(&["kv", "list", "a"]), "bytes\nkey\n");
    assert_eq!(place.json(&["kv", "list", "--json", "a"]), serde_json::json!(["bytes", "key"]));
    place.prints(&["kv", "delete", "a", "bytes"]);
    for args in [["kv", "get", "a", "bytes"], ["kv", "delete", "a", "bytes"]] {
        let o = place.run(&args);
        assert_eq!((o.status.code(), &*err(&o)), (Some(1), "runner: no value 'bytes'\n"));
    }
}

#[test]
fn mistakes_are_one_clear_line_and_a_status() {
    let place = Place::new();
    std::fs::write(place.path("p.toml"), "[limits]\nmemory = 'much'\n").unwrap();
    std::fs::write(place.path("no.wbx"), "not a store").unwrap();
    for (args, status, word) in [
        (&["session", "exec", "nope", "x"][..], 125, "no session 'nope'"),
        (&["session", "exec", "a"], 2, "a script is missing"),
        (&["session", "exec", "a", "--", "nope"], 127, "nope: command not found"),
        (&["session", "exec", "a", "--", "/etc"], 126, "/etc: Permission denied"),
        (
            &["session", "exec", "--mount", "/no/such:/m", "a", "--", "echo"],
            125,
            "cannot mount /no/such",
        ),
        (
            &["session", "exec", "--input", "/no/such", "a", "--", "echo"],
            125,
            "cannot mount /no/such",
        ),
        (
            &["session", "exec", "--policy", "p.toml", "a", "--", "echo"],
            2,
            "p.toml:2:10: invalid value: string \"much\"",
        ),
        (
            &["session", "exec", "--policy", "none.toml", "a", "--", "echo"],
            2,
            "none.toml: No such file",
        ),
        (&["session", "exec", "--image", "/no/such", "a", "--", "echo"], 125, "No such file"),
        (&["session", "create", "a"], 125, "there is a session 'a' already"),
        (&["session", "create", "a/b"], 125, "a session's name has"),
        (&["session", "show", "a", "99"], 125, "session 'a' has no commit 99"),
        (&["session", "restore", "a", "99"], 125, "session 'a' has no commit 99"),
        (&["session", "undo", "a"], 125, "there is nothing to undo"),
        (&["session", "list", "--store", "none.wbx"], 125, "none.wbx: no such store"),
        (&["session", "list", "--store", "no.wbx"], 125, "no.wbx: "),
        (&["session", "frob"], 2, "unknown command 'frob'"),
        (&["session", "list", "--frob"], 2, "invalid option '--frob'"),
        (&["session"], 2, "a command is missing"),
        (&["session", "diff", "a"], 2, "the number of a commit is missing"),
        (&["session", "restore", "a", "x"], 2, "'x' is not N"),
        (&["kv", "get", "a"], 2, "KEY is missing"),
        (&["shell", "nope"], 125, "no session 'nope'"),
    ] {
        let o = place.run(args);
        assert_eq!(o.status.code(), Some(status), "{args:?}: {}", err(&o));
        assert!(err(&o).starts_with("runner: ") && err(&o).contains(word), "{args:?}: {}", err(&o));
        let lines = if status == 2 && !word.contains(".toml") { 2 } else { 1 };
        assert_eq!((err(&o).lines().count(), &*out(&o)), (lines, ""), "{args:?}: {}", err(&o));
    }
    let mut c = place.command(&["session", "list"]);
    let o = c.env_remove("WASIBOX_STORE").output().unwrap();
    assert_eq!(o.status.code(), Some(2));
    assert!(err(&o).contains("a store is missing"), "{}", err(&o));
    let o = place.command(&["session", "create", "b"]).env("WASIBOX_IMAGE", "").output().unwrap();
    assert!(o.status.code() == Some(2) && err(&o).contains("an image is missing"), "{}", err(&o));
}

#[test]
fn sessions_in_a_bucket_are_taken_up_by_another_machine() {
    let place = Place::new();
    let address = format!("file://{}", place.path("bucket").display());
    let machine = |name: &'static str| {
        let caches = place.path(name);
        // Compiled before, so that the commands say nothing about it.
        let mut compile = runner();
        compile.env("XDG_CACHE_HOME", &caches).arg("compile").arg(&*IMAGE);
        assert!(compile.output().unwrap().status.success());
        let (place, address) = (&place, &address);
        move |args: &[&str]| {
            let mut c = place.command(args);
            c.env("WASIBOX_STORE", address).env("XDG_CACHE_HOME", &caches);
            let o = c.output().unwrap();
            (o.status.code().unwrap(), out(&o), err(&o))
        }
    };
    let (one, two) = (machine("one"), machine("two"));
    let done = |text: &str| (0, text.to_owned(), String::new());
    assert_eq!(one(&["session", "create", "b"]), done("b\n"));
    let fill = ["session", "exec", "b", "--", "fill", "/tmp/f", "100000"];
    assert_eq!(one(&fill), done("wrote 100000\n"));
    assert_eq!(two(&["kv", "set", "b", "key", "value"]), done(""));
    let cat = ["session", "exec", "b", "--", "wc", "/tmp/f"];
    assert_eq!(two(&cat), one(&cat));
    assert_eq!(one(&["kv", "get", "b", "key"]).1.trim_end(), "value");
    for _ in 0..3 {
        assert_eq!(two(&["session", "undo", "b"]).0, 0);
    }
    // The output is its name and an errno.
    let gone = one(&["session", "exec", "b", "--", "cat", "/tmp/f"]).1;
    assert!(gone.starts_with("/tmp/f"), "{gone}");
    assert_eq!(one(&["session", "fork", "b", "c"]), done("c\n"));
    let (status, names, _) = two(&["session", "list", "--json"]);
    assert!(status == 0 && names.contains("\"b\"") && names.contains("\"c\""), "{names}");
    assert!(two(&["session", "gc"]).1.contains("the bucket: 0 objects gone"));
    assert!(two(&["session", "check"]).1.starts_with("whole: "));
    let wrong = two(&["session", "list", "--store", "file://relative"]);
    assert_eq!((wrong.0, wrong.2.lines().count()), (125, 1), "{wrong:?}");
}

#[test]
fn one_process_has_a_session() {
    let place = Place::new();
    let spawn = || place.command(&["session", "exec", "a", "--", "sleep", "30"]).spawn().unwrap();
    let mut child = spawn();
    let begun = Instant::now();
    let busy = loop {
        std::thread::sleep(Duration::from_millis(100));
        // The process may have started while the session was in use by this test.
        if child.try_wait().unwrap().is_some() {
            child = spawn();
            continue;
        }
        let o = place.run(&["session", "undo", "a"]);
        if err(&o).contains("in use") || begun.elapsed() > Duration::from_secs(20) {
            break err(&o);
        }
    };
    assert_eq!(busy, format!("runner: session 'a' is in use by process {}\n", child.id()));
    // Reading does not need to hold the session.
    assert_eq!(place.json(&["session", "history", "--json", "a"]).as_array().unwrap().len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_interruption_ends_the_call_and_the_session_goes_on() {
    let place = Place::new();
    let mut child = place
        .command(&["session", "exec", "a", "--", "spin"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let begun = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(place.prints(&["session", "exec", "a", "--", "echo", "on"]), "on\n");
}

#[test]
fn limits_and_inputs_hold_for_a_call() {
    let place = Place::new();
    std::fs::write(place.path("data"), "12345").unwrap();
    std::fs::write(
        place.path("p.toml"),
        "[limits]\ntimeout = 0.3\n[[mount]]\nhost = 'data'\nguest = '/d'\n",
    )
    .unwrap();
    let o = place.run(&["session", "exec", "--policy", "p.toml", "a", "--", "spin"]);
    assert_eq!(o.status.code(), Some(124));
    assert_eq!(err(&o), "runner: the command was ended after 0.3 s (--timeout)\n");
    assert_eq!(
        place.prints(&["session", "exec", "--policy", "p.toml", "a", "--", "cat", "/d"]),
        "12345"
    );
    assert_eq!(
        place.prints(&["session", "exec", "--input", "data", "a", "--", "cat", "/mnt/input/data"]),
        "12345"
    );
    // Neither file is stored.
    for gone in ["/d", "/mnt/input/data"] {
        let o = place.run(&["session", "exec", "a", "--", "cat", gone]);
        assert_ne!((o.status.code(), &*out(&o)), (Some(0), "12345"), "{gone}");
    }
    // The folder of inputs exists even without any, and an input cannot be written.
    fill(&place, "/mnt/input/own", 1);
    let o = place.run(&[
        "session",
        "exec",
        "--input",
        "data",
        "a",
        "--",
        "fill",
        "/mnt/input/data",
        "1",
    ]);
    assert_ne!(o.status.code(), Some(0), "{}", out(&o));
    assert_eq!(std::fs::read(place.path("data")).unwrap(), b"12345");
    let o = place.run(&["session", "exec", "--limits", "strict", "a", "--", "gen", "2000000"]);
    assert_eq!((o.status.code(), o.stdout.len()), (Some(137), 1 << 20), "{}", err(&o));
    // The same in a sandbox without a session.
    let file = place.path("p.toml");
    let o = runner()
        .args(["exec", "--policy"])
        .arg(&file)
        .arg("--memory=64M")
        .arg(&*IMAGE)
        .args(["cat", "/d"])
        .output()
        .unwrap();
    assert_eq!(out(&o), "12345", "{}", err(&o));
    let o = runner()
        .args(["exec", "--input"])
        .arg(place.path("data"))
        .arg(&*IMAGE)
        .args(["cat", "/mnt/input/data"])
        .output()
        .unwrap();
    assert_eq!(out(&o), "12345", "{}", err(&o));
}

#[test]
fn another_image_is_reported() {
    let place = Place::new();
    let other = place.path("other.webc");
    let mut spec = wasibox_image::ImageSpec {
        name: "test/other".into(),
        version: "1.0.0".into(),
        ..wasibox_image::ImageSpec::default()
    };
    let guest = scratch().join("guest/wasm32-wasip1/release/guest.wasm");
    spec.atoms = vec![("guest".into(), std::fs::read(guest).unwrap())];
    spec.commands = vec![("echo".into(), "guest".into())];
    wasibox_image::pack_to(&spec, &other).unwrap();
    let o =
        place.run(&["session", "exec", "--image", other.to_str().unwrap(), "a", "--", "echo", "x"]);
    assert_eq!((o.status.code(), &*out(&o)), (Some(0), "x\n"), "{}", err(&o));
    assert!(
        err(&o).contains("session 'a' was begun with image ")
            && err(&o).contains(" and continues with "),
        "{}",
        err(&o)
    );
}

#[test]
fn differences_are_those_of_git() {
    let place = Place::new();
    fill(&place, "/tmp/keep", 2);
    fill(&place, "/tmp/gone", 3);
    let mount = format!("{}:/m", place.0.path().display());
    for (name, text) in
        [("t1", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("t2", "1\n2\n3\n4\nfive\n6\n7\n8\n9")]
    {
        std::fs::write(place.path(name), text).unwrap();
    }
    place.prints(&["session", "exec", "--mount", &mount, "a", "--", "copy", "/m/t1", "/tmp/text"]);
    place.prints(&["session", "exec", "--mount", &mount, "a", "--", "copy", "/m/t2", "/tmp/text"]);
    place.prints(&["session", "exec", "a", "--", "unlink", "/tmp/gone"]);
    let ours = place.prints(&["session", "diff", "a", "4"]);
    let expected = concat!(
        "diff --git a/tmp/gone b/tmp/gone\n",
        "deleted file mode 100644\n",
        "--- a/tmp/gone\n",
        "+++ /dev/null\n",
        "@@ -1 +0,0 @@\n",
        "-\x07\x07\x07\n",
        "\\ No newline at end of file\n",
        "diff --git a/tmp/text b/tmp/text\n",
        "--- a/tmp/text\n",
        "+++ b/tmp/text\n",
        "@@ -2,8 +2,8 @@\n",
        " 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9\n",
        "\\ No newline at end of file\n",
    );
    assert_eq!(ours, expected);
    assert_eq!(
        place.prints(&["session", "diff", "--names", "a", "3"]),
        "D  /tmp/gone\nA  /tmp/text\n"
    );
    assert_eq!(place.prints(&["session", "diff", "a", "6", "6"]), "");
}

/// There is a page for each command, and the shell accepts the completions.
#[test]
fn manual_and_completions_are_made() {
    let dir = tempfile::tempdir().unwrap();
    let man = |dir: &Path| runner().arg("man").arg(dir).output().unwrap();
    assert!(man(dir.path()).status.success());
    for page in ["runner.1", "runner-exec.1", "runner-session-exec.1", "runner-kv-get.1"] {
        let text = std::fs::read_to_string(dir.path().join(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
    }
    assert_eq!(man(Path::new("/dev/null/x")).status.code(), Some(125));
    for shell in ["bash", "zsh", "fish"] {
        let o = runner().args(["completions", shell]).output().unwrap();
        assert!(o.status.success() && out(&o).contains("session"), "{shell}");
    }
    let o = runner().args(["completions", "bash"]).output().unwrap();
    let script = format!(
        "{}\nCOMP_WORDS=(runner sess); COMP_CWORD=1; _runner runner sess runner; echo \"${{COMPREPLY[*]}}\"",
        out(&o)
    );
    let o = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(out(&o), "session\n", "{}", err(&o));
}
