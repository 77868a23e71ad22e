//! Runs one program on one target: creates a scratch folder, runs and watches the process, and then
//! checks everything that the program's header demands.
//!
//! The scratch folder:
//!
//! | name | content |
//! |---|---|
//! | `outside/` | canaries, which no guest is granted and which must never change |
//! | `work/` | the default mount of programs |
//! | `tmp/`, `home/` | the host process's `TMPDIR` and `HOME`; nothing may be left there |
//! | `cache/` | machine code of modules, so that the user's own cache stays clean |

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use wasibox::{Exec, Policy, Session};
use wasibox_image::{Image, ImageSpec, pack_to};

use crate::program::{Kind, Program, Streams};
use crate::target::{Job, Report, Target, report_file};
use crate::watch::{Peak, Watch};

/// The content of the canary; no output of a guest may contain it.
const SECRET: &str = "canary-3c9f07e1";
/// The time that a process may run beyond its limit before it is killed. It includes the time in
/// which an embedder checks that everything was released.
const HARD: Duration = Duration::from_secs(8);
/// The maximum number of bytes of output that are kept; the rest is read and dropped.
const KEPT: usize = 8 << 20;
/// The time for which output may stay open after the process has ended.
const CLOSING: Duration = Duration::from_secs(1);

/// The state that trials share.
pub struct Bench {
    image: PathBuf,
    code: Option<PathBuf>,
    /// The value of `XDG_STATE_HOME`, the folder in which the runner keeps the key of machine code.
    state: Option<PathBuf>,
}

/// The result of a trial.
pub struct Verdict {
    pub name: String,
    pub target: &'static str,
    pub finding: String,
    pub status: String,
    pub limit: Option<String>,
    pub seconds: f64,
    pub peak: Peak,
    /// Empty if the program was contained.
    pub failures: Vec<String>,
    /// The end of the output, for the report.
    pub tail: String,
}

impl Verdict {
    pub const HEAD: &'static str = "target  program                                  status  limit      wall s  peak MiB  thr  fds";
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit.as_deref().unwrap_or("-");
        let Peak { memory, threads, descriptors } = self.peak;
        write!(f, "{:<7} {:<40} {:>6}  {limit:<9}", self.target, self.name, self.status)?;
        write!(f, " {:>7.1} {:>9} {threads:>4} {descriptors:>4}", self.seconds, memory >> 20)?;
        if !self.failures.is_empty() {
            write!(f, "  FAILED({})", self.failures.join("; "))?;
            if !self.tail.is_empty() {
                write!(f, "\n        {:?}", self.tail)?;
            }
        }
        Ok(())
    }
}

/// The end of a process: its status, its time, its output, and the faults.
struct EndedProcess {
    status: Option<ExitStatus>,
    wall: Duration,
    output: String,
    failures: Vec<String>,
}

impl Bench {
    /// Finds the image and makes sure that its machine code exists, both for the runner and for the
    /// library, because these may be different builds.
    pub fn new() -> Result<Bench, String> {
        let image = wasibox_escape::image();
        let image = image.canonicalize().map_err(|e| format!("{}: {e}", image.display()))?;
        let code = wasibox::default_artifact_dir();
        let opened = Arc::new(Image::open(&image).map_err(|e| e.to_string())?);
        let session = Session::with(opened, Policy::default(), code.clone(), Arc::new(|_| {}))
            .map_err(|e| e.to_string())?;
        for argv in [["bash", "-c", ":"], ["python3", "-c", "pass"], ["node", "-e", "0"]] {
            let mut cmd = Command::new(wasibox_escape::runner());
            let done = cmd.arg("exec").arg(&image).arg("--").args(argv).status();
            if !done.as_ref().is_ok_and(ExitStatus::success) {
                return Err(format!("{argv:?} does not run: {done:?}"));
            }
            session.exec(Exec::new(argv)).map_err(|e| e.to_string())?;
        }
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
        Ok(Bench { image, code, state })
    }

    /// Runs a program and judges it.
    pub fn judge(&self, program: &Program, target: Target) -> Verdict {
        let mut verdict = Verdict {
            name: program.name.clone(),
            target: target.name(),
            finding: program.finding.clone(),
            status: "-".into(),
            limit: None,
            seconds: 0.0,
            peak: Peak::default(),
            failures: Vec::new(),
            tail: String::new(),
        };
        if let Err(e) = self.attempt(program, target, &mut verdict) {
            verdict.failures.push(format!("harness: {e}"));
        }
        verdict
    }

