//! The kernel as a guest sees it: `tests/guest` run in the sandbox.

mod common;

use common::*;
use std::time::{Duration, Instant};
use wasibox_sandbox::streams::{Capture, OutputMeter};
use wasibox_sandbox::{LimitHit, Limits, MountSpec, Policy, ProcessStatus, SandboxError};

/// A bound on the time until a limit takes effect: much shorter than the guest's other limits, and
/// long enough for a busy machine. The benchmarks measure the time itself.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn arguments_environment_and_directory_arrive() {
    let o = run(&["args", "a b", "", "x\ny", "ü"]);
    assert_eq!(
        o.out,
        "[\"args\", \"a b\", \"\", \"x\\ny\", \"ü\"]\n[(\"HOME\", \"/home/user\"), (\"PATH\", \"/bin\")]\n"
    );
    assert_eq!(run(&["cwd"]).out, "/home/user\n");
    assert_eq!(run(&["/usr/bin/echo", "by", "path"]).out, "by path\n");
}

/// Formats of `proc(5)`; the numbers are those of the session.
#[test]
fn proc_describes_the_session() {
    let cat = |paths: &[&str]| {
        let limits = Limits { memory: 256 << 20, ..Limits::default() };
        let policy = Policy { limits, ..Policy::default() };
        let words: Vec<&str> = ["cat"].iter().chain(paths).copied().collect();
        start(&words, policy, b"").unwrap().out
    };
    assert_eq!(cat(&["/proc/self/comm"]), "cat\n");
    assert_eq!(cat(&["/proc/2/cmdline", "x"]), "cat\0/proc/2/cmdline\0x\0x: 44\n");
    assert_eq!(cat(&["/proc/self/environ"]), "PATH=/bin\0HOME=/home/user\0");
    let stat = cat(&["/proc/self/stat"]);
    assert!(stat.starts_with("2 (cat) R 1 2 2 0 -1 "), "{stat}");
    assert_eq!(stat.split_whitespace().count(), 52);
    let status = cat(&["/proc/self/status"]);
    for line in ["Name:\tcat", "Umask:\t0022", "PPid:\t1", "Uid:\t1000\t1000\t1000\t1000"] {
        assert!(status.lines().any(|l| l == line), "{line}: {status}");
    }
    let memory = cat(&["/proc/meminfo"]);
    let kib = |name: &str| -> u64 {
        let line = memory.lines().find_map(|l| l.strip_prefix(name)?.strip_suffix(" kB"));
        line.unwrap().trim().parse().unwrap()
    };
    assert_eq!(kib("MemTotal:"), 256 << 10);
    assert!(kib("MemFree:") < kib("MemTotal:"));
    let uptime = cat(&["/proc/uptime"]);
    let up: Vec<f64> = uptime.split_whitespace().map(|n| n.parse().unwrap()).collect();
    assert!(up.len() == 2 && up[1] <= up[0] && up[0] < 60.0, "{uptime}");
    assert_eq!(cat(&["/proc/loadavg"]), "0.00 0.00 0.00 1/1 2\n");
    assert_eq!(cat(&["/proc/cpuinfo"]).matches("processor\t:").count(), 1);
    assert!(cat(&["/proc/version"]).starts_with("Linux version 6."));
    assert_eq!(cat(&["/proc/sys/kernel/ostype"]), "Linux\n");
    let uuid = cat(&["/proc/sys/kernel/random/uuid"]);
    assert_eq!(uuid.trim_end().split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
    assert_ne!(uuid, cat(&["/proc/sys/kernel/random/uuid"]));
    assert_eq!(cat(&["/proc/1/stat", "/proc/02/comm"]), "/proc/1/stat: 44\n/proc/02/comm: 44\n");
}

#[test]
fn proc_shows_mounts_by_their_guest_paths() {
    let dir = tempfile::tempdir().unwrap();
    let policy = Policy { mounts: vec![ro(dir.path(), "/a b")], ..Policy::default() };
    let out = start(&["cat", "/proc/mounts"], policy, b"").unwrap().out;
    assert!(out.starts_with("wasibox / wasibox rw 0 0\n"), "{out}");
    assert!(out.ends_with("mount /a\\040b wasibox ro 0 0\n"), "{out}");
    assert!(!out.contains(dir.path().to_str().unwrap()));
}

/// A search along a `PATH` that leads back to the link must end.
#[test]
fn proc_exe_does_not_search_itself() {
    let (mut given, out, _) = spec(&["cat", "/proc/self/exe/x", "/proc/self/cwd/x"], b"");
    given.env = vec![b"PATH=/proc/self/exe:/proc/self:/bin".to_vec()];
    sandbox(Policy::default()).run(given).unwrap();
    let out = String::from_utf8(out.take_output()).unwrap();
    assert_eq!(out, "/proc/self/exe/x: 54\n/proc/self/cwd/x: 44\n");
}

#[test]
fn every_exit_code_is_exact() {
    for code in [0u8, 1, 2, 45, 125, 126, 127, 128, 137, 200, 255] {
        assert_eq!(run(&["exit", &code.to_string()]).status, ProcessStatus::Exited(code));
    }
    assert_eq!(run(&["run", "/bin/exit", "254"]).out, "join 0 tag 1 code 254 signal 0\n");
}

#[test]
fn commands_that_cannot_be_run_have_distinct_errors() {
    let missing = start(&["nope"], Policy::default(), b"").err();
    assert!(matches!(missing, Some(SandboxError::NotFound { name, .. }) if name == "nope"));
    for (path, why) in [("/bin", "Permission denied"), ("/tmp/f", "cannot execute binary file")] {
        let b = sandbox(Policy::default());
        let root = wasibox_vfs::Loc::Tree(wasibox_vfs::tree::ROOT);
        let how = wasibox_vfs::OpenFlags { write: true, create: true, ..Default::default() };
        let Ok(wasibox_vfs::OpenResult::File(f)) = b.vfs().open(&root, b"/tmp/f", how, 0o755)
        else {
            panic!()
        };
        f.write(0, false, &guest()).unwrap();
        let e = b.run(spec(&[path], b"").0).err();
        assert!(
            matches!(&e, Some(SandboxError::NotExecutable { why: w, .. }) if w == why),
            "{path} {e:?}"
        );
    }
    assert_eq!(run(&["run", "/bin/nope"]).out, "spawn errno 44\n");
    assert_eq!(run(&["run", "/etc"]).out, "spawn errno 2\n");
    assert_eq!(run(&["run", "/dev/null"]).out, "spawn errno 2\n");
}

#[test]
fn scripts_run_their_interpreter() {
    let dir = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let p = dir.path().join(name);
        std::fs::write(&p, text).unwrap();
        std::fs::set_permissions(&p, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    script("s", "#! /bin/echo one two  \nnot read\n");
    script("t", "#!/m/s\n");
    script("loop", "#!/m/loop\n");
    script("none", "plain text\n");
    let policy = || Policy { mounts: vec![ro(dir.path(), "/m")], ..Policy::default() };
    let out = |p: &str| start(&[p, "arg"], policy(), b"").map(|o| o.out);
    assert_eq!(out("/m/s").unwrap(), "one two /m/s arg\n");
    assert_eq!(out("/m/t").unwrap(), "one two /m/s /m/t arg\n");
    assert!(out("/m/loop").is_err());
    assert!(out("/m/none").is_err());
    let o = start(&["run", "/m/none"], policy(), b"").unwrap();
    assert_eq!(o.out, "spawn errno 45\n");
}

#[test]
fn pipelines_run_at_once_and_end() {
    for kind in ["bridge", "fd"] {
        assert_eq!(run(&["pipeline", "5000000", kind]).out, "5000000\n");
        let o = run(&["early-end", kind]);
        let ends = "join 0 tag 1 code 0 signal 0\njoin 0 tag 1 code 3 signal 0\n";
        assert_eq!(o.out, format!("100\n{ends}"));
        assert_eq!(o.err, "gen: errno 64\n");
    }
}

#[test]
fn input_passes_through() {
    let o = start(&["cat"], Policy::default(), b"\0\xff bytes").unwrap();
    assert_eq!(o.raw, b"\0\xff bytes");
    assert_eq!(start(&["wc"], Policy::default(), &vec![1; 3_000_000]).unwrap().out, "3000000\n");
}

#[test]
fn a_trap_ends_one_process_as_a_signal() {
    for (command, signal, word) in [
        ("recurse", 11, "memory access out of bounds"),
        ("oob", 11, "memory access out of bounds"),
        ("deep", 11, "stack overflow"),
        ("abort", 6, "aborted"),
        ("divide", 8, "division by zero"),
        ("badcall", 4, "bad indirect call"),
    ] {
        let o = run(&[command]);
        assert_eq!(o.status, ProcessStatus::Signaled(signal), "{command}");
        assert!(o.err.starts_with(&format!("{command}: {word}")), "{command}: {}", o.err);
        assert_eq!(o.err.lines().count(), 1, "{}", o.err);
        let o = run(&["run", &format!("/bin/{command}")]);
        let code = 128 + u16::from(signal);
        assert_eq!(o.out, format!("join 0 tag 2 code {code} signal {signal}\n"));
        assert_eq!(o.status, ProcessStatus::Exited(0));
    }
}

#[test]
fn signals_end_processes_at_once() {
    for (signal, victim) in [("9", "/bin/spin"), ("15", "/bin/spin"), ("2", "/bin/sleep")] {
        let o = run(&["kill", signal, victim, "30"]);
        let code = 128 + signal.parse::<u16>().unwrap();
        assert_eq!(
            o.out,
            format!(
                "exists 0\nkill 0\njoin 0 tag 2 code {code} signal {signal}\nsoon true\ngone 71\nagain 12\n"
            )
        );
    }
    // SIGCHLD and SIGCONT are ignored by default.
    let t = Instant::now();
    let o = run(&["kill", "17", "/bin/sleep", "0.3"]);
    assert!(o.out.contains("code 0") && t.elapsed() > Duration::from_millis(250), "{}", o.out);
}

#[test]
fn the_time_limit_ends_everything() {
    for command in [
        &["spin"][..],
        &["sleep", "60"],
        &["run", "/bin/spin"],
        &["run", "/bin/sleep", "60"],
        &["alloc", "1", "keep"],
    ] {
        let limits = Limits { timeout: Some(Duration::from_millis(200)), ..Limits::default() };
        let t = Instant::now();
        let o = start(command, Policy { limits, ..Policy::default() }, b"").unwrap();
        assert_eq!(o.limit, Some(LimitHit::Timeout), "{command:?}");
        let t = t.elapsed();
        assert!(t < SOON, "{command:?} {t:?}");
    }
}

#[test]
fn interrupting_ends_everything() {
    let b = sandbox(Policy::default());
    let i = b.interrupt_handle();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        i.interrupt();
    });
    let t = Instant::now();
    let r = b.run(spec(&["run", "/bin/spin"], b"").0).unwrap();
    assert!(r.interrupted && t.elapsed() < SOON);
    // The sandbox is usable again.
    assert_eq!(b.run(spec(&["true"], b"").0).unwrap().status, ProcessStatus::Exited(0));
}

