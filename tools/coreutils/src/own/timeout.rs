//! `timeout` (GNU): runs a command with a time limit.

use std::time::{Duration, Instant};

use box_applet::command::{Child, ChildCommand};
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{WaitStatus, signal};

use super::sleep;
use crate::common::{input, quote};

/// An option of `timeout`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeoutFlag {
    Foreground,
    KillAfter,
    PreserveStatus,
    Signal,
    Verbose,
}

const SPEC: Spec<TimeoutFlag> = Spec::new(
    "[OPTION]... DURATION COMMAND [ARG]...",
    "Run COMMAND, and stop it if it takes longer than DURATION.",
    &[
        Opt::long(TimeoutFlag::PreserveStatus, "preserve-status")
            .with_help("End with the status of COMMAND even then"),
        Opt::long(TimeoutFlag::Foreground, "foreground")
            .with_help("Accepted: there is no terminal"),
        Opt::new(TimeoutFlag::KillAfter, 'k', "kill-after")
            .with_argument("DURATION", "Send KILL, too, if it still runs DURATION later"),
        Opt::new(TimeoutFlag::Signal, 's', "signal")
            .with_argument("SIGNAL", "Send SIGNAL instead of TERM"),
        Opt::new(TimeoutFlag::Verbose, 'v', "verbose")
            .with_help("Report each signal on standard error"),
    ],
)
.with_examples(&[
    ("timeout 5 CMD", "Stop a command after five seconds"),
    ("timeout -k 2 30 CMD", "And kill it if it runs for two more"),
])
.with_footer(
    "DURATION may have a fraction and a unit: s (default), m, h or d; 0 sets no \
        limit.\n\nExit status: 124 if COMMAND took too long, 137 if it was killed, 125 if \
        timeout fails, 126 if COMMAND cannot run, 127 if there is no such command; else \
        that of COMMAND.",
)
.posix_order();

fn parse_interval(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<Duration, Exit> {
    match sleep::parse_seconds(text) {
        Some(s) => Ok(sleep::to_duration(s)),
        None => {
            input::usage_error(ctx, &[b"invalid time interval ", &quote::quote_in_sentence(text)]);
            Err(Exit(125))
        }
    }
}

struct TimeoutPlan {
    signal: u8,
    /// The time between the signal and KILL.
    kill_after: Option<Duration>,
    /// The time limit; zero means none.
    limit: Duration,
    command: Vec<Vec<u8>>,
    preserve_status: bool,
    verbose: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).and_then(|plan| {
        let child = start_command(ctx, &plan.command)?;
        if plan.limit.is_zero() {
            return Ok(Exit(child.wait(ctx).map_or(125, WaitStatus::shell_status)));
        }
        wait_or_end(ctx, child.pid, &plan)
    })
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TimeoutPlan, Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit(125))?;
    let signal = match p.last_value(TimeoutFlag::Signal) {
        Some(text) => signal::parse(text).ok_or_else(|| {
            input::usage_error(ctx, &[&quote::quote_in_sentence(text), b": invalid signal"]);
            Exit(125)
        })?,
        None => signal::TERM,
    };
    let kill_after = match p.last_value(TimeoutFlag::KillAfter) {
        Some(text) => Some(parse_interval(ctx, text)?).filter(|d| !d.is_zero()),
        None => None,
    };
    let [limit, command @ ..] = p.operands.as_slice() else {
        input::usage_hint(ctx);
        return Err(Exit(125));
    };
    if command.is_empty() {
        input::usage_hint(ctx);
        return Err(Exit(125));
    }
    Ok(TimeoutPlan {
        signal,
        kill_after,
        limit: parse_interval(ctx, limit)?,
        command: command.to_vec(),
        preserve_status: p.has_option(TimeoutFlag::PreserveStatus),
        verbose: p.has_option(TimeoutFlag::Verbose),
    })
}

fn start_command(ctx: &mut Ctx<'_>, command: &[Vec<u8>]) -> Result<Child, Exit> {
    ChildCommand::new(command.to_vec()).start(ctx).map_err(|e| {
        let shown = quote::quote_in_sentence(&command[0]);
        let why = e.exec_message();
        ctx.error_bytes(&[b"failed to run command ", &shown, b": ", why.as_bytes()]);
        ctx.advise_missing(&command[0], e.status);
        Exit(e.status)
    })
}

/// Sends a signal to the command and all processes that it has started.
fn send_signal(ctx: &mut Ctx<'_>, pid: u32, n: u8, plan: &TimeoutPlan) {
    if plan.verbose {
        let name = signal::name(n).unwrap_or_else(|| n.to_string());
        let shown = quote::quote_in_sentence(&plan.command[0]);
        ctx.error_bytes(&[b"sending signal ", name.as_bytes(), b" to command ", &shown]);
    }
    // GNU's timeout runs the command in a process group, and signals the whole group.
    let _ = ctx.procs.kill_tree(pid, n);
}

/// Waits for the command, and ends it when the time limit is reached.
fn wait_or_end(ctx: &mut Ctx<'_>, pid: u32, plan: &TimeoutPlan) -> Ended {
    /// The first interval between two checks. It is short, because most commands end soon.
    const FIRST_STEP: Duration = Duration::from_micros(200);
    // On runtimes other than ours, a guest process without a handler ignores TERM.
    let deaf = cfg!(target_os = "wasi") && !std::path::Path::new(box_sys::PIPE_DIR).exists();
    let start = Instant::now();
    // The last signal that was sent, and the time at which the first one was sent.
    let mut sent: Option<(u8, Instant)> = None;
    let mut step = FIRST_STEP;
    let status = loop {
        match ctx.procs.try_wait(pid) {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(_) => return Err(Exit(125)),
        }
        match sent {
            None if start.elapsed() >= plan.limit => {
                send_signal(ctx, pid, plan.signal, plan);
                sent = Some((plan.signal, Instant::now()));
                step = FIRST_STEP;
            }
            Some((last, at)) if last != signal::KILL => match plan.kill_after {
                Some(after) if at.elapsed() >= after => {
                    send_signal(ctx, pid, signal::KILL, plan);
                    sent = Some((signal::KILL, at));
                    step = FIRST_STEP;
                }
                // The default action of the signal would end the process, so KILL does it.
                None if deaf && at.elapsed() >= Duration::from_millis(100) => {
                    let _ = ctx.procs.kill(pid, signal::KILL);
                    sent = Some((last, at + Duration::from_secs(3600)));
                }
                _ => {}
            },
            _ => {}
        }
        // The sleep ends at the limit at the latest.
        let left = if sent.is_none() { plan.limit.saturating_sub(start.elapsed()) } else { step };
        std::thread::sleep(step.min(left).max(Duration::from_micros(100)));
        step = (step * 2).min(Duration::from_millis(10));
    };
    Ok(match sent {
        // The status 137 says that the command was killed.
        Some((last, _)) if !plan.preserve_status => {
            Exit(if last == signal::KILL || plan.signal == signal::KILL { 137 } else { 124 })
        }
        _ => Exit(status.shell_status()),
    })
}
