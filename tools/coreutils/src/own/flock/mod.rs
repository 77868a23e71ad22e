//! `flock` (util-linux): a command under a lock, or a lock for a descriptor.
//!
//! Where the system has no file locks, as WASI has none, a list of holders stands in for them
//! ([`holders`]): then a lock belongs to the process that asked for it (the caller of `flock 9`), and
//! goes with that process or `flock -u`, not with the descriptor.

mod holders;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use box_applet::command::Command;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use self::holders::Holders;
use super::{kill, sleep};

const SPEC: Spec = Spec {
    usage: "[options] <file>|<directory> <command> [<argument>...]\n  or:  flock [options] <file>|<directory> -c <command>\n  or:  flock [options] <file descriptor number>",
    about: "Manage file locks from shell scripts.",
    options: &[
        Opt::flag('s', "shared", "get a shared lock"),
        Opt::flag('x', "exclusive", "get an exclusive lock (default)"),
        Opt::flag('e', "", "the same as -x"),
        Opt::flag('u', "unlock", "remove a lock"),
        Opt::flag('n', "nonblock", "fail rather than wait"),
        Opt::flag('n', "nb", "fail rather than wait").long_only(),
        Opt::value('w', "timeout", "SECS", "wait for a limited amount of time"),
        Opt::value('w', "wait", "SECS", "wait for a limited amount of time").long_only(),
        Opt::value('E', "conflict-exit-code", "NUMBER", "exit code after conflict or timeout"),
        Opt::flag('o', "close", "close file descriptor before running command"),
        Opt::value('c', "command", "COMMAND", "run a single command string through the shell"),
        Opt::flag('F', "no-fork", "accepted and ignored"),
        Opt::flag('\u{1}', "verbose", "increase verbosity").long_only(),
    ],
    after: "",
    posix_order: true,
};

/// Statuses of sysexits.h, as the manual has them.
const BAD_USAGE: Exit = Exit(64);
const BAD_DATA: Exit = Exit(65);
const NO_INPUT: Exit = Exit(66);
const OS_ERROR: Exit = Exit(71);

/// What is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Shared,
    Exclusive,
    Nothing,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let mut p = match SPEC.parse_or_exit(ctx, args, BAD_USAGE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    // `-c` may stand behind the file.
    if let [_, option, ..] = p.operands.as_slice()
        && (option == b"-c" || option == b"--command")
    {
        let mut rest = p.operands.split_off(1).into_iter().skip(1);
        let (Some(text), None) = (rest.next(), rest.next()) else {
            ctx.error("-c requires exactly one command argument");
            return BAD_USAGE;
        };
        p.options.push(('c', Some(text)));
    }
    let want = match p.last_of(&['s', 'x', 'e', 'u']) {
        Some('s') => Want::Shared,
        Some('u') => Want::Nothing,
        _ => Want::Exclusive,
    };
    let conflict = match p.last('E').map(crate::common::number::decimal) {
        None => Exit::FAILURE,
        Some(Some(n)) if n <= 255 => Exit(n as u8),
        Some(_) => {
            ctx.error("exit code out of range (expected 0 to 255)");
            return BAD_USAGE;
        }
    };
    let timeout = match p.last('w').map(<[u8]>::to_vec) {
        None => None,
        Some(text) => match sleep::seconds(&text) {
            Some(s) => Some(sleep::duration(s)),
            None => {
                let shown = String::from_utf8_lossy(&text).into_owned();
                ctx.error(format_args!("invalid timeout value: '{shown}'"));
                return BAD_USAGE;
            }
        },
    };
    let timeout = if p.has('n') { Some(Duration::ZERO) } else { timeout };
    let Some((target, command)) = p.operands.split_first() else {
        ctx.error("not enough arguments");
        let _ = ctx.stderr.write_all(b"Try 'flock --help' for more information.\n");
        return BAD_USAGE;
    };
    let command = match p.last('c') {
        Some(text) => {
            let shell = ctx.env.get(b"SHELL").filter(|s| !s.is_empty()).unwrap_or(b"/bin/sh");
            vec![shell.to_vec(), b"-c".to_vec(), text.to_vec()]
        }
        None => command.to_vec(),
    };
    let by_number = command.is_empty();
    let file = match if by_number { descriptor(ctx, target) } else { open(ctx, target) } {
        Ok(file) => file,
        Err(e) => return e,
    };
    // A lock on a descriptor is the caller's, who has the descriptor.
    let owner = if by_number { ctx.procs.parent_pid() } else { ctx.procs.pid() };
    let start = Instant::now();
    let mut step = Duration::from_millis(1);
    let lock = loop {
        match try_lock(ctx, &file, want, owner) {
            Ok(Some(lock)) => break lock,
            Ok(None) => {}
            Err(e) => {
                let shown = String::from_utf8_lossy(target).into_owned();
                ctx.error(format_args!("{shown}: {}", box_sys::strerror(&e)));
                return OS_ERROR;
            }
        }
        let left = timeout.map(|t| t.saturating_sub(start.elapsed()));
        if left.is_some_and(|l| l.is_zero()) {
            if p.has('\u{1}') {
                let why = if p.has('n') {
                    "failed to get lock"
                } else {
                    "timeout while waiting to get lock"
                };
                ctx.error(why);
            }
            return conflict;
        }
        std::thread::sleep(left.map_or(step, |l| l.min(step)));
        step = (step * 2).min(Duration::from_millis(20));
    };
    if p.has('\u{1}') {
        let text =
            format!("flock: getting lock took {:.6} seconds\n", start.elapsed().as_secs_f64());
        let _ = ctx.stdout.write_all(text.as_bytes());
    }
    if by_number {
        return Exit::SUCCESS;
    }
    let child = match Command::new(command.clone()).start(ctx) {
        Ok(child) => child,
        Err(e) => {
            let shown = String::from_utf8_lossy(&command[0]).into_owned();
            ctx.error(format_args!("failed to execute {shown}: {}", e.message));
            release(&file, lock, owner);
            return Exit(69);
        }
    };
    let status = child.wait(ctx).map_or(OS_ERROR, |s| Exit(s.shell_status()));
    release(&file, lock, owner);
    status
}

