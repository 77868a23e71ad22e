//! `kill` (POSIX XCU kill; procps): signals to processes and groups.

use std::io::Write;

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit};
use box_sys::signal;

use crate::common::{input, number, quote};

const KILL_HELP: HelpPage = HelpPage::new(
    "[-s SIGNAL | -SIGNAL] PID...\n-l [SIGNAL]...\n-t [SIGNAL]...",
    "Send a signal to processes, TERM unless another is given, or list signals.",
    &[HelpSection::new(
        "Options",
        &[
            ("  -s, --signal=SIGNAL, -SIGNAL", "Send SIGNAL: a name or a number"),
            ("  -l, --list", "List the names of signals, or translate names and numbers"),
            ("  -t, --table", "List signals with number, name and description"),
        ],
    )],
)
.with_notes("A negative PID is a group of processes.")
.with_examples(&[("kill -9 PID", "End a process that ignores TERM")]);

/// The action of a run: signals are sent or listed.
enum KillPlan {
    Send { signal: u8, to: Vec<Vec<u8>> },
    List { signals: Vec<Vec<u8>>, as_table: bool },
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(match parse_plan(ctx, args)? {
        KillPlan::Send { signal, to } => send_signal(ctx, signal, &to),
        KillPlan::List { signals, as_table } => list_signals(ctx, &signals, as_table),
    })
}

/// Parses the command line. `getopt` cannot do that, because of `-9`, `-KILL` and `-1 -5`, where
/// `-5` is a group.
fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<KillPlan, Exit> {
    let mut chosen: Option<u8> = None;
    let mut as_table: Option<bool> = None;
    let mut rest = args;
    while let Some((arg, after)) = rest.split_first() {
        let mut name: Option<&[u8]> = None;
        // The first dashed word may be a signal; a second one is a process group.
        let may_be_signal = chosen.is_none() && as_table.is_none();
        match arg.as_slice() {
            b"--" => {
                rest = after;
                break;
            }
            b"--help" => return Err(ctx.print(&KILL_HELP.text(&ctx.name))),
            b"--version" => return Err(ctx.print(&ctx.version())),
            b"-l" | b"--list" | b"-L" => as_table = Some(false),
            b"-t" | b"--table" => as_table = Some(true),
            b"-s" | b"-n" | b"--signal" => match after.first() {
                Some(next) => name = Some(next),
                None => {
                    let text = b"option requires an argument -- 's'";
                    return Err(input::usage_error(ctx, &[text]));
                }
            },
            [b'-', b's', attached @ ..] if may_be_signal && signal::parse(&arg[1..]).is_none() => {
                name = Some(attached);
            }
            arg => match arg.strip_prefix(b"--signal=") {
                Some(attached) => name = Some(attached),
                None if may_be_signal && arg.len() > 1 && arg[0] == b'-' => name = Some(&arg[1..]),
                None => break,
            },
        }
        if let Some(name) = name {
            let invalid = |ctx| {
                input::usage_error(ctx, &[&quote::quote_in_sentence(name), b": invalid signal"])
            };
            chosen = Some(signal::parse(name).ok_or_else(|| invalid(ctx))?);
        }
        let takes_next = matches!(arg.as_slice(), b"-s" | b"-n" | b"--signal");
        rest = if takes_next { after.get(1..).unwrap_or_default() } else { after };
    }
    if let Some(as_table) = as_table {
        return Ok(KillPlan::List { signals: rest.to_vec(), as_table });
    }
    if rest.is_empty() {
        return Err(input::usage_error(ctx, &[b"no process ID specified"]));
    }
    Ok(KillPlan::Send { signal: chosen.unwrap_or(signal::TERM), to: rest.to_vec() })
}

/// Sends a signal to processes, and to groups, whose numbers are written with a dash.
fn send_signal(ctx: &mut Ctx<'_>, signal: u8, to: &[Vec<u8>]) -> Exit {
    let mut exit = Exit::SUCCESS;
    for target in to {
        let digits = target.strip_prefix(b"-").unwrap_or(target);
        let Some(pid) = number::parse_decimal(digits).and_then(|n| u32::try_from(n).ok()) else {
            exit = input::report_failure(
                ctx,
                &[&quote::quote_in_sentence(target), b": invalid process id"],
            );
            continue;
        };
        let group = pid == 0 || target.starts_with(b"-");
        let sent =
            if group { ctx.procs.kill_group(pid, signal) } else { ctx.procs.kill(pid, signal) };
        if let Err(e) = sent {
            let why = box_sys::error_text(&e);
            exit = input::report_failure(
                ctx,
                &[&quote::quote_in_sentence(target), b": ", why.as_bytes()],
            );
        }
    }
    exit
}

fn list_signals(ctx: &mut Ctx<'_>, operands: &[Vec<u8>], table: bool) -> Exit {
    let mut out = String::new();
    let mut exit = Exit::SUCCESS;
    let row = |n: u8| {
        let name = signal::name(n).unwrap_or_default();
        let text = signal::describe(n);
        format!("{n:2} {name:<8} {text}\n")
    };
    if operands.is_empty() {
        for n in (1..=31).chain(34..=64) {
            match (table, signal::name(n)) {
                (true, _) => out.push_str(&row(n)),
                (false, Some(name)) => {
                    out.push_str(&name);
                    out.push('\n');
                }
                _ => {}
            }
        }
    }
    for o in operands {
        // A number may be an exit status, which is the signal plus 128.
        let n = match number::parse_decimal(o) {
            Some(n) => u8::try_from(n & 0x7f).ok().filter(|_| n < 256),
            None => signal::parse(o),
        };
        match n.and_then(|n| signal::name(n).map(|s| (n, s))) {
            Some((n, _)) if table => out.push_str(&row(n)),
            Some((_, name)) if o.first().is_some_and(u8::is_ascii_digit) => {
                out.push_str(&format!("{name}\n"))
            }
            Some((n, _)) => out.push_str(&format!("{n}\n")),
            None => {
                ctx.error_bytes(&[&quote::quote_in_sentence(o), b": invalid signal"]);
                exit = Exit::FAILURE;
            }
        }
    }
    let _ = ctx.stdout.write_all(out.as_bytes());
    exit
}