#[test]
fn an_interrupt_before_the_first_process_ends_the_run() {
    let b = sandbox(Policy::default());
    b.interrupt_handle().interrupt();
    let r = b.run(spec(&["true"], b"").0).unwrap();
    assert!(r.interrupted && r.status != ProcessStatus::Exited(0));
    // It ends one run only.
    assert_eq!(b.run(spec(&["true"], b"").0).unwrap().status, ProcessStatus::Exited(0));
}

#[test]
fn background_processes_end_with_the_first() {
    let o = run(&["leave"]);
    assert_eq!((o.status, &*o.out), (ProcessStatus::Exited(7), "left\n"));
    assert_eq!(o.ended, ["spin", "sleep 60"]);
    assert!(o.took < SOON);
    // The list is empty if the run was ended, or if no process was left.
    let limits = Limits { timeout: Some(Duration::from_millis(200)), ..Limits::default() };
    let o =
        start(&["run", "/bin/sleep", "60"], Policy { limits, ..Policy::default() }, b"").unwrap();
    assert_eq!((o.limit, o.ended), (Some(LimitHit::Timeout), vec![]));
    assert_eq!(run(&["run", "/bin/true"]).ended, Vec::<String>::new());
}

#[test]
fn memory_is_limited_for_all_processes_together() {
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let policy = Policy { limits, ..Policy::default() };
    let o = start(&["alloc", "1000"], policy.clone(), b"").unwrap();
    let have: u64 = o.out.lines().last().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    assert!((40..64).contains(&have), "{}", o.out);
    // The refusal was reported to the guest, which has handled it.
    assert_eq!((o.status, o.limit), (ProcessStatus::Exited(0), None));
    assert!(o.peak > 60 << 20 && o.peak <= 64 << 20);
    // Each process needs 9 MiB to begin with.
    let o = start(&["bomb", "100"], policy, b"").unwrap();
    let n: usize = o.out.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((3..8).contains(&n) && o.out.contains("then errno 48"), "{}", o.out);
    assert!(o.out.ends_with("all ended\n"));
}

