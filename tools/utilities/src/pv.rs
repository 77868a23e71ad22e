//! `pv` (pv 1.6.20): copies data and shows how far it is.
//!
//! As in the original, nothing is shown without a terminal unless `-f` or `-n` asks for it; then a
//! line is printed at each interval and at the end.

use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{error_text, events};
use box_text::number;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Bytes,
    Force,
    Ignored,
    IgnoredValue,
    Interval,
    Lines,
    Name,
    Nul,
    Numeric,
    Quiet,
    RateLimit,
    Size,
    SkipErrors,
    StopAtSize,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Copy each FILE to standard output. With -f or -n, print on standard error how much has \
        been copied.",
    &[
        Opt::new(Flag::Force, 'f', "force").with_help("Show the progress without a terminal, too"),
        Opt::new(Flag::Numeric, 'n', "numeric").with_help("Print percentages, one a line"),
        Opt::new(Flag::Quiet, 'q', "quiet").with_help("Show nothing"),
        Opt::new(Flag::Bytes, 'b', "bytes").with_help("With -n: print the number of bytes"),
        Opt::new(Flag::Lines, 'l', "line-mode").with_help("Count lines instead of bytes"),
        Opt::new(Flag::Nul, '0', "null").with_help("Lines end with a NUL byte"),
        Opt::new(Flag::Size, 's', "size").with_argument("SIZE", "Expect SIZE bytes (K, M, G, T)"),
        Opt::new(Flag::StopAtSize, 'S', "stop-at-size").with_help("End after SIZE bytes"),
        Opt::new(Flag::RateLimit, 'L', "rate-limit")
            .with_argument("RATE", "Copy at most RATE bytes a second"),
        Opt::new(Flag::Interval, 'i', "interval")
            .with_argument("SECONDS", "Wait that long between two lines (1)"),
        Opt::new(Flag::Name, 'N', "name").with_argument("NAME", "Print NAME before the progress"),
        Opt::new(Flag::SkipErrors, 'E', "skip-errors").with_help("Go on after an error of reading"),
        Opt::new(Flag::Ignored, 'p', "progress").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 't', "timer"),
        Opt::new(Flag::Ignored, 'e', "eta"),
        Opt::new(Flag::Ignored, 'I', "fineta"),
        Opt::new(Flag::Ignored, 'r', "rate"),
        Opt::new(Flag::Ignored, 'a', "average-rate"),
        Opt::new(Flag::Ignored, 'c', "cursor"),
        Opt::new(Flag::Ignored, 'W', "wait"),
        Opt::new(Flag::Ignored, 'C', "no-splice"),
        Opt::new(Flag::IgnoredValue, 'D', "delay-start").with_argument("SECONDS", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'w', "width").with_argument("N", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'H', "height").with_argument("N", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'B', "buffer-size").with_argument("N", words::IGNORED),
    ],
)
.reads_standard_input();

/// The status of a bad command line.
const BAD_USAGE: Exit = Exit(64);
/// The bits of the status for a file that cannot be opened, for no file at all, and for an error of
/// reading.
const NO_ACCESS: u8 = 2;
const NO_INPUT: u8 = 8;
const READ_ERROR: u8 = 16;

/// The progress of the transfer, in bytes or lines.
struct Progress {
    start: Instant,
    shown: Instant,
    done: u64,
    size: Option<u64>,
    interval: Duration,
    rate: Option<u64>,
    unit: Unit,
    display: Display,
    name: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Bytes,
    /// Lines that end with this byte.
    Lines(u8),
}

