//! `runner exec`.

use crate::CliFailure;
use crate::args::exec::ExecArgs;
use crate::args::grants::{GrantSettings, PoolSettings};
use crate::call::{self, failure_from};
use crate::progress::compile_progress;
use crate::session::{print_applied, print_diff};
use crate::{expose, inspect, installed, terminal, tools};
use signal_hook::iterator::Signals;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use wasibox::watchdog::{self, LastWords};
use wasibox::{End, Error, Exec, Image, Interrupt, LimitHit, Outcome, Policy, Session};
use wasibox_mcp::ToolServers;

/// The time that the sandbox may take to end after a signal; after that the process exits anyway.
const GRACE: Duration = Duration::from_millis(300);
/// The time that the sandbox may take to end a command after its time limit.
const HELD_UP: Duration = Duration::from_secs(5);
/// A time limit that leaves enough time to compile programs. Compiling all of them takes a minute
/// on two idle cores.
const AMPLE: Duration = Duration::from_secs(600);

/// Runs a command and ends this process with its status. Does not return if a command ran in this
/// process, because the system does all the cleanup.
pub fn run(o: ExecArgs) -> Result<u8, CliFailure> {
    let (path, argv) = o.image_and_command()?;
    let GrantSettings { policy, pool, tools_from, .. } = o.grants.grant_settings()?;
    let limits = policy.limits;
    if (o.diff || o.apply) && policy.workspace.is_none() {
        return Err(CliFailure::usage("--diff and --apply are for a --workspace that is a folder"));
    }
    if o.terminal {
        return on_terminal(&o, path, policy, pool, &tools_from);
    }
    let asks = !policy.network.allow.is_empty() || !tools_from.is_empty();
    if policy.workspace.is_some() || asks || !o.expose.is_empty() {
        return in_worker(&o, path, policy, pool, &tools_from);
    }
    let image = Arc::new(Image::open(&path).map_err(|e| CliFailure::new(125, e))?);
    let session =
        Session::with(image.clone(), policy, wasibox::default_artifact_dir(), compile_progress())
            .map_err(failure_from)?;
    let unready = session.unready_programs().unwrap_or_default();
    let called = called_program(&image, argv);
    let is_patient = limits.timeout.is_none_or(|timeout| timeout >= AMPLE);
    let timeout = pool.prepare_timeout.flatten();
    make_ready(&path, &unready, called.as_deref(), is_patient, timeout)?;
    let signals = call::take_signals()?;
    arm_watchdog(limits.timeout, o.call.json)?;
    let walls = session.close_jail().map_err(failure_from)?;
    let missing = walls.missing_walls();
    if pool.require_walls && !missing.is_empty() {
        return Err(failure_from(Error::Walls(missing.join(", "))));
    }
    let ended_by = watch_signals(signals, session.interrupter());
    let mut exec = call::prepare_exec(Exec::new(argv), &o.call, &limits);
    exec.list_files = o.call.json;
    let outcome = session.exec(exec).map_err(failure_from)?;
    call::print_outcome(&outcome, o.call.json, &limits)?;
    // The interrupt ends the command with the status of SIGINT, whichever signal it was.
    match ended_by.load(Ordering::SeqCst) {
        0 => end_process(outcome.exit_code.into()),
        signal => end_process(128 + signal),
    }
}

/// Runs a command in a worker, so that this process can save and apply the changes to a workspace,
/// send the command's requests, call its tools, and listen for it.
fn in_worker(
    o: &ExecArgs,
    image: PathBuf,
    policy: Policy,
    pool: PoolSettings,
    tools_from: &[String],
) -> Result<u8, CliFailure> {
    let limits = policy.limits;
    let (_servers, session, exec) = open_worker(o, image, policy, pool, tools_from)?;
    let running = call::RunningCall::default();
    call::watch_signals(call::take_signals()?, session.interrupter(), running.clone(), || {});
    let _exposed = expose::listen_all(&session, &o.expose)?;
    let outcome = running.run_during(|| session.exec(exec))?;
    call::report_left_out(&session);
    call::print_outcome(&outcome, o.call.json, &limits)?;
    if o.diff {
        print_diff(&session, &[])?;
    }
    if o.apply && !print_applied(&session.workspace_apply(&[])?) && outcome.exit_code == 0 {
        return Ok(1);
    }
    Ok(outcome.exit_code)
}

/// Runs a command on a terminal of its own, in a worker.
fn on_terminal(
    o: &ExecArgs,
    image: PathBuf,
    policy: Policy,
    pool: PoolSettings,
    tools_from: &[String],
) -> Result<u8, CliFailure> {
    let timeout = policy.limits.timeout;
    let (_servers, session, mut exec) = open_worker(o, image, policy, pool, tools_from)?;
    let _exposed = expose::listen_all(&session, &o.expose)?;
    exec.timeout = timeout;
    Ok(terminal::run(&session, exec, o.call.raw)?.status)
}

