//! `numfmt` (GNU manual "numfmt invocation", coreutils 9.1).
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `value` | numbers with units |
//!
//! Deviation: numbers are exact, where GNU computes with 64 bits of mantissa.

mod options;
mod value;

use std::io::{BufRead, Write};

use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, quote};
use options::{NumfmtMode, NumfmtOptions, SPEC};
use value::{Invalid, NumfmtValue};

/// The state after a line.
enum LineEnd {
    Done,
    /// `--invalid=abort`
    Abort,
    /// Standard output was closed.
    Closed,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let o = match NumfmtOptions::from_options(&p) {
        Ok(o) => o,
        Err((message, hint)) => {
            ctx.error_bytes(&[&message]);
            if hint {
                input::usage_hint(ctx);
            }
            return Ok(Exit::FAILURE);
        }
    };
    let mut failed = false;
    let end = if p.operands.is_empty() {
        convert_lines(ctx, &o, &mut failed)
    } else {
        let mut end = LineEnd::Done;
        for operand in &p.operands {
            end = convert_line(ctx, &o, operand, true, &mut failed);
            if !matches!(end, LineEnd::Done) {
                break;
            }
        }
        end
    };
    Ok(match end {
        LineEnd::Abort => Exit::USAGE,
        LineEnd::Closed => Exit::FAILURE,
        LineEnd::Done if failed && o.mode == NumfmtMode::Fail => Exit::USAGE,
        LineEnd::Done => Exit::SUCCESS,
    })
}

fn convert_lines(ctx: &mut Ctx<'_>, o: &NumfmtOptions, failed: &mut bool) -> LineEnd {
    let mut text = Vec::new();
    let mut header = o.header;
    loop {
        text.clear();
        match ctx.stdin.read_until(o.end, &mut text) {
            Ok(0) => return LineEnd::Done,
            Ok(_) => {}
            Err(e) => {
                let reason = box_sys::error_text(&e);
                ctx.error(format_args!("error reading input: {reason}"));
                return LineEnd::Done;
            }
        }
        let ended = text.last() == Some(&o.end);
        if header > 0 {
            header -= 1;
            if ctx.stdout.write_all(&text).is_err() {
                return LineEnd::Closed;
            }
            continue;
        }
        let body = if ended { &text[..text.len() - 1] } else { &text[..] };
        match convert_line(ctx, o, body, ended, failed) {
            LineEnd::Done => {}
            other => return other,
        }
    }
}

/// Returns the end of the first field. Without a delimiter, the blanks before a field belong to it.
fn field_end(text: &[u8], delimiter: Option<u8>) -> usize {
    match delimiter {
        Some(d) => text.iter().position(|c| *c == d).unwrap_or(text.len()),
        None => {
            let blank = |c: &u8| matches!(c, b' ' | b'\t' | b'\n');
            let start = text.iter().take_while(|c| blank(c)).count();
            start + text[start..].iter().take_while(|c| !blank(c)).count()
        }
    }
}

fn convert_line(
    ctx: &mut Ctx<'_>,
    o: &NumfmtOptions,
    text: &[u8],
    ended: bool,
    failed: &mut bool,
) -> LineEnd {
    let mut rest = text;
    let mut number = 0;
    loop {
        number += 1;
        let end = field_end(rest, o.delimiter);
        let field = &rest[..end];
        let written = if o.fields.iter().any(|(a, b)| (*a..=*b).contains(&number)) {
            match convert_field(ctx, o, field, number) {
                Ok(text) => ctx.stdout.write_all(&text),
                Err(shown) => {
                    *failed = true;
                    if o.mode == NumfmtMode::Abort {
                        return LineEnd::Abort;
                    }
                    ctx.stdout.write_all(&shown)
                }
            }
        } else {
            ctx.stdout.write_all(field)
        };
        if written.is_err() {
            return LineEnd::Closed;
        }
        let more = end < rest.len();
        let last = match (more, ended) {
            (true, _) => Some(o.delimiter.unwrap_or(b' ')),
            (false, true) => Some(o.end),
            (false, false) => None,
        };
        if last.is_some_and(|c| ctx.stdout.write_all(&[c]).is_err()) {
            return LineEnd::Closed;
        }
        if !more {
            return LineEnd::Done;
        }
        rest = &rest[end + 1..];
    }
}

/// Converts a field. On failure it prints a message and returns the unconverted text as the error.
fn convert_field(
    ctx: &mut Ctx<'_>,
    o: &NumfmtOptions,
    field: &[u8],
    number: usize,
) -> Result<Vec<u8>, Vec<u8>> {
    let field = match field.strip_suffix(o.suffix.as_slice()) {
        Some(rest) if !rest.is_empty() => rest,
        _ => field,
    };
    let text = field.trim_ascii_start();
    let fail = |ctx: &mut Ctx<'_>, parts: &[&[u8]]| {
        if o.mode != NumfmtMode::Ignore {
            ctx.error_bytes(parts);
        }
        Err(field.to_vec())
    };
    let mut value = match NumfmtValue::parse(text, o.from) {
        Ok(v) => v,
        Err(why) => {
            let shown = quote::quote_in_sentence(text);
            let (before, after): (&[u8], &[u8]) = match why {
                Invalid::Number => (b"invalid number: ", b""),
                Invalid::TooLarge => (b"value too large to be converted: ", b""),
                Invalid::ForbiddenSuffix => {
                    (b"rejecting suffix in input: ", b" (consider using --from)")
                }
                Invalid::Suffix => (b"invalid suffix in input: ", b""),
                Invalid::MissingI => (b"missing 'i' suffix in input: ", b" (e.g Ki/Mi/Gi)"),
                Invalid::Rest(at) => {
                    let rest = quote::quote_in_sentence(&text[at..]);
                    return fail(ctx, &[b"invalid suffix in input ", &shown, b": ", &rest]);
                }
            };
            return fail(ctx, &[before, &shown, after]);
        }
    };
    value.convert_unit(o.from_unit, o.to_unit);
    let mut out = match o.style.write(&value) {
        Ok(text) => text.into_bytes(),
        Err(message) => return fail(ctx, &[message.as_bytes()]),
    };
    out.extend_from_slice(&o.suffix);
    let auto = o.delimiter.is_none() && (text.len() < field.len() || number > 1);
    let width = match o.width {
        Some(w) => w,
        None if auto => String::from_utf8_lossy(field).chars().count(),
        None => 0,
    };
    let pad = vec![b' '; width.saturating_sub(out.len())];
    let number = if o.left { [out, pad].concat() } else { [pad, out].concat() };
    Ok([o.before.as_slice(), &number, &o.after].concat())
}
