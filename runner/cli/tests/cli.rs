//! Tests of the program `runner` by its command line.

mod common;

use common::*;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use wasibox_image::{ImageSpec, pack_to};

/// A bound on the time until a limit takes effect: much shorter than the guest's other limits, and
/// long enough for a busy machine. The benchmarks measure the time itself.
const SOON: Duration = Duration::from_secs(10);

/// Runs `runner exec OPTIONS IMAGE -- COMMAND`.
fn exec(options: &[&str], command: &[&str]) -> Output {
    runner().arg("exec").args(options).arg(&*IMAGE).arg("--").args(command).output().unwrap()
}

fn out(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn err(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

#[test]
fn output_and_status_pass_through() {
    let o = exec(&[], &["echo", "hi", "--json"]);
    assert_eq!((o.status.code(), &*out(&o), &*err(&o)), (Some(0), "hi --json\n", ""));
    for code in [1, 45, 126, 137, 255] {
        assert_eq!(exec(&[], &["exit", &code.to_string()]).status.code(), Some(code));
    }
    let o = exec(&["--env", "A=b=c", "--env", "HOME=/x", "--cwd", "/tmp"], &["args"]);
    assert!(out(&o).contains("(\"A\", \"b=c\"), (\"HOME\", \"/x\")"), "{}", out(&o));
    assert!(out(&o).contains("(\"PWD\", \"/tmp\")") && out(&o).contains("(\"TZ\", \"UTC\")"));
    assert_eq!(out(&exec(&["--cwd", "/tmp/../etc"], &["cwd"])), "/etc\n");
}

#[test]
fn signals_of_the_guest_become_statuses() {
    let o = exec(&[], &["abort"]);
    assert_eq!((o.status.code(), &*err(&o)), (Some(134), "abort: aborted\n"));
    assert_eq!(exec(&[], &["recurse"]).status.code(), Some(139));
}

#[test]
fn mistakes_are_one_clear_line_and_a_status() {
    let bad = scratch().join("bad.webc");
    std::fs::write(&bad, "not an image").unwrap();
    let torn = scratch().join("torn.webc");
    let whole = std::fs::read(&*IMAGE).unwrap();
    std::fs::write(&torn, &whole[..whole.len() / 2]).unwrap();
    let image = IMAGE.to_str().unwrap();
    let (bad, torn) = (bad.to_str().unwrap(), torn.to_str().unwrap());
    for (args, status, word) in [
        (&["exec", "/no/such.webc", "--", "x"][..], 125, "No such file"),
        (&["exec", bad, "x"], 125, "not a Wasibox image"),
        (&["exec", torn, "x"], 125, "damaged image"),
        (&["inspect", torn], 125, "damaged image"),
        (&["exec", image, "nope"], 127, "nope: command not found"),
        (&["exec", image, "/etc"], 126, "/etc: Permission denied"),
        (&["exec", "--cwd", "/nowhere", image, "echo"], 125, "/nowhere: No such file"),
        (&["exec", "--mount", "/no/such:/m", image, "echo"], 125, "cannot mount /no/such"),
        (&["exec", "--mount", "/tmp:/", image, "echo"], 125, "cannot mount at /"),
        (&["exec", "--mount", "/tmp", image, "echo"], 2, "is not HOST:GUEST[:ro|rw[,quota=SIZE]]"),
        (&["exec", "--memory", "much", image, "echo"], 2, "is not SIZE"),
        (&["exec", image], 2, "a command to run is missing"),
        (&["frob"], 2, "unknown command 'frob'"),
        (&[], 2, "a command is missing"),
    ] {
        let o = runner().args(args).output().unwrap();
        assert_eq!(o.status.code(), Some(status), "{args:?}: {}", err(&o));
        assert!(err(&o).starts_with("runner: ") && err(&o).contains(word), "{args:?}: {}", err(&o));
        let lines = if status == 2 { 2 } else { 1 };
        assert_eq!((err(&o).lines().count(), &*out(&o)), (lines, ""), "{args:?}: {}", err(&o));
    }
}

#[test]
fn help_and_version_are_printed() {
    for args in [&["--help"][..], &["-h"], &["exec", "--help"], &["inspect", "-h"]] {
        let o = runner().args(args).output().unwrap();
        assert!(o.status.success() && out(&o).contains("Examples:"), "{args:?}");
    }
    let o = runner().arg("--version").output().unwrap();
    assert_eq!(out(&o), concat!("runner ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn inspect_lists_the_content_of_an_image() {
    let o = runner().arg("inspect").arg(&*IMAGE).output().unwrap();
    assert!(out(&o).starts_with("test/cli 1.2.3\n") && out(&o).contains("commands  17: echo cat"));
    let o = runner().args(["inspect", "--json"]).arg(&*IMAGE).output().unwrap();
    let j: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    assert_eq!((&j["version"], &j["commands"]["wc"]), (&"1.2.3".into(), &"guest".into()));
}

#[test]
fn describe_tells_a_model_of_the_image_and_the_grants() {
    let describe = |args: &[&str]| {
        let o = runner().arg("describe").arg(&*IMAGE).args(args).output().unwrap();
        assert!(o.status.success(), "{}", err(&o));
        out(&o)
    };
    let text = describe(&[]);
    assert!(text.contains("Commands (17): abort alloc args cat"), "{text}");
    assert!(text.contains("There is no network;") && !text.contains("Python"), "{text}");
    let folder = scratch();
    let mount = format!("{}:/data", folder.display());
    let strict = ["--limits", "strict", "--mount", &mount, "--allow", "GET https://example.com/"];
    let text = describe(&strict);
    for words in [
        "/data is the user's, read-only.",
        "Requests are allowed to: GET https://example.com/.",
        "Limits: 30 s for a call, 30 s of CPU time, 512 MiB of memory, 64 MiB of files",
        "at least the last 50 steps",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains(folder.to_str().unwrap()));
    let json = describe(&[&strict[..], &["--json"]].concat());
    let j: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&j["image"], &j["limits"]["processes"]), (&"test/cli".into(), &16.into()));
    assert_eq!(j["commands"].as_array().unwrap().len(), 17);
    assert!(j["python"].is_null());

    let o = runner().args(["describe", "/no/such.webc"]).output().unwrap();
    assert_eq!(o.status.code(), Some(125));
    assert_eq!(err(&o).lines().count(), 1, "{}", err(&o));
}

#[test]
fn the_time_limit_is_enforced_and_reported() {
    for command in [&["spin"][..], &["sleep", "100"], &["run", "/bin/spin"]] {
        let t = Instant::now();
        let o = exec(&["--timeout", "0.3"], command);
        let t = t.elapsed();
        assert_eq!(o.status.code(), Some(124));
        assert_eq!(err(&o), "runner: the command was ended after 0.3 s (--timeout)\n");
        assert!(t < SOON, "{command:?} took {t:?}");
    }
}

#[test]
fn cpu_time_is_limited() {
    let o = exec(&["--cpu", "0.2"], &["spin"]);
    assert_eq!(o.status.code(), Some(152));
    assert_eq!(err(&o), "runner: the command was ended after 0.2 s of CPU time (--cpu)\n");
    assert_eq!(exec(&["--cpu", "0.2"], &["sleep", "0.4"]).status.code(), Some(0));
    let o = exec(&["--json", "--cpu", "0.2"], &["spin"]);
    let o: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    assert_eq!((&o["exit_code"], &o["limit_hit"]), (&152.into(), &"cpu".into()));
}

#[test]
fn interrupting_ends_runner_and_guest() {
    for (signal, status) in
        [(rustix::process::Signal::INT, 130), (rustix::process::Signal::TERM, 143)]
    {
        for command in [&["spin"][..], &["cat"], &["run", "/bin/sleep", "100"]] {
            let mut child = runner()
                .arg("exec")
                .arg(&*IMAGE)
                .args(command)
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(150));
            let t = Instant::now();
            rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal)
                .unwrap();
            // Standard input is taken out of `child`, because `wait` would close it and the guest
            // would end by itself.
            let stdin = child.stdin.take();
            let code = child.wait().unwrap().code();
            drop(stdin);
            assert!(t.elapsed() < SOON, "{command:?} {:?}", t.elapsed());
            assert!(code == Some(status) || code == Some(130), "{command:?} {code:?}");
        }
    }
}

