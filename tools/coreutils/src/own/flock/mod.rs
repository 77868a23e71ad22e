//! `flock` (util-linux): runs a command under a lock, or locks a descriptor.
//!
//! The session's kernel has locks of files. On a runtime without it, WASI has none, and a list of
//! holders ([`holders`]) replaces them: a lock then belongs to the process that asked for it (the
//! caller of `flock 9`), and ends with that process or by `flock -u`, not with the descriptor.

mod holders;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use box_applet::command::ChildCommand;
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::lock::LockKind;

use self::holders::Holders;
use super::{processes, sleep};
use crate::common::{input, number};

/// An option of `flock`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlockFlag {
    Close,
    Command,
    ConflictExitCode,
    Exclusive,
    NoFork,
    Nonblock,
    Shared,
    Timeout,
    Unlock,
    Verbose,
}

const SPEC: Spec<FlockFlag> = Spec::new(
    "[OPTION]... FILE COMMAND [ARG]...\n[OPTION]... FILE -c COMMAND\n[OPTION]... NUMBER",
    "Run COMMAND while holding a lock on FILE, or lock the descriptor NUMBER.",
    &[
        Opt::new(FlockFlag::Shared, 's', "shared")
            .with_help("Lock for reading, together with others"),
        Opt::new(FlockFlag::Exclusive, 'x', "exclusive").with_help("Lock alone (default)"),
        Opt::new(FlockFlag::Exclusive, 'e', "").with_help(words::SAME),
        Opt::new(FlockFlag::Unlock, 'u', "unlock").with_help("Release the lock on a descriptor"),
        Opt::new(FlockFlag::Nonblock, 'n', "nonblock")
            .with_help("Fail at once if somebody holds the lock"),
        Opt::long(FlockFlag::Nonblock, "nb").with_help(words::SAME),
        Opt::new(FlockFlag::Timeout, 'w', "timeout")
            .with_argument("SECS", "Fail after waiting for SECS seconds"),
        Opt::long(FlockFlag::Timeout, "wait").with_argument("SECS", words::SAME),
        Opt::new(FlockFlag::ConflictExitCode, 'E', "conflict-exit-code")
            .with_argument("NUMBER", "Fail with this status instead of 1"),
        Opt::new(FlockFlag::Close, 'o', "close")
            .with_help("Close the lock's descriptor before COMMAND runs"),
        Opt::new(FlockFlag::Command, 'c', "command")
            .with_argument("COMMAND", "Run COMMAND by the shell"),
        Opt::new(FlockFlag::NoFork, 'F', "no-fork").with_help(words::IGNORED),
        Opt::long(FlockFlag::Verbose, "verbose")
            .with_help("Report how long it took to get the lock"),
    ],
)
.with_examples(&[("flock /tmp/lock CMD", "Run a command when nobody else holds the lock")])
.posix_order();

/// Statuses from sysexits.h, as in the manual.
const BAD_USAGE: Exit = Exit(64);
const BAD_DATA: Exit = Exit(65);
const NO_INPUT: Exit = Exit(66);
const OS_ERROR: Exit = Exit(71);

/// The operation to do on the lock.
#[derive(Clone, Copy, PartialEq)]
enum LockRequest {
    Shared,
    Exclusive,
    Nothing,
}

