//! `killall` (psmisc 23.6): signals processes by their exact names.

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::signal;
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use super::processes::{self, ProcessInfo};
use crate::common::input;

#[derive(Clone, Copy, PartialEq, Eq)]
enum KillallFlag {
    Exact,
    IgnoreCase,
    Quiet,
    Regexp,
    Signal,
    User,
    Verbose,
    Wait,
}

const SPEC: Spec<KillallFlag> = Spec::new(
    "[-SIG] [OPTION]... NAME...",
    "Signal the processes that run a command named NAME (TERM by default).",
    &[
        Opt::new(KillallFlag::Signal, 's', "signal").with_argument("SIG", "The signal to send"),
        Opt::new(KillallFlag::Exact, 'e', "exact").with_help("Accepted: names are compared whole"),
        Opt::new(KillallFlag::IgnoreCase, 'I', "ignore-case")
            .with_help("Take upper and lower case as equal"),
        Opt::new(KillallFlag::Regexp, 'r', "regexp")
            .with_help("Take NAME as an extended regular expression"),
        Opt::new(KillallFlag::User, 'u', "user")
            .with_argument("USER", "Accepted: all processes are of one user"),
        Opt::new(KillallFlag::Quiet, 'q', "quiet").with_help("Be silent about names without one"),
        Opt::new(KillallFlag::Verbose, 'v', "verbose").with_help("Print each process"),
        Opt::new(KillallFlag::Wait, 'w', "wait").with_help("Wait until the processes have ended"),
    ],
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut signal = signal::TERM;
    let mut args = args;
    if let Some((first, rest)) = args.split_first()
        && let Some(given) = first.strip_prefix(b"-").and_then(signal::parse)
    {
        (signal, args) = (given, rest);
    }
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(given) = p.last_value(KillallFlag::Signal) {
        let Some(given) = signal::parse(given) else {
            let name = String::from_utf8_lossy(given).into_owned();
            ctx.error(format_args!("{name}: unknown signal"));
            return Ok(Exit::FAILURE);
        };
        signal = given;
    }
    if p.operands.is_empty() {
        input::usage_error(ctx, &[b"no process name given"]);
        return Ok(Exit::FAILURE);
    }
    let mut status = Exit::SUCCESS;
    let mut signaled = Vec::new();
    for name in &p.operands {
        let found = match processes_named(ctx, &p, name) {
            Ok(found) => found,
            Err(exit) => return Ok(exit),
        };
        if found.is_empty() {
            status = Exit::FAILURE;
            if !p.has_option(KillallFlag::Quiet) {
                // Without the program's name, as psmisc writes it.
                let text = [name.as_slice(), b": no process found\n"].concat();
                let _ = ctx.stderr.write_all(&text);
            }
        }
        for process in found {
            match ctx.procs.kill(process.pid, signal) {
                Ok(()) => {
                    if p.has_option(KillallFlag::Verbose) {
                        let (name, pid) = (&process.command, process.pid);
                        let text = format!("Killed {name}({pid}) with signal {signal}\n");
                        let _ = ctx.stderr.write_all(text.as_bytes());
                    }
                    signaled.push(process.pid);
                }
                Err(e) => {
                    let (name, pid) = (&process.command, process.pid);
                    ctx.error(format_args!("{name}({pid}): {}", box_sys::error_text(&e)));
                    status = Exit::FAILURE;
                }
            }
        }
    }
    if p.has_option(KillallFlag::Wait) {
        while processes::living_pids()
            .is_some_and(|living| signaled.iter().any(|pid| living.contains(pid)))
        {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    Ok(status)
}

/// Returns the processes with that name, without this one.
fn processes_named(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<KillallFlag>,
    name: &[u8],
) -> Result<Vec<ProcessInfo>, Exit> {
    let ignores_case = p.has_option(KillallFlag::IgnoreCase);
    let regex = if p.has_option(KillallFlag::Regexp) {
        let options = RegexOptions::new(RegexSyntax::EreRegcomp).icase(ignores_case);
        let made = Regex::new(name, &options);
        Some(made.map_err(|e| {
            ctx.error(e);
            Exit::FAILURE
        })?)
    } else {
        None
    };
    // A path names the file that runs; its last part is the name in the list of processes.
    let name = name.rsplit(|c| *c == b'/').next().unwrap_or_default();
    let fits = |process: &ProcessInfo| {
        let command = process.command.as_bytes();
        match &regex {
            Some(regex) => regex.is_match(command),
            None if ignores_case => command.eq_ignore_ascii_case(cut_name(name)),
            None => command == cut_name(name),
        }
    };
    let own = ctx.procs.pid();
    let mut found = processes::all_processes(ctx);
    found.retain(|process| process.pid != own && fits(process));
    Ok(found)
}

/// Returns the part of a name that the list of processes has: 15 characters.
fn cut_name(name: &[u8]) -> &[u8] {
    &name[..name.len().min(15)]
}