#[derive(Clone, Copy, PartialEq)]
enum Display {
    Nothing,
    Percent,
    Count,
    Text,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, BAD_USAGE)?;
    let mut progress = make_progress(ctx, &p)?;
    let stop = p.has_option(Flag::StopAtSize);
    let names = if p.operands.is_empty() { vec![b"-".to_vec()] } else { p.operands.clone() };
    if progress.size.is_none() && progress.unit == Unit::Bytes {
        progress.size = total_size(ctx, &names);
    }
    let (mut status, mut opened) = (0, false);
    for name in &names {
        let mut reader: Box<dyn Read> = if name == b"-" {
            Box::new(ctx.stdin.detach_stream())
        } else {
            match open(ctx, name) {
                Ok(file) => Box::new(file),
                Err(e) => {
                    ctx.error_bytes(&[name, b": ", error_text(&e).as_bytes()]);
                    let is_directory = e.kind() == std::io::ErrorKind::IsADirectory;
                    status |= if is_directory { READ_ERROR } else { NO_ACCESS };
                    opened |= is_directory;
                    continue;
                }
            }
        };
        opened = true;
        match copy(ctx, &mut progress, &mut reader, stop) {
            Ok(()) => {}
            Err(Stop::Read(e)) => {
                ctx.error_bytes(&[name, b": read failed: ", error_text(&e).as_bytes()]);
                status |= READ_ERROR;
                if !p.has_option(Flag::SkipErrors) {
                    break;
                }
            }
            Err(Stop::Write) => break,
        }
    }
    let _ = ctx.stdout.flush();
    progress.show(ctx);
    Ok(Exit(if opened { status } else { status | NO_INPUT }))
}

fn open(ctx: &Ctx<'_>, name: &[u8]) -> std::io::Result<File> {
    let file = File::open(ctx.path(name))?;
    if file.metadata()?.is_dir() {
        return Err(std::io::Error::from_raw_os_error(box_sys::errno::code::EISDIR));
    }
    Ok(file)
}

fn make_progress(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>) -> Result<Progress, Exit> {
    let size = parse_size(ctx, p.last_value(Flag::Size).map(<[u8]>::to_vec))?;
    let rate = parse_size(ctx, p.last_value(Flag::RateLimit).map(<[u8]>::to_vec))?;
    let interval = p.last_value(Flag::Interval).map_or(1.0, |t| number::parse_float(t).0);
    let is_terminal =
        matches!(ctx.stderr.sink(), box_applet::OutputSink::File(f) if box_sys::is_terminal(f));
    let display = if p.has_option(Flag::Quiet) {
        Display::Nothing
    } else if p.has_option(Flag::Numeric) {
        if p.has_option(Flag::Bytes) { Display::Count } else { Display::Percent }
    } else if p.has_option(Flag::Force) || is_terminal {
        Display::Text
    } else {
        Display::Nothing
    };
    let now = Instant::now();
    let end = if p.has_option(Flag::Nul) { 0 } else { b'\n' };
    Ok(Progress {
        start: now,
        shown: now,
        done: 0,
        size,
        interval: Duration::try_from_secs_f64(interval.clamp(0.1, 600.0)).unwrap_or(Duration::MAX),
        rate: rate.filter(|r| *r > 0),
        unit: if p.has_option(Flag::Lines) { Unit::Lines(end) } else { Unit::Bytes },
        display,
        name: p.last_value(Flag::Name).unwrap_or_default().to_vec(),
    })
}

fn parse_size(ctx: &mut Ctx<'_>, text: Option<Vec<u8>>) -> Result<Option<u64>, Exit> {
    let Some(text) = text else { return Ok(None) };
    let (value, used) = number::parse_float(&text);
    let shift = match text.get(used..).unwrap_or_default() {
        b"" => Some(0),
        b"k" | b"K" => Some(10),
        b"m" | b"M" => Some(20),
        b"g" | b"G" => Some(30),
        b"t" | b"T" => Some(40),
        _ => None,
    };
    match shift {
        Some(shift) if used > 0 && value >= 0.0 => {
            Ok(Some((value * (1u64 << shift) as f64) as u64))
        }
        _ => {
            ctx.error_bytes(&[b"'", &text, b"' is not a size"]);
            Err(BAD_USAGE)
        }
    }
}

