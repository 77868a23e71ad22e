//! Options of `split`.

use box_applet::opts::{Opt, ParsedOptions, Spec};

use super::names::{SplitDigits, SplitNames};
use crate::common::number::{self, CountError};
use crate::common::quote;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitFlag {
    AdditionalSuffix,
    Bytes,
    Digit(u8),
    Elide,
    Filter,
    Hexadecimal,
    LineBytes,
    Lines,
    Number,
    Numeric,
    Separator,
    SuffixLength,
    Unbuffered,
    Verbose,
}

pub(super) const SPEC: Spec<SplitFlag> = Spec::new(
    "[OPTION]... [FILE [PREFIX]]",
    "Cut FILE into files PREFIXaa, PREFIXab and so on, of 1000 lines each.",
    &[
        Opt::new(SplitFlag::SuffixLength, 'a', "suffix-length")
            .with_argument("N", "Make N characters long suffixes (2)"),
        Opt::long(SplitFlag::AdditionalSuffix, "additional-suffix")
            .with_argument("SUFFIX", "End every name with SUFFIX"),
        Opt::new(SplitFlag::Bytes, 'b', "bytes")
            .with_argument("SIZE", "Put SIZE bytes into each file"),
        Opt::new(SplitFlag::LineBytes, 'C', "line-bytes")
            .with_argument("SIZE", "Put whole lines of up to SIZE bytes into each file"),
        Opt::new(SplitFlag::Numeric, 'd', "").with_help("Count in digits from 0, not in letters"),
        Opt::long(SplitFlag::Numeric, "numeric-suffixes")
            .may_take("FROM", "Count in digits from FROM"),
        Opt::new(SplitFlag::Hexadecimal, 'x', "").with_help("Count in hexadecimal digits from 0"),
        Opt::long(SplitFlag::Hexadecimal, "hex-suffixes")
            .may_take("FROM", "Count in hexadecimal digits from FROM"),
        Opt::new(SplitFlag::Elide, 'e', "elide-empty-files")
            .with_help("With -n: make no empty files"),
        Opt::long(SplitFlag::Filter, "filter")
            .with_argument("COMMAND", "Write to the shell's COMMAND; the name is in $FILE"),
        Opt::new(SplitFlag::Lines, 'l', "lines")
            .with_argument("NUMBER", "Put NUMBER lines into each file"),
        Opt::new(SplitFlag::Number, 'n', "number")
            .with_argument("CHUNKS", "Make as many files as CHUNKS says"),
        Opt::new(SplitFlag::Separator, 't', "separator")
            .with_argument("SEP", "Lines end with SEP instead of a newline; '\\0' is NUL"),
        Opt::new(SplitFlag::Unbuffered, 'u', "unbuffered")
            .with_help("Accepted: output is not held back"),
        Opt::long(SplitFlag::Verbose, "verbose")
            .with_help("Print each name before the file is made"),
        Opt::new(SplitFlag::Digit(b'0'), '0', ""),
        Opt::new(SplitFlag::Digit(b'1'), '1', ""),
        Opt::new(SplitFlag::Digit(b'2'), '2', ""),
        Opt::new(SplitFlag::Digit(b'3'), '3', ""),
        Opt::new(SplitFlag::Digit(b'4'), '4', ""),
        Opt::new(SplitFlag::Digit(b'5'), '5', ""),
        Opt::new(SplitFlag::Digit(b'6'), '6', ""),
        Opt::new(SplitFlag::Digit(b'7'), '7', ""),
        Opt::new(SplitFlag::Digit(b'8'), '8', ""),
        Opt::new(SplitFlag::Digit(b'9'), '9', ""),
    ],
)
.with_examples(&[
    ("split -l 100 FILE part-", "Files of 100 lines: part-aa, part-ab, ..."),
    ("split -n l/4 FILE", "Four files, without cutting lines"),
])
.with_footer(
    "CHUNKS is N for N files of about the same size, l/N without cutting lines, r/N for \
        lines in turn; K/N, l/K/N and r/K/N write the K-th of them to standard output. SIZE \
        may have a unit: K, M, G and so on are powers of 1024, KB, MB of 1000. PREFIX is x \
        if none is given.",
)
.reads_standard_input();

/// The maximum number of files that a call with `-n` makes.
const MOST_CHUNKS: u64 = 10_000_000;

/// The maximum length of a suffix, which is longer than any file name may be.
const LONGEST_SUFFIX: usize = 5000;

/// The way `-n` divides the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitCut {
    Bytes,
    Lines,
    RoundRobin,
}

/// The rule by which input is divided into files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitWay {
    Lines(u64),
    Bytes(u64),
    LineBytes(u64),
    /// The input is divided into `count` pieces. If `only` is given, just the piece with this
    /// number, counted from 1, is written, to standard output.
    Chunks {
        cut: SplitCut,
        count: u64,
        only: Option<u64>,
    },
}