#[test]
fn output_streams_and_stops_with_its_reader() {
    let mut child = runner()
        .arg("exec")
        .arg(&*IMAGE)
        .arg("yes")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = [0; 1000];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(first, [b'x'; 1000]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3), "the guest saw EPIPE");
    let o = exec(&[], &["gen", "50000000"]);
    assert_eq!(o.stdout.len(), 50_000_000);
}

#[test]
fn input_is_passed_as_it_comes() {
    let mut child = runner()
        .arg("exec")
        .arg(&*IMAGE)
        .arg("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for word in [b"one\n", b"two\n"] {
        to.write_all(word).unwrap();
        let mut b = [0; 4];
        from.read_exact(&mut b).unwrap();
        assert_eq!(&b, word);
    }
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(out(&exec(&["--no-stdin"], &["wc"])), "0\n");
}

#[test]
fn mounts_are_read_only_unless_rw() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), "hello").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", dir.path().join("ln")).unwrap();
    let m = |end: &str| format!("{}:/m{end}", dir.path().display());
    assert_eq!(out(&exec(&["--mount", &m("")], &["cat", "/m/f"])), "hello");
    assert_eq!(
        out(&exec(&["--mount", &m("")], &["cat", "/m/ln", "/m/../../etc/hostname"]))
            .lines()
            .count(),
        2
    );
    assert_ne!(exec(&["--mount", &m(":ro")], &["fill", "/m/g", "5"]).status.code(), Some(0));
    assert!(!dir.path().join("g").exists());
    assert_eq!(exec(&["--mount", &m(":rw")], &["fill", "/m/g", "5"]).status.code(), Some(0));
    assert_eq!(std::fs::read(dir.path().join("g")).unwrap().len(), 5);
}

