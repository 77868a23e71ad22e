//! `sleep` (POSIX XCU sleep; from GNU: fractions, suffixes `s m h d`, sums, `infinity`).

use std::time::Duration;

use box_applet::opts::Spec;
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, quote};

const SPEC: Spec = Spec::new(
    "NUMBER[SUFFIX]...",
    "Wait for NUMBER seconds; with several operands, for their sum.",
    &[],
)
.with_footer(
    "NUMBER may have a fraction. SUFFIX is s (seconds), m (minutes), h (hours) or d \
        (days).",
);

/// Parses a time in seconds with an optional unit; `None` if the text is not one.
pub(crate) fn parse_seconds(text: &[u8]) -> Option<f64> {
    let (number, used) = box_text::number::parse_float(text);
    let factor = match text.get(used..)? {
        b"" | b"s" => 1.0,
        b"m" => 60.0,
        b"h" => 3600.0,
        b"d" => 86_400.0,
        _ => return None,
    };
    (used > 0 && number >= 0.0).then_some(number * factor)
}

/// Converts seconds to a duration; a value beyond the range becomes the longest duration.
pub(crate) fn to_duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    let (mut total, mut bad) = (0.0, false);
    for o in &p.operands {
        match parse_seconds(o) {
            Some(s) => total += s,
            None => {
                ctx.error_bytes(&[b"invalid time interval ", &quote::quote_in_sentence(o)]);
                bad = true;
            }
        }
    }
    if bad {
        input::usage_hint(ctx);
        return Ok(Exit::FAILURE);
    }
    let _ = std::io::Write::flush(&mut ctx.stdout);
    // A long wait is done in pieces, because a host may refuse a span of centuries.
    let mut left = to_duration(total);
    while !left.is_zero() {
        let piece = left.min(Duration::from_secs(86_400));
        std::thread::sleep(piece);
        left = left.saturating_sub(piece);
    }
    Ok(Exit::SUCCESS)
}
