//! `ts` (moreutils): puts the time before each line.
//!
//! Deliberately absent: `-r`, which rewrites times in the lines.

use std::io::{BufRead, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, clock};
use box_text::time::{Zone, strftime};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Incremental,
    Monotonic,
    Relative,
    SinceStart,
}

const SPEC: Spec<Flag> = Spec::new(
    "[-i|-s] [-m] [FORMAT]",
    "Print each line of standard input with the time before it, in a FORMAT of date(1). \
        The default is '%b %d %H:%M:%S', with -i and -s '%H:%M:%S'.",
    &[
        Opt::new(Flag::Incremental, 'i', "").with_help("Print the time since the last line"),
        Opt::new(Flag::SinceStart, 's', "").with_help("Print the time since the start"),
        Opt::new(Flag::Monotonic, 'm', "").with_help(words::IGNORED),
        Opt::new(Flag::Relative, 'r', ""),
    ],
)
.with_footer("%.S, %.s and %.T are %S, %s and %T with microseconds.");

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit(255))?;
    if p.has_option(Flag::Relative) {
        ctx.error("-r is not supported: times within the lines are not recognised");
        return Ok(Exit(255));
    }
    let incremental = p.has_option(Flag::Incremental);
    let differs = incremental || p.has_option(Flag::SinceStart);
    let default: &[u8] = if differs { b"%H:%M:%S" } else { b"%b %d %H:%M:%S" };
    let format = p.operands.first().map_or(default, Vec::as_slice).to_vec();
    let zone = if differs { Zone::utc() } else { ctx.zone() };
    let mut since = nanoseconds();
    let mut line = Vec::new();
    loop {
        line.clear();
        match ctx.stdin.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(Exit::SUCCESS),
            Ok(_) => {}
            Err(e) => {
                ctx.io_error(b"standard input", &e);
                return Ok(Exit::FAILURE);
            }
        }
        let now = nanoseconds();
        let shown = if differs { now.saturating_sub(since).max(0) } else { now };
        if incremental {
            since = now;
        }
        let stamp = format_time(&format, shown, &zone);
        let done = ctx.stdout.write_all(&[&stamp, b" ".as_slice(), &line].concat());
        // A reader sees each line when it comes.
        if done.and_then(|()| ctx.stdout.flush()).is_err() {
            return Ok(Exit::FAILURE);
        }
    }
}

fn nanoseconds() -> i128 {
    let (seconds, nanos) = clock::current_time();
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

fn format_time(format: &[u8], nanos: i128, zone: &Zone) -> Vec<u8> {
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    let rest = (nanos % 1_000_000_000) as u32;
    let micros = format!(".{:06}", rest / 1000);
    let mut expanded = Vec::new();
    let mut at = 0;
    while let Some(&c) = format.get(at) {
        match format.get(at..at + 3) {
            Some(&[b'%', b'.', letter @ (b'S' | b's' | b'T')]) => {
                expanded.extend_from_slice(&[b'%', letter]);
                expanded.extend_from_slice(micros.as_bytes());
                at += 3;
            }
            _ if format.get(at..at + 2) == Some(b"%%") => {
                expanded.extend_from_slice(b"%%");
                at += 2;
            }
            _ => {
                expanded.push(c);
                at += 1;
            }
        }
    }
    strftime::format_strftime(&expanded, &zone.to_civil(seconds, rest))
}
