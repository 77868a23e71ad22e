//! The command line: units, format, fields.

use box_applet::opts::{Opt, Parsed, Spec};

use super::value::{Round, Scale, Style};
use crate::common::{number, quote};

pub(super) const SPEC: Spec = Spec {
    usage: "[OPTION]... [NUMBER]...",
    about: "Reformat NUMBER(s), or the numbers from standard input if none are specified.",
    options: &[
        Opt::flag('\u{1}', "debug", "print warnings about invalid input").long_only(),
        Opt::value('d', "delimiter", "X", "use X instead of whitespace for field delimiter"),
        Opt::value(
            '\u{2}',
            "field",
            "FIELDS",
            "replace the numbers in these input fields (default=1)",
        )
        .long_only(),
        Opt::value('\u{3}', "format", "FORMAT", "use printf style floating-point FORMAT")
            .long_only(),
        Opt::value('\u{4}', "from", "UNIT", "auto-scale input numbers to UNITs; default is 'none'")
            .long_only(),
        Opt::value(
            '\u{5}',
            "from-unit",
            "N",
            "specify the input unit size (instead of the default 1)",
        )
        .long_only(),
        Opt::flag(
            '\u{6}',
            "grouping",
            "use locale-defined grouping of digits (none in this locale)",
        )
        .long_only(),
        Opt::optional(
            '\u{7}',
            "header",
            "N",
            "print (without converting) the first N header lines (1)",
        )
        .long_only(),
        Opt::value(
            '\u{8}',
            "invalid",
            "MODE",
            "failure mode for invalid numbers: abort (default), fail, warn, ignore",
        )
        .long_only(),
        Opt::value(
            '\u{b}',
            "padding",
            "N",
            "pad the output to N characters; negative N left-aligns",
        )
        .long_only(),
        Opt::value(
            '\u{c}',
            "round",
            "METHOD",
            "up, down, from-zero (default), towards-zero, nearest",
        )
        .long_only(),
        Opt::value(
            '\u{e}',
            "suffix",
            "SUFFIX",
            "add SUFFIX to output numbers, and accept it in input",
        )
        .long_only(),
        Opt::value('\u{f}', "to", "UNIT", "auto-scale output numbers to UNITs").long_only(),
        Opt::value('\u{10}', "to-unit", "N", "the output unit size (instead of the default 1)")
            .long_only(),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    after: "UNIT: none, auto (1K = 1000, 1Ki = 1024), si (1K = 1000), iec (1K = 1024), iec-i (1Ki = 1024).\nFIELDS: N, N-, N-M, -M, - (all), joined by commas.\nFORMAT: text with one %[0]['][-][WIDTH][.PRECISION]f.",
    posix_order: false,
};

/// What is done about an invalid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Abort,
    Fail,
    Warn,
    Ignore,
}

/// What to do.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) from: Scale,
    pub(super) from_unit: u64,
    pub(super) to_unit: u64,
    pub(super) style: Style,
    pub(super) delimiter: Option<u8>,
    /// From 1, both ends included.
    pub(super) fields: Vec<(usize, usize)>,
    pub(super) header: u64,
    pub(super) mode: Mode,
    /// `None`: as wide as the field was.
    pub(super) width: Option<usize>,
    pub(super) left: bool,
    pub(super) suffix: Vec<u8>,
    /// Text of the format around the number.
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    /// Asked for; this locale has none.
    grouping: bool,
    pub(super) end: u8,
}

/// A message, and whether the hint about `--help` follows.
pub(super) type Wrong = (Vec<u8>, bool);

fn plain<T>(parts: &[&[u8]]) -> Result<T, Wrong> {
    Err((parts.concat(), false))
}

/// One of a list of words, or an unambiguous beginning.
fn word<T: Copy + PartialEq>(option: &str, text: &[u8], list: &[(&str, T)]) -> Result<T, Wrong> {
    if let Some((_, v)) = list.iter().find(|(w, _)| w.as_bytes() == text) {
        return Ok(*v);
    }
    let near: Vec<T> =
        list.iter().filter(|(w, _)| w.as_bytes().starts_with(text)).map(|(_, v)| *v).collect();
    match near.as_slice() {
        [first, rest @ ..] if rest.iter().all(|v| v == first) => Ok(*first),
        found => {
            let what: &[u8] = if found.is_empty() { b"invalid" } else { b"ambiguous" };
            let mut m = [what, b" argument ", &quote::always(text), b" for "].concat();
            m.extend_from_slice(&quote::always(option.as_bytes()));
            m.extend_from_slice(b"\nValid arguments are:");
            list.iter().for_each(|(w, _)| m.extend_from_slice(format!("\n  - '{w}'").as_bytes()));
            Err((m, true))
        }
    }
}