#[test]
fn json_reports_status_output_and_files() {
    let o = exec(&["--json"], &["fill", "/output/a.csv", "3"]);
    let j: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    assert_eq!(j["exit_code"], 0);
    assert_eq!(j["stdout"], "wrote 3\n");
    assert_eq!((&j["truncated"], &j["limit_hit"]), (&false.into(), &serde_json::Value::Null));
    assert!(j["peak_memory"].as_u64().unwrap() > 65536 && j["duration_ms"].as_f64().unwrap() > 0.0);
    // printf '\7\7\7' | sha256sum
    let sha = "6a7dc6f4267242f01f6636a45c31da51c036da1e9879abce7e1d0aaa76aad876";
    let f = &j["files"][0];
    assert_eq!(
        (&f["path"], &f["change"], &f["size"]),
        (&"/output/a.csv".into(), &"created".into(), &3.into())
    );
    assert_eq!(f["mime_type"], "text/csv");
    assert_eq!(f["sha256"], sha);
    let o = exec(&["--json", "--output-limit", "1000"], &["yes"]);
    let j: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    assert_eq!((&j["truncated"], &j["limit_hit"]), (&true.into(), &"output".into()));
    assert_eq!(j["stdout"].as_str().unwrap().len(), 1000);
    let o = exec(&["--json", "--timeout", "0.2"], &["spin"]);
    let j: serde_json::Value = serde_json::from_slice(&o.stdout).unwrap();
    assert_eq!(
        (o.status.code(), &j["exit_code"], &j["limit_hit"]),
        (Some(124), &124.into(), &"timeout".into())
    );
}

#[test]
fn limits_that_were_hit_are_reported() {
    let o = exec(&["--memory", "32M"], &["alloc", "100"]);
    // The guest has handled the failed allocation, so the runner reports nothing.
    assert!(out(&o).contains("refused after") && err(&o).is_empty(), "{}", err(&o));
    let o = exec(&["--memory", "14M"], &["recurse"]);
    assert!(o.status.code() == Some(137) && err(&o).contains("--memory"), "{}", err(&o));
    let o = exec(&["--output-limit", "10K"], &["yes"]);
    assert_eq!((o.stdout.len(), o.status.code()), (10240, Some(137)));
    assert!(err(&o).contains("--output-limit"), "{}", err(&o));
    let o = exec(&["--disk", "1M"], &["fill", "/tmp/f", "2000000"]);
    assert!(out(&o).starts_with("errno 51"), "{}", out(&o));
    assert!(err(&o).contains("1 MiB of files (--disk)"), "{}", err(&o));
    let o = exec(&["--file-size", "1M"], &["fill", "/tmp/f", "2000000"]);
    assert!(out(&o).starts_with("errno 22"), "{}", out(&o));
    assert!(err(&o).contains("1048576 bytes of a file (--file-size)"), "{}", err(&o));
}

#[test]
fn damaged_machine_code_is_compiled_again() {
    let own = tempfile::tempdir().unwrap();
    let go = || {
        let mut c = runner();
        c.env("XDG_CACHE_HOME", own.path())
            .arg("exec")
            .arg(&*IMAGE)
            .args(["echo", "hi"])
            .output()
            .unwrap()
    };
    assert!(err(&go()).contains("compiling guest"));
    assert_eq!(err(&go()), "");
    let code = std::fs::read_dir(own.path().join("wasibox/aot"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "aot"))
        .unwrap();
    let mut bytes = std::fs::read(&code).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&code, bytes).unwrap();
    let o = go();
    assert_eq!((o.status.code(), &*out(&o)), (Some(0), "hi\n"));
    assert!(err(&o).contains("was damaged") && err(&o).contains("compiling guest"), "{}", err(&o));
    assert_eq!(err(&go()), "");
}

