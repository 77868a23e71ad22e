//! Options of `split`.

use box_applet::opts::{Opt, Parsed, Spec};

use super::names::{Digits, Names};
use crate::common::number::{self, CountError};
use crate::common::quote;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
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

pub(super) const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [FILE [PREFIX]]",
    "Write pieces of FILE to PREFIXaa, PREFIXab and so on, 1000 lines in each unless\nthe options say otherwise; PREFIX is x.\n\nWith no FILE, or when FILE is -, read standard input.",
    &[
        Opt::new(Flag::SuffixLength, 'a', "suffix-length").takes("N", "make suffixes of N characters (default 2)"),
        Opt::long(Flag::AdditionalSuffix, "additional-suffix").takes("SUFFIX", "append SUFFIX to every name"),
        Opt::new(Flag::Bytes, 'b', "bytes").takes("SIZE", "put SIZE bytes into each file"),
        Opt::new(Flag::LineBytes, 'C', "line-bytes").takes("SIZE", "put as many lines as fit in SIZE bytes into each file"),
        Opt::new(Flag::Numeric, 'd', "").says("count in digits from 0, not in letters"),
        Opt::long(Flag::Numeric, "numeric-suffixes").may_take("FROM", "the same, from FROM"),
        Opt::new(Flag::Hexadecimal, 'x', "").says("count in hexadecimal digits from 0"),
        Opt::long(Flag::Hexadecimal, "hex-suffixes").may_take("FROM", "the same, from FROM"),
        Opt::new(Flag::Elide, 'e', "elide-empty-files").says("with -n, make no empty files"),
        Opt::long(Flag::Filter, "filter").takes("COMMAND", "write to COMMAND of the shell; the name is in $FILE"),
        Opt::new(Flag::Lines, 'l', "lines").takes("NUMBER", "put NUMBER lines into each file"),
        Opt::new(Flag::Number, 'n', "number").takes("CHUNKS", "make as many files as CHUNKS says"),
        Opt::new(Flag::Separator, 't', "separator").takes("SEP", "lines end with SEP instead of newline; '\\0' is NUL"),
        Opt::new(Flag::Unbuffered, 'u', "unbuffered").says("accepted: output is not held back"),
        Opt::long(Flag::Verbose, "verbose").says("say the name of each file before it is made"),
        Opt::new(Flag::Digit(b'0'), '0', ""),
        Opt::new(Flag::Digit(b'1'), '1', ""),
        Opt::new(Flag::Digit(b'2'), '2', ""),
        Opt::new(Flag::Digit(b'3'), '3', ""),
        Opt::new(Flag::Digit(b'4'), '4', ""),
        Opt::new(Flag::Digit(b'5'), '5', ""),
        Opt::new(Flag::Digit(b'6'), '6', ""),
        Opt::new(Flag::Digit(b'7'), '7', ""),
        Opt::new(Flag::Digit(b'8'), '8', ""),
        Opt::new(Flag::Digit(b'9'), '9', ""),
    ],
)
.after("CHUNKS is N for N files of about the same size, l/N without cutting lines, r/N for\nlines in turn; K/N, l/K/N and r/K/N write the K-th of them to standard output.\nSIZE may have a unit: K, M, G and so on are powers of 1024, KB, MB of 1000.");

/// Most files that a call makes by `-n`.
const MOST_CHUNKS: u64 = 10_000_000;

/// No name of a file is that long.
const LONGEST_SUFFIX: usize = 5000;

/// How `-n` cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Bytes,
    Lines,
    RoundRobin,
}

/// What goes into one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Lines(u64),
    Bytes(u64),
    LineBytes(u64),
    /// So many pieces; or only the one of a number from 1, which goes to standard output.
    Chunks {
        cut: Cut,
        count: u64,
        only: Option<u64>,
    },
}

pub(super) struct Options {
    pub way: Way,
    pub separator: u8,
    pub elide: bool,
    pub verbose: bool,
    pub filter: Option<Vec<u8>>,
    pub names: Names,
}

/// Why the options are refused.
pub(super) enum Refusal {
    /// With the hint at `--help`.
    Usage(Vec<u8>),
    Value(Vec<u8>),
}

impl Options {
    pub(super) fn new(p: &Parsed<Flag>) -> Result<Options, Refusal> {
        let way = way(p)?;
        let filter = p.last(Flag::Filter).map(<[u8]>::to_vec);
        if filter.is_some() && matches!(way, Way::Chunks { only: Some(_), .. }) {
            let text = b"--filter does not process a chunk extracted to stdout";
            return Err(Refusal::Usage(text.to_vec()));
        }
        Ok(Options {
            way,
            separator: separator(p)?,
            elide: p.has(Flag::Elide),
            verbose: p.has(Flag::Verbose),
            filter,
            names: names(p, way)?,
        })
    }
}