/// A unit size: `512`, `4K` (thousands), `4Ki`.
fn unit(text: &[u8]) -> Result<u64, Wrong> {
    let wrong = || plain(&[b"invalid unit size: ", &quote::always(text)]);
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let n = match digits {
        0 if !text.is_empty() => Some(1),
        _ => number::decimal(&text[..digits]),
    };
    let Some(n) = n else { return wrong() };
    let factor = match &text[digits..] {
        [] => Some(1),
        [letter, rest @ ..] => {
            let base: Option<u64> = match rest {
                [] => Some(1000),
                b"i" => Some(1024),
                _ => None,
            };
            let exponent = b"KMGTPEZY".iter().position(|u| u == letter);
            base.zip(exponent).and_then(|(b, e)| b.checked_pow(e as u32 + 1))
        }
    };
    match factor.and_then(|f| n.checked_mul(f)).filter(|n| *n > 0) {
        Some(n) => Ok(n),
        None => wrong(),
    }
}

fn fields(text: &[u8]) -> Result<Vec<(usize, usize)>, Wrong> {
    let mut out = Vec::new();
    let end = |t: &[u8]| -> Result<Option<usize>, Wrong> {
        if t.is_empty() {
            return Ok(None);
        }
        match number::decimal(t).filter(|n| *n < u64::MAX) {
            Some(0) => Err((b"fields are numbered from 1".to_vec(), true)),
            Some(n) => Ok(Some(usize::try_from(n).unwrap_or(usize::MAX))),
            None => Err(([b"invalid field value ".as_slice(), &quote::always(t)].concat(), true)),
        }
    };
    for part in text.split(|c| matches!(c, b',' | b' ' | b'\t')) {
        let range = match part.iter().position(|c| *c == b'-') {
            Some(at) => {
                (end(&part[..at])?.unwrap_or(1), end(&part[at + 1..])?.unwrap_or(usize::MAX))
            }
            None => match end(part)? {
                Some(n) => (n, n),
                None => return Err((b"fields are numbered from 1".to_vec(), true)),
            },
        };
        if range.1 < range.0 {
            return Err((b"invalid decreasing range".to_vec(), true));
        }
        out.push(range);
    }
    Ok(out)
}

/// The parts of `--format`.
fn format(o: &mut Options, text: &[u8]) -> Result<(), Wrong> {
    let shown = quote::always(text);
    let (mut at, mut doubled) = (0, 0);
    loop {
        match (text.get(at), text.get(at + 1)) {
            (None, _) => return plain(&[b"format ", &shown, b" has no % directive"]),
            (Some(b'%'), Some(b'%')) => {
                at += 2;
                doubled += 1;
            }
            (Some(b'%'), _) => break,
            _ => at += 1,
        }
    }
    // GNU 9.1 counts `%%` as one character of the text before the directive, but copies both.
    o.before = text[..at - doubled].to_vec();
    at += 1;
    let (mut zero, mut left) = (false, false);
    while let Some(c) = text.get(at) {
        match c {
            b' ' => {}
            b'\'' => o.grouping = true,
            b'0' => zero = true,
            _ => break,
        }
        at += 1;
    }
    if text.get(at) == Some(&b'-') {
        left = true;
        at += 1;
    }
    let count = |at: &mut usize| -> Option<usize> {
        let from = *at;
        while text.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        number::decimal(&text[from..*at]).and_then(|n| usize::try_from(n).ok())
    };
    let width = count(&mut at).filter(|w| *w > 0);
    if let Some(width) = width {
        if width > 1 << 20 {
            return plain(&[b"invalid format ", &shown, b" (width overflow)"]);
        }
        if zero && !left {
            o.style.zeros = width;
        } else {
            o.width = Some(width);
            o.left |= left;
        }
    }
    if at == text.len() {
        return plain(&[b"format ", &shown, b" ends in %"]);
    }
    if text.get(at) == Some(&b'.') {
        at += 1;
        if text.get(at).is_some_and(|c| matches!(c, b' ' | b'\t' | b'+' | b'-')) {
            return plain(&[b"invalid precision in format ", &shown]);
        }
        let precision = count(&mut at).unwrap_or(0);
        if precision > 1 << 20 {
            return plain(&[b"invalid precision in format ", &shown]);
        }
        o.style.precision = Some(precision);
    }
    if text.get(at) != Some(&b'f') {
        return plain(&[b"invalid format ", &shown, b", directive must be %[0]['][-][N][.][N]f"]);
    }
    at += 1;
    o.after = text[at..].to_vec();
    let mut rest = o.after.iter();
    while let Some(c) = rest.next() {
        if *c == b'%' && rest.next() != Some(&b'%') {
            return plain(&[b"format ", &shown, b" has too many % directives"]);
        }
    }
    Ok(())
}

