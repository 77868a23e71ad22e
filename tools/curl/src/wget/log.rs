//! The messages of wget on standard error or in a file: lines with GNU's texts, and rows of dots.

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use box_applet::{Ctx, clock};
use box_text::time::{Zone, strftime};

use super::options::WgetOptions;

/// The messages that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogLevelChoice {
    Nothing,
    Terse,
    All,
}

/// The log, with its destination.
pub(super) struct WgetLog {
    pub(super) talk: LogLevelChoice,
    file: Option<File>,
    zone: Zone,
}

const DOT: u64 = 1024;
const ROW: u64 = 50;
const GROUP: u64 = 10;

impl WgetLog {
    pub(super) fn new(ctx: &Ctx<'_>, asked: &WgetOptions) -> std::io::Result<WgetLog> {
        let talk = match (asked.quiet, asked.terse) {
            (true, _) => LogLevelChoice::Nothing,
            (_, true) => LogLevelChoice::Terse,
            _ => LogLevelChoice::All,
        };
        let file = match (&asked.log, &asked.log_more) {
            (Some(name), _) => Some(File::create(ctx.path(name))?),
            (_, Some(name)) => {
                Some(File::options().create(true).append(true).open(ctx.path(name))?)
            }
            _ => None,
        };
        let zone = ctx.zone();
        Ok(WgetLog { talk, file, zone })
    }

    fn put_text(&mut self, ctx: &mut Ctx<'_>, text: &str) {
        let _ = match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => ctx.stderr.write_all(text.as_bytes()),
        };
    }

    /// Prints a message unless `-q` or `-nv` is given.
    pub(super) fn say_verbose(&mut self, ctx: &mut Ctx<'_>, text: &str) {
        if self.talk == LogLevelChoice::All {
            self.put_text(ctx, text);
        }
    }

    /// Prints a message unless `-q` is given.
    pub(super) fn say_always(&mut self, ctx: &mut Ctx<'_>, text: &str) {
        if self.talk >= LogLevelChoice::Terse {
            self.put_text(ctx, text);
        }
    }

    /// Prints a message with `-nv` only.
    pub(super) fn say_terse(&mut self, ctx: &mut Ctx<'_>, text: &str) {
        if self.talk == LogLevelChoice::Terse {
            self.put_text(ctx, text);
        }
    }

    /// Returns the time, for example `2026-11-23 07:52:10`.
    pub(super) fn time_stamp(&self) -> String {
        let broken = self.zone.to_civil(clock::current_time().0, 0);
        String::from_utf8_lossy(&strftime::format_strftime(b"%Y-%m-%d %H:%M:%S", &broken))
            .into_owned()
    }
}

/// Returns `‘NAME’`, with bytes that a terminal could interpret written as octal escapes.
pub(super) fn quote_name(name: &[u8]) -> String {
    format!("‘{}’", plain_text(name))
}