#[test]
fn processes_are_limited() {
    let limits = Limits { processes: 20, ..Limits::default() };
    let o = start(&["bomb", "1000"], Policy { limits, ..Policy::default() }, b"").unwrap();
    assert_eq!(o.out, "started 19 then errno 6\nall ended\n", "{}", o.err);
    assert_eq!(o.limit, Some(LimitHit::Processes));
    let limits = Limits { spawns: 5, ..Limits::default() };
    let o = start(&["bomb", "1000"], Policy { limits, ..Policy::default() }, b"").unwrap();
    assert_eq!(o.out, "started 4 then errno 6\nall ended\n");
}

#[test]
fn output_is_limited() {
    let b = sandbox(Policy::default());
    let meter = OutputMeter::new(Some(100_000));
    let (mut s, ..) = spec(&["yes"], b"");
    let out = Capture::new(meter.clone());
    (s.stdout, s.stderr) = (out.clone(), out.clone());
    let r = b.run(s).unwrap();
    assert_eq!((r.limit, out.take_output().len()), (Some(LimitHit::Output), 100_000));
}

#[test]
fn descriptors_are_limited() {
    assert_eq!(run(&["fds"]).out, "1020 then errno 33\n");
}

#[test]
fn disk_is_limited() {
    let mut limits = Limits::default();
    limits.disk.bytes = 10 << 20;
    let o = start(&["fill", "/tmp/f", "1000000000"], Policy { limits, ..Policy::default() }, b"")
        .unwrap();
    assert!(o.out.starts_with("errno 51 after 10"), "{}", o.out);
}

