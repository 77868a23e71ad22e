//! The operands: what to copy and how.

use super::ebcdic::{ASCII_TO_EBCDIC, ASCII_TO_IBM, EBCDIC_TO_ASCII};
use crate::common::number::{self, NumberError};
use crate::common::quote;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Case {
    Keep,
    Lower,
    Upper,
}

pub(super) struct Options {
    pub(super) ibs: usize,
    pub(super) obs: usize,
    pub(super) cbs: usize,
    /// `bs` was given: short reads are written as they come.
    pub(super) direct: bool,
    pub(super) input: Option<Vec<u8>>,
    pub(super) output: Option<Vec<u8>>,
    /// In bytes or blocks.
    pub(super) skip: (u64, bool),
    pub(super) seek: (u64, bool),
    pub(super) count: Option<(u64, bool)>,
    pub(super) case: Case,
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
    pub(super) status: Status,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Status {
    Normal,
    None,
    NoTransfer,
    Progress,
}

/// A number as `dd` reads it: with suffixes and products.
fn size(text: &[u8]) -> Result<(u64, bool), NumberError> {
    if let Some(x) = text.iter().position(|c| *c == b'x') {
        // `0x10` is the product of nothing and ten, not hexadecimal: GNU warns and takes 0.
        let (a, ab) = size(&text[..x])?;
        let (b, bb) = size(&text[x + 1..])?;
        return a.checked_mul(b).map(|n| (n, ab || bb)).ok_or(NumberError::Overflow);
    }
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return Err(NumberError::Invalid);
    }
    let plain = |t: &[u8], f: u64| {
        number::decimal(t).ok_or(NumberError::Invalid)?.checked_mul(f).ok_or(NumberError::Overflow)
    };
    let n = match text {
        [d @ .., b'c'] => plain(d, 1)?,
        [d @ .., b'w'] => plain(d, 2)?,
        [d @ .., b'B'] if d.last().is_some_and(u8::is_ascii_digit) => {
            return Ok((plain(d, 1)?, true));
        }
        _ => number::size(text)?,
    };
    Ok((n, false))
}

pub(super) fn options(args: &[Vec<u8>]) -> Result<Options, Vec<u8>> {
    let mut o = Options {
        ibs: 512,
        obs: 512,
        cbs: 0,
        direct: false,
        input: None,
        output: None,
        skip: (0, false),
        seek: (0, false),
        count: None,
        case: Case::Keep,
        table: None,
        block: false,
        unblock: false,
        swab: false,
        pad: false,
        noerror: false,
        notrunc: false,
        nocreat: false,
        excl: false,
        sparse: false,
        sync: false,
        fullblock: false,
        append: false,
        status: Status::Normal,
    };
    let mut bs = None;
    let (mut skip_bytes, mut seek_bytes, mut count_bytes) = (false, false, false);
    let mut ended = false;
    for a in args {
        if a == b"--" && !ended {
            ended = true;
            continue;
        }
        let Some(eq) = a.iter().position(|c| *c == b'=') else {
            return Err([b"unrecognized operand ", quote::always(a).as_slice()].concat());
        };
        let (name, value) = (&a[..eq], &a[eq + 1..]);
        let bad = |e: NumberError| {
            [b"invalid number: ", quote::always(value).as_slice(), number::reason(e)].concat()
        };
        let number = || size(value).map_err(bad);
        let block = || -> Result<usize, Vec<u8>> {
            let n = number()?.0;
            if n == 0 {
                return Err(bad(NumberError::Invalid));
            }
            // Larger blocks than this cannot be held in the guest's memory.
            usize::try_from(n).ok().filter(|n| *n <= 1 << 30).ok_or_else(|| {
                let shown = quote::always(value);
                [b"invalid number: ", shown.as_slice(), b": Value too large for defined data type"]
                    .concat()
            })
        };
        match name {
            b"if" => o.input = Some(value.to_vec()),
            b"of" => o.output = Some(value.to_vec()),
            b"bs" => bs = Some(block()?),
            b"ibs" => o.ibs = block()?,
            b"obs" => o.obs = block()?,
            b"cbs" => o.cbs = block()?,
            b"skip" | b"iseek" => o.skip = number()?,
            b"seek" | b"oseek" => o.seek = number()?,
            b"count" => o.count = Some(number()?),
            b"status" => {
                o.status = match value {
                    b"none" => Status::None,
                    b"noxfer" => Status::NoTransfer,
                    b"progress" => Status::Progress,
                    _ => {
                        return Err(
                            [b"invalid status level: ", quote::always(value).as_slice()].concat()
                        );
                    }
                }
            }
            b"conv" => {
                for c in value.split(|c| *c == b',') {
                    match c {
                        b"ascii" => (o.table, o.unblock) = (Some(&EBCDIC_TO_ASCII), true),
                        b"ebcdic" => (o.table, o.block) = (Some(&ASCII_TO_EBCDIC), true),
                        b"ibm" => (o.table, o.block) = (Some(&ASCII_TO_IBM), true),
                        b"block" => o.block = true,
                        b"unblock" => o.unblock = true,
                        b"lcase" | b"ucase" => {
                            let case = if c == b"lcase" { Case::Lower } else { Case::Upper };
                            if o.case != Case::Keep && o.case != case {
                                return Err(b"cannot combine lcase and ucase".to_vec());
                            }
                            o.case = case;
                        }
                        b"swab" => o.swab = true,
                        b"sync" => o.pad = true,
                        b"noerror" => o.noerror = true,
                        b"notrunc" => o.notrunc = true,
                        b"nocreat" => o.nocreat = true,
                        b"excl" => o.excl = true,
                        b"sparse" => o.sparse = true,
                        b"fsync" | b"fdatasync" => o.sync = true,
                        _ => {
                            return Err(
                                [b"invalid conversion: ", quote::always(c).as_slice()].concat()
                            );
                        }
                    }
                }
            }
            b"iflag" | b"oflag" => {
                for f in value.split(|c| *c == b',') {
                    match (f, name == b"iflag") {
                        (b"fullblock", true) => o.fullblock = true,
                        (b"count_bytes", true) => count_bytes = true,
                        (b"skip_bytes", true) => skip_bytes = true,
                        (b"seek_bytes", false) => seek_bytes = true,
                        (b"append", false) => o.append = true,
                        (
                            b"append" | b"direct" | b"directory" | b"dsync" | b"sync" | b"nonblock"
                            | b"noatime" | b"nocache" | b"noctty" | b"nofollow" | b"binary"
                            | b"text" | b"cio",
                            _,
                        ) => {}
                        (_, input) => {
                            let what: &[u8] = if input {
                                b"invalid input flag: "
                            } else {
                                b"invalid output flag: "
                            };
                            return Err([what, &quote::always(f)].concat());
                        }
                    }
                }
            }
            _ => return Err([b"unrecognized operand ", quote::always(a).as_slice()].concat()),
        }
    }
    if let Some(n) = bs {
        (o.ibs, o.obs, o.direct) = (n, n, true);
    }
    o.skip.1 |= skip_bytes;
    o.seek.1 |= seek_bytes;
    if let Some(c) = &mut o.count {
        c.1 |= count_bytes;
    }
    if o.excl && o.nocreat {
        return Err(b"cannot combine excl and nocreat".to_vec());
    }
    // Without a record length there are no records to convert.
    if o.cbs == 0 {
        (o.block, o.unblock) = (false, false);
    }
    if o.block && o.unblock {
        return Err(b"cannot combine block and unblock".to_vec());
    }
    Ok(o)
}