/// Returns a server's text without control characters.
pub(super) fn plain_text(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let sign = |c: char| match c {
        c if c.is_control() => format!("\\{:03o}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(sign).collect()
}

/// Returns a length as wget shows it, for example `121K`, `3.0M`.
pub(super) fn human_size(n: u64) -> String {
    if n < 1024 {
        return n.to_string();
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit < 4 {
        value /= 1024.0;
        unit += 1;
    }
    let sign = ['K', 'M', 'G', 'T', 'P'][unit];
    if value < 10.0 { format!("{value:.1}{sign}") } else { format!("{value:.0}{sign}") }
}

/// Returns the number of digits after the point, so that three digits are significant.
fn shown_digits(value: f64) -> usize {
    match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    }
}

fn transfer_rate(bytes: u64, time: Duration) -> (f64, usize) {
    // The clock may not have advanced yet.
    let mut value = bytes as f64 / time.as_secs_f64().max(0.0001);
    let mut unit = 0;
    while value >= 1024.0 && unit < 3 {
        value /= 1024.0;
        unit += 1;
    }
    (value, unit)
}

/// Returns a speed, for example `212 MB/s`.
pub(super) fn speed_text(bytes: u64, time: Duration) -> String {
    let (value, unit) = transfer_rate(bytes, time);
    format!("{value:.*} {}", shown_digits(value), ["B/s", "KB/s", "MB/s", "GB/s"][unit])
}

/// Returns a duration, for example `0.02s`, `1m 5s`.
pub(super) fn span_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 10.0 {
        return eta_text(seconds + 0.5);
    }
    // Shows enough decimals for two significant digits.
    let places = match seconds {
        s if s >= 9.5 => 0,
        s if s >= 0.95 => 1,
        s if s >= 0.095 => 1,
        s if s >= 0.0095 => 2,
        s if s >= 0.00095 => 3,
        _ => return "0s".into(),
    };
    format!("{seconds:.places$}s")
}

fn eta_text(seconds: f64) -> String {
    let s = seconds as u64;
    match s {
        0..=99 => format!("{s}s"),
        100..=5_999 => format!("{}m{}s", s / 60, s % 60),
        6_000..=172_799 => format!("{}h{}m", s / 3600, s / 60 % 60),
        _ => format!("{}d{}h", s / 86_400, s / 3600 % 24),
    }
}

/// A meter that prints rows of dots: 1 KiB for each dot, fifty dots in a row.
pub(super) struct Dots {
    whole: Option<u64>,
    done: u64,
    dots: u64,
    begun: Instant,
    row: Instant,
}

impl Dots {
    /// Returns a meter for a file that already has `skipped` bytes.
    pub(super) fn new(
        log: &mut WgetLog,
        ctx: &mut Ctx<'_>,
        whole: Option<u64>,
        skipped: u64,
    ) -> Dots {
        let now = Instant::now();
        let mut dots = Dots { whole, done: skipped, dots: 0, begun: now, row: now };
        let rows = skipped / (DOT * ROW);
        if skipped > 0 {
            let kept = rows * DOT * ROW / 1024;
            log.say_verbose(ctx, &format!("\n{:>8}[ skipping {kept}K ]", ""));
        }
        dots.begin_row(log, ctx, rows);
        for _ in 0..(skipped - rows * DOT * ROW) / DOT {
            dots.put_sign(log, ctx, ',');
        }
        dots
    }

    fn begin_row(&self, log: &mut WgetLog, ctx: &mut Ctx<'_>, rows: u64) {
        log.say_verbose(ctx, &format!("\n{:>6}K", rows * ROW * DOT / 1024));
    }

    fn put_sign(&mut self, log: &mut WgetLog, ctx: &mut Ctx<'_>, sign: char) {
        let gap = if self.dots.is_multiple_of(GROUP) { " " } else { "" };
        log.say_verbose(ctx, &format!("{gap}{sign}"));
        self.dots += 1;
    }

    /// Adds received bytes, and prints dots for them.
    pub(super) fn add_bytes(&mut self, log: &mut WgetLog, ctx: &mut Ctx<'_>, bytes: u64) {
        if log.talk != LogLevelChoice::All {
            self.done += bytes;
            return;
        }
        let before = self.done / DOT;
        self.done += bytes;
        for dot in before..self.done / DOT {
            self.put_sign(log, ctx, '.');
            if self.dots == ROW {
                self.end_row(log, ctx, (dot + 1) * DOT, false);
                self.dots = 0;
                self.begin_row(log, ctx, (dot + 1) / ROW);
            }
        }
    }

    fn end_row(&mut self, log: &mut WgetLog, ctx: &mut Ctx<'_>, at: u64, last: bool) {
        let mut text = String::new();
        if let Some(whole) = self.whole.filter(|w| *w > 0) {
            text = format!("{:3}%", 100 * at / whole);
        }
        let in_row = if last { at % (DOT * ROW) } else { DOT * ROW };
        let (value, unit) = transfer_rate(in_row, self.row.elapsed());
        text += &format!(" {value:4.*}{}", shown_digits(value), [' ', 'K', 'M', 'G'][unit]);
        self.row = Instant::now();
        if last {
            text += &format!("={}", span_text(self.begun.elapsed()));
        } else if let Some(whole) = self.whole.filter(|w| *w > at) {
            let left = self.begun.elapsed().as_secs_f64() * (whole - at) as f64 / at as f64;
            text += &format!(" {}", eta_text(left));
        }
        log.say_verbose(ctx, &text);
    }

    /// Ends the meter after the body, and returns how long the body took.
    pub(super) fn end(mut self, log: &mut WgetLog, ctx: &mut Ctx<'_>) -> Duration {
        let took = self.begun.elapsed();
        let empty: u64 =
            (self.dots..ROW).map(|dot| if dot.is_multiple_of(GROUP) { 2 } else { 1 }).sum();
        log.say_verbose(ctx, &" ".repeat(usize::try_from(empty).unwrap_or(0)));
        let done = self.done;
        self.end_row(log, ctx, done, true);
        log.say_verbose(ctx, "\n\n");
        took
    }
}
