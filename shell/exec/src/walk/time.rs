//! The `time` reserved word (bash manual 3.2.3, TIMEFORMAT).

use std::time::{Duration, Instant};

use box_sys::events::{self, CpuTimes};
use sh_syntax::ast::{Pipeline, TimeFormat};

use crate::Shell;
use crate::shell::Flow;
use crate::walk::simple::RedirectReach;

impl Shell<'_> {
    pub(crate) fn run_timed(&mut self, p: &Pipeline) -> Flow {
        let (start, cpu) = (Instant::now(), events::cpu_times());
        let r = self.run_untimed(p, RedirectReach::Command);
        let real = start.elapsed();
        let used = TimeUsage::between(real, cpu, events::cpu_times());
        self.sync_output();
        let format = match p.timed {
            Some(TimeFormat::Posix) => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            _ => match self.variable_text(b"TIMEFORMAT") {
                Some(f) => f.to_vec(),
                None => b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".to_vec(),
            },
        };
        if !format.is_empty() {
            let text = render_times(&format, used);
            self.write_err(&text);
        }
        r
    }
}

/// The time used by a pipeline: the elapsed time, and the CPU time of the shell and of its ended
/// children.
#[derive(Clone, Copy)]
struct TimeUsage {
    real: Duration,
    user: Duration,
    system: Duration,
}

impl TimeUsage {
    fn between(real: Duration, before: CpuTimes, after: CpuTimes) -> TimeUsage {
        let spent = |f: fn(&CpuTimes) -> Duration| f(&after).saturating_sub(f(&before));
        TimeUsage {
            real,
            user: spent(|t| t.user + t.children_user),
            system: spent(|t| t.system + t.children_system),
        }
    }
}

/// Formats times by `TIMEFORMAT`: `%[digits][l]R` and so on (bash manual 5.2).
fn render_times(format: &[u8], used: TimeUsage) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < format.len() {
        let c = format[at];
        at += 1;
        if c != b'%' {
            out.push(c);
            continue;
        }
        let mut precision = 3usize;
        if let Some(d) = format.get(at).filter(|c| c.is_ascii_digit()) {
            precision = usize::from(d - b'0').min(6);
            at += 1;
        }
        let long = format.get(at) == Some(&b'l');
        at += usize::from(long);
        let Some(kind) = format.get(at) else { break };
        at += 1;
        match kind {
            b'R' => out.extend(seconds_text(used.real, precision, long)),
            b'U' => out.extend(seconds_text(used.user, precision, long)),
            b'S' => out.extend(seconds_text(used.system, precision, long)),
            b'P' => {
                let real = used.real.as_secs_f64();
                let busy = (used.user + used.system).as_secs_f64();
                let percent = if real > 0.0 { 100.0 * busy / real } else { 0.0 };
                out.extend_from_slice(format!("{percent:.2}").as_bytes());
            }
            b'%' => out.push(b'%'),
            other => out.extend_from_slice(&[b'%', *other]),
        }
    }
    out.push(b'\n');
    out
}

/// Formats a time with a given number of digits after the point; with `long`, as in `1m2.003s`.
fn seconds_text(time: Duration, precision: usize, long: bool) -> Vec<u8> {
    let (whole, micros) = (time.as_secs(), time.subsec_micros());
    let mut out = if long { format!("{}m{}", whole / 60, whole % 60) } else { whole.to_string() };
    if precision > 0 {
        out.push('.');
        out.push_str(&format!("{micros:06}")[..precision]);
    }
    if long {
        out.push('s');
    }
    out.into_bytes()
}