/// Opens a session in a worker for the command. The tools last as long as their servers.
fn open_worker(
    o: &ExecArgs,
    image: PathBuf,
    policy: Policy,
    pool: PoolSettings,
    tools_from: &[String],
) -> Result<(Option<ToolServers>, Session, Exec), CliFailure> {
    let (_, argv) = o.image_and_command()?;
    let limits = policy.limits;
    let engine = call::engine_of(image, pool)?;
    let servers = tools::connect_servers(&engine, tools_from)?;
    let session = engine.session(policy)?;
    let mut exec = call::prepare_exec(Exec::new(argv), &o.call, &limits);
    exec.list_files = o.call.json;
    Ok((servers, session, exec))
}

/// Ends the process at once. Guest threads may still be ending, and running exit handlers or
/// unmapping code under them could cause a fault instead of the status. Nothing is flushed: output
/// is flushed where it is written, and a thread may hold standard output's lock while its reader is
/// stuck.
fn end_process(status: i32) -> ! {
    signal_hook::low_level::exit(status)
}

/// Returns the program of the image that runs a command. For a command that the image does not
/// have, this is the shell's program, because the shell runs the script or reports the error.
fn called_program(image: &Image, argv: &[OsString]) -> Option<String> {
    let name = argv.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let find = |name: &OsStr| image.commands().iter().find(|c| *c.name == *name);
    find(name).or_else(|| find("sh".as_ref())).map(|command| command.atom.clone())
}

/// Compiles programs whose code is not kept yet, in separate processes, because a jailed process
/// cannot write it to disk.
///
/// The program of the command comes first, and this waits for it. The others are compiled in the
/// background, and a process that needs one waits for the process that compiles it. With a short
/// time limit (`is_patient` is false) this waits for all of them, because the limit is meant for
/// the command alone. If that takes longer than `timeout`, this process ends.
fn make_ready(
    image: &Path,
    unready: &[String],
    called: Option<&str>,
    is_patient: bool,
    timeout: Option<Duration>,
) -> Result<(), CliFailure> {
    if unready.is_empty() {
        return Ok(());
    }
    let own = std::env::current_exe().map_err(|e| CliFailure::new(125, e))?;
    let compile = |programs: Option<&str>| {
        let mut command = Command::new(&own);
        command.arg0(installed::name()).arg("compile").arg(image);
        command.args(programs.map(|name| format!("--program={name}")));
        command.args(timeout.map(|t| format!("--prepare-timeout={}", t.as_secs_f64())));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let failed = |e| CliFailure::new(125, e);
    let called = called.filter(|called| unready.iter().any(|name| name == called));
    let wait = |programs| match compile(programs).status().map_err(failed)?.code() {
        // The process has reported that.
        Some(inspect::TIMED_OUT) => end_process(125),
        // If it fails for another reason, this process reports the error when it compiles the same
        // program.
        _ => Ok(()),
    };
    if !is_patient {
        return wait(None);
    }
    if let Some(called) = called {
        wait(Some(called))?;
    }
    for name in unready.iter().filter(|name| Some(name.as_str()) != called) {
        // The process gets its own group, because Ctrl-C is meant for the command only, and
        // compiled code is useful later.
        let mut other = compile(Some(name));
        other.stderr(Stdio::null()).process_group(0).spawn().map_err(failed)?;
    }
    Ok(())
}

/// Starts a watchdog that ends this process if it has not ended some time after its time limit.
fn arm_watchdog(timeout: Option<Duration>, json: bool) -> Result<(), CliFailure> {
    let Some(after) = timeout.and_then(|t| t.checked_add(HELD_UP)) else { return Ok(()) };
    let outcome = Outcome { truncated: true, ..Outcome::from_end(End::Limit(LimitHit::Timeout)) };
    let output = if json {
        serde_json::to_vec(&outcome).map_err(|e| CliFailure::new(125, e))?
    } else {
        Vec::new()
    };
    let name = installed::name();
    let error = format!("{name}: the command could not be ended in time; the sandbox ends\n");
    let words = LastWords { output, error: error.into_bytes(), status: 124 };
    watchdog::arm_watchdog(after, words).map_err(|e| CliFailure::new(125, e))
}

/// Ends the guest and this process when a signal arrives. The returned variable receives its
/// number.
fn watch_signals(mut signals: Signals, interrupt: Interrupt) -> Arc<AtomicI32> {
    use signal_hook::consts::SIGINT;
    let ended_by = Arc::<AtomicI32>::default();
    let place = ended_by.clone();
    std::thread::spawn(move || {
        if let Some(sig) = signals.forever().next() {
            place.store(sig, Ordering::SeqCst);
            interrupt.interrupt();
            std::thread::sleep(if sig == SIGINT { GRACE } else { Duration::from_millis(20) });
            end_process(128 + sig);
        }
    });
    ended_by
}