/// Returns the size of all files together, if each of them has one.
fn total_size(ctx: &Ctx<'_>, names: &[Vec<u8>]) -> Option<u64> {
    let size = |name: &Vec<u8>| {
        let found = if name == b"-" {
            let box_applet::InputSource::File(file) = ctx.stdin.source() else { return None };
            file.metadata()
        } else {
            std::fs::metadata(ctx.path(name))
        };
        found.ok().filter(std::fs::Metadata::is_file).map(|m| m.len())
    };
    names.iter().map(size).sum::<Option<u64>>().filter(|n| *n > 0)
}

/// The reason why copying ended early.
enum Stop {
    Read(std::io::Error),
    /// The output remembers the error.
    Write,
}

fn copy(
    ctx: &mut Ctx<'_>,
    progress: &mut Progress,
    reader: &mut dyn Read,
    stop: bool,
) -> Result<(), Stop> {
    let mut buffer = vec![0; 1 << 17];
    loop {
        let mut room = buffer.len();
        if let Some(rate) = progress.rate {
            room = room.min(usize::try_from(rate / 10).unwrap_or(room).max(1));
        }
        if let (true, Some(size), Unit::Bytes) = (stop, progress.size, progress.unit) {
            room = room.min(usize::try_from(size.saturating_sub(progress.done)).unwrap_or(room));
        }
        let n = match reader.read(&mut buffer[..room]) {
            Ok(0) => return Ok(()),
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Stop::Read(e)),
        };
        let written = ctx.stdout.write_all(&buffer[..n]).and_then(|()| ctx.stdout.flush());
        written.map_err(|_| Stop::Write)?;
        progress.done += match progress.unit {
            Unit::Bytes => n as u64,
            Unit::Lines(end) => buffer[..n].iter().filter(|c| **c == end).count() as u64,
        };
        progress.keep_rate();
        if progress.shown.elapsed() >= progress.interval {
            progress.shown = Instant::now();
            progress.show(ctx);
        }
    }
}

impl Progress {
    /// Waits until the rate allows more.
    fn keep_rate(&self) {
        let Some(rate) = self.rate else { return };
        let due = Duration::from_secs_f64(self.done as f64 / rate as f64);
        let early = due.saturating_sub(self.start.elapsed());
        if !early.is_zero() {
            events::sleep_for(early);
        }
    }

    fn percent(&self) -> Option<u64> {
        self.size.filter(|s| *s > 0).map(|s| self.done.saturating_mul(100) / s)
    }

    fn show(&self, ctx: &mut Ctx<'_>) {
        let line = match self.display {
            Display::Nothing => return,
            Display::Percent => self.percent().unwrap_or(self.done).to_string(),
            Display::Count => self.done.to_string(),
            Display::Text => self.text(),
        };
        let lead: &[u8] = if self.name.is_empty() { b"" } else { b": " };
        let _ = ctx.stderr.write_all(&[&self.name, lead, line.as_bytes(), b"\n"].concat());
    }

    fn text(&self) -> String {
        let seconds = self.start.elapsed().as_secs();
        let time = format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let rate = self.done as f64 / self.start.elapsed().as_secs_f64().max(0.001);
        let lines = self.unit != Unit::Bytes;
        let percent = self.percent().map_or(String::new(), |n| format!(" {n}%"));
        format!("{} {time} [{}/s]{percent}", amount(self.done as f64, lines), amount(rate, lines))
    }
}

/// Returns a number of bytes with a unit of 1024, or of lines with one of 1000.
fn amount(value: f64, lines: bool) -> String {
    let step = if lines { 1000.0 } else { 1024.0 };
    let mut value = value;
    let mut unit = 0;
    while value >= step && unit < 4 {
        value /= step;
        unit += 1;
    }
    let prefix = ["", "k", "M", "G", "T"][unit];
    if lines {
        return format!("{value:.2}{prefix}");
    }
    let prefix = ["", "Ki", "Mi", "Gi", "Ti"][unit];
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.2} {prefix}B") }
}
