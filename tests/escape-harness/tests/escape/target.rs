//! The ways to run a hostile program. Each uses a host process, so that a hang or a crash is always
//! noticed.
//!
//! `exec` is `runner exec`. The others embed the library in a child process of this test. That
//! process has a second session, which must give correct answers while the hostile one runs. At its
//! end the process reports what the hostile session has left behind. Each way to embed the library
//! is an [`Embedding`].

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wasibox::{Exec, Image, Input, MountSpec, Output, Policy, PoolOptions, Session, WorkerPool};

use crate::program::{Kind, Program, Streams};
use crate::watch;

/// A way to run programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `runner exec`.
    Exec,
    /// The library in a process of its own.
    Library(&'static Embedding),
}

/// A way to use the library.
#[derive(Debug)]
pub struct Embedding {
    pub name: &'static str,
    open: fn(&Job, Policy) -> Result<Session, wasibox::Error>,
}

impl PartialEq for Embedding {
    fn eq(&self, other: &Embedding) -> bool {
        self.name == other.name
    }
}
impl Eq for Embedding {}

/// Sessions as threads of the embedder.
const THREAD: Embedding = Embedding { name: "thread", open: open_by_thread };

/// Sessions in worker processes, for which this program is started again.
const WORKER: Embedding = Embedding { name: "worker", open: open_by_worker };

/// All targets.
pub const TARGETS: &[Target] = &[Target::Exec, Target::Library(&THREAD), Target::Library(&WORKER)];

fn open_by_thread(job: &Job, policy: Policy) -> Result<Session, wasibox::Error> {
    Session::with(Arc::new(Image::open(&job.image)?), policy, job.code.clone(), Arc::new(|_| {}))
}

fn open_by_worker(job: &Job, policy: Policy) -> Result<Session, wasibox::Error> {
    let options = PoolOptions {
        artifacts: job.code.clone(),
        program: Some(std::env::current_exe()?),
        warm: 0,
        ..PoolOptions::new(&job.image)
    };
    Session::on(&WorkerPool::new(options)?, policy)
}

/// A program that is ready to run, with everything that a target needs and without the suite's own
/// paths.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Job {
    pub image: PathBuf,
    /// The cache folder of machine code.
    pub code: Option<PathBuf>,
    /// The image of the second session, and the cache folder of its machine code.
    pub neighbour: PathBuf,
    pub neighbour_code: Option<PathBuf>,
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    pub mounts: Vec<MountSpec>,
    pub timeout: f64,
    pub cpu: Option<f64>,
    pub memory: u64,
    pub disk: u64,
    pub output: u64,
    pub processes: usize,
    pub json: bool,
    /// Whether output goes to the process's own streams.
    pub inherit: bool,
}

impl Job {
    /// Returns the job for a program. Its text is an argument of `bash -c`, `python3 -c` or `node
    /// -e`, so that no mount is needed; a module is the only command of an image of its own.
    pub fn new(program: &Program, image: PathBuf, scratch: &Path) -> Job {
        let argv: Vec<String> = match program.kind {
            Kind::Shell => vec!["bash".into(), "-c".into(), program.text.clone()],
            Kind::Python => vec!["python3".into(), "-c".into(), program.text.clone()],
            Kind::JavaScript => vec!["node".into(), "-e".into(), program.text.clone()],
            Kind::Module => vec!["hostile".into()],
        };
        let mounts = program.mounts.iter().map(|m| MountSpec {
            host: scratch.join(&m.host),
            guest: m.guest.clone(),
            writable: m.writable,
            quota: m.quota,
        });
        Job {
            image,
            argv,
            env: program.env.clone(),
            mounts: mounts.collect(),
            timeout: program.timeout,
            cpu: program.cpu,
            memory: program.memory,
            disk: program.disk,
            output: program.output,
            processes: program.processes as usize,
            json: program.json,
            inherit: program.streams != Streams::Read,
            ..Job::default()
        }
    }