struct FlockPlan {
    want: LockRequest,
    /// The status if the lock is not acquired.
    conflict: Exit,
    /// The maximum time to wait; `None` stands for no limit.
    timeout: Option<Duration>,
    nonblock: bool,
    verbose: bool,
    target: Vec<u8>,
    /// The command; empty if the target is a descriptor of the caller.
    command: Vec<Vec<u8>>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).and_then(|plan| {
        let by_number = plan.command.is_empty();
        let file = if by_number {
            open_descriptor(ctx, &plan.target)
        } else {
            open_target(ctx, &plan.target)
        }?;
        // A lock on a descriptor belongs to the caller, because the caller owns the descriptor.
        let owner = if by_number { ctx.procs.parent_pid() } else { ctx.procs.pid() };
        let lock = wait_for_lock(ctx, &plan, &file, owner)?;
        if by_number {
            return Ok(Exit::SUCCESS);
        }
        let status = run_command(ctx, &plan.command);
        release_lock(&file, lock, owner);
        Ok(status)
    })
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<FlockPlan, Exit> {
    let mut p = SPEC.parse_or_exit(ctx, args, BAD_USAGE)?;
    take_late_command(ctx, &mut p)?;
    let want = p.last_choice(&[
        (FlockFlag::Shared, LockRequest::Shared),
        (FlockFlag::Exclusive, LockRequest::Exclusive),
        (FlockFlag::Unlock, LockRequest::Nothing),
    ]);
    let conflict = match p.last_value(FlockFlag::ConflictExitCode).map(number::parse_decimal) {
        None => Exit::FAILURE,
        Some(Some(n)) if n <= 255 => Exit(n as u8),
        Some(_) => {
            ctx.error("exit code out of range (expected 0 to 255)");
            return Err(BAD_USAGE);
        }
    };
    let timeout = match p.last_value(FlockFlag::Timeout) {
        None => None,
        Some(text) => {
            Some(sleep::parse_seconds(text).map(sleep::to_duration).ok_or_else(|| {
                let shown = String::from_utf8_lossy(text);
                ctx.error(format_args!("invalid timeout value: '{shown}'"));
                BAD_USAGE
            })?)
        }
    };
    let Some((target, command)) = p.operands.split_first() else {
        ctx.error("not enough arguments");
        input::usage_hint(ctx);
        return Err(BAD_USAGE);
    };
    let command = match p.last_value(FlockFlag::Command) {
        Some(text) => {
            let shell = ctx.env.get(b"SHELL").filter(|s| !s.is_empty()).unwrap_or(b"/bin/sh");
            vec![shell.to_vec(), b"-c".to_vec(), text.to_vec()]
        }
        None => command.to_vec(),
    };
    let nonblock = p.has_option(FlockFlag::Nonblock);
    Ok(FlockPlan {
        want: want.unwrap_or(LockRequest::Exclusive),
        conflict,
        timeout: if nonblock { Some(Duration::ZERO) } else { timeout },
        nonblock,
        verbose: p.has_option(FlockFlag::Verbose),
        target: target.clone(),
        command,
    })
}

/// Parses `-c` after the file.
fn take_late_command(ctx: &mut Ctx<'_>, p: &mut ParsedOptions<FlockFlag>) -> Result<(), Exit> {
    if let [_, option, ..] = p.operands.as_slice()
        && (option == b"-c" || option == b"--command")
    {
        let mut rest = p.operands.split_off(1).into_iter().skip(1);
        let (Some(text), None) = (rest.next(), rest.next()) else {
            ctx.error("-c requires exactly one command argument");
            return Err(BAD_USAGE);
        };
        p.options.push((FlockFlag::Command, Some(text)));
    }
    Ok(())
}

/// Tries until the lock is acquired or the time is up.
fn wait_for_lock(
    ctx: &mut Ctx<'_>,
    plan: &FlockPlan,
    file: &File,
    owner: u32,
) -> Result<HeldLock, Exit> {
    let start = Instant::now();
    let mut step = Duration::from_millis(1);
    loop {
        match try_lock(ctx, file, plan.want, owner) {
            Ok(Some(lock)) => {
                if plan.verbose {
                    let took = start.elapsed().as_secs_f64();
                    let text = format!("flock: getting lock took {took:.6} seconds\n");
                    let _ = ctx.stdout.write_all(text.as_bytes());
                }
                return Ok(lock);
            }
            Ok(None) => {}
            Err(e) => {
                let shown = String::from_utf8_lossy(&plan.target);
                ctx.error(format_args!("{shown}: {}", box_sys::error_text(&e)));
                return Err(OS_ERROR);
            }
        }
        let left = plan.timeout.map(|t| t.saturating_sub(start.elapsed()));
        if left.is_some_and(|l| l.is_zero()) {
            if plan.verbose {
                ctx.error(if plan.nonblock {
                    "failed to get lock"
                } else {
                    "timeout while waiting to get lock"
                });
            }
            return Err(plan.conflict);
        }
        std::thread::sleep(left.map_or(step, |l| l.min(step)));
        step = (step * 2).min(Duration::from_millis(20));
    }
}