    fn attempt(&self, p: &Program, target: Target, verdict: &mut Verdict) -> Result<(), String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let root = dir.path().canonicalize().map_err(|e| e.to_string())?;
        let (scratch, job_file) = (root.join("scratch"), root.join("job.json"));
        furnish(&scratch).map_err(|e| e.to_string())?;
        let host = |text: &str| self.host_shell(text, &scratch);
        succeed(host(&p.before), "before")?;
        let image = match (&p.image, p.kind) {
            (Some(name), _) => scratch.join(name),
            (None, Kind::Module) => module_image(p, &scratch)?,
            (None, _) => self.image.clone(),
        };
        let mut job = Job::new(p, image, &scratch);
        (job.neighbour, job.neighbour_code) = (self.image.clone(), self.code.clone());
        job.code = match p.kind {
            Kind::Module => Some(scratch.join("cache/wasibox/aot")),
            _ => self.code.clone(),
        };
        if let Some((_, dir)) = p.host_env.iter().find(|(k, _)| k == "XDG_CACHE_HOME") {
            job.code = Some(scratch.join(dir).join("wasibox/aot"));
        }
        let mut cmd = match &p.runner {
            None => target.command(&job, &job_file)?,
            Some(args) => {
                let mut cmd = Command::new(wasibox_escape::runner());
                cmd.args(args);
                cmd
            }
        };
        if !p.wrap.is_empty() {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(format!("{}exec \"$@\"", p.wrap)).arg("sh");
            shell.arg(cmd.get_program()).args(cmd.get_args());
            cmd = shell;
        }
        self.surround(&mut cmd, p, &scratch);
        let before = inventory(&scratch, p);
        let during = RunningCommands::begin(p, &scratch, || host(&p.during))?;
        let ended = run(cmd, p, &mut verdict.peak)?;
        drop(during);
        verdict.seconds = ended.wall.as_secs_f64();
        verdict.failures = ended.failures;
        let embedded = p.runner.is_none() && matches!(target, Target::Library(_));
        let text = std::fs::read(report_file(&job_file)).unwrap_or_default();
        let report = embedded.then(|| serde_json::from_slice::<Report>(&text));
        match report {
            Some(Ok(r)) => {
                (verdict.limit, verdict.seconds) = (r.limit, r.seconds);
                verdict.failures.extend(r.wrong);
            }
            Some(Err(_)) => verdict.failures.push("the embedder wrote no report".into()),
            None => verdict.limit = reported_limit(&ended.output),
        }
        check(p, ended.status, &ended.output, verdict);
        if inventory(&scratch, p) != before {
            let now = inventory(&scratch, p);
            let differs = |k: &&PathBuf| before.get(*k) != now.get(*k);
            let names: Vec<_> = before.keys().chain(now.keys()).filter(differs).collect();
            verdict.failures.push(format!("host files changed: {names:?}"));
        }
        if !p.after.is_empty() && verdict.failures.is_empty() {
            succeed(host(&p.after), "after").unwrap_or_else(|e| verdict.failures.push(e));
        }
        make_removable(&scratch);
        let mut tail: String = ended.output.chars().rev().take(400).collect();
        tail = tail.chars().rev().collect();
        verdict.tail = if verdict.failures.is_empty() { String::new() } else { tail };
        Ok(())
    }

    /// Sets the working directory and the environment of the host process. Its folders are in the
    /// scratch folder.
    fn surround(&self, cmd: &mut Command, p: &Program, scratch: &Path) {
        cmd.current_dir(scratch).env_clear().env("PATH", "/usr/bin:/bin");
        cmd.env("TMPDIR", scratch.join("tmp"));
        // By default glibc's thresholds grow with freed memory, and the heap of each thread then
        // keeps tens of megabytes unused. With a fixed threshold, the measured memory is what the
        // embedder really holds.
        cmd.env("MALLOC_TRIM_THRESHOLD_", "131072");
        // This is the folder above `wasibox/aot`, where the runner looks for machine code.
        let cache = match p.kind {
            Kind::Module => Some(scratch.join("cache")),
            _ => self.code.as_ref().and_then(|c| Some(c.parent()?.parent()?.to_path_buf())),
        };
        cmd.env("HOME", scratch.join("home"));
        cmd.envs(cache.map(|c| ("XDG_CACHE_HOME", c)));
        cmd.envs(self.state.as_ref().map(|s| ("XDG_STATE_HOME", s)));
        cmd.envs(p.host_env.iter().map(|(k, v)| (k, scratch.join(v))));
    }

    /// Returns a command that runs host commands of a program's header.
    fn host_shell(&self, text: &str, scratch: &Path) -> Command {
        let mut cmd = Command::new("/bin/sh");
        cmd.args(["-e", "-c", text]).current_dir(scratch).stdin(Stdio::null());
        cmd.env("RUNNER", wasibox_escape::runner()).env("IMAGE", &self.image);
        cmd.envs(self.code.as_ref().map(|c| ("CODE", c)));
        cmd
    }
}

