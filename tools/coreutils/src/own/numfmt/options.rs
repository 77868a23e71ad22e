//! The command line: units, format, fields.

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};

use super::value::{NumfmtScale, NumfmtStyle, Round};
use crate::common::number::{self, CountError};
use crate::common::quote;

/// An option of `numfmt`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NumfmtFlag {
    Debug,
    Delimiter,
    Field,
    Format,
    From,
    FromUnit,
    Grouping,
    Header,
    Invalid,
    Padding,
    Round,
    Suffix,
    To,
    ToUnit,
    ZeroTerminated,
}

pub(super) const SPEC: Spec<NumfmtFlag> = Spec::new(
    "[OPTION]... [NUMBER]...",
    "Convert numbers to text with units, and back: operands, or standard input.",
    &[
        Opt::long(NumfmtFlag::Debug, "debug").with_help("Warn about input that is not valid"),
        Opt::new(NumfmtFlag::Delimiter, 'd', "delimiter")
            .with_argument("X", "Split fields at X instead of blanks"),
        Opt::long(NumfmtFlag::Field, "field")
            .with_argument("FIELDS", "Convert the numbers in these fields (1)"),
        Opt::long(NumfmtFlag::Format, "format")
            .with_argument("FORMAT", "Print numbers as FORMAT says"),
        Opt::long(NumfmtFlag::From, "from")
            .with_argument("UNIT", "Read numbers with units of this kind (none)"),
        Opt::long(NumfmtFlag::FromUnit, "from-unit")
            .with_argument("N", "Multiply input numbers by N (1)"),
        Opt::long(NumfmtFlag::Grouping, "grouping")
            .with_help("Group digits as the locale does (which has no groups here)"),
        Opt::long(NumfmtFlag::Header, "header")
            .may_take("N", "Copy the first N lines as they are (1)"),
        Opt::long(NumfmtFlag::Invalid, "invalid")
            .with_argument("MODE", "For invalid numbers: abort (default), fail, warn or ignore"),
        Opt::long(NumfmtFlag::Padding, "padding")
            .with_argument("N", "Pad to N characters; align to the left if N is negative"),
        Opt::long(NumfmtFlag::Round, "round").with_argument(
            "METHOD",
            "Round up, down, from-zero (default), towards-zero or nearest",
        ),
        Opt::long(NumfmtFlag::Suffix, "suffix")
            .with_argument("SUFFIX", "Add SUFFIX to numbers, and take it off in input"),
        Opt::long(NumfmtFlag::To, "to")
            .with_argument("UNIT", "Print numbers with units of this kind (none)"),
        Opt::long(NumfmtFlag::ToUnit, "to-unit")
            .with_argument("N", "Divide output numbers by N (1)"),
        Opt::new(NumfmtFlag::ZeroTerminated, 'z', "zero-terminated").with_help(words::NUL_LINES),
    ],
)
.with_examples(&[
    ("numfmt --to=iec 123456789", "Prints 118M"),
    ("ls -l | numfmt --to=si --field=5 --header", "Sizes with units in the fifth column"),
])
.with_footer(
    "UNIT: none, auto (1K = 1000, 1Ki = 1024), si (1K = 1000), iec (1K = 1024), iec-i \
        (1Ki = 1024).\nFIELDS: N, N-, N-M, -M, - (all), joined by commas.\nFORMAT: text \
        with one %[0]['][-][WIDTH][.PRECISION]f.",
);

/// The reaction to an invalid number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumfmtMode {
    Abort,
    Fail,
    Warn,
    Ignore,
}

