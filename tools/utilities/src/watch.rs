//! `watch` (procps 4.0): runs a command again and again.
//!
//! There is no screen that could be drawn over, so each run prints a title and the output after
//! those of the run before. It ends with the call's time, by `-g`, `-q` or `-e`, or by `--count`.

use std::io::{Read, Write};
use std::rc::Rc;
use std::time::Duration;

use box_applet::command::{ChildCommand, ChildStream};
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use box_sys::{events, preview1};
use box_text::number;
use box_text::time::strftime;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    ChangeExit,
    Count,
    EqualExit,
    ErrorExit,
    Exec,
    Ignored,
    Differences,
    Interval,
    NoTitle,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... COMMAND [ARG]...",
    "Run COMMAND by sh every two seconds, and print a title and its output each time. It \
        runs until it is ended, for example by the time limit of the call.",
    &[
        Opt::new(Flag::Interval, 'n', "interval")
            .with_argument("SECONDS", "Wait that long between runs; at least 0.1"),
        Opt::long(Flag::Count, "count").with_argument("N", "End after N runs"),
        Opt::new(Flag::ChangeExit, 'g', "chgexit").with_help("End when the output changes"),
        Opt::new(Flag::EqualExit, 'q', "equexit")
            .with_argument("N", "End when the output has been the same for N runs"),
        Opt::new(Flag::ErrorExit, 'e', "errexit").with_help("End with status 8 when COMMAND fails"),
        Opt::new(Flag::NoTitle, 't', "no-title").with_help("Print no title"),
        Opt::new(Flag::Exec, 'x', "exec").with_help("Run COMMAND itself, without sh"),
        Opt::new(Flag::Differences, 'd', "differences").may_take("permanent", words::IGNORED),
        Opt::new(Flag::Ignored, 'b', "beep").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'c', "color").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'C', "no-color").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'p', "precise").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'r', "no-rerun").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'w', "no-wrap").with_help(words::IGNORED),
    ],
)
.posix_order()
.with_examples(&[("watch -n 1 --count 5 ls -l", "List a folder five times")]);

/// The status of an end because the command failed.
const COMMAND_FAILED: Exit = Exit(8);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let interval = match p.last_value(Flag::Interval).or(ctx.env.get(b"WATCH_INTERVAL")) {
        Some(text) => {
            let (value, used) = number::parse_float(text);
            if used == 0 || used != text.len() || value.is_nan() {
                let text = text.to_vec();
                ctx.error_bytes(&[b"failed to parse argument: '", &text, b"': Invalid argument"]);
                return Ok(Exit::FAILURE);
            }
            value.clamp(0.1, 2_678_400.0)
        }
        None => 2.0,
    };
    let count = parse_count(ctx, p.last_value(Flag::Count).map(<[u8]>::to_vec))?;
    let equal = parse_count(ctx, p.last_value(Flag::EqualExit).map(<[u8]>::to_vec))?;
    if p.operands.is_empty() {
        let text = SPEC.help_text(&ctx.name);
        let _ = ctx.stderr.write_all(text.as_bytes());
        return Ok(Exit::FAILURE);
    }
    let mut last: Option<Vec<u8>> = None;
    let (mut runs, mut same) = (0u64, 0);
    loop {
        if !p.has_option(Flag::NoTitle) {
            print_title(ctx, interval, &p.operands);
        }
        let (status, output) = run_once(ctx, &p).map_err(|e| {
            ctx.io_error(b"unable to run the command", &e);
            Exit(4)
        })?;
        let _ = ctx.stdout.write_all(&output);
        if ctx.stdout.flush().is_err() {
            return Ok(Exit::FAILURE);
        }
        if status != 0 && p.has_option(Flag::ErrorExit) {
            return Ok(COMMAND_FAILED);
        }
        let is_same = last.as_deref() == Some(&output);
        same = if is_same { same + 1 } else { 0 };
        let changed = last.is_some() && !is_same && p.has_option(Flag::ChangeExit);
        runs += 1;
        if changed || count.is_some_and(|n| runs >= n) || equal.is_some_and(|n| same >= n) {
            return Ok(Exit::SUCCESS);
        }
        last = Some(output);
        if !events::sleep_for(Duration::from_secs_f64(interval)) {
            return Ok(Exit::SUCCESS);
        }
    }
}

fn parse_count(ctx: &mut Ctx<'_>, text: Option<Vec<u8>>) -> Result<Option<u64>, Exit> {
    let Some(text) = text else { return Ok(None) };
    match std::str::from_utf8(&text).ok().and_then(|t| t.parse().ok()) {
        Some(n) if n > 0 => Ok(Some(n)),
        _ => {
            ctx.error_bytes(&[b"failed to parse argument: '", &text, b"': Invalid argument"]);
            Err(Exit::FAILURE)
        }
    }
}

fn print_title(ctx: &mut Ctx<'_>, interval: f64, command: &[Vec<u8>]) {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let (seconds, nanos) = clock::current_time();
    let now =
        strftime::format_strftime(b"%a %b %e %H:%M:%S %Y", &ctx.zone().to_civil(seconds, nanos));
    let title = format!("Every {interval:.1}s: ");
    let tail = [b"    ", host.trim().as_bytes(), b": ", &now, b"\n\n"].concat();
    let _ = ctx.stdout.write_all(&[title.as_bytes(), &command.join(&b' '), &tail].concat());
}

/// Runs the command; returns its status and its output on both streams.
fn run_once(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>) -> std::io::Result<(u8, Vec<u8>)> {
    let (mut reader, writer) = preview1::spool()?;
    let writer = Rc::new(writer);
    let base = if p.has_option(Flag::Exec) {
        ChildCommand::new(p.operands.clone())
    } else {
        ChildCommand::shell(&p.operands.join(&b' '))
    };
    let command = ChildCommand {
        stdin: ChildStream::Null,
        stdout: ChildStream::File(writer.clone()),
        stderr: ChildStream::File(writer),
        ..base
    };
    let status = command.run(ctx);
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    Ok((status, output))
}