pub(super) struct SplitOptions {
    pub way: SplitWay,
    pub separator: u8,
    pub elide: bool,
    pub verbose: bool,
    pub filter: Option<Vec<u8>>,
    pub names: SplitNames,
}

/// The reason why the options are refused.
pub(super) enum SplitRefusal {
    /// The message is followed by the hint about `--help`.
    Usage(Vec<u8>),
    Value(Vec<u8>),
}

impl SplitOptions {
    pub(super) fn new(p: &ParsedOptions<SplitFlag>) -> Result<SplitOptions, SplitRefusal> {
        let way = way(p)?;
        let filter = p.last_value(SplitFlag::Filter).map(<[u8]>::to_vec);
        if filter.is_some() && matches!(way, SplitWay::Chunks { only: Some(_), .. }) {
            let text = b"--filter does not process a chunk extracted to stdout";
            return Err(SplitRefusal::Usage(text.to_vec()));
        }
        Ok(SplitOptions {
            way,
            separator: separator(p)?,
            elide: p.has_option(SplitFlag::Elide),
            verbose: p.has_option(SplitFlag::Verbose),
            filter,
            names: names(p, way)?,
        })
    }
}

fn way(p: &ParsedOptions<SplitFlag>) -> Result<SplitWay, SplitRefusal> {
    let mut way = None;
    let mut digits: Option<Vec<u8>> = None;
    for (flag, value) in &p.options {
        let text = value.as_deref().unwrap_or_default();
        let new = match flag {
            SplitFlag::Lines => SplitWay::Lines(counted(text, "number of lines")?),
            SplitFlag::Bytes => SplitWay::Bytes(sized(text)?),
            SplitFlag::LineBytes => SplitWay::LineBytes(sized(text)?),
            SplitFlag::Number => chunks(text)?,
            SplitFlag::Digit(digit) => {
                if digits.is_none() && way.is_some() {
                    return Err(more_than_one_way());
                }
                digits.get_or_insert_default().push(*digit);
                continue;
            }
            _ => continue,
        };
        if way.is_some() || digits.is_some() {
            return Err(more_than_one_way());
        }
        way = Some(new);
    }
    let Some(digits) = digits else { return Ok(way.unwrap_or(SplitWay::Lines(1000))) };
    if way.is_some() {
        return Err(more_than_one_way());
    }
    match number::count(&digits) {
        Ok(0) => Err(out_of_range("number of lines", &digits)),
        Ok(n) => Ok(SplitWay::Lines(n)),
        Err(_) => {
            let shown = String::from_utf8_lossy(&digits).into_owned();
            let text = format!("line count option -{shown} is too large");
            Err(SplitRefusal::Value(text.into_bytes()))
        }
    }
}

fn more_than_one_way() -> SplitRefusal {
    SplitRefusal::Usage(b"cannot split in more than one way".to_vec())
}

fn invalid(noun: &str, text: &[u8], why: &str) -> SplitRefusal {
    let shown = quote::quote_in_sentence(text);
    SplitRefusal::Value([format!("invalid {noun}: ").as_bytes(), &shown, why.as_bytes()].concat())
}

fn out_of_range(noun: &str, text: &[u8]) -> SplitRefusal {
    invalid(noun, text, ": Numerical result out of range")
}

/// Parses a number that is at least 1.
fn counted(text: &[u8], noun: &str) -> Result<u64, SplitRefusal> {
    match number::count(text) {
        Ok(0) => Err(out_of_range(noun, text)),
        Ok(n) => Ok(n),
        Err(CountError::Overflow) => {
            Err(invalid(noun, text, ": Value too large for defined data type"))
        }
        Err(_) => Err(invalid(noun, text, "")),
    }
}

fn sized(text: &[u8]) -> Result<u64, SplitRefusal> {
    let noun = "number of bytes";
    match number::parse_size(text) {
        Ok(0) => Err(out_of_range(noun, text)),
        // No file can be larger.
        Ok(n) if i64::try_from(n).is_err() => {
            Err(invalid(noun, text, ": Value too large for defined data type"))
        }
        Ok(n) => Ok(n),
        Err(e) => {
            let why = String::from_utf8_lossy(number::error_suffix(e)).into_owned();
            Err(invalid(noun, text, &why))
        }
    }
}

