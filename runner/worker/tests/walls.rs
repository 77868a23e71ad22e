//! Tests the walls alone: a process without a sandbox closes its jail and then tries to break out.
//!
//! The process must have one thread, so this is a program: with an argument it is the jailed
//! process, without one it starts such processes and checks how they end.
#![forbid(unsafe_code)]

use rustix::process::{Pid, Resource, Rlimit, setrlimit, test_kill_process};
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio, exit};
use std::time::Duration;
use wasibox_worker::child::{ARGUMENT, Worker, WorkerEnd};
use wasibox_worker::filter::NewCode;
use wasibox_worker::jail::{Jail, Wall};

/// CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER and FSETID (capabilities(7)), the lowest five.
const FILE_CAPABILITIES: u64 = 0b1_1111;
const SIGSYS: i32 = 31;
/// Statuses of a jailed process: refused, and a host without the walls.
const REFUSED: i32 = 13;
const NO_WALLS: i32 = 77;

/// The way in which a jailed process must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Must {
    Succeed,
    /// The attempt fails with EACCES or EPERM.
    BeRefused,
    /// The kernel kills the process because of the system call.
    BeEnded,
}

type Attempt = (&'static str, Must, fn(&Path) -> io::Result<()>);

const ATTEMPTS: &[Attempt] = &[
    ("read below ro", Must::Succeed, |dir| fs::read(dir.join("ro/file")).map(drop)),
    ("write below rw", Must::Succeed, |dir| {
        fs::write(dir.join("rw/new"), "x")?;
        fs::rename(dir.join("rw/new"), dir.join("rw/other"))
    }),
    ("move between directories of rw", Must::Succeed, |dir| {
        fs::create_dir_all(dir.join("rw/a/b"))?;
        fs::write(dir.join("rw/a/b/moved"), "x")?;
        fs::rename(dir.join("rw/a/b/moved"), dir.join("rw/moved"))?;
        fs::rename(dir.join("rw/a/b"), dir.join("rw/b"))?;
        fs::hard_link(dir.join("rw/moved"), dir.join("rw/b/linked"))
    }),
    ("start a thread", Must::Succeed, |_| {
        std::thread::Builder::new().spawn(|| {})?.join().map_err(|_| io::Error::other("?"))
    }),
    // Attempts that a hole in the sandbox's path checks would allow.
    ("read a file of the host", Must::BeRefused, |_| File::open("/etc/passwd").map(drop)),
    ("read beside the mounts", Must::BeRefused, |dir| fs::read(dir.join("secret")).map(drop)),
    ("climb out of a mount", Must::BeRefused, |dir| fs::read(dir.join("ro/../secret")).map(drop)),
    ("follow a link out of a mount", Must::BeRefused, |dir| {
        fs::read(dir.join("rw/link")).map(drop)
    }),
    ("write below ro", Must::BeRefused, |dir| fs::write(dir.join("ro/file"), "x")),
    ("make a file below ro", Must::BeRefused, |dir| fs::write(dir.join("ro/new"), "x")),
    ("move out of ro", Must::BeRefused, |dir| fs::rename(dir.join("ro/file"), dir.join("rw/file"))),
    ("make a file outside", Must::BeRefused, |dir| fs::write(dir.join("new"), "x")),
    ("list the root", Must::BeRefused, |_| fs::read_dir("/").map(drop)),
    ("look at another process", Must::BeRefused, |_| fs::read("/proc/1/environ").map(drop)),
    // Attempts that a fault of the engine would allow.
    ("run a program", Must::BeEnded, |_| Command::new("/bin/true").status().map(drop)),
    ("connect", Must::BeEnded, |_| std::net::TcpStream::connect("127.0.0.1:9").map(drop)),
    ("listen", Must::BeEnded, |dir| {
        std::os::unix::net::UnixListener::bind(dir.join("rw/socket")).map(drop)
    }),
    ("signal another process", Must::BeEnded, |_| Ok(test_kill_process(Pid::INIT)?)),
    ("make a file without a name", Must::BeEnded, |_| {
        Ok(rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::CLOEXEC).map(drop)?)
    }),
    ("raise a limit", Must::BeEnded, |_| {
        Ok(setrlimit(Resource::Core, Rlimit { current: None, maximum: None })?)
    }),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("jailed") => jailed(&args[1], Path::new(&args[2])),
        Some("idle") => idle(args.get(1).map(Path::new)),
        Some(ARGUMENT) => leak(),
        _ => all().unwrap_or_else(|e| panic!("{e}")),
    }
}