#[test]
fn hostile_calls_get_errors() {
    let o = run(&["badcalls"]);
    assert_eq!(o.status, ProcessStatus::Exited(0), "{}", o.err);
    assert!(o.out.starts_with("92 calls"), "{}", o.out);
}

#[test]
fn waiting_is_exact() {
    let want = "zero 0 [100] true\nrel 0 [100] true\nabs 0 [100] true\nempty 0 [100] true\nfull 0 [200] true\n";
    assert_eq!(run(&["poll"]).out, want);
}

#[test]
fn devices_and_bridge_nodes_work_through_libc() {
    let o = run(&["devices"]);
    assert_eq!(
        o.out,
        "null 0 true\nzero 8 true\nfull 8 true\ntty errno 60\nnothing errno 44\nurandom true\n\
         full write 51\nby name\nby number\nfd 77 errno 44\n\
         [\"bin\", \"dev\", \"etc\", \"home\", \"mnt\", \"output\", \"proc\", \"tmp\", \"usr\", \"var\"]\n"
    );
    let o = run(&["meta"]);
    assert_eq!(
        o.out,
        "b [44, 0]\na 66 errno 0 kind 10 mode 755\nchmod [0, 0]\nmode 700 uid 1000\n\
         nonsense [28, 0]\nrelative [28, 0]\n"
    );
}

