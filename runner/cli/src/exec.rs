//! `runner exec`.

use crate::options::ExecOptions;
use crate::{Failure, message, print, progress};
use signal_hook::iterator::Signals;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use wasibox::watchdog::{self, LastWords};
use wasibox::{
    Action, Error, Exec, Image, Input, Interrupt, LimitHit, Limits, Outcome, Output, Policy,
    SandboxError, Session,
};

/// How long the sandbox may take to end after a signal before the process just goes.
const GRACE: Duration = Duration::from_millis(300);
/// How long it may take to end a command after its time limit.
const HELD_UP: Duration = Duration::from_secs(5);

/// Runs a command and ends this process with its status. Never returns normally if a
/// command ran: nothing needs to be torn down but by the system.
pub fn run(o: ExecOptions) -> Result<u8, Failure> {
    let mut limits = Limits::default();
    limits.timeout = o.timeout.unwrap_or(limits.timeout);
    limits.cpu = o.cpu.unwrap_or(limits.cpu);
    limits.memory = o.memory.unwrap_or(limits.memory);
    limits.disk.bytes = o.disk.unwrap_or(limits.disk.bytes);
    limits.output = o.output_limit;
    if let Some(n) = o.processes {
        limits.processes = usize::try_from(n).unwrap_or(usize::MAX);
    }
    let policy = Policy { mounts: o.mounts, limits, fresh_programs: o.fresh_programs };
    let image = Image::open(&o.image).map_err(|e| Failure::new(125, e))?;
    let session =
        Session::with(Arc::new(image), policy, wasibox::default_artifact_dir(), progress())
            .map_err(failure)?;
    if session.is_compiled() == Some(false) {
        compile(&o.image)?;
    }
    let signals = signals()?;
    guard(limits.timeout, o.json)?;
    let walls = session.close_jail().map_err(failure)?;
    let missing = walls.missing();
    if o.require_walls && !missing.is_empty() {
        return Err(failure(Error::Walls(missing.join(", "))));
    }
    watch_signals(signals, session.interrupter());
    let mut exec = Exec::new(o.argv);
    exec.env = o.env;
    exec.cwd = o.cwd;
    exec.input = if o.no_stdin { Input::Bytes(Vec::new()) } else { Input::Inherit };
    exec.list_files = o.json;
    exec.raw_terminal = o.raw;
    if !o.json {
        exec.output = Output::Inherit;
    } else if let Some(limit) = o.output_limit {
        exec.output = Output::Capture { limit };
    }
    let outcome = session.apply(Action::Exec(exec)).map_err(failure)?;
    if o.json {
        let json = serde_json::to_string(&outcome).map_err(|e| Failure::new(125, e))?;
        print(&(message::json_shown(json) + "\n"))?;
    } else if let Some(text) = explain(outcome.limit_hit, &limits) {
        message::say(&text);
    }
    end(outcome.exit_code.into())
}

/// Ends the process at once. Guest threads may still be on their way out: running exit handlers and
/// unmapping code under them could end in a fault instead of the status. Nothing is flushed: who
/// prints does that, and may hold standard output's lock while nobody reads it.
fn end(status: i32) -> ! {
    signal_hook::low_level::exit(status)
}

/// What to tell about a limit that ended the command. A limit that the command was
/// told of itself (memory, processes) is its own to report.
fn explain(limit: Option<LimitHit>, limits: &Limits) -> Option<String> {
    match limit? {
        LimitHit::Timeout => {
            let s = limits.timeout.unwrap_or_default().as_secs_f64();
            Some(format!("the command was ended after {s} s (--timeout)"))
        }
        LimitHit::Cpu => {
            let s = limits.cpu.unwrap_or_default().as_secs_f64();
            Some(format!("the command was ended after {s} s of CPU time (--cpu)"))
        }
        LimitHit::Output => {
            let n = limits.output.unwrap_or_default();
            Some(format!("the command was ended after {n} bytes of output (--output-limit)"))
        }
        LimitHit::Memory => Some(format!(
            "the command ran into the memory limit of {} MiB (--memory)",
            limits.memory >> 20
        )),
        LimitHit::Processes => Some(format!(
            "the command ran into the limit of {} processes (--processes)",
            limits.processes
        )),
    }
}

fn failure(e: Error) -> Failure {
    let status = match &e {
        Error::Sandbox(SandboxError::NotFound(_)) => 127,
        Error::Sandbox(SandboxError::NotExecutable { .. }) => 126,
        _ => 125,
    };
    Failure::new(status, e)
}

/// Compiles an image in a process of its own: behind the jail nothing can be kept.
fn compile(image: &Path) -> Result<(), Failure> {
    let own = std::env::current_exe().map_err(|e| Failure::new(125, e))?;
    // What it could not do, this process tells of when it tries.
    Command::new(own)
        .arg("compile")
        .arg(image)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map(drop)
        .map_err(|e| Failure::new(125, e))
}

/// Has the system end this process if nothing else does in time.
fn guard(timeout: Option<Duration>, json: bool) -> Result<(), Failure> {
    let Some(after) = timeout.and_then(|t| t.checked_add(HELD_UP)) else { return Ok(()) };
    let outcome = Outcome {
        exit_code: 124,
        truncated: true,
        limit_hit: Some(LimitHit::Timeout),
        ..Outcome::default()
    };
    let output = match json {
        true => serde_json::to_vec(&outcome).map_err(|e| Failure::new(125, e))?,
        false => Vec::new(),
    };
    let error = b"runner: the command could not be ended in time; the sandbox ends\n".to_vec();
    let words = LastWords { output, error, status: 124 };
    watchdog::arm(after, words).map_err(|e| Failure::new(125, e))
}

/// The signals by which users end programs. Sockets for them must be had before the jail closes.
fn signals() -> Result<Signals, Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]).map_err(|e| Failure::new(125, e))
}

/// Ends the guest and this process when a signal comes.
fn watch_signals(mut signals: Signals, interrupt: Interrupt) {
    use signal_hook::consts::SIGINT;
    std::thread::spawn(move || {
        if let Some(sig) = signals.forever().next() {
            interrupt.interrupt();
            std::thread::sleep(if sig == SIGINT { GRACE } else { Duration::from_millis(20) });
            end(128 + sig);
        }
    });
}