fn run_command(ctx: &mut Ctx<'_>, command: &[Vec<u8>]) -> Exit {
    match ChildCommand::new(command.to_vec()).start(ctx) {
        Ok(child) => child.wait(ctx).map_or(OS_ERROR, |s| Exit(s.shell_status())),
        Err(e) => {
            let shown = String::from_utf8_lossy(&command[0]);
            ctx.error(format_args!("failed to execute {shown}: {}", e.message));
            Exit(69)
        }
    }
}

/// The means by which a lock is held.
enum HeldLock {
    /// By the system.
    System,
    /// By the kernel of the session.
    Kernel,
    List(Holders),
}

fn try_lock(
    ctx: &Ctx<'_>,
    file: &File,
    want: LockRequest,
    owner: u32,
) -> io::Result<Option<HeldLock>> {
    let locked = match want {
        LockRequest::Shared => file.try_lock_shared(),
        LockRequest::Exclusive => file.try_lock(),
        LockRequest::Nothing => file.unlock().map_err(TryLockError::Error),
    };
    match locked {
        Ok(()) => return Ok(Some(HeldLock::System)),
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(e)) => return Err(e),
    }
    let kind = match want {
        LockRequest::Shared => LockKind::Shared,
        LockRequest::Exclusive => LockKind::Exclusive,
        LockRequest::Nothing => LockKind::Release,
    };
    if let Some(is_free) = box_sys::lock::try_lock(file, kind)? {
        return Ok(is_free.then_some(HeldLock::Kernel));
    }
    let holders = Holders::for_file(&ctx.path(b"/tmp/.flock"), &box_sys::meta::of_file(file)?)?;
    let living = processes::living_pids();
    let alive = |pid| match &living {
        Some(list) => pid == owner || list.contains(&pid),
        None => pid == owner || ctx.procs.kill(pid, 0).is_ok(),
    };
    let got = match want {
        LockRequest::Nothing => holders.remove_holder(owner).map(|()| true),
        _ => holders.add_holder(owner, want == LockRequest::Shared, &alive),
    };
    Ok(got?.then_some(HeldLock::List(holders)))
}

fn release_lock(file: &File, lock: HeldLock, owner: u32) {
    match lock {
        HeldLock::System => drop(file.unlock()),
        HeldLock::Kernel => drop(box_sys::lock::try_lock(file, LockKind::Release)),
        HeldLock::List(holders) => drop(holders.remove_holder(owner)),
    }
}

fn open_descriptor(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<File, Exit> {
    let shown = String::from_utf8_lossy(text).into_owned();
    let Some(number) = number::parse_decimal(text) else {
        ctx.error(format_args!("bad file descriptor: '{shown}'"));
        return Err(BAD_USAGE);
    };
    let passed =
        ctx.extra_fds.iter().find(|(n, _)| u64::from(*n) == number).map(|(_, f)| f.clone());
    let own = match (number, ctx.stdin.source(), ctx.stdout.sink()) {
        (0, box_applet::InputSource::File(f), _) | (1, _, box_applet::OutputSink::File(f)) => {
            Some(f.clone())
        }
        _ => None,
    };
    let Some(file) = passed.or(own) else {
        ctx.error(format_args!("{number}: Bad file descriptor"));
        return Err(BAD_DATA);
    };
    ctx.procs.dup(&file).map_err(|e| {
        ctx.error(format_args!("{number}: {}", box_sys::error_text(&e)));
        OS_ERROR
    })
}

fn open_target(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<File, Exit> {
    let path = ctx.path(name);
    let opened = if path.is_dir() {
        File::open(&path)
    } else {
        OpenOptions::new().append(true).create(true).open(&path).or_else(|_| File::open(&path))
    };
    opened.map_err(|e| {
        let shown = String::from_utf8_lossy(name).into_owned();
        ctx.error(format_args!("cannot open lock file {shown}: {}", box_sys::error_text(&e)));
        if e.kind() == io::ErrorKind::NotFound { NO_INPUT } else { Exit(66) }
    })
}
