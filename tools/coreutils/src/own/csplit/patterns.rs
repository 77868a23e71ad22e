//! Parses operands to patterns.

use box_applet::{Ctx, Exit};
use box_text::number::parse_integer;
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use crate::common::{input, quote};

/// The place where the input is cut.
pub(super) enum CutPlace {
    /// Before the line with this number, which is above zero.
    Line(u64),
    Match(Box<MatchPlace>),
}

/// A place that is given by a matching line.
pub(super) struct MatchPlace {
    pub regex: Regex,
    pub offset: i64,
    /// Whether the lines before the place are dropped.
    pub is_dropping: bool,
}

/// The number of times that a pattern is repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repetition {
    Times(u64),
    Endless,
}

/// A place, and the number of times that it is searched for.
pub(super) struct CutPattern {
    /// The operand, for messages.
    pub text: Vec<u8>,
    pub place: CutPlace,
    pub repetition: Repetition,
}

/// Parses all operands after the file.
///
/// # Errors
/// The status to end with, after the message about the first operand that is wrong.
pub(super) fn parse_patterns(
    ctx: &mut Ctx<'_>,
    operands: &[Vec<u8>],
) -> Result<Vec<CutPattern>, Exit> {
    let mut patterns = Vec::new();
    let mut rest = operands.iter().peekable();
    let mut last_line = 0;
    while let Some(text) = rest.next() {
        let place = match text.first() {
            Some(b'/' | b'%') => parse_match(ctx, text),
            _ => parse_line(ctx, text, &mut last_line),
        };
        let place = place.map_err(|why| input::report_failure(ctx, &[&why]))?;
        let repetition = match rest.next_if(|next| next.first() == Some(&b'{')) {
            Some(next) => {
                parse_repetition(next).map_err(|why| input::report_failure(ctx, &[&why]))?
            }
            None => Repetition::Times(0),
        };
        patterns.push(CutPattern { text: text.clone(), place, repetition });
    }
    Ok(patterns)
}

/// Parses a line number, which must not be smaller than that of an earlier operand.
fn parse_line(ctx: &mut Ctx<'_>, text: &[u8], last_line: &mut u64) -> Result<CutPlace, Vec<u8>> {
    let line = whole_number(text).and_then(|n| u64::try_from(n).ok());
    let Some(line) = line else {
        return Err([&quote::quote_as_text(text)[..], b": invalid pattern"].concat());
    };
    if line == 0 {
        return Err([text, b": line number must be greater than zero"].concat());
    }
    if line < *last_line {
        let shown = quote::quote_as_text(text);
        let after = format!(" is smaller than preceding line number, {last_line}");
        return Err([b"line number ", &shown[..], after.as_bytes()].concat());
    }
    if line == *last_line {
        let shown = quote::quote_as_text(text);
        let after = b" is the same as preceding line number";
        ctx.error_bytes(&[b"warning: line number ", &shown, after]);
    }
    *last_line = line;
    Ok(CutPlace::Line(line))
}

/// Parses `/REGEXP/OFFSET` or `%REGEXP%OFFSET`. The last delimiter ends the expression.
fn parse_match(ctx: &Ctx<'_>, text: &[u8]) -> Result<CutPlace, Vec<u8>> {
    let refused = |why: &str| [&quote::quote_as_text(text)[..], b": ", why.as_bytes()].concat();
    let delimiter = text.first().copied().unwrap_or_default();
    let end = text.iter().rposition(|byte| *byte == delimiter).filter(|end| *end > 0);
    let Some(end) = end else {
        let why = format!(": closing delimiter '{}' missing", char::from(delimiter));
        return Err([text, why.as_bytes()].concat());
    };
    let (pattern, offset) = (&text[1..end], &text[end + 1..]);
    let offset = match offset {
        [] => 0,
        offset => {
            whole_number(offset).ok_or_else(|| refused("integer expected after delimiter"))?
        }
    };
    let options = RegexOptions::new(RegexSyntax::Expr).utf8(ctx.env.is_utf8());
    let regex = Regex::new(pattern, &options)
        .map_err(|e| refused(&format!("invalid regular expression: {e}")))?;
    let is_dropping = delimiter == b'%';
    Ok(CutPlace::Match(Box::new(MatchPlace { regex, offset, is_dropping })))
}

/// Parses `{N}` or `{*}`.
fn parse_repetition(text: &[u8]) -> Result<Repetition, Vec<u8>> {
    let Some(inner) = text.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}")) else {
        let shown = quote::quote_as_text(text);
        return Err([&shown[..], b": '}' is required in repeat count"].concat());
    };
    if inner == b"*" {
        return Ok(Repetition::Endless);
    }
    match whole_number(inner).and_then(|n| u64::try_from(n).ok()) {
        Some(n) => Ok(Repetition::Times(n)),
        None => {
            // As in GNU's message, the closing brace comes after the quotes.
            let shown = quote::quote_as_text(&[b"{", inner].concat());
            Err([&shown[..], b"}: integer required between '{' and '}'"].concat())
        }
    }
}

fn whole_number(text: &[u8]) -> Option<i64> {
    let parsed = parse_integer(text, 10);
    let is_whole = parsed.len > 0 && parsed.len == text.len();
    let (n, is_out_of_range) = parsed.signed();
    (is_whole && !is_out_of_range).then_some(n)
}