impl Options {
    pub(super) fn of(p: &Parsed) -> Result<Options, Wrong> {
        use Scale as S;
        const FROM: &[(&str, Scale)] = &[
            ("none", S::None),
            ("auto", S::Auto),
            ("si", S::Si),
            ("iec", S::Iec),
            ("iec-i", S::IecI),
        ];
        const TO: &[(&str, Scale)] =
            &[("none", S::None), ("si", S::Si), ("iec", S::Iec), ("iec-i", S::IecI)];
        const ROUNDS: &[(&str, Round)] = &[
            ("up", Round::Up),
            ("down", Round::Down),
            ("from-zero", Round::FromZero),
            ("towards-zero", Round::TowardsZero),
            ("nearest", Round::Nearest),
        ];
        const MODES: &[(&str, Mode)] = &[
            ("abort", Mode::Abort),
            ("fail", Mode::Fail),
            ("warn", Mode::Warn),
            ("ignore", Mode::Ignore),
        ];
        let style = Style { scale: S::None, round: Round::FromZero, precision: None, zeros: 0 };
        let mut o = Options {
            from: S::None,
            from_unit: 1,
            to_unit: 1,
            style,
            delimiter: None,
            fields: vec![(1, 1)],
            header: 0,
            mode: Mode::Abort,
            width: None,
            left: false,
            suffix: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            grouping: p.has('\u{6}'),
            end: if p.has('z') { 0 } else { b'\n' },
        };
        if let Some(t) = p.last('\u{4}') {
            o.from = word("--from", t, FROM)?;
        }
        if let Some(t) = p.last('\u{f}') {
            o.style.scale = word("--to", t, TO)?;
        }
        if let Some(t) = p.last('\u{c}') {
            o.style.round = word("--round", t, ROUNDS)?;
        }
        if let Some(t) = p.last('\u{8}') {
            o.mode = word("--invalid", t, MODES)?;
        }
        if let Some(t) = p.last('\u{5}') {
            o.from_unit = unit(t)?;
        }
        if let Some(t) = p.last('\u{10}') {
            o.to_unit = unit(t)?;
        }
        if let Some(t) = p.last('\u{b}') {
            let (left, digits) = match t.strip_prefix(b"-") {
                Some(d) => (true, d),
                None => (false, t),
            };
            let width = number::decimal(digits).and_then(|n| usize::try_from(n).ok());
            match width.filter(|w| (1..1 << 24).contains(w)) {
                Some(w) => (o.width, o.left) = (Some(w), left),
                None => return plain(&[b"invalid padding value ", &quote::always(t)]),
            }
        }
        if p.count('\u{2}') > 1 {
            return plain(&[b"multiple field specifications"]);
        }
        if let Some(t) = p.last('\u{2}') {
            o.fields = fields(t)?;
        }
        if let Some(t) = p.last('d') {
            if t.len() > 1 {
                return plain(&[b"the delimiter must be a single character"]);
            }
            // An empty one never occurs: the line is one field.
            o.delimiter = Some(t.first().copied().unwrap_or(0));
        }
        if let Some(t) = p.last('\u{e}') {
            o.suffix = t.to_vec();
        }
        if p.has('\u{7}') {
            o.header = match p.last('\u{7}') {
                None => 1,
                Some(t) => match number::decimal(t).filter(|n| *n > 0) {
                    Some(n) => n,
                    None => return plain(&[b"invalid header value ", &quote::always(t)]),
                },
            };
        }
        if let Some(t) = p.last('\u{3}') {
            if p.has('\u{6}') {
                return plain(&[b"--grouping cannot be combined with --format"]);
            }
            format(&mut o, t)?;
        }
        if o.grouping && o.style.scale != S::None {
            return plain(&[b"grouping cannot be combined with --to"]);
        }
        Ok(o)
    }
}