/// The settings of a run.
#[derive(Debug)]
pub(super) struct NumfmtOptions {
    pub(super) from: NumfmtScale,
    pub(super) from_unit: u64,
    pub(super) to_unit: u64,
    pub(super) style: NumfmtStyle,
    pub(super) delimiter: Option<u8>,
    /// The ranges of fields, which count from 1; both ends are included.
    pub(super) fields: Vec<(usize, usize)>,
    pub(super) header: u64,
    pub(super) mode: NumfmtMode,
    /// The width; `None` stands for the width of the field.
    pub(super) width: Option<usize>,
    pub(super) left: bool,
    pub(super) suffix: Vec<u8>,
    /// The text before and after the number in the format.
    pub(super) before: Vec<u8>,
    pub(super) after: Vec<u8>,
    /// Whether grouping is requested; this locale has none.
    grouping: bool,
    pub(super) end: u8,
}

/// An error message, and whether the hint about `--help` follows it.
pub(super) type Wrong = (Vec<u8>, bool);

fn plain_error<T>(parts: &[&[u8]]) -> Result<T, Wrong> {
    Err((parts.concat(), false))
}

/// Returns the value of a word, which may be abbreviated unambiguously.
fn parse_word<T: Copy + PartialEq>(
    option: &str,
    text: &[u8],
    list: &[(&str, T)],
) -> Result<T, Wrong> {
    if let Some((_, v)) = list.iter().find(|(w, _)| w.as_bytes() == text) {
        return Ok(*v);
    }
    let near: Vec<T> =
        list.iter().filter(|(w, _)| w.as_bytes().starts_with(text)).map(|(_, v)| *v).collect();
    match near.as_slice() {
        [first, rest @ ..] if rest.iter().all(|v| v == first) => Ok(*first),
        found => {
            let what: &[u8] = if found.is_empty() { b"invalid" } else { b"ambiguous" };
            let mut m = [what, b" argument ", &quote::quote_in_sentence(text), b" for "].concat();
            m.extend_from_slice(&quote::quote_in_sentence(option.as_bytes()));
            m.extend_from_slice(b"\nValid arguments are:");
            list.iter().for_each(|(w, _)| m.extend_from_slice(format!("\n  - '{w}'").as_bytes()));
            Err((m, true))
        }
    }
}

