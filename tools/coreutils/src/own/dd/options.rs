//! The operands, which define the data to copy and how it is copied.

use super::ebcdic::{ASCII_TO_EBCDIC, ASCII_TO_IBM, EBCDIC_TO_ASCII};
use crate::common::number::{self, CountError, NumberError};
use crate::common::quote;

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum DdCase {
    #[default]
    Keep,
    Lower,
    Upper,
}

#[derive(Default)]
pub(super) struct DdOptions {
    pub(super) ibs: usize,
    pub(super) obs: usize,
    pub(super) cbs: usize,
    /// Whether `bs` was given, so that short reads are written as they come.
    pub(super) direct: bool,
    pub(super) input: Option<Vec<u8>>,
    pub(super) output: Option<Vec<u8>>,
    /// The number, and whether it counts bytes instead of blocks.
    pub(super) skip: (u64, bool),
    pub(super) seek: (u64, bool),
    pub(super) count: Option<(u64, bool)>,
    pub(super) case: DdCase,
    pub(super) table: Option<&'static [u8; 256]>,
    pub(super) block: bool,
    pub(super) unblock: bool,
    pub(super) swab: bool,
    pub(super) pad: bool,
    pub(super) noerror: bool,
    pub(super) notrunc: bool,
    pub(super) nocreat: bool,
    pub(super) excl: bool,
    pub(super) sparse: bool,
    pub(super) sync: bool,
    pub(super) fullblock: bool,
    pub(super) append: bool,
    pub(super) status: DdStatus,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum DdStatus {
    #[default]
    Normal,
    None,
    NoTransfer,
    Progress,
}

/// Parses a number with suffixes and products, as `dd` does.
fn parse_size(text: &[u8]) -> Result<(u64, bool), NumberError> {
    if let Some(x) = text.iter().position(|c| *c == b'x') {
        // `0x10` is the product of 0 and 10, not a hexadecimal number. GNU warns and uses 0.
        let (a, ab) = parse_size(&text[..x])?;
        let (b, bb) = parse_size(&text[x + 1..])?;
        return a.checked_mul(b).map(|n| (n, ab || bb)).ok_or(NumberError::Overflow);
    }
    let plain = |t: &[u8], f: u64| match number::count(t) {
        Ok(n) => n.checked_mul(f).ok_or(NumberError::Overflow),
        Err(CountError::Overflow) => Err(NumberError::Overflow),
        Err(_) => Err(NumberError::Invalid),
    };
    let n = match text {
        [d @ .., b'c'] => plain(d, 1)?,
        [d @ .., b'w'] => plain(d, 2)?,
        [d @ .., b'B'] if d.last().is_some_and(u8::is_ascii_digit) => {
            return Ok((plain(d, 1)?, true));
        }
        _ => number::parse_size(text)?,
    };
    Ok((n, false))
}

/// The counts that are in bytes without the suffix `B`, for example by `iflag=skip_bytes`.
#[derive(Default)]
struct InBytes {
    skip: bool,
    seek: bool,
    count: bool,
}

/// The reason why the operands are refused.
pub(super) enum DdFault {
    /// A word that dd does not know. A hint at the help follows the message.
    Word {
        what: &'static str,
        word: Vec<u8>,
    },
    Number {
        text: Vec<u8>,
        cause: NumberError,
    },
    /// Two operands contradict each other.
    Combination(&'static str),
}

impl DdFault {
    fn word(what: &'static str, word: &[u8]) -> DdFault {
        DdFault::Word { what, word: word.to_vec() }
    }