fn way(p: &Parsed<Flag>) -> Result<Way, Refusal> {
    let mut way = None;
    let mut digits: Option<Vec<u8>> = None;
    for (flag, value) in &p.options {
        let text = value.as_deref().unwrap_or_default();
        let new = match flag {
            Flag::Lines => Way::Lines(counted(text, "number of lines")?),
            Flag::Bytes => Way::Bytes(sized(text)?),
            Flag::LineBytes => Way::LineBytes(sized(text)?),
            Flag::Number => chunks(text)?,
            Flag::Digit(digit) => {
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
    let Some(digits) = digits else { return Ok(way.unwrap_or(Way::Lines(1000))) };
    if way.is_some() {
        return Err(more_than_one_way());
    }
    match number::count(&digits) {
        Ok(0) => Err(out_of_range("number of lines", &digits)),
        Ok(n) => Ok(Way::Lines(n)),
        Err(_) => {
            let shown = String::from_utf8_lossy(&digits).into_owned();
            let text = format!("line count option -{shown} is too large");
            Err(Refusal::Value(text.into_bytes()))
        }
    }
}

fn more_than_one_way() -> Refusal {
    Refusal::Usage(b"cannot split in more than one way".to_vec())
}

fn invalid(noun: &str, text: &[u8], why: &str) -> Refusal {
    let shown = quote::always(text);
    Refusal::Value([format!("invalid {noun}: ").as_bytes(), &shown, why.as_bytes()].concat())
}

fn out_of_range(noun: &str, text: &[u8]) -> Refusal {
    invalid(noun, text, ": Numerical result out of range")
}

/// A number that is at least 1.
fn counted(text: &[u8], noun: &str) -> Result<u64, Refusal> {
    match number::count(text) {
        Ok(0) => Err(out_of_range(noun, text)),
        Ok(n) => Ok(n),
        Err(CountError::Overflow) => {
            Err(invalid(noun, text, ": Value too large for defined data type"))
        }
        Err(_) => Err(invalid(noun, text, "")),
    }
}

fn sized(text: &[u8]) -> Result<u64, Refusal> {
    let noun = "number of bytes";
    match number::size(text) {
        Ok(0) => Err(out_of_range(noun, text)),
        Ok(n) => Ok(n),
        Err(e) => {
            let why = String::from_utf8_lossy(number::reason(e)).into_owned();
            Err(invalid(noun, text, &why))
        }
    }
}

/// `N`, `K/N`, and both behind `l/` or `r/`.
fn chunks(text: &[u8]) -> Result<Way, Refusal> {
    let (cut, rest) = match text {
        [b'l', b'/', rest @ ..] => (Cut::Lines, rest),
        [b'r', b'/', rest @ ..] => (Cut::RoundRobin, rest),
        _ => (Cut::Bytes, text),
    };
    let slash = rest.iter().position(|c| *c == b'/');
    let (only, count) = match slash {
        Some(at) => (Some(&rest[..at]).filter(|k| !k.is_empty()), &rest[at + 1..]),
        None => (None, rest),
    };
    let number = counted(count, "number of chunks")?;
    // No file is larger.
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
    Ok(Way::Chunks { cut, count: number, only })
}

fn separator(p: &Parsed<Flag>) -> Result<u8, Refusal> {
    let mut separator = None;
    for text in p.all(Flag::Separator) {
        let new = match text {
            [] => return Err(Refusal::Value(b"empty record separator".to_vec())),
            [byte] => *byte,
            b"\\0" => 0,
            _ => {
                let shown = quote::always(text);
                return Err(Refusal::Value([b"multi-character separator ", &*shown].concat()));
            }
        };
        if separator.is_some_and(|old| old != new) {
            return Err(Refusal::Value(b"multiple separator characters specified".to_vec()));
        }
        separator = Some(new);
    }
    Ok(separator.unwrap_or(b'\n'))
}

fn names(p: &Parsed<Flag>, way: Way) -> Result<Names, Refusal> {
    let more = p.last(Flag::AdditionalSuffix).unwrap_or_default();
    if more.contains(&b'/') {
        let shown = quote::always(more);
        let text = [b"invalid suffix ", &*shown, b", contains directory separator"].concat();
        return Err(Refusal::Usage(text));
    }
    let (digits, start) = start(p)?;
    let asked = match p.last(Flag::SuffixLength) {
        None => 0,
        Some(text) => match number::count(text) {
            Ok(n) => usize::try_from(n).unwrap_or(usize::MAX).min(LONGEST_SUFFIX),
            Err(CountError::Overflow) => {
                let why = ": Value too large for defined data type";
                return Err(invalid("suffix length", text, why));
            }
            Err(_) => return Err(invalid("suffix length", text, "")),
        },
    };
    let mut needed = 0;
    let is_fixed = matches!(way, Way::Chunks { .. });
    if let Way::Chunks { count, .. } = way {
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
        return Err(Refusal::Value(text.into_bytes()));
    }
    let length = if asked > 0 { asked } else { needed.max(2) };
    if start.len() > length {
        let text = b"numerical suffix start value is too large for the suffix length";
        return Err(Refusal::Usage(text.to_vec()));
    }
    let grows = asked == 0 && !is_fixed && start.is_empty();
    let prefix = p.operands.get(1).map_or(&b"x"[..], Vec::as_slice);
    Ok(Names::new(prefix, digits, (length, &start), grows, more))
}

/// What suffixes are counted in, and the first one where it is said.
fn start(p: &Parsed<Flag>) -> Result<(Digits, Vec<u8>), Refusal> {
    let (mut digits, mut start) = (Digits::Letters, Vec::new());
    for (flag, value) in &p.options {
        let noun = match flag {
            Flag::Numeric => {
                digits = Digits::Decimal;
                "numerical"
            }
            Flag::Hexadecimal => {
                digits = Digits::Hexadecimal;
                "hexadecimal"
            }
            _ => continue,
        };
        let Some(text) = value else { continue };
        if !text.iter().all(|digit| digits.alphabet().contains(digit)) {
            let why = format!(": invalid start value for {noun} suffix");
            return Err(Refusal::Usage([&quote::always(text), why.as_bytes()].concat()));
        }
        let zeros = text.iter().take_while(|digit| **digit == b'0').count();
        start = text[zeros.min(text.len().saturating_sub(1))..].to_vec();
    }
    Ok((digits, start))
}
