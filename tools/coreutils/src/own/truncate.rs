//! `truncate` (GNU 9.1): sets the size of files.
//!
//! Sizes are signed 64-bit numbers, as file sizes are. A number that does not fit is refused.

use std::fs::{File, OpenOptions};
use std::io;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::meta;

use crate::common::number::{self, NumberError};
use crate::common::{input, quote};

/// An option of `truncate`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TruncateFlag {
    Blocks,
    NoCreate,
    Reference,
    Size,
}

const SPEC: Spec<TruncateFlag> = Spec::new(
    "OPTION... FILE...",
    "Make each FILE as long as SIZE says: cut off its end, or add zeros to it. A FILE \
        that is not there is made.",
    &[
        Opt::new(TruncateFlag::NoCreate, 'c', "no-create").with_help("Make no files"),
        Opt::new(TruncateFlag::Blocks, 'o', "io-blocks")
            .with_help("Count SIZE in blocks of the file system, not in bytes"),
        Opt::new(TruncateFlag::Reference, 'r', "reference")
            .with_argument("RFILE", "Take the size of RFILE"),
        Opt::new(TruncateFlag::Size, 's', "size").with_argument("SIZE", "The new size"),
    ],
)
.with_examples(&[("truncate -s 0 FILE", "Empty a file")])
.with_footer(
    "A SIZE is a number, perhaps with a unit such as K (1024), KB (1000), M or G. \
        It may be preceded by + or - (more or less than now), < (at most), > (at least), / \
        (rounded down to a multiple) or % (rounded up).",
);

/// The relation of a new size to the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeRelation {
    Absolute,
    /// The number has a sign and is added to the old size.
    Added,
    AtMost,
    AtLeast,
    RoundedDown,
    RoundedUp,
}

/// The reason why an argument of `-s` is refused.
#[derive(Debug, PartialEq, Eq)]
enum SizeRefusal {
    SeveralRelations,
    DivisionByZero,
    /// The text is not a number.
    Number(Vec<u8>, NumberError),
}

/// The rule by which files get their new sizes.
struct TruncatePlan {
    relation: SizeRelation,
    number: i64,
    counts_blocks: bool,
    /// The size that replaces a file's old size.
    reference: Option<i64>,
    creates: bool,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut size = None;
    for text in p.all_values(TruncateFlag::Size) {
        size = Some(parse_size(text).map_err(|refusal| refuse_size(ctx, refusal))?);
    }
    let reference = p.last_value(TruncateFlag::Reference);
    let counts_blocks = p.has_option(TruncateFlag::Blocks);
    let usage = match (size, reference) {
        (None, None) => Some("you must specify either '--size' or '--reference'"),
        (Some((SizeRelation::Absolute, _)), Some(_)) => {
            Some("you must specify a relative '--size' with '--reference'")
        }
        (None, Some(_)) if counts_blocks => {
            Some("'--io-blocks' was specified but '--size' was not")
        }
        _ if p.operands.is_empty() => Some("missing file operand"),
        _ => None,
    };
    if let Some(text) = usage {
        return Err(input::usage_error(ctx, &[text.as_bytes()]));
    }
    let reference = match reference {
        Some(file) => Some(reference_size(ctx, file)?),
        None => None,
    };
    // A reference alone is the new size.
    let (relation, number) = size.unwrap_or((SizeRelation::Added, 0));
    let creates = !p.has_option(TruncateFlag::NoCreate);
    let plan = TruncatePlan { relation, number, counts_blocks, reference, creates };
    let mut exit = Exit::SUCCESS;
    for file in &p.operands {
        if !truncate_file(ctx, file, &plan) {
            exit = Exit::FAILURE;
        }
    }
    Ok(exit)
}

fn refuse_size(ctx: &mut Ctx<'_>, refusal: SizeRefusal) -> Exit {
    match refusal {
        SizeRefusal::SeveralRelations => {
            input::usage_error(ctx, &[b"multiple relative modifiers specified"])
        }
        SizeRefusal::DivisionByZero => input::report_failure(ctx, &[b"division by zero"]),
        SizeRefusal::Number(text, e) => {
            let shown = quote::quote_in_sentence(&text);
            let parts: [&[u8]; 3] = [b"Invalid number: ", &shown, number::error_suffix(e)];
            input::report_failure(ctx, &parts)
        }
    }
}

fn reference_size(ctx: &mut Ctx<'_>, file: &[u8]) -> Result<i64, Exit> {
    let stat = meta::stat(&ctx.path(file), true)
        .map_err(|e| input::report_cannot(ctx, "cannot stat", file, &e))?;
    Ok(i64::try_from(stat.size).unwrap_or(i64::MAX))
}

