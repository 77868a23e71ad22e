//! The `time` reserved word (bash manual 3.2.3, TIMEFORMAT).

use std::time::{Duration, Instant};

use sh_syntax::ast::{Pipeline, TimeFormat};

use crate::Shell;
use crate::shell::Flow;

impl Shell<'_> {
    pub(crate) fn timed(&mut self, p: &Pipeline) -> Flow {
        let start = Instant::now();
        let r = self.untimed(p);
        let real = start.elapsed();
        self.sync_output();
        let format = match p.timed {
            Some(TimeFormat::Posix) => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            _ => match self.var(b"TIMEFORMAT") {
                Some(f) => f.to_vec(),
                None => b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".to_vec(),
            },
        };
        if !format.is_empty() {
            let text = render(&format, real);
            self.err(&text);
        }
        r
    }
}

/// CPU times are not known to a guest; they are reported as zero.
fn render(format: &[u8], real: Duration) -> Vec<u8> {
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
        let mut long = false;
        if let Some(d) = format.get(at).filter(|c| c.is_ascii_digit()) {
            precision = usize::from(d - b'0').min(6);
            at += 1;
        }
        if format.get(at) == Some(&b'l') {
            long = true;
            at += 1;
        }
        let Some(kind) = format.get(at) else { break };
        at += 1;
        let value = match kind {
            b'R' => real,
            b'U' | b'S' => Duration::ZERO,
            b'P' => {
                out.extend_from_slice(b"0.00");
                continue;
            }
            b'%' => {
                out.push(b'%');
                continue;
            }
            other => {
                out.extend_from_slice(&[b'%', *other]);
                continue;
            }
        };
        let micros = value.as_micros();
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        if long {
            out.extend_from_slice(format!("{}m{}", seconds / 60, seconds % 60).as_bytes());
        } else {
            out.extend_from_slice(seconds.to_string().as_bytes());
        }
        if precision > 0 {
            let digits = format!("{fraction:06}");
            out.push(b'.');
            out.extend_from_slice(&digits.as_bytes()[..precision]);
        }
        if long {
            out.push(b's');
        }
    }
    out.push(b'\n');
    out
}