/// Closes a jail, makes one attempt, and reports the result by its exit status.
fn jailed(name: &str, dir: &Path) -> ! {
    let (read, write) = (vec![dir.join("ro")], vec![dir.join("rw")]);
    let jail = Jail { read, write, code: NewCode::Known(Vec::new()) };
    let Some((_, _, attempt)) = ATTEMPTS.iter().find(|(n, ..)| *n == name) else { exit(2) };
    match jail.close() {
        Err(e) => {
            eprintln!("{e}");
            exit(2)
        }
        Ok(walls) if walls.files != Wall::Full || !walls.system_calls => exit(NO_WALLS),
        Ok(_) => {}
    }
    match attempt(dir) {
        Ok(()) => exit(0),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => exit(REFUSED),
        Err(e) => {
            eprintln!("{name}: {e}");
            exit(1)
        }
    }
}

/// Closes a jail with or without a mount, prints `closed`, and waits until the process is ended.
fn idle(mount: Option<&Path>) -> ! {
    let read = mount.map(Path::to_path_buf).into_iter().collect();
    let jail = Jail { read, write: Vec::new(), code: NewCode::Known(Vec::new()) };
    if let Err(e) = jail.close() {
        eprintln!("{e}");
        exit(2)
    }
    println!("closed");
    let _ = io::stdin().read_line(&mut String::new());
    exit(0)
}

/// Returns the effective capabilities and the user of an idle jailed process (proc(5),
/// `/proc/PID/status`).
fn privileges(mount: Option<&Path>) -> io::Result<(u64, u32)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("idle")
        .args(mount)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    io::BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?)
        .read_line(&mut line)?;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    drop(child.stdin.take());
    child.wait()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let capabilities = u64::from_str_radix(&field("CapEff:"), 16).map_err(io::Error::other)?;
    Ok((capabilities, field("Uid:").parse().map_err(io::Error::other)?))
}

/// Allocates memory without end, as a leak of the sandbox would.
fn leak() -> ! {
    // Waits until the parent has set the limit.
    let _ = io::stdin().read_line(&mut String::new());
    let mut all = Vec::new();
    while all.len() < 4096 {
        all.push(vec![1u8; 1 << 20]);
    }
    exit(0)
}

fn all() -> io::Result<ExitCode> {
    let dir = tempfile::tempdir()?;
    let at = |path: &str| dir.path().join(path);
    for path in ["ro", "rw"] {
        fs::create_dir(at(path))?;
    }
    for path in ["secret", "ro/file", "rw/file"] {
        fs::write(at(path), path)?;
    }
    std::os::unix::fs::symlink("../secret", at("rw/link"))?;
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut count = |what: &str, good: Option<bool>, how: &dyn std::fmt::Display| {
        let (counter, text) = match good {
            Some(true) => (&mut passed, "ok"),
            Some(false) => (&mut failed, "FAILED"),
            None => (&mut skipped, "skipped: not on this host"),
        };
        *counter += 1;
        println!("{what}: {text} ({how})");
    };
    let user = rustix::process::geteuid().as_raw();
    let (capabilities, owner) = privileges(None)?;
    let shown = format!("capabilities {capabilities:x}, user {owner}");
    count("no privileges without mounts", Some(capabilities == 0 && owner != 0), &shown);
    let (capabilities, owner) = privileges(Some(&at("ro")))?;
    let shown = format!("capabilities {capabilities:x}, user {owner}");
    let of_files = capabilities & !FILE_CAPABILITIES == 0;
    count("privileges for files with a mount", Some(of_files && owner == user), &shown);
    for (name, must, _) in ATTEMPTS {
        let own = std::env::current_exe()?;
        let status = Command::new(own).args(["jailed", name]).arg(dir.path()).status()?;
        let got = match (status.code(), status.signal()) {
            (Some(0), _) => Some(Must::Succeed),
            (Some(REFUSED), _) => Some(Must::BeRefused),
            (_, Some(SIGSYS)) => Some(Must::BeEnded),
            _ => None,
        };
        let is_walled = status.code() != Some(NO_WALLS);
        count(name, is_walled.then_some(got == Some(*must)), &status);
    }
    let ended = contained_leak()?;
    let how = ended.map_or_else(|| "no group can be made".to_owned(), |e| e.to_string());
    count("leak memory", ended.map(|e| e == WorkerEnd::OutOfMemory), &how);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// Returns the end of a worker that leaks memory; `None` if the host's kernel does not limit its
/// memory.
fn contained_leak() -> io::Result<Option<WorkerEnd>> {
    let mut worker = Worker::start(&std::env::current_exe()?)?;
    if !worker.limit_memory(64 << 20) {
        return Ok(None);
    }
    File::from(worker.channel.as_fd().try_clone_to_owned()?).write_all(b"\n")?;
    // The leaking process takes a moment to reach the limit, and `end` would kill it earlier.
    for _ in 0..600 {
        if worker.memory().is_none_or(|bytes| bytes == 0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(Some(worker.end()))
}