/// Makes an image of two programs: `first` for most commands, `second` for `args`.
fn image_of_two_programs(folder: &Path) -> PathBuf {
    LazyLock::force(&IMAGE);
    let first = std::fs::read(scratch().join("guest/wasm32-wasip1/release/guest.wasm")).unwrap();
    // A custom section makes it another module.
    let second = [&*first, &[0, 2, 1, b'x']].concat();
    let spec = ImageSpec {
        name: "test/two".into(),
        version: "1".into(),
        atoms: vec![("first".into(), first), ("second".into(), second)],
        commands: [("sh", "first"), ("echo", "first"), ("run", "first"), ("args", "second")]
            .map(|(name, atom)| (name.into(), atom.into()))
            .into(),
        ..ImageSpec::default()
    };
    let image = folder.join("two.webc");
    pack_to(&spec, &image).unwrap();
    image
}

/// The program of the command is compiled first, and the command waits for no other one. The others
/// are compiled in the background; a guest that starts one of them earlier waits for it.
#[test]
fn only_the_program_that_is_called_is_waited_for() {
    let tmp = tempfile::tempdir().unwrap();
    let image = image_of_two_programs(tmp.path());
    let go = |cache: &str, words: &[&str]| {
        let mut c = runner();
        c.env("XDG_CACHE_HOME", tmp.path().join(cache)).arg("exec").arg("--image").arg(&image);
        c.args(words).output().unwrap()
    };

    let o = go("a", &["--", "echo", "hi"]);
    assert_eq!((o.status.code(), &*out(&o)), (Some(0), "hi\n"));
    assert!(err(&o).contains("compiling first") && !err(&o).contains("second"), "{}", err(&o));
    let code = || {
        let files = std::fs::read_dir(tmp.path().join("a/wasibox/aot")).unwrap();
        files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "aot")).count()
    };
    let begin = Instant::now();
    while code() < 2 && begin.elapsed() < 6 * SOON {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(code(), 2);

    let o = go("b", &["--", "run", "/bin/args"]);
    assert!(out(&o).contains("code 0"), "{} {}", out(&o), err(&o));

    // With a short time limit everything is ready before the command begins.
    let o = go("c", &["--timeout", "60", "--", "echo", "hi"]);
    assert_eq!((o.status.code(), &*out(&o)), (Some(0), "hi\n"));
    assert!(err(&o).contains("compiling first") && err(&o).contains("compiling second"));
}