/// Runs host commands to their end. A status other than 0 is an error.
fn succeed(mut cmd: Command, what: &str) -> Result<(), String> {
    let out = cmd.output().map_err(|e| format!("{what}: {e}"))?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    if out.status.success() { Ok(()) } else { Err(format!("{what}: {} {said}", out.status)) }
}

fn furnish(scratch: &Path) -> std::io::Result<()> {
    for name in ["outside/folder", "work", "tmp", "home", "cache"] {
        std::fs::create_dir_all(scratch.join(name))?;
    }
    std::fs::write(scratch.join("outside/secret"), SECRET)?;
    std::fs::write(scratch.join("outside/folder/secret"), SECRET)
}

/// Packs an image whose only program is the module, and returns its path.
fn module_image(p: &Program, scratch: &Path) -> Result<PathBuf, String> {
    let module = wat::parse_str(&p.text).map_err(|e| e.to_string())?;
    let spec = ImageSpec {
        name: "test/hostile".into(),
        version: "0.0.0".into(),
        atoms: vec![("hostile".into(), module)],
        commands: vec![("hostile".into(), "hostile".into())],
        rootfs: p.rootfs.iter().map(|r| scratch.join(r)).collect(),
        ..ImageSpec::default()
    };
    let path = scratch.join("hostile.webc");
    pack_to(&spec, &path).map_err(|e| e.to_string())?;
    Ok(path)
}

/// Returns everything in the scratch folder that must not change, with its content. This excludes
/// the mounts that the program may write to, those that its host commands change, the cache and,
/// with `wrap`, files directly in the scratch folder.
fn inventory(scratch: &Path, p: &Program) -> BTreeMap<PathBuf, String> {
    let changing = p.swap.is_some() || !p.during.is_empty();
    let free = |path: &Path| {
        let mut mounts = p.mounts.iter().filter(|m| m.writable || changing);
        let wrapped = !p.wrap.is_empty() && path.parent() == Some(scratch) && path.is_file();
        wrapped || path == scratch.join("cache") || mounts.any(|m| scratch.join(&m.host) == path)
    };
    let (mut found, mut dirs) = (BTreeMap::new(), vec![scratch.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|e| e.path()) {
            let Ok(m) = path.symlink_metadata() else { continue };
            if free(&path) {
                continue;
            }
            let content = match m.file_type() {
                t if t.is_symlink() => format!("{:?}", std::fs::read_link(&path).ok()),
                t if t.is_file() && m.len() < 1 << 16 => format!("{:?}", std::fs::read(&path).ok()),
                _ => String::new(),
            };
            if m.is_dir() {
                dirs.push(path.clone());
            }
            let size = if m.is_dir() { 0 } else { m.len() };
            found.insert(path, format!("{:o} {size} {}", m.mode(), content));
        }
    }
    found
}

/// Restores the permissions of folders, so that the scratch folder can be removed.
fn make_removable(dir: &Path) {
    for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()) {
        if path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
            let _ = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700));
            make_removable(&path);
        }
    }
}

/// The host commands that run while the program runs. They end when this value is dropped.
struct RunningCommands {
    shell: Option<Child>,
    stop: Arc<AtomicBool>,
}

impl RunningCommands {
    fn begin(
        p: &Program,
        scratch: &Path,
        shell: impl Fn() -> Command,
    ) -> Result<RunningCommands, String> {
        let stop = Arc::new(AtomicBool::new(false));
        if let Some((a, b)) = &p.swap {
            let (a, b, stop) = (scratch.join(a), scratch.join(b), stop.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let _ = renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE);
                }
            });
        }
        let mut cmd = shell();
        let spawn = || cmd.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn();
        let shell = (!p.during.is_empty()).then(spawn).transpose().map_err(|e| e.to_string())?;
        Ok(RunningCommands { shell, stop })
    }
}

impl Drop for RunningCommands {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(shell) = &mut self.shell {
            // The shell has a process group of its own, so that its children end with it.
            if let Some(group) = rustix::process::Pid::from_raw(shell.id() as i32) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            let _ = shell.wait();
        }
    }
}

