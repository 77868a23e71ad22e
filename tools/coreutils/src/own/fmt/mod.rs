//! `fmt` (GNU coreutils 9.1 manual): paragraphs with lines of about one width.
//!
//! | file | contents |
//! |---|---|
//! | `input` | paragraphs: prefixes, indents and words |
//! | `breaks` | where lines end: the choice of the lowest cost |
//!
//! Widths count bytes, as in GNU fmt 9.1. A paragraph of more than 1,000 words or 5,000 bytes is
//! written in pieces, so that memory is bounded.

mod breaks;
mod input;

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self as files, file_error};
use crate::common::number::{self, CountError};
use crate::common::quote;
use input::{FmtStop, ParagraphFormatter};

/// An option of `fmt`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FmtFlag {
    CrownMargin,
    Goal,
    Prefix,
    SplitOnly,
    TaggedParagraph,
    Uniform,
    Width,
}

const SPEC: Spec<FmtFlag> = Spec::new(
    "[-N] [OPTION]... [FILE]...",
    "Reflow paragraphs to lines of a width.",
    &[
        Opt::new(FmtFlag::CrownMargin, 'c', "crown-margin")
            .with_help("Keep the indents of the first two lines of a paragraph"),
        Opt::new(FmtFlag::Prefix, 'p', "prefix").with_argument(
            "STRING",
            "Reflow only lines that begin with STRING, and keep the prefix",
        ),
        Opt::new(FmtFlag::SplitOnly, 's', "split-only").with_help("Cut long lines, and join none"),
        Opt::new(FmtFlag::TaggedParagraph, 't', "tagged-paragraph")
            .with_help("Take two lines with the same indent as two paragraphs"),
        Opt::new(FmtFlag::Uniform, 'u', "uniform-spacing")
            .with_help("Put one space between words and two between sentences"),
        Opt::new(FmtFlag::Width, 'w', "width")
            .with_argument("N", "Lines of at most N characters (75); as the first option also -N"),
        Opt::new(FmtFlag::Goal, 'g', "goal")
            .with_argument("N", "Lines of about N characters (93% of the width)"),
    ],
)
.with_examples(&[("fmt -w 60 FILE", "Lines of at most 60 characters")])
.reads_standard_input();

/// The default width.
const WIDTH: usize = 75;
/// The largest width.
const MAX_WIDTH: usize = input::MAX_BYTES / 2;
/// The difference between a goal and the width that follows from it.
const GOAL_MARGIN: usize = 10;

/// The rule by which the indent of a paragraph's later lines is found, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParagraphShape {
    /// All lines have one indent.
    Plain,
    /// The first line has an indent of its own.
    Crown,
    /// The first line must have an indent of its own.
    Tagged,
    /// Each line is a paragraph.
    Line,
}

/// The command line as it is meant.
struct FmtOptions {
    shape: ParagraphShape,
    is_uniform: bool,
    /// The prefix without blanks around it.
    prefix: Vec<u8>,
    /// The number of blanks before the prefix, and its length with the blanks after it.
    prefix_indent: usize,
    prefix_length: usize,
    width: usize,
    goal: usize,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut args = args.to_vec();
    if let Some([b'-', b'0'..=b'9', ..]) = args.first().map(Vec::as_slice) {
        args[0].splice(..1, *b"--width=");
    }
    let p = SPEC.parse_or_exit(ctx, &args, Exit::FAILURE)?;
    let options = resolve_options(ctx, &p)?;
    let mut exit = Exit::SUCCESS;
    for file in files::or_stdin(p.operands) {
        let mut reader = match files::open_operand(&mut ctx.stdin, &ctx.cwd, &file) {
            Ok(reader) => reader,
            Err(e) if e.raw_os_error() == Some(box_sys::errno::code::EISDIR) => {
                ctx.error("read error");
                exit = Exit::FAILURE;
                continue;
            }
            Err(e) => {
                let why = format!(" for reading: {}", box_sys::error_text(&e));
                let name = quote::quote_in_sentence(&file);
                ctx.error_bytes(&[b"cannot open ", &name, why.as_bytes()]);
                exit = Exit::FAILURE;
                continue;
            }
        };
        let done = ParagraphFormatter::new(&options, &mut reader, &mut ctx.stdout).format();
        match done {
            Ok(()) => {}
            Err(FmtStop::Write) => break,
            Err(FmtStop::Read(e)) => exit = file_error(ctx, &file, &e),
        }
    }
    let _ = ctx.stdout.flush();
    Ok(exit)
}

/// Returns the options as they are meant; refuses widths out of range.
fn resolve_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<FmtFlag>) -> Result<FmtOptions, Exit> {
    let has = |flag| p.has_option(flag);
    let width = match p.last_value(FmtFlag::Width) {
        Some(text) => Some(parse_width(ctx, text, MAX_WIDTH)?),
        None => None,
    };
    let goal = match p.last_value(FmtFlag::Goal) {
        Some(text) => Some(parse_width(ctx, text, width.unwrap_or(WIDTH))?),
        None => None,
    };
    let width = width.or(goal.map(|goal| goal + GOAL_MARGIN)).unwrap_or(WIDTH);
    let shape = if has(FmtFlag::SplitOnly) {
        ParagraphShape::Line
    } else if has(FmtFlag::CrownMargin) {
        ParagraphShape::Crown
    } else if has(FmtFlag::TaggedParagraph) {
        ParagraphShape::Tagged
    } else {
        ParagraphShape::Plain
    };
    let prefix = p.last_value(FmtFlag::Prefix).unwrap_or_default();
    let prefix_indent = prefix.iter().take_while(|c| **c == b' ').count();
    let prefix = &prefix[prefix_indent..];
    let blanks = prefix.iter().rev().take_while(|c| **c == b' ').count();
    Ok(FmtOptions {
        shape,
        is_uniform: has(FmtFlag::Uniform),
        prefix: prefix[..prefix.len() - blanks].to_vec(),
        prefix_indent,
        prefix_length: prefix.len(),
        width,
        // 7 % less, rounded.
        goal: goal.unwrap_or(width * 187 / 200),
    })
}

/// Parses a width of at most `most`.
fn parse_width(ctx: &mut Ctx<'_>, text: &[u8], most: usize) -> Result<usize, Exit> {
    let why: &[u8] = match number::count(text) {
        Err(CountError::Invalid | CountError::Suffix) => b"",
        Ok(_) | Err(CountError::Overflow) => {
            match number::parse_bounded(text, (0, most.try_into().unwrap_or(i64::MAX))) {
                Ok(n) => return Ok(usize::try_from(n).unwrap_or(most)),
                Err(e) => e.suffix(),
            }
        }
    };
    ctx.error_bytes(&[b"invalid width: ", &quote::quote_in_sentence(text), why]);
    Err(Exit::FAILURE)
}
