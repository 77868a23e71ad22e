//! `runner exec`.

use crate::Failure;
use crate::args::exec::ExecArgs;
use crate::args::grants::Granted;
use crate::call::{self, failure};
use crate::expose;
use crate::progress::compiling;
use crate::session::{print_diff, tell};
use crate::tools;
use signal_hook::iterator::Signals;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use wasibox::watchdog::{self, LastWords};
use wasibox::{Action, Error, Exec, Image, Interrupt, LimitHit, Outcome, Policy, Session};

/// How long the sandbox may take to end after a signal before the process just goes.
const GRACE: Duration = Duration::from_millis(300);
/// How long it may take to end a command after its time limit.
const HELD_UP: Duration = Duration::from_secs(5);

/// Runs a command and ends this process with its status. Never returns normally if a
/// command ran: nothing needs to be torn down but by the system.
pub fn run(o: ExecArgs) -> Result<u8, Failure> {
    let (path, argv) = o.image_and_command()?;
    let Granted { policy, require_walls, tools_from, .. } = o.grants.granted()?;
    let limits = policy.limits;
    if (o.diff || o.apply) && policy.workspace.is_none() {
        return Err(Failure::usage("--diff and --apply are for a --workspace that is a folder"));
    }
    let asks = !policy.network.allow.is_empty() || !tools_from.is_empty();
    if policy.workspace.is_some() || asks || !o.expose.is_empty() {
        return in_worker(&o, path, policy, require_walls, &tools_from);
    }
    let image = Image::open(&path).map_err(|e| Failure::new(125, e))?;
    let session =
        Session::with(Arc::new(image), policy, wasibox::default_artifact_dir(), compiling())
            .map_err(failure)?;
    if session.is_compiled() == Some(false) {
        compile(&path)?;
    }
    let signals = call::signals()?;
    guard(limits.timeout, o.call.json)?;
    let walls = session.close_jail().map_err(failure)?;
    let missing = walls.missing();
    if require_walls && !missing.is_empty() {
        return Err(failure(Error::Walls(missing.join(", "))));
    }
    watch_signals(signals, session.interrupter());
    let mut exec = call::prepared(Exec::new(argv), &o.call, &limits);
    exec.list_files = o.call.json;
    let outcome = session.apply(Action::Exec(exec)).map_err(failure)?;
    call::tell(&outcome, o.call.json, &limits)?;
    end(outcome.exit_code.into())
}

/// Runs a command in a worker, so that this process can save and apply what it has changed of a workspace, make the
/// requests that it may make, call its tools, and listen for it.
fn in_worker(
    o: &ExecArgs,
    image: PathBuf,
    policy: Policy,
    require_walls: bool,
    tools_from: &[String],
) -> Result<u8, Failure> {
    let (_, argv) = o.image_and_command()?;
    let limits = policy.limits;
    let engine = call::engine_of(image, require_walls)?;
    let _servers = tools::connect(&engine, tools_from)?;
    let session = engine.session(policy)?;
    let running = call::Running::default();
    call::watch_signals(call::signals()?, session.interrupter(), running.clone());
    expose::listen(&session, &o.expose)?;
    let mut exec = call::prepared(Exec::new(argv), &o.call, &limits);
    exec.list_files = o.call.json;
    let outcome = running.during(|| session.exec(exec))?;
    call::tell_left_out(&session);
    call::tell(&outcome, o.call.json, &limits)?;
    if o.diff {
        print_diff(&session, &[])?;
    }
    if o.apply && !tell(&session.workspace_apply(&[])?) && outcome.exit_code == 0 {
        return Ok(1);
    }
    Ok(outcome.exit_code)
}

/// Ends the process at once. Guest threads may still be on their way out: running exit handlers and
/// unmapping code under them could end in a fault instead of the status. Nothing is flushed: who
/// prints does that, and may hold standard output's lock while nobody reads it.
fn end(status: i32) -> ! {
    signal_hook::low_level::exit(status)
}

/// Compiles an image in a process of its own: behind the jail nothing can be kept.
fn compile(image: &Path) -> Result<(), Failure> {
    let own = std::env::current_exe().map_err(|e| Failure::new(125, e))?;
    // What it could not do, this process tells of when it tries.
    Command::new(own)
        .arg0(crate::installed::name())
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
    let name = crate::installed::name();
    let error = format!("{name}: the command could not be ended in time; the sandbox ends\n");
    let words = LastWords { output, error: error.into_bytes(), status: 124 };
    watchdog::arm(after, words).map_err(|e| Failure::new(125, e))
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