/// Parses an argument of `-s`.
fn parse_size(text: &[u8]) -> Result<(SizeRelation, i64), SizeRefusal> {
    let text = text.trim_ascii_start();
    let (relation, rest) = match text.split_first() {
        Some((b'<', rest)) => (SizeRelation::AtMost, rest),
        Some((b'>', rest)) => (SizeRelation::AtLeast, rest),
        Some((b'/', rest)) => (SizeRelation::RoundedDown, rest),
        Some((b'%', rest)) => (SizeRelation::RoundedUp, rest),
        Some((b'+' | b'-', _)) => (SizeRelation::Added, text),
        _ => (SizeRelation::Absolute, text),
    };
    let rest = rest.trim_ascii_start();
    let (is_negative, digits) = match rest.split_first() {
        Some((b'+' | b'-', _))
            if !matches!(relation, SizeRelation::Added | SizeRelation::Absolute) =>
        {
            return Err(SizeRefusal::SeveralRelations);
        }
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, rest),
    };
    let refused = |e| SizeRefusal::Number(rest.to_vec(), e);
    // `parse_size` accepts the unit `b`, but `truncate` does not.
    if digits.ends_with(b"b") {
        return Err(refused(NumberError::Invalid));
    }
    let size = i128::from(number::parse_size(digits).map_err(refused)?);
    let signed = if is_negative { -size } else { size };
    let number = i64::try_from(signed).map_err(|_| refused(NumberError::Overflow))?;
    if number == 0 && matches!(relation, SizeRelation::RoundedDown | SizeRelation::RoundedUp) {
        return Err(SizeRefusal::DivisionByZero);
    }
    Ok((relation, number))
}

/// Sets the size of a file; returns whether that succeeded. Prints a message if it failed.
fn truncate_file(ctx: &mut Ctx<'_>, name: &[u8], plan: &TruncatePlan) -> bool {
    let mut open = OpenOptions::new();
    open.write(true).create(plan.creates).truncate(false);
    let file = match open.open(ctx.path(name)) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound && !plan.creates => return true,
        Err(e) => {
            let (shown, why) = (quote::quote_in_sentence(name), box_sys::error_text(&e));
            let parts: [&[u8]; 4] = [b"cannot open ", &shown, b" for writing: ", why.as_bytes()];
            ctx.error_bytes(&parts);
            return false;
        }
    };
    let shown = String::from_utf8_lossy(&quote::quote_in_sentence(name)).into_owned();
    let problem = match new_size(&file, plan) {
        Err(SizeProblem::Stat(e)) => {
            format!("cannot fstat {shown}: {}", box_sys::error_text(&e))
        }
        Err(SizeProblem::Blocks(number, block)) => {
            format!("overflow in {number} * {block} byte blocks for file {shown}")
        }
        Err(SizeProblem::Extension) => format!("overflow extending size of file {shown}"),
        Err(SizeProblem::Rounding) => format!("overflow rounding up size of file {shown}"),
        Ok(size) => match file.set_len(size) {
            Ok(()) => return true,
            Err(e) => {
                format!("failed to truncate {shown} at {size} bytes: {}", box_sys::error_text(&e))
            }
        },
    };
    ctx.error(problem);
    false
}

/// The reason why no new size can be computed for a file.
enum SizeProblem {
    Stat(io::Error),
    /// The number of blocks and the size of one.
    Blocks(i64, i64),
    Extension,
    Rounding,
}

fn new_size(file: &File, plan: &TruncatePlan) -> Result<u64, SizeProblem> {
    let stat = meta::of_file(file).map_err(SizeProblem::Stat)?;
    let mut number = plan.number;
    if plan.counts_blocks {
        let block = i64::from(BLOCK_SIZE);
        number = number.checked_mul(block).ok_or(SizeProblem::Blocks(number, block))?;
    }
    let now = match plan.reference {
        Some(size) => size,
        None => i64::try_from(stat.size).unwrap_or(i64::MAX),
    };
    let size = match plan.relation {
        SizeRelation::Absolute => number,
        SizeRelation::Added => now.checked_add(number).ok_or(SizeProblem::Extension)?,
        SizeRelation::AtMost => now.min(number),
        SizeRelation::AtLeast => now.max(number),
        SizeRelation::RoundedDown => now - now % number,
        SizeRelation::RoundedUp => match now % number {
            0 => now,
            over => now.checked_add(number - over).ok_or(SizeProblem::Rounding)?,
        },
    };
    // A negative size becomes 0.
    Ok(u64::try_from(size).unwrap_or(0))
}

/// The number of bytes of a block, which is the preferred I/O size that `stat` reports here.
const BLOCK_SIZE: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::{NumberError, SizeRefusal, SizeRelation, parse_size};

    // Expected values: GNU coreutils 9.1.
    #[test]
    fn sizes() {
        let refused = |text: &str, e| Err(SizeRefusal::Number(text.into(), e));
        assert_eq!(parse_size(b" < 5"), Ok((SizeRelation::AtMost, 5)));
        assert_eq!(parse_size(b"-9223372036854775808"), Ok((SizeRelation::Added, i64::MIN)));
        assert_eq!(parse_size(b"KB"), Ok((SizeRelation::Absolute, 1000)));
        assert_eq!(
            parse_size(b"9223372036854775808"),
            refused("9223372036854775808", NumberError::Overflow)
        );
        assert_eq!(parse_size(b"-9E"), refused("-9E", NumberError::Overflow));
        assert_eq!(parse_size(b"+-5"), refused("+-5", NumberError::Invalid));
        assert_eq!(parse_size(b"1b"), refused("1b", NumberError::Invalid));
        assert_eq!(parse_size(b"<+5"), Err(SizeRefusal::SeveralRelations));
        assert_eq!(parse_size(b"%0"), Err(SizeRefusal::DivisionByZero));
    }
}
