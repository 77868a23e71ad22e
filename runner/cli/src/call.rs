//! The parts shared by all commands that run something.

use crate::args::grants::{CallArgs, PoolSettings};
use crate::args::stored::ImageArg;
use crate::progress::compile_progress;
use crate::{CliFailure, message, print_text};
use signal_hook::iterator::Signals;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wasibox::store::snapshot::Digest;
use wasibox::{
    Engine, EngineOptions, Error, Exec, Input, Interrupt, LimitHit, Limits, Outcome, Output,
    PoolOptions, SandboxError, Session,
};

/// Converts an error to a failure with its exit status.
pub fn failure_from(e: Error) -> CliFailure {
    let status = match &e {
        Error::Sandbox(SandboxError::NotFound { .. }) => 127,
        Error::Sandbox(SandboxError::NotExecutable { .. }) => 126,
        _ => 125,
    };
    CliFailure::new(status, e)
}

/// Opens an engine for one session.
///
/// # Errors
/// If there is no image, or it cannot be opened.
pub fn open_engine(image: &ImageArg, settings: PoolSettings) -> Result<Engine, CliFailure> {
    engine_of(image.path()?, settings)
}

/// Opens an engine on the given image.
///
/// # Errors
/// The same as [`open_engine`].
pub fn engine_of(image: PathBuf, settings: PoolSettings) -> Result<Engine, CliFailure> {
    let mut pool = PoolOptions::new(&image);
    // One worker is made when the call begins, and no more after it.
    (pool.warm, pool.progress) = (0, compile_progress());
    settings.apply_to(&mut pool);
    let options = EngineOptions { pool, awake: 1, idle: None, ..EngineOptions::new(image) };
    Ok(Engine::new(options)?)
}

/// Warns the user if a session continues with a different image from the one it began with.
pub fn note_image(name: &str, begun: Option<Digest>, engine: &Engine) {
    if let Some(begun) = begun.filter(|begun| *begun != engine.digest()) {
        let short = |d: Digest| d.to_string().chars().take(12).collect::<String>();
        message::say_message(&format!(
            "session '{name}' was begun with image {} and continues with {}",
            short(begun),
            short(engine.digest())
        ));
    }
}

/// Lists for the user the paths that the zip format could not represent, up to a limit.
pub fn report_left_out(session: &Session) {
    const SHOWN: usize = 20;
    let left = session.workspace_left_out();
    for (path, why) in left.iter().take(SHOWN) {
        message::say_message(&format!("{path} is not in the zip: {why}"));
    }
    if let Some(more) = left.len().checked_sub(SHOWN).filter(|n| *n > 0) {
        message::say_message(&format!("{more} more files are not in the zip"));
    }
}

/// Applies the options of a call to a command.
pub fn prepare_exec(mut exec: Exec, call: &CallArgs, limits: &Limits) -> Exec {
    exec.env = call.env.clone();
    exec.cwd = call.cwd.clone();
    exec.input = if call.no_stdin { Input::Bytes(Vec::new()) } else { Input::Inherit };
    exec.raw_terminal = call.raw;
    if !call.json {
        exec.output = Output::Inherit;
    } else if let Some(limit) = limits.output {
        exec.output = Output::Capture { limit };
    }
    exec
}

/// Prints the outcome of a call: all of it as JSON, or else only which limit was hit.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_outcome(outcome: &Outcome, json: bool, limits: &Limits) -> Result<(), CliFailure> {
    if json {
        let json = serde_json::to_string(outcome).map_err(|e| CliFailure::new(125, e))?;
        return print_text(&(message::json_shown(json) + "\n"));
    }
    if let Some(text) = outcome.limit_hit.and_then(|limit| explain_limit(limit, limits)) {
        message::say_message(&text);
    }
    Ok(())
}

/// Returns the message about the limit that a command ran into.
fn explain_limit(limit: LimitHit, limits: &Limits) -> Option<String> {
    Some(match limit {
        LimitHit::Timeout => {
            let s = limits.timeout.unwrap_or_default().as_secs_f64();
            format!("the command was ended after {s} s (--timeout)")
        }
        LimitHit::Cpu => {
            let s = limits.cpu.unwrap_or_default().as_secs_f64();
            format!("the command was ended after {s} s of CPU time (--cpu)")
        }
        LimitHit::Output => {
            let n = limits.output.unwrap_or_default();
            format!("the command was ended after {n} bytes of output (--output-limit)")
        }
        LimitHit::Memory => format!(
            "the command ran into the memory limit of {} MiB (--memory)",
            limits.memory >> 20
        ),
        LimitHit::Processes => format!(
            "the command ran into the limit of {} processes (--processes)",
            limits.processes
        ),
        LimitHit::Disk => format!(
            "the command ran into the limit of {} MiB of files (--disk)",
            limits.disk.bytes >> 20
        ),
        LimitHit::Inodes => format!(
            "the command ran into the limit of {} files and folders (--inodes)",
            limits.disk.entries
        ),
        LimitHit::FileSize => {
            format!(
                "the command ran into the limit of {} bytes of a file (--file-size)",
                limits.disk.file
            )
        }
        LimitHit::MountQuota => "the command ran into the quota of a mount (--mount)".to_owned(),
        LimitHit::Pipes => {
            format!("the command ran into the limit of {} pipes", limits.disk.pipes)
        }
    })
}

/// Registers the signals by which users end programs. It must be called before this process is
/// jailed, because it opens sockets.
///
/// # Errors
/// If the system has no descriptors left.
pub fn take_signals() -> Result<Signals, CliFailure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    Ok(Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?)
}

/// The number of the running call: odd while a call runs, and different for each call.
#[derive(Clone, Default)]
pub struct RunningCall(Arc<AtomicU64>);

impl RunningCall {
    /// Runs `act` as a call.
    pub fn run_during<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.fetch_add(1, Ordering::SeqCst);
        let done = act();
        self.0.fetch_add(1, Ordering::SeqCst);
        done
    }
}

/// Ends calls when signals arrive. Ctrl-C ends the call and keeps this process and the session
/// alive. A second Ctrl-C while the call is still ending, or any other signal, ends this process
/// together with its worker, after `leave` was called.
pub fn watch_signals(
    mut signals: Signals,
    interrupt: Interrupt,
    running: RunningCall,
    leave: impl Fn() + Send + 'static,
) {
    use signal_hook::consts::SIGINT;
    std::thread::spawn(move || {
        let mut asked = 0;
        for signal in signals.forever() {
            let call = running.0.load(Ordering::SeqCst);
            if signal == SIGINT && call.is_multiple_of(2) {
                continue;
            }
            if signal != SIGINT || std::mem::replace(&mut asked, call) == call {
                leave();
                signal_hook::low_level::exit(128 + signal);
            }
            interrupt.interrupt();
        }
    });
}