#[test]
fn files_behave_through_libc() {
    assert_eq!(
        run(&["files"]).out,
        "odd\nhello world\nhello world / new / 11\n[\"g\"]\nnew\nSome(55)\nSome(20)\nSome(44)\ntrue\n"
    );
}

#[test]
fn exec_replaces_the_program() {
    assert_eq!(run(&["exec", "/bin/echo", "a", "b"]).out, "a b\n");
    assert_eq!(run(&["exec", "/bin/nope"]).out, "errno 44\n");
}

#[test]
fn files_stay_for_the_next_command_and_changes_are_listed() {
    let b = sandbox(Policy::default());
    let mark = b.mark_files();
    b.run(spec(&["fill", "/output/x", "3"], b"").0).unwrap();
    let (s, out, _) = spec(&["wc"], b"");
    b.run(s).unwrap();
    assert_eq!(out.take_output(), b"0\n");
    let changes = b.changes_since(&mark).list;
    assert_eq!((changes.len(), &*changes[0].path, changes[0].size), (1, &b"/output/x"[..], 3));
    assert_eq!(b.read_file(b"/output/x", 100).unwrap(), [7, 7, 7]);
}

#[test]
fn mounts_are_read_only_unless_said_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), "hello").unwrap();
    let policy = |writable| Policy {
        mounts: vec![MountSpec { writable, ..ro(dir.path(), "/m") }],
        ..Policy::default()
    };
    assert_eq!(start(&["cat", "/m/f"], policy(false), b"").unwrap().out, "hello");
    let o = start(&["fill", "/m/g", "1"], policy(false), b"").unwrap();
    assert!(o.err.contains("Read-only file system") && !dir.path().join("g").exists());
    assert_eq!(start(&["fill", "/m/g", "1"], policy(true), b"").unwrap().out, "wrote 1\n");
    assert_eq!(std::fs::read(dir.path().join("g")).unwrap(), [7]);
}

/// Processes of a program follow each other in the same memory; none sees the memory of another.
#[test]
fn memory_of_an_ended_process_is_not_seen_again() {
    let b = sandbox(Policy::default());
    let text = |argv: &[&str]| {
        let (spec, out, _) = spec(argv, b"");
        b.run(spec).unwrap();
        // The thread of the ended process gets ready for the next one meanwhile.
        std::thread::sleep(Duration::from_millis(20));
        String::from_utf8(out.take_output()).unwrap()
    };
    let clean = text(&["stains"]);
    assert!(clean.starts_with("0 marks in "), "{clean}");
    for _ in 0..5 {
        assert_eq!(text(&["stain"]), "run 42 true\n");
        assert_eq!(text(&["stains"]), clean);
        // These processes end in other ways than by returning.
        for argv in [["exit", "3"], ["abort", ""], ["oob", ""], ["recurse", ""]] {
            text(&argv);
        }
        assert_eq!(text(&["stains"]), clean);
    }
}

/// Memory of processes that ended is free for others at once.
#[test]
fn waiting_instances_count_nothing() {
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let b = sandbox(Policy { limits, ..Policy::default() });
    for _ in 0..30 {
        let (spec, out, err) = spec(&["run", "/bin/alloc", "40"], b"");
        let r = b.run(spec).unwrap();
        assert_eq!(r.limit, None, "{}", String::from_utf8_lossy(&err.take_output()));
        assert!(!out.take_output().is_empty());
    }
}