    fn policy(&self) -> Policy {
        let mut policy = Policy { mounts: self.mounts.clone(), ..Policy::default() };
        policy.limits.timeout = Some(Duration::from_secs_f64(self.timeout));
        policy.limits.cpu = self.cpu.map(Duration::from_secs_f64);
        policy.limits.memory = self.memory;
        policy.limits.disk.bytes = self.disk;
        policy.limits.output = Some(self.output);
        policy.limits.processes = self.processes;
        policy
    }
}

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Target::Exec => "exec",
            Target::Library(e) => e.name,
        }
    }

    /// Returns the command that runs the job. For a library target, the job is written to `file`,
    /// and the process writes its [`Report`] beside it.
    pub fn command(self, job: &Job, file: &Path) -> Result<Command, String> {
        match self {
            Target::Exec => {
                let mut cmd = Command::new(wasibox_escape::runner());
                cmd.arg("exec").args(["--timeout", &job.timeout.to_string()]);
                for (name, value) in [
                    ("--memory", job.memory),
                    ("--disk", job.disk),
                    ("--output-limit", job.output),
                    ("--processes", job.processes as u64),
                ] {
                    cmd.arg(name).arg(value.to_string());
                }
                cmd.args(job.cpu.map(|s| format!("--cpu={s}")));
                for m in &job.mounts {
                    let mode = if m.writable { "rw" } else { "ro" };
                    let quota = m.quota.map_or(String::new(), |q| format!(",quota={q}"));
                    cmd.arg("--mount");
                    cmd.arg(format!("{}:{}:{mode}{quota}", m.host.display(), m.guest));
                }
                for (k, v) in &job.env {
                    cmd.arg("--env").arg(format!("{k}={v}"));
                }
                cmd.args(job.json.then_some("--json"));
                cmd.arg(&job.image).arg("--").args(&job.argv);
                Ok(cmd)
            }
            Target::Library(embedding) => {
                let text = serde_json::to_vec(job).map_err(|e| e.to_string())?;
                std::fs::write(file, text).map_err(|e| e.to_string())?;
                let mut cmd = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
                cmd.arg("--child").arg(embedding.name).arg(file);
                Ok(cmd)
            }
        }
    }
}

/// The report of an embedding process at its end.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub limit: Option<String>,
    /// The seconds from opening the hostile session until it was closed.
    pub seconds: f64,
    /// The faults found in the process and its second session.
    pub wrong: Vec<String>,
}

/// Returns the path to which the process of a library target writes its report.
pub fn report_file(job_file: &Path) -> PathBuf {
    job_file.with_extension("report")
}

