//! `csplit` (POSIX XCU csplit; GNU 9.1): patterns by [`box_text::regex`].
//!
//! | file | contents |
//! |---|---|
//! | `patterns` | parsing of operands to patterns |
//! | `suffix` | names of the pieces |
//! | `pieces` | the files of the pieces |
//! | `lines` | the input, whose lines may be held back |
//! | `splitter` | applying the patterns, one after the other |
//!
//! Lines are written as they are read. Only a negative offset holds lines back, as many as its
//! value.

mod lines;
mod patterns;
mod pieces;
mod splitter;
mod suffix;

use std::io;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, number, quote};
use lines::CsplitLines;
use pieces::OutputPieces;
use splitter::Splitter;
use suffix::SuffixFormat;

/// An option of `csplit`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CsplitFlag {
    Digits,
    ElideEmpty,
    Keep,
    Prefix,
    Quiet,
    SuffixFormat,
    SuppressMatched,
}

const SPEC: Spec<CsplitFlag> = Spec::new(
    "[OPTION]... FILE PATTERN...",
    "Cut FILE where its lines match PATTERNs, into files xx00, xx01 and so on.",
    &[
        Opt::new(CsplitFlag::SuffixFormat, 'b', "suffix-format")
            .with_argument("FORMAT", "End names with a number in this printf FORMAT"),
        Opt::new(CsplitFlag::Prefix, 'f', "prefix")
            .with_argument("PREFIX", "Begin names with PREFIX instead of xx"),
        Opt::new(CsplitFlag::Keep, 'k', "keep-files").with_help("After an error keep the files"),
        Opt::long(CsplitFlag::SuppressMatched, "suppress-matched")
            .with_help("Leave out the lines at which files are cut"),
        Opt::new(CsplitFlag::Digits, 'n', "digits")
            .with_argument("DIGITS", "End names with DIGITS digits instead of two"),
        Opt::new(CsplitFlag::Quiet, 's', "quiet").with_help("Print no sizes"),
        Opt::long(CsplitFlag::Quiet, "silent").with_help(words::SAME),
        Opt::new(CsplitFlag::Quiet, 'q', "").with_help(words::SAME),
        Opt::new(CsplitFlag::ElideEmpty, 'z', "elide-empty-files")
            .with_help("Make no files without contents"),
    ],
)
.with_examples(&[("csplit -z FILE '/^# /' '{*}'", "A file for each heading")])
.with_footer(
    "A PATTERN is one of:

  INTEGER            cut before the line of this number
  /REGEXP/[OFFSET]   cut before the next line that matches
  %REGEXP%[OFFSET]   the same, but drop what comes before
  {INTEGER}          repeat the last pattern INTEGER times
  {*}                use the last pattern as long as there is input

OFFSET is a number of lines after the match, or before it with -. A FILE named - is
standard input.",
);

/// The options for cuts, and for the files after an error.
struct CsplitOptions {
    is_quiet: bool,
    elides_empty: bool,
    suppresses_matched: bool,
    keeps_files: bool,
}

/// The reason why splitting stops early.
enum CsplitStop {
    Read(io::Error),
    /// An error with this message, which is not yet printed.
    Problem(Vec<u8>),
    /// A piece could not be created or written; the message has been printed.
    Ended(Exit),
}

impl From<io::Error> for CsplitStop {
    fn from(e: io::Error) -> CsplitStop {
        CsplitStop::Read(e)
    }
}

impl From<Exit> for CsplitStop {
    fn from(exit: Exit) -> CsplitStop {
        CsplitStop::Ended(exit)
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let digits = digits_or_exit(ctx, &p)?;
    let [name, operands @ ..] = p.operands.as_slice() else {
        return Err(input::missing_operand(ctx, None));
    };
    if operands.is_empty() {
        return Err(input::missing_operand(ctx, Some(name)));
    }
    let suffix = match p.last_value(CsplitFlag::SuffixFormat) {
        None => SuffixFormat::of_digits(digits),
        Some(text) => {
            SuffixFormat::parse(text).map_err(|why| input::report_failure(ctx, &[&why]))?
        }
    };
    let options = CsplitOptions {
        is_quiet: p.has_option(CsplitFlag::Quiet),
        elides_empty: p.has_option(CsplitFlag::ElideEmpty),
        suppresses_matched: p.has_option(CsplitFlag::SuppressMatched),
        keeps_files: p.has_option(CsplitFlag::Keep),
    };
    let prefix = p.last_value(CsplitFlag::Prefix).unwrap_or(b"xx").to_vec();
    let lines = open(ctx, name)?;
    let patterns = patterns::parse_patterns(ctx, operands)?;
    let pieces = OutputPieces::new(ctx, prefix, suffix, options);
    Splitter::new(lines, pieces).split(&patterns)
}

fn digits_or_exit(ctx: &mut Ctx<'_>, p: &ParsedOptions<CsplitFlag>) -> Result<usize, Exit> {
    let mut digits = 2;
    for (flag, value) in &p.options {
        let (CsplitFlag::Digits, Some(text)) = (flag, value) else { continue };
        let parsed = number::parse_bounded(text, (0, i64::from(i32::MAX)));
        let n = parsed.map_err(|e| {
            let shown = quote::quote_in_sentence(text);
            input::report_failure(ctx, &[b"invalid number: ", &shown, e.suffix()])
        })?;
        digits = usize::try_from(n).unwrap_or(usize::MAX);
    }
    Ok(digits)
}

fn open(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<CsplitLines, Exit> {
    if name == b"-" {
        return Ok(CsplitLines::new(Box::new(ctx.stdin.detach_stream())));
    }
    match std::fs::File::open(ctx.path(name)) {
        Ok(file) => {
            let reader = io::BufReader::with_capacity(input::BLOCK, file);
            Ok(CsplitLines::new(Box::new(reader)))
        }
        Err(e) => {
            let (shown, why) = (quote::quote_in_sentence(name), box_sys::error_text(&e));
            let parts: [&[u8]; 4] = [b"cannot open ", &shown, b" for reading: ", why.as_bytes()];
            Err(input::report_failure(ctx, &parts))
        }
    }
}