/// Parses `N` or `K/N`, each with an optional `l/` or `r/` before it.
fn chunks(text: &[u8]) -> Result<SplitWay, SplitRefusal> {
    let (cut, rest) = match text {
        [b'l', b'/', rest @ ..] => (SplitCut::Lines, rest),
        [b'r', b'/', rest @ ..] => (SplitCut::RoundRobin, rest),
        _ => (SplitCut::Bytes, text),
    };
    let slash = rest.iter().position(|c| *c == b'/');
    let (only, count) = match slash {
        Some(at) => (Some(&rest[..at]).filter(|k| !k.is_empty()), &rest[at + 1..]),
        None => (None, rest),
    };
    let number = counted(count, "number of chunks")?;
    // No file can be larger.
    if i64::try_from(number).is_err() {
        let why = ": Value too large for defined data type";
        return Err(invalid("number of chunks", count, why));
    }
    let only = match only {
        None => None,
        Some(text) => match counted(text, "chunk number")? {
            k if k > number => return Err(out_of_range("chunk number", text)),
            k => Some(k),
        },
    };
    if only.is_none() && number > MOST_CHUNKS {
        return Err(invalid("number of chunks", count, ": Cannot allocate memory"));
    }
    Ok(SplitWay::Chunks { cut, count: number, only })
}

fn separator(p: &ParsedOptions<SplitFlag>) -> Result<u8, SplitRefusal> {
    let mut separator = None;
    for text in p.all_values(SplitFlag::Separator) {
        let new = match text {
            [] => return Err(SplitRefusal::Value(b"empty record separator".to_vec())),
            [byte] => *byte,
            b"\\0" => 0,
            _ => {
                let shown = quote::quote_in_sentence(text);
                return Err(SplitRefusal::Value([b"multi-character separator ", &*shown].concat()));
            }
        };
        if separator.is_some_and(|old| old != new) {
            return Err(SplitRefusal::Value(b"multiple separator characters specified".to_vec()));
        }
        separator = Some(new);
    }
    Ok(separator.unwrap_or(b'\n'))
}

fn names(p: &ParsedOptions<SplitFlag>, way: SplitWay) -> Result<SplitNames, SplitRefusal> {
    let more = p.last_value(SplitFlag::AdditionalSuffix).unwrap_or_default();
    if more.contains(&b'/') {
        let shown = quote::quote_in_sentence(more);
        let text = [b"invalid suffix ", &*shown, b", contains directory separator"].concat();
        return Err(SplitRefusal::Usage(text));
    }
    let (digits, start) = start(p)?;
    let asked = match p.last_value(SplitFlag::SuffixLength) {
        None => 0,
        Some(text) => match number::count(text) {
            Ok(n) if i64::try_from(n).is_ok() => {
                usize::try_from(n).unwrap_or(usize::MAX).min(LONGEST_SUFFIX)
            }
            Ok(_) | Err(CountError::Overflow) => {
                let why = ": Value too large for defined data type";
                return Err(invalid("suffix length", text, why));
            }
            Err(_) => return Err(invalid("suffix length", text, "")),
        },
    };
    let mut needed = 0;
    let is_fixed = matches!(way, SplitWay::Chunks { .. });
    if let SplitWay::Chunks { count, .. } = way {
        let first = number::count(&start).ok().filter(|first| *first < count).unwrap_or(0);
        let mut last = (count - 1).saturating_add(first);
        let base = digits.alphabet().len() as u64;
        loop {
            needed += 1;
            last /= base;
            if last == 0 {
                break;
            }
        }
    }
    if (1..needed).contains(&asked) {
        let text = format!("the suffix length needs to be at least {needed}");
        return Err(SplitRefusal::Value(text.into_bytes()));
    }
    let length = if asked > 0 { asked } else { needed.max(2) };
    if start.len() > length {
        let text = b"numerical suffix start value is too large for the suffix length";
        return Err(SplitRefusal::Usage(text.to_vec()));
    }
    let grows = asked == 0 && !is_fixed && start.is_empty();
    let prefix = p.operands.get(1).map_or(&b"x"[..], Vec::as_slice);
    Ok(SplitNames::new(prefix, digits, (length, &start), grows, more))
}

/// Returns the alphabet of the suffixes, and the first suffix, which is empty if none is given.
fn start(p: &ParsedOptions<SplitFlag>) -> Result<(SplitDigits, Vec<u8>), SplitRefusal> {
    let (mut digits, mut start) = (SplitDigits::Letters, Vec::new());
    for (flag, value) in &p.options {
        let noun = match flag {
            SplitFlag::Numeric => {
                digits = SplitDigits::Decimal;
                "numerical"
            }
            SplitFlag::Hexadecimal => {
                digits = SplitDigits::Hexadecimal;
                "hexadecimal"
            }
            _ => continue,
        };
        let Some(text) = value else { continue };
        if !text.iter().all(|digit| digits.alphabet().contains(digit)) {
            let why = format!(": invalid start value for {noun} suffix");
            return Err(SplitRefusal::Usage(
                [&quote::quote_in_sentence(text), why.as_bytes()].concat(),
            ));
        }
        let zeros = text.iter().take_while(|digit| **digit == b'0').count();
        start = text[zeros.min(text.len().saturating_sub(1))..].to_vec();
    }
    Ok((digits, start))
}