/// Parses a unit size: `512`, `4K` (thousands), `4Ki`.
fn parse_unit(text: &[u8]) -> Result<u64, Wrong> {
    let wrong = || plain_error(&[b"invalid unit size: ", &quote::quote_in_sentence(text)]);
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let n = match digits {
        0 if !text.is_empty() => Some(1),
        _ => number::count(&text[..digits]).ok(),
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

fn parse_fields(text: &[u8]) -> Result<Vec<(usize, usize)>, Wrong> {
    let mut out = Vec::new();
    let end = |t: &[u8]| -> Result<Option<usize>, Wrong> {
        if t.is_empty() {
            return Ok(None);
        }
        let digits = t.iter().take_while(|c| c.is_ascii_digit()).count();
        let count = if digits == t.len() { number::count(t) } else { Err(CountError::Suffix) };
        match count {
            Ok(u64::MAX) | Err(CountError::Overflow) => {
                let shown = quote::quote_in_sentence(t);
                Err(([&b"field number "[..], &shown, b" is too large"].concat(), true))
            }
            Ok(0) => Err((b"fields are numbered from 1".to_vec(), true)),
            Ok(n) => Ok(Some(usize::try_from(n).unwrap_or(usize::MAX))),
            Err(_) => Err((
                [b"invalid field value ".as_slice(), &quote::quote_in_sentence(&t[digits..])]
                    .concat(),
                true,
            )),
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

/// Parses `--format`: text around one directive.
fn parse_format(o: &mut NumfmtOptions, text: &[u8]) -> Result<(), Wrong> {
    let shown = quote::quote_in_sentence(text);
    let Some((at, doubled)) = find_directive(text) else {
        return plain_error(&[b"format ", &shown, b" has no % directive"]);
    };
    // GNU 9.1 counts `%%` as one character of the text before the directive, but copies both.
    o.before = text[..at - doubled].to_vec();
    let mut rest = NumfmtDigits { rest: &text[at + 1..] };
    let mut zero = false;
    while let Some(c) = rest.next_of(b" '0") {
        o.grouping |= c == b'\'';
        zero |= c == b'0';
    }
    let left = rest.next_of(b"-").is_some();
    if let Some(width) = rest.take_number().filter(|w| *w > 0) {
        if width > 1 << 20 {
            return plain_error(&[b"invalid format ", &shown, b" (width overflow)"]);
        }
        if zero && !left {
            o.style.zeros = width;
        } else {
            o.width = Some(width);
            o.left |= left;
        }
    }
    if rest.rest.is_empty() {
        return plain_error(&[b"format ", &shown, b" ends in %"]);
    }
    if rest.next_of(b".").is_some() {
        let precision = match rest.next_of(b" \t+-") {
            Some(_) => None,
            None => Some(rest.take_number().unwrap_or(0)).filter(|n| *n <= 1 << 20),
        };
        if precision.is_none() {
            return plain_error(&[b"invalid precision in format ", &shown]);
        }
        o.style.precision = precision;
    }
    if rest.next_of(b"f").is_none() {
        return plain_error(&[
            b"invalid format ",
            &shown,
            b", directive must be %[0]['][-][N][.][N]f",
        ]);
    }
    o.after = rest.rest.to_vec();
    if find_directive(&o.after).is_some() {
        return plain_error(&[b"format ", &shown, b" has too many % directives"]);
    }
    Ok(())
}

/// Returns the position of the first `%` that is not doubled, and the number of doubled ones before
/// it.
fn find_directive(text: &[u8]) -> Option<(usize, usize)> {
    let (mut at, mut doubled) = (0, 0);
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            (b'%', Some(b'%')) => {
                at += 2;
                doubled += 1;
            }
            (b'%', _) => return Some((at, doubled)),
            _ => at += 1,
        }
    }
}

/// The unparsed rest of a directive.
struct NumfmtDigits<'t> {
    rest: &'t [u8],
}

impl NumfmtDigits<'_> {
    /// Takes the next character if it is one of these.
    fn next_of(&mut self, set: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first().filter(|(c, _)| set.contains(c))?;
        self.rest = rest;
        Some(*first)
    }

    /// Takes a number, if one follows.
    fn take_number(&mut self) -> Option<usize> {
        let len = self.rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        number::parse_decimal(digits).and_then(|n| usize::try_from(n).ok())
    }
}

const FROM: &[(&str, NumfmtScale)] = &[
    ("none", NumfmtScale::None),
    ("auto", NumfmtScale::Auto),
    ("si", NumfmtScale::Si),
    ("iec", NumfmtScale::Iec),
    ("iec-i", NumfmtScale::IecI),
];
const TO: &[(&str, NumfmtScale)] = &[
    ("none", NumfmtScale::None),
    ("si", NumfmtScale::Si),
    ("iec", NumfmtScale::Iec),
    ("iec-i", NumfmtScale::IecI),
];
const ROUNDS: &[(&str, Round)] = &[
    ("up", Round::Up),
    ("down", Round::Down),
    ("from-zero", Round::FromZero),
    ("towards-zero", Round::TowardsZero),
    ("nearest", Round::Nearest),
];
const MODES: &[(&str, NumfmtMode)] = &[
    ("abort", NumfmtMode::Abort),
    ("fail", NumfmtMode::Fail),
    ("warn", NumfmtMode::Warn),
    ("ignore", NumfmtMode::Ignore),
];

/// Parses an option that accepts one of several words.
fn parse_choice<T: Copy + PartialEq>(
    p: &ParsedOptions<NumfmtFlag>,
    flag: NumfmtFlag,
    option: &str,
    list: &[(&str, T)],
    default: T,
) -> Result<T, Wrong> {
    p.last_value(flag).map_or(Ok(default), |text| parse_word(option, text, list))
}

impl NumfmtOptions {
    /// Resolves the options to the settings of a run.
    pub(super) fn from_options(p: &ParsedOptions<NumfmtFlag>) -> Result<NumfmtOptions, Wrong> {
        let style = NumfmtStyle {
            scale: parse_choice(p, NumfmtFlag::To, "--to", TO, NumfmtScale::None)?,
            round: parse_choice(p, NumfmtFlag::Round, "--round", ROUNDS, Round::FromZero)?,
            precision: None,
            zeros: 0,
        };
        let (width, left) = parse_padding(p)?;
        if p.count_of(NumfmtFlag::Field) > 1 {
            return plain_error(&[b"multiple field specifications"]);
        }
        let mut o = NumfmtOptions {
            from: parse_choice(p, NumfmtFlag::From, "--from", FROM, NumfmtScale::None)?,
            from_unit: p.last_value(NumfmtFlag::FromUnit).map_or(Ok(1), parse_unit)?,
            to_unit: p.last_value(NumfmtFlag::ToUnit).map_or(Ok(1), parse_unit)?,
            style,
            delimiter: parse_delimiter(p)?,
            fields: p.last_value(NumfmtFlag::Field).map_or(Ok(vec![(1, 1)]), parse_fields)?,
            header: parse_header(p)?,
            mode: parse_choice(p, NumfmtFlag::Invalid, "--invalid", MODES, NumfmtMode::Abort)?,
            width,
            left,
            suffix: p.last_value(NumfmtFlag::Suffix).unwrap_or_default().to_vec(),
            before: Vec::new(),
            after: Vec::new(),
            grouping: p.has_option(NumfmtFlag::Grouping),
            end: if p.has_option(NumfmtFlag::ZeroTerminated) { 0 } else { b'\n' },
        };
        if let Some(text) = p.last_value(NumfmtFlag::Format) {
            if o.grouping {
                return plain_error(&[b"--grouping cannot be combined with --format"]);
            }
            parse_format(&mut o, text)?;
        }
        if o.grouping && o.style.scale != NumfmtScale::None {
            return plain_error(&[b"grouping cannot be combined with --to"]);
        }
        Ok(o)
    }
}

/// Parses `--padding`: a width, and whether numbers are aligned on the left.
fn parse_padding(p: &ParsedOptions<NumfmtFlag>) -> Result<(Option<usize>, bool), Wrong> {
    let Some(text) = p.last_value(NumfmtFlag::Padding) else { return Ok((None, false)) };
    let digits = text.strip_prefix(b"-");
    let width = number::count(digits.unwrap_or(text)).ok().and_then(|n| usize::try_from(n).ok());
    match width.filter(|w| (1..1 << 24).contains(w)) {
        Some(width) => Ok((Some(width), digits.is_some())),
        None => plain_error(&[b"invalid padding value ", &quote::quote_in_sentence(text)]),
    }
}

/// Parses the delimiter. An empty one never occurs in a line, so the line is one field.
fn parse_delimiter(p: &ParsedOptions<NumfmtFlag>) -> Result<Option<u8>, Wrong> {
    match p.last_value(NumfmtFlag::Delimiter) {
        None => Ok(None),
        Some([]) => Ok(Some(0)),
        Some([one]) => Ok(Some(*one)),
        Some(_) => plain_error(&[b"the delimiter must be a single character"]),
    }
}

/// Returns the number of lines that are copied unchanged.
fn parse_header(p: &ParsedOptions<NumfmtFlag>) -> Result<u64, Wrong> {
    match p.last_value(NumfmtFlag::Header) {
        None => Ok(u64::from(p.has_option(NumfmtFlag::Header))),
        Some(text) => match number::count(text) {
            Ok(n) if n > 0 => Ok(n),
            _ => plain_error(&[b"invalid header value ", &quote::quote_in_sentence(text)]),
        },
    }
}