/// Runs the process and watches it. Kills it if it does not end in time.
fn run(mut cmd: Command, p: &Program, peak: &mut Peak) -> Result<EndedProcess, String> {
    let err = |e: &dyn fmt::Display| format!("{cmd:?}: {e}", cmd = "starting");
    cmd.stdin(Stdio::null());
    let mut terminal = None;
    match p.streams {
        Streams::Terminal => {
            let (master, out, also) = open_terminal().map_err(|e| err(&e))?;
            cmd.stdout(out).stderr(also);
            terminal = Some(master);
        }
        _ => {
            cmd.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
    }
    let begun = Instant::now();
    let mut child = cmd.spawn().map_err(|e| err(&e))?;
    drop(cmd);
    let (mut outputs, mut held) = (Vec::new(), Vec::new());
    let pipes = (child.stdout.take().map(|s| Box::new(s) as Box<dyn Read + Send>).into_iter())
        .chain(child.stderr.take().map(|s| Box::new(s) as Box<dyn Read + Send>))
        .chain(terminal.map(|t| Box::new(t) as Box<dyn Read + Send>));
    for pipe in pipes {
        match p.streams {
            Streams::Read | Streams::Terminal => outputs.push(drain(pipe)),
            Streams::Unread => held.push(pipe),
            Streams::Closed => drop(pipe),
        }
    }
    let mut watch = Watch::new(child.id());
    let deadline = begun + Duration::from_secs_f64(p.seconds) + HARD;
    let mut status = None;
    let ended = watch.until(deadline, || {
        status = child.try_wait().ok().flatten();
        status.is_some()
    });
    let wall = begun.elapsed();
    let mut failures = Vec::new();
    if !ended {
        failures.push("hang".into());
        watch.kill();
        let _ = child.wait();
    }
    *peak = watch.peak;
    let left = watch.left_over();
    if !left.is_empty() && ended {
        failures.push(format!("{} processes left", left.len()));
    }
    let mut output = String::new();
    for o in outputs {
        match o.recv_timeout(CLOSING) {
            Ok(bytes) => output.push_str(&String::from_utf8_lossy(&bytes)),
            Err(_) => failures.push("a process still holds its output".into()),
        }
    }
    Ok(EndedProcess { status, wall, output, failures })
}

/// Opens a terminal. Returns its master and two handles of its other side.
fn open_terminal() -> Result<(std::fs::File, Stdio, Stdio), std::io::Error> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?.into_string().map_err(std::io::Error::other)?;
    let side = std::fs::OpenOptions::new().read(true).write(true).open(name)?;
    Ok((master.into(), side.try_clone()?.into(), side.into()))
}

/// Reads a stream to its end on another thread, and keeps its beginning.
fn drain(mut from: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (give, take) = channel();
    std::thread::spawn(move || {
        let (mut kept, mut buf) = (Vec::new(), vec![0; 1 << 16]);
        while let Ok(n @ 1..) = from.read(&mut buf) {
            kept.extend_from_slice(&buf[..n.min(KEPT.saturating_sub(kept.len()))]);
        }
        let _ = give.send(kept);
    });
    take
}

/// Returns the limit that `runner exec` reports in a message or in its JSON.
fn reported_limit(output: &str) -> Option<String> {
    let told = [
        ("timeout", "(--timeout)"),
        ("cpu", "(--cpu)"),
        ("output", "(--output-limit)"),
        ("memory", "(--memory)"),
        ("processes", "(--processes)"),
    ];
    let in_json = |name: &str| output.contains(&format!("\"limit_hit\":\"{name}\""));
    let found = told.iter().find(|(name, text)| output.contains(text) || in_json(name));
    found.map(|(name, _)| (*name).to_owned())
}

/// Checks the status of the process, its time, its resources and its output.
fn check(p: &Program, status: Option<ExitStatus>, output: &str, verdict: &mut Verdict) {
    let wrong = &mut verdict.failures;
    let code = status.and_then(|s| s.code());
    if let Some(status) = status {
        match code {
            None => wrong.push(format!("crash: {status}")),
            // This is the exit status of Rust's own panics.
            Some(101) if output.contains("panicked") => wrong.push("panic".into()),
            Some(code) if p.status.as_ref().is_some_and(|s| !s.contains(&code)) => {
                wrong.push(format!("status {code}, expected {:?}", p.status));
            }
            Some(_) => {}
        }
    }
    verdict.status = code.map_or_else(|| "-".into(), |c| c.to_string());
    if verdict.seconds > p.seconds && status.is_some() {
        wrong.push(format!("slow: {:.1} s, expected {} s", verdict.seconds, p.seconds));
    }
    let Peak { memory, threads, descriptors } = verdict.peak;
    for (what, seen, bound, shift, unit) in [
        ("memory", memory, p.grows, 20, " MiB"),
        ("threads", threads, p.threads, 0, ""),
        ("descriptors", descriptors, p.descriptors, 0, ""),
    ] {
        if seen > bound {
            wrong.push(format!(
                "{what}: {}{unit}, expected {}{unit}",
                seen >> shift,
                bound >> shift
            ));
        }
    }
    if let Some(limit) = &p.limit {
        let seen = verdict.limit.as_deref().unwrap_or("none");
        if !limit.split_whitespace().any(|l| l == seen) {
            wrong.push(format!("limit {seen}, expected {limit}"));
        }
    }
    wrong.extend(p.says.iter().filter(|t| !output.contains(*t)).map(|t| format!("no {t:?}")));
    let never = p.never.iter().map(String::as_str).chain([SECRET, "panicked at"]);
    wrong
        .extend(never.filter(|t| output.contains(t)).map(|t| format!("the output contains {t:?}")));
}