/// How a lock is held.
enum Held {
    /// By the system.
    System,
    List(Holders),
}

fn try_lock(ctx: &Ctx<'_>, file: &File, want: Want, owner: u32) -> io::Result<Option<Held>> {
    let locked = match want {
        Want::Shared => file.try_lock_shared(),
        Want::Exclusive => file.try_lock(),
        Want::Nothing => file.unlock().map_err(TryLockError::Error),
    };
    match locked {
        Ok(()) => return Ok(Some(Held::System)),
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(e)) => return Err(e),
    }
    let holders = Holders::of(&ctx.path(b"/tmp/.flock"), &box_sys::meta::of_file(file)?)?;
    let living = kill::living();
    let alive = |pid| match &living {
        Some(list) => pid == owner || list.contains(&pid),
        None => pid == owner || ctx.procs.kill(pid, 0).is_ok(),
    };
    let got = match want {
        Want::Nothing => holders.leave(owner).map(|()| true),
        _ => holders.enter(owner, want == Want::Shared, &alive),
    };
    Ok(got?.then_some(Held::List(holders)))
}

fn release(file: &File, lock: Held, owner: u32) {
    match lock {
        Held::System => drop(file.unlock()),
        Held::List(holders) => drop(holders.leave(owner)),
    }
}

fn descriptor(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<File, Exit> {
    let shown = String::from_utf8_lossy(text).into_owned();
    let Some(number) = crate::common::number::decimal(text) else {
        ctx.error(format_args!("bad file descriptor: '{shown}'"));
        return Err(BAD_USAGE);
    };
    let passed =
        ctx.extra_fds.iter().find(|(n, _)| u64::from(*n) == number).map(|(_, f)| f.clone());
    let own = match (number, ctx.stdin.source(), ctx.stdout.sink()) {
        (0, box_applet::Source::File(f), _) | (1, _, box_applet::Sink::File(f)) => Some(f.clone()),
        _ => None,
    };
    let Some(file) = passed.or(own) else {
        ctx.error(format_args!("{number}: Bad file descriptor"));
        return Err(BAD_DATA);
    };
    ctx.procs.dup(&file).map_err(|e| {
        ctx.error(format_args!("{number}: {}", box_sys::strerror(&e)));
        OS_ERROR
    })
}

fn open(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<File, Exit> {
    let path = ctx.path(name);
    let opened = if path.is_dir() {
        File::open(&path)
    } else {
        OpenOptions::new().append(true).create(true).open(&path).or_else(|_| File::open(&path))
    };
    opened.map_err(|e| {
        let shown = String::from_utf8_lossy(name).into_owned();
        ctx.error(format_args!("cannot open lock file {shown}: {}", box_sys::strerror(&e)));
        if e.kind() == io::ErrorKind::NotFound { NO_INPUT } else { Exit(66) }
    })
}
