//! `top` (procps-ng 4.0): the processes of the session and their share of a processor, again and again;
//! in batch mode as text, on a terminal with keys.
//!
//! | file | contents |
//! |---|---|
//! | `frame` | one look at the processes, and its lines |
//! | `screen` | the terminal: keys, what is drawn |
//!
//! Sizes are 0, because the host reports none for a process.

mod frame;
mod screen;

use std::io::Write;
use std::time::Duration;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, InputSource, OutputSink};
use box_sys::events;

use frame::{Frame, FrameOptions, SortField};

#[derive(Clone, Copy, PartialEq, Eq)]
enum TopFlag {
    Batch,
    CommandLine,
    Delay,
    Idle,
    Ignored,
    Iterations,
    Pid,
    Sort,
    Width,
}

const SPEC: Spec<TopFlag> = Spec::new(
    "[OPTION]...",
    "Show processes and their use of the processor, until q is typed.",
    &[
        Opt::new(TopFlag::Batch, 'b', "batch").with_help("Print text; needs no terminal"),
        Opt::new(TopFlag::Iterations, 'n', "iterations")
            .with_argument("N", "End after N looks at the processes"),
        Opt::new(TopFlag::Delay, 'd', "delay")
            .with_argument("SECONDS", "Wait that long between looks (3.0)"),
        Opt::new(TopFlag::Pid, 'p', "pid").with_argument("PID,...", "Show these processes only"),
        Opt::new(TopFlag::Sort, 'o', "sort-override").with_argument(
            "FIELD",
            "Sort by %CPU, %MEM, TIME+, PID or COMMAND; with - before it in ascending order",
        ),
        Opt::new(TopFlag::CommandLine, 'c', "cmdline-toggle").with_help("Show command lines"),
        Opt::new(TopFlag::Idle, 'i', "idle-toggle")
            .with_help("Leave out processes that do nothing"),
        Opt::new(TopFlag::Width, 'w', "width").may_take("COLUMNS", "Cut lines to COLUMNS (512)"),
        Opt::new(TopFlag::Ignored, 'H', "threads-show").with_help(words::IGNORED),
        Opt::new(TopFlag::Ignored, 'S', "accum-time-toggle").with_help(words::IGNORED),
        Opt::new(TopFlag::Ignored, 's', "secure-mode").with_help(words::IGNORED),
        Opt::new(TopFlag::Ignored, '1', "single-cpu-toggle").with_help(words::IGNORED),
        Opt::new(TopFlag::Ignored, 'u', "filter-any-user")
            .with_argument("USER", "Accepted: all processes are of one user"),
    ],
)
.with_examples(&[("top -b -n 1", "Print the processes once")]);

/// The width of lines in batch mode.
const BATCH_WIDTH: usize = 512;
/// The time between two looks, by default.
const DELAY: Duration = Duration::from_secs(3);

/// The settings, which keys change.
struct TopSettings {
    delay: Duration,
    looks: Option<u64>,
    frame: FrameOptions,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    // The width may be a word of its own.
    if p.has_option(TopFlag::Width)
        && p.last_value(TopFlag::Width).is_none()
        && p.operands.first().is_some_and(|word| word.iter().all(u8::is_ascii_digit))
    {
        let width = p.operands.remove(0);
        p.options.push((TopFlag::Width, Some(width)));
    }
    if let Some(extra) = p.operands.first() {
        let extra = extra.clone();
        ctx.error_bytes(&[b"unknown option '", &extra, b"'"]);
        return Ok(Exit::FAILURE);
    }
    let settings = parse_settings(&p).map_err(|why| {
        ctx.error(format_args!("{why}"));
        Exit::FAILURE
    })?;
    if p.has_option(TopFlag::Batch) {
        return Ok(print_frames(ctx, settings));
    }
    let has_screen =
        matches!(ctx.stdout.sink(), OutputSink::File(file) if box_sys::is_terminal(file));
    match ctx.stdin.source() {
        InputSource::File(file) if has_screen && box_sys::is_terminal(file) => {
            let file = file.clone();
            Ok(screen::show_frames(ctx, &file, settings))
        }
        _ => {
            ctx.error(format_args!("failed tty get"));
            Ok(Exit::FAILURE)
        }
    }
}

fn parse_settings(p: &ParsedOptions<TopFlag>) -> Result<TopSettings, String> {
    let text = |flag| p.last_value(flag).map(|v| String::from_utf8_lossy(v).into_owned());
    let looks = match text(TopFlag::Iterations) {
        Some(n) => match n.parse() {
            Ok(n) if n > 0 => Some(n),
            _ => return Err(format!("bad iterations argument '{n}'")),
        },
        None => None,
    };
    let delay = match text(TopFlag::Delay) {
        Some(text) => parse_delay(&text).ok_or(format!("bad delay interval '{text}'"))?,
        None => DELAY,
    };
    let mut pids = Vec::new();
    for part in text(TopFlag::Pid).iter().flat_map(|list| list.split(',')) {
        pids.push(part.parse().map_err(|_| format!("bad pid '{part}'"))?);
    }
    let (sort, is_ascending) = match text(TopFlag::Sort) {
        Some(name) => {
            let field = SortField::from_name(name.trim_start_matches(['+', '-']));
            let field = field.ok_or(format!("unrecognized field name '{name}'"))?;
            (field, name.starts_with('-'))
        }
        None => (SortField::Cpu, false),
    };
    let width = match text(TopFlag::Width) {
        Some(n) => n.parse().ok().filter(|n| *n > 2).ok_or(format!("bad width arg '{n}'"))?,
        None => BATCH_WIDTH,
    };
    let has_command_line = p.has_option(TopFlag::CommandLine);
    let without_idle = p.has_option(TopFlag::Idle);
    let frame = FrameOptions { sort, is_ascending, has_command_line, without_idle, pids, width };
    Ok(TopSettings { delay, looks, frame })
}

/// Parses a number of seconds that is not negative.
fn parse_delay(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=1e6).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// Prints frames as text.
fn print_frames(ctx: &mut Ctx<'_>, settings: TopSettings) -> Exit {
    let mut before = None;
    let mut count = 0;
    loop {
        let frame = Frame::take(ctx, before.as_ref());
        let mut text = frame.lines(&settings.frame).join("\n");
        text.push('\n');
        // An empty line stands between two frames.
        let gap = if count > 0 { "\n" } else { "" };
        if ctx.stdout.write_all([gap, &text].concat().as_bytes()).is_err()
            || ctx.stdout.flush().is_err()
        {
            return Exit::FAILURE;
        }
        count += 1;
        if settings.looks == Some(count) || !events::sleep_for(settings.delay) {
            return Exit::SUCCESS;
        }
        before = Some(frame);
    }
}