/// A session's worker begins with the shell's program. Here the other program cannot be compiled
/// before the test releases its lock.
#[test]
fn a_worker_waits_only_for_the_shells_program() {
    let tmp = tempfile::tempdir().unwrap();
    let image = image_of_two_programs(tmp.path());
    let code = |cache: &str| {
        let files = std::fs::read_dir(tmp.path().join(cache).join("wasibox/aot"));
        let names = files.into_iter().flatten().map(|f| f.unwrap().path());
        let code = names.filter(|p| p.extension().is_some_and(|e| e == "aot"));
        code.map(|p| p.file_stem().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let compile = |program: &str| {
        let mut c = runner();
        c.env("XDG_CACHE_HOME", tmp.path().join("a")).arg("compile").arg(&image).arg(program);
        assert!(c.output().unwrap().status.success());
        code("a")
    };
    let first = compile("--program=first");
    let both = compile("--program=second");
    let mut lock = both.into_iter().find(|key| !first.contains(key)).unwrap();
    lock.push(".lock");

    let workspace = tmp.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let aot = tmp.path().join("b/wasibox/aot");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&aot).unwrap();
    let mut options = std::fs::OpenOptions::new();
    let lock = options.create(true).write(true).mode(0o600).open(aot.join(lock)).unwrap();
    lock.lock().unwrap();
    let go = |words: &[&str]| {
        let mut c = runner();
        c.env("XDG_CACHE_HOME", tmp.path().join("b")).arg("exec").arg("--workspace");
        c.arg(&workspace).arg("--image").arg(&image).arg("--").args(words);
        c.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let o = go(&["echo", "hi"]).wait_with_output().unwrap();
    assert_eq!((o.status.code(), &*out(&o)), (Some(0), "hi\n"), "{}", err(&o));
    assert_eq!(code("b"), first);

    let waiting = go(&["run", "/bin/args"]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(code("b"), first);
    drop(lock);
    let o = waiting.wait_with_output().unwrap();
    assert!(out(&o).contains("code 0"), "{} {}", out(&o), err(&o));
    assert_eq!(code("b").len(), 2);
}

/// A limit that is too large for any clock or counter is no limit.
#[test]
fn huge_limits_are_no_limits() {
    let max = u64::MAX.to_string();
    for option in ["--memory", "--disk", "--output-limit", "--processes"] {
        let o = exec(&[option, &max], &["echo", "hi"]);
        assert_eq!((o.status.code(), &*out(&o), &*err(&o)), (Some(0), "hi\n", ""), "{option}");
    }
    for time in ["1e9", "1e19", "1.8e19", "1e300"] {
        let o = exec(&["--timeout", time], &["echo", "hi"]);
        assert_eq!((o.status.code(), &*out(&o), &*err(&o)), (Some(0), "hi\n", ""), "{time}");
    }
}

/// Standard error is a pipe that is full and has no active reader.
#[test]
fn a_full_standard_error_does_not_block_the_runner() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    // The default capacity of a pipe in Linux.
    writer.write_all(&[b'x'; 65536]).unwrap();
    let mut child = runner().args(["exec", "/no/such.webc", "x"]).stderr(writer).spawn().unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begin.elapsed() > SOON {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.and_then(|s| s.code()), Some(125));
    drop(reader);
}

/// Writing beyond the host's limit of file sizes (`ulimit -f`) is an error for the guest, and does
/// not end the runner.
#[test]
fn a_limit_of_file_sizes_is_an_error_of_the_guest() {
    let dir = tempfile::tempdir().unwrap();
    let mount = format!("{}:/m:rw", dir.path().display());
    LazyLock::force(&IMAGE);
    let o = Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_runner")])
        .args(["exec", "--mount", &mount])
        .arg(&*IMAGE)
        .args(["fill", "/m/f", "100000"])
        .env("XDG_CACHE_HOME", cache())
        .env("XDG_STATE_HOME", scratch().join("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(o.status.code().is_some() && out(&o).starts_with("errno "), "{o:?}");
}

#[test]
fn control_characters_in_names_are_escaped() {
    let o = exec(&[], &["\x1b[2Jnope\n"]);
    assert_eq!(err(&o), "runner: \\u{1b}[2Jnope\\n: command not found\n");
    let spec = ImageSpec {
        name: "t/t".into(),
        version: "0.0.0".into(),
        atoms: vec![("m".into(), b"\0asm\x01\0\0\0".to_vec())],
        commands: vec![("a\x1b[31m".into(), "m".into())],
        annotations: [("k\x07".to_owned(), "\u{9b}2J\nname evil".to_owned())].into(),
        ..ImageSpec::default()
    };
    let path = scratch().join("controls.webc");
    pack_to(&spec, &path).unwrap();
    let o = runner().arg("inspect").arg(&path).output().unwrap();
    assert!(out(&o).contains("note      k\\u{7}: \\u{9b}2J\\nname evil\n"), "{}", out(&o));
    assert!(out(&o).contains("commands  1: a\\u{1b}[31m\n"), "{}", out(&o));
}

/// Returns the output of `command` on a terminal.
fn on_a_terminal(options: &[&str], command: &[&str]) -> Vec<u8> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
    let status =
        runner().arg("exec").args(options).arg(&*IMAGE).args(command).stdout(slave).status();
    assert!(status.unwrap().success());
    let mut seen = vec![0; 4096];
    let n = std::fs::File::from(master).read(&mut seen).unwrap();
    seen.truncate(n);
    seen
}

#[test]
fn a_terminal_gets_text_and_colours_only() {
    let text = "\x1b]0;title\x07\x1b[1;31mred\x1b[m \x1b[2Jend";
    let plain = b"?]0;title?\x1b[1;31mred\x1b[m ?[2Jend\r\n";
    assert_eq!(
        on_a_terminal(&[], &["echo", text]).escape_ascii().to_string(),
        plain.escape_ascii().to_string()
    );
    assert_eq!(on_a_terminal(&["--raw"], &["echo", text]), format!("{text}\r\n").as_bytes());
    assert_eq!(out(&exec(&[], &["echo", text])), format!("{text}\n"));
}

#[test]
fn an_image_that_is_a_pipe_is_refused_at_once() {
    let path = scratch().join(format!("fifo-{}", std::process::id()));
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    for verb in ["inspect", "compile"] {
        let o = runner().arg(verb).arg(&path).output().unwrap();
        assert!(err(&o).contains("not a Wasibox image"), "{}", err(&o));
    }
    std::fs::remove_file(&path).unwrap();
}