    /// Returns GNU's message.
    pub(super) fn message(&self) -> Vec<u8> {
        match self {
            DdFault::Word { what, word } => {
                [what.as_bytes(), b" ", &quote::quote_in_sentence(word)].concat()
            }
            DdFault::Number { text, cause } => {
                let shown = quote::quote_in_sentence(text);
                [b"invalid number: ", shown.as_slice(), number::error_suffix(*cause)].concat()
            }
            DdFault::Combination(names) => format!("cannot combine {names}").into_bytes(),
        }
    }
}

/// Parses the operands.
pub(super) fn parse_options(args: &[Vec<u8>]) -> Result<DdOptions, DdFault> {
    let mut o = DdOptions::new();
    let mut in_bytes = InBytes::default();
    let mut bs = None;
    let ends = args.iter().position(|a| a == b"--");
    for (_, a) in args.iter().enumerate().filter(|(i, _)| Some(*i) != ends) {
        let unknown = || DdFault::word("unrecognized operand", a);
        let eq = a.iter().position(|c| *c == b'=').ok_or_else(unknown)?;
        let (name, value) = (&a[..eq], &a[eq + 1..]);
        match name {
            b"if" => o.input = Some(value.to_vec()),
            b"of" => o.output = Some(value.to_vec()),
            b"bs" => bs = Some(parse_block_size(value)?),
            b"ibs" => o.ibs = parse_block_size(value)?,
            b"obs" => o.obs = parse_block_size(value)?,
            b"cbs" => o.cbs = parse_block_size(value)?,
            b"skip" | b"iseek" => o.skip = parse_amount(value)?,
            b"seek" | b"oseek" => o.seek = parse_amount(value)?,
            b"count" => o.count = Some(parse_amount(value)?),
            b"status" => o.status = parse_status(value)?,
            b"conv" => value.split(|c| *c == b',').try_for_each(|word| o.set_conversion(word))?,
            b"iflag" => {
                value.split(|c| *c == b',').try_for_each(|f| o.input_flag(f, &mut in_bytes))?;
            }
            b"oflag" => {
                value.split(|c| *c == b',').try_for_each(|f| o.output_flag(f, &mut in_bytes))?;
            }
            _ => return Err(unknown()),
        }
    }
    if let Some(n) = bs {
        (o.ibs, o.obs, o.direct) = (n, n, true);
    }
    o.skip.1 |= in_bytes.skip;
    o.seek.1 |= in_bytes.seek;
    if let Some(c) = &mut o.count {
        c.1 |= in_bytes.count;
    }
    o.check()?;
    Ok(o)
}

fn invalid_number(text: &[u8], cause: NumberError) -> DdFault {
    DdFault::Number { text: text.to_vec(), cause }
}

/// Parses a number of blocks, or of bytes if the flag says so.
fn parse_amount(text: &[u8]) -> Result<(u64, bool), DdFault> {
    match parse_size(text) {
        // Offsets in files are signed numbers, so larger values overflow.
        Ok((n, _)) if i64::try_from(n).is_err() => Err(invalid_number(text, NumberError::Overflow)),
        parsed => parsed.map_err(|e| invalid_number(text, e)),
    }
}

/// Parses the size of a block.
fn parse_block_size(text: &[u8]) -> Result<usize, DdFault> {
    match parse_amount(text)?.0 {
        0 => Err(invalid_number(text, NumberError::Invalid)),
        // A larger block would not fit in the guest's memory.
        n => usize::try_from(n)
            .ok()
            .filter(|n| *n <= 1 << 30)
            .ok_or_else(|| invalid_number(text, NumberError::Overflow)),
    }
}

fn parse_status(word: &[u8]) -> Result<DdStatus, DdFault> {
    Ok(match word {
        b"none" => DdStatus::None,
        b"noxfer" => DdStatus::NoTransfer,
        b"progress" => DdStatus::Progress,
        _ => return Err(DdFault::word("invalid status level:", word)),
    })
}

impl DdOptions {
    /// Applies one word of `conv=`.
    fn set_conversion(&mut self, word: &[u8]) -> Result<(), DdFault> {
        match word {
            b"ascii" => (self.table, self.unblock) = (Some(&EBCDIC_TO_ASCII), true),
            b"ebcdic" => (self.table, self.block) = (Some(&ASCII_TO_EBCDIC), true),
            b"ibm" => (self.table, self.block) = (Some(&ASCII_TO_IBM), true),
            b"block" => self.block = true,
            b"unblock" => self.unblock = true,
            b"lcase" | b"ucase" => {
                let case = if word == b"lcase" { DdCase::Lower } else { DdCase::Upper };
                if self.case != DdCase::Keep && self.case != case {
                    return Err(DdFault::Combination("lcase and ucase"));
                }
                self.case = case;
            }
            b"swab" => self.swab = true,
            b"sync" => self.pad = true,
            b"noerror" => self.noerror = true,
            b"notrunc" => self.notrunc = true,
            b"nocreat" => self.nocreat = true,
            b"excl" => self.excl = true,
            b"sparse" => self.sparse = true,
            b"fsync" | b"fdatasync" => self.sync = true,
            _ => return Err(DdFault::word("invalid conversion:", word)),
        }
        Ok(())
    }

    /// Applies one word of `iflag=`.
    fn input_flag(&mut self, word: &[u8], in_bytes: &mut InBytes) -> Result<(), DdFault> {
        match word {
            b"fullblock" => self.fullblock = true,
            b"count_bytes" => in_bytes.count = true,
            b"skip_bytes" => in_bytes.skip = true,
            word if is_ignored_flag(word) => {}
            _ => return Err(DdFault::word("invalid input flag:", word)),
        }
        Ok(())
    }

    /// Applies one word of `oflag=`.
    fn output_flag(&mut self, word: &[u8], in_bytes: &mut InBytes) -> Result<(), DdFault> {
        match word {
            b"seek_bytes" => in_bytes.seek = true,
            b"append" => self.append = true,
            word if is_ignored_flag(word) => {}
            _ => return Err(DdFault::word("invalid output flag:", word)),
        }
        Ok(())
    }

    /// Refuses combinations of operands that contradict each other.
    fn check(&mut self) -> Result<(), DdFault> {
        if self.excl && self.nocreat {
            return Err(DdFault::Combination("excl and nocreat"));
        }
        // Without a record length there are no records to convert.
        if self.cbs == 0 {
            (self.block, self.unblock) = (false, false);
        }
        if self.block && self.unblock {
            return Err(DdFault::Combination("block and unblock"));
        }
        Ok(())
    }
}

/// Returns whether a flag has no effect here.
fn is_ignored_flag(word: &[u8]) -> bool {
    let names: [&[u8]; 13] = [
        b"append",
        b"direct",
        b"directory",
        b"dsync",
        b"sync",
        b"nonblock",
        b"noatime",
        b"nocache",
        b"noctty",
        b"nofollow",
        b"binary",
        b"text",
        b"cio",
    ];
    names.contains(&word)
}

impl DdOptions {
    /// Returns the settings for no operands.
    fn new() -> DdOptions {
        DdOptions { ibs: 512, obs: 512, ..DdOptions::default() }
    }
}