/// The amounts by which an embedder may grow during a session without a leak, because allocators
/// and the engine keep memory.
const KEPT_MEMORY: u64 = 48 << 20;
const KEPT_THREADS: u64 = 8;
const KEPT_DESCRIPTORS: u64 = 8;
/// The time in which a session must release everything.
const SETTLE: Duration = Duration::from_secs(3);
/// The time for which an embedder is then observed, and the clock ticks (1/100 s) that it may use
/// in that time, although it is idle.
const IDLE: Duration = Duration::from_millis(150);
const IDLE_TICKS: u64 = 8;
/// The maximum time for an answer of the second session, even on a busy machine.
const ANSWER: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// Runs the process of a library target and returns the status of the hostile command.
pub fn child(name: &str, file: &Path) -> Result<u8, String> {
    let embedding = TARGETS.iter().find_map(|t| match t {
        Target::Library(e) if e.name == name => Some(*e),
        _ => None,
    });
    let embedding = embedding.ok_or("no such target")?;
    let text = std::fs::read(file).map_err(|e| e.to_string())?;
    let job: Job = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
    let neighbour =
        Job { image: job.neighbour.clone(), code: job.neighbour_code.clone(), ..Job::default() };
    let neighbour =
        (embedding.open)(&neighbour, Policy::default()).map_err(|e| format!("neighbour: {e}"))?;
    let mut report = Report::default();
    answer(&neighbour).map_err(|e| format!("neighbour: {e}"))?;
    let before = watch::own();
    let stop = AtomicBool::new(false);
    let (outcome, answers) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                answer(&neighbour)?;
                std::thread::sleep(PAUSE);
            }
            Ok(())
        });
        let begun = Instant::now();
        let outcome = hostile(embedding, &job);
        report.seconds = begun.elapsed().as_secs_f64();
        stop.store(true, Ordering::SeqCst);
        (outcome, asking.join().unwrap_or_else(|_| Err("the thread panicked".into())))
    });
    report.wrong.extend(answers.err().map(|e: String| format!("other session: {e}")));
    report.wrong.extend(answer(&neighbour).err().map(|e| format!("other session, after: {e}")));
    report.wrong.extend(kept(before));
    let status = match outcome {
        Ok((status, limit)) => {
            report.limit = limit;
            status
        }
        Err(e) => {
            eprintln!("runner: {e}");
            125
        }
    };
    let text = serde_json::to_vec(&report).map_err(|e| e.to_string())?;
    std::fs::write(report_file(file), text).map_err(|e| e.to_string())?;
    Ok(status)
}

/// Opens the session, runs the program, closes the session.
fn hostile(embedding: &Embedding, job: &Job) -> Result<(u8, Option<String>), wasibox::Error> {
    use std::io::Write;
    let session = (embedding.open)(job, job.policy())?;
    let mut exec = Exec::new(&job.argv);
    exec.env = job.env.iter().map(|(k, v)| (k.clone().into(), v.clone().into())).collect();
    exec.input = Input::Bytes(Vec::new());
    exec.list_files = job.json;
    if job.inherit {
        exec.output = Output::Inherit;
    }
    let outcome = session.exec(exec)?;
    let limit = outcome.limit_hit.map(|l| l.name().to_owned());
    if job.json {
        let _ = serde_json::to_writer(std::io::stdout().lock(), &outcome);
    } else if !job.inherit {
        let _ = std::io::stdout().lock().write_all(&outcome.stdout);
        let _ = std::io::stderr().lock().write_all(&outcome.stderr);
    }
    Ok((outcome.exit_code, limit))
}

/// Runs a command in the second session and checks its output and time.
fn answer(session: &Session) -> Result<(), String> {
    let start = Instant::now();
    let exec = Exec::new(["bash", "-c", "echo hi | wc -c"]);
    let outcome = session.exec(exec).map_err(|e| e.to_string())?;
    if (outcome.exit_code, outcome.stdout.as_slice()) != (0, b"3\n".as_slice()) {
        return Err(format!("wrong answer: {outcome:?}"));
    }
    let took = start.elapsed();
    if took > ANSWER { Err(format!("an answer took {took:.1?}")) } else { Ok(()) }
}

/// Returns a description of what the embedder still holds or does for a closed session.
fn kept(before: watch::Usage) -> Option<String> {
    let until = Instant::now() + SETTLE;
    loop {
        let now = watch::own();
        let kept = if now.memory > before.memory + KEPT_MEMORY {
            format!("{} MiB of memory kept", (now.memory - before.memory) >> 20)
        } else if now.threads > before.threads + KEPT_THREADS {
            format!("{} threads kept", now.threads - before.threads)
        } else if now.descriptors > before.descriptors + KEPT_DESCRIPTORS {
            format!("{} descriptors kept", now.descriptors - before.descriptors)
        } else {
            std::thread::sleep(IDLE);
            match watch::own().ticks - now.ticks {
                0..=IDLE_TICKS => return None,
                n => format!("busy for {n} ticks of {IDLE:?}"),
            }
        };
        if Instant::now() >= until {
            return Some(kept);
        }
        std::thread::sleep(PAUSE);
    }
}
