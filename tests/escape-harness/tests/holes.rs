//! Tests the jail around workers whose kernel has a hole through which guests can make any native
//! call.
//!
//! This program serves as its own worker, whose jailed process has one more thread. The thread
//! plays the hole: it takes the guest's requests from [`ASK`], executes them with the host's system
//! calls, and writes the results to [`ANSWER`].
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use wasibox::{Exec, LimitHit, MountSpec, Outcome, Policy, PoolOptions, Session, Wall, WorkerPool};
use wasibox_vfs::{Errno, Loc, OpenFlags, OpenResult, ROOT, Vfs};

/// Files of the session: a request, and the result.
const ASK: &[u8] = b"/tmp/ask";
const ANSWER: &[u8] = b"/tmp/answer";
/// The memory limit of a session, and the memory that a leak takes.
const MEMORY: u64 = 128 << 20;
const LEAK: usize = 2 << 30;

/// The required result of a request.
#[derive(Clone, Copy, Debug)]
enum Must {
    Succeed,
    /// Landlock returns EACCES or EPERM.
    BeRefused,
    /// Seccomp ends the worker.
    EndForTheCall,
    /// The control group or the parent ends the worker.
    EndForMemory,
}

/// Requests, with `DIR` for the folder of the mounts and `PARENT` for the embedder.
const REQUESTS: &[(&str, Must)] = &[
    ("read DIR/rw/file", Must::Succeed),
    ("write DIR/rw/file", Must::Succeed),
    ("read DIR/ro/file", Must::Succeed),
    ("write DIR/ro/file", Must::BeRefused),
    ("read DIR/secret", Must::BeRefused),
    ("read DIR/rw/link", Must::BeRefused),
    ("write DIR/secret", Must::BeRefused),
    ("write DIR/new", Must::BeRefused),
    ("read /etc/passwd", Must::BeRefused),
    ("read /proc/PARENT/environ", Must::BeRefused),
    ("connect 127.0.0.1:9", Must::EndForTheCall),
    ("run /bin/true", Must::EndForTheCall),
    ("kill PARENT", Must::EndForTheCall),
    ("sockets", Must::Succeed),
    ("memory file", Must::EndForTheCall),
    ("leak", Must::EndForMemory),
];

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|a| a == wasibox::WORKER_ARGUMENT) {
        return wasibox::worker_main_with_hole(hole);
    }
    match all() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("holes: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Waits for one request, executes it natively and writes the result.
fn hole(vfs: &Vfs) {
    loop {
        let ask = read(vfs).unwrap_or_default();
        if let Some(ask) = ask.strip_suffix('\n') {
            let answer = match obey(ask) {
                Ok(()) => "done\n".to_owned(),
                Err(e) => format!("{:?}\n", e.kind()),
            };
            let _ = write(vfs, answer.as_bytes());
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn open(vfs: &Vfs, path: &[u8], how: OpenFlags) -> Result<wasibox_vfs::VfsFile, Errno> {
    match vfs.open(&Loc::Tree(ROOT), path, how, 0o644)? {
        OpenResult::File(file) => Ok(file),
        OpenResult::Descriptor(_) | OpenResult::ControllingTerminal => Err(Errno::BADF),
    }
}

fn read(vfs: &Vfs) -> Result<String, Errno> {
    let file = open(vfs, ASK, OpenFlags { read: true, ..OpenFlags::default() })?;
    let mut text = [0; 512];
    let n = file.read(0, &mut text)?;
    Ok(String::from_utf8_lossy(&text[..n]).into_owned())
}

fn write(vfs: &Vfs, text: &[u8]) -> Result<(), Errno> {
    let how = OpenFlags { write: true, create: true, ..OpenFlags::default() };
    open(vfs, ANSWER, how)?.write(0, false, text).map(drop)
}

/// Executes a request natively.
fn obey(ask: &str) -> std::io::Result<()> {
    let (what, of) = ask.split_once(' ').unwrap_or((ask, ""));
    match what {
        "read" => fs::read(of).map(drop),
        "write" => fs::write(of, "by the guest"),
        "connect" => std::net::TcpStream::connect(of).map(drop),
        "run" => Command::new(of).status().map(drop),
        "kill" => {
            let pid = of.parse().ok().and_then(Pid::from_raw);
            Ok(kill_process(pid.ok_or(std::io::ErrorKind::InvalidInput)?, Signal::TERM)?)
        }
        "sockets" => {
            // Landlock restricts opening a file but not looking at it.
            let stat = |n: u32| fs::metadata(format!("/proc/self/fd/{n}")).ok();
            let sockets = (0..1024).filter_map(stat).filter(|m| m.file_type().is_socket());
            let distinct: BTreeSet<u64> = sockets.map(|m| m.ino()).collect();
            // There is one socket for requests and one for messages during a call, and none of the
            // process that this one was forked from.
            if distinct.len() == 2 { Ok(()) } else { Err(std::io::ErrorKind::AddrInUse.into()) }
        }
        "memory" => Ok(rustix::fs::memfd_create(of, rustix::fs::MemfdFlags::CLOEXEC).map(drop)?),
        "leak" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            while all.len() << 20 < LEAK {
                all.push(vec![1; 1 << 20]);
            }
            // The memory is held long enough for a watcher that polls rarely.
            std::thread::sleep(Duration::from_secs(5));
            drop(all);
            Ok(())
        }
        _ => Err(std::io::ErrorKind::Unsupported.into()),
    }
}

fn all() -> Result<usize, Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let at = |path: &str| dir.path().join(path);
    for path in ["ro", "rw"] {
        fs::create_dir(at(path))?;
    }
    for path in ["secret", "ro/file", "rw/file"] {
        fs::write(at(path), path)?;
    }
    std::os::unix::fs::symlink("../secret", at("rw/link"))?;
    let options = PoolOptions {
        program: Some(std::env::current_exe()?),
        warm: 0,
        ..PoolOptions::new(wasibox_escape::image())
    };
    let pool = WorkerPool::new(options)?;
    let mut failed = 0;
    for (request, must) in REQUESTS {
        let folder = dir.path().display().to_string();
        let ask = request.replace("DIR", &folder);
        let ask = ask.replace("PARENT", &std::process::id().to_string());
        let session = session(&pool, dir.path())?;
        let how = shown(&asked(&session, &ask));
        let text = match held(&session, *must, &how) {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "skipped: not on this host",
        };
        failed += usize::from(text == "FAILED");
        println!("{request}: {text} ({how})");
        // Whatever happened to the worker, the session continues as it was before the request.
        let on = session.exec(Exec::new(["bash", "-c", "cat /tmp/before"]))?;
        if on.stdout != b"kept\n" {
            failed += 1;
            println!("{request}: FAILED (the session afterwards: {on:?})");
        }
    }
    if fs::read_to_string(at("secret"))? != "secret" || at("new").exists() {
        failed += 1;
        println!("files outside the mounts: FAILED");
    }
    Ok(failed)
}

fn session(pool: &std::sync::Arc<WorkerPool>, dir: &Path) -> Result<Session, Box<dyn Error>> {
    let mount = |name: &str, writable| MountSpec {
        host: dir.join(name),
        guest: format!("/{name}"),
        writable,
        quota: None,
    };
    let mut policy =
        Policy { mounts: vec![mount("ro", false), mount("rw", true)], ..Policy::default() };
    policy.limits.memory = MEMORY;
    policy.limits.timeout = Some(Duration::from_secs(60));
    let session = Session::on(pool, policy)?;
    let begin = session.exec(Exec::new(["bash", "-c", "echo kept > /tmp/before"]))?;
    if begin.exit_code == 0 { Ok(session) } else { Err(format!("{begin:?}").into()) }
}

/// Makes a guest send a request and print the answer.
fn asked(session: &Session, ask: &str) -> Result<Outcome, wasibox::Error> {
    let script = r#"printf '%s\n' "$1" > /tmp/ask
        until grep -q . /tmp/answer 2> /dev/null; do sleep 0.01; done; cat /tmp/answer"#;
    session.exec(Exec::new(["bash", "-c", script, "bash", ask]))
}

/// Describes a result in a word or two.
fn shown(got: &Result<Outcome, wasibox::Error>) -> String {
    match got {
        Ok(o) if o.limit_hit == Some(LimitHit::Memory) => "memory".into(),
        Ok(o) => String::from_utf8_lossy(&o.stdout).trim().to_owned(),
        Err(e) => e.to_string(),
    }
}

/// Returns whether the result is the required one, or `None` if the host lacks the wall.
fn held(session: &Session, must: Must, how: &str) -> Option<bool> {
    let walls = session.walls().unwrap_or_default();
    match must {
        Must::Succeed => Some(how == "done"),
        Must::BeRefused => (walls.files == Wall::Full).then_some(how == "PermissionDenied"),
        Must::EndForTheCall => walls.system_calls.then_some(how.contains("SIGSYS")),
        Must::EndForMemory => Some(how == "memory"),
    }
}
