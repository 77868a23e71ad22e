//! `ptx` (GNU coreutils 9.1 manual): an index of the words of a text, each in its context.
//!
//! | file | contents |
//! |---|---|
//! | `text` | contexts and keywords of the files |
//! | `fields` | the parts of a context that fit on a line |
//! | `output` | lines for readers, for roff and for TeX |
//!
//! Characters are bytes, as in GNU ptx 9.1. Deviation: numbers of columns are bounded.

mod fields;
mod output;
mod text;

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use crate::common::choice::choice;
use crate::common::input::extra_operand;
use crate::common::number;
use crate::common::quote;
use output::LineWriter;
use text::{Contexts, PtxText, WordList};

/// An option of `ptx`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PtxFlag {
    AutoReference,
    Traditional,
    FlagTruncation,
    MacroName,
    Format,
    Roff,
    RightReferences,
    SentenceRegexp,
    Tex,
    WordRegexp,
    BreakFile,
    IgnoreCase,
    GapSize,
    IgnoreFile,
    OnlyFile,
    References,
    TypesetMode,
    Width,
}

const SPEC: Spec<PtxFlag> = Spec::new(
    "[OPTION]... [FILE]...\n-G [OPTION]... [INPUT [OUTPUT]]",
    "Print an index of all words of a text, each with the words around it.",
    &[
        Opt::new(PtxFlag::AutoReference, 'A', "auto-reference")
            .with_help("Use file and line as references"),
        Opt::new(PtxFlag::Traditional, 'G', "traditional").with_help("As in System V"),
        Opt::new(PtxFlag::FlagTruncation, 'F', "flag-truncation")
            .with_argument("TEXT", "Mark with TEXT where a line is cut (/)"),
        Opt::new(PtxFlag::MacroName, 'M', "macro-name")
            .with_argument("NAME", "With -O or -T: call the macro NAME (xx)"),
        Opt::long(PtxFlag::Format, "format")
            .with_argument("FORMAT", "The same as -O or -T: roff, tex"),
        Opt::new(PtxFlag::Roff, 'O', "").with_help("Print commands of roff"),
        Opt::new(PtxFlag::RightReferences, 'R', "right-side-refs")
            .with_help("Print references on the right, outside of the width"),
        Opt::new(PtxFlag::SentenceRegexp, 'S', "sentence-regexp")
            .with_argument("RE", "Sentences end where RE matches"),
        Opt::new(PtxFlag::Tex, 'T', "").with_help("Print commands of TeX"),
        Opt::new(PtxFlag::WordRegexp, 'W', "word-regexp")
            .with_argument("RE", "Words are what RE matches"),
        Opt::new(PtxFlag::BreakFile, 'b', "break-file")
            .with_argument("FILE", "Words end at the characters in FILE"),
        Opt::new(PtxFlag::IgnoreCase, 'f', "ignore-case")
            .with_help("Take upper and lower case as equal"),
        Opt::new(PtxFlag::GapSize, 'g', "gap-size").with_argument("N", "Blanks between fields (3)"),
        Opt::new(PtxFlag::IgnoreFile, 'i', "ignore-file")
            .with_argument("FILE", "Leave out the words in FILE"),
        Opt::new(PtxFlag::OnlyFile, 'o', "only-file")
            .with_argument("FILE", "Index only the words in FILE"),
        Opt::new(PtxFlag::References, 'r', "references")
            .with_help("The first word of each line is its reference"),
        Opt::new(PtxFlag::TypesetMode, 't', "typeset-mode").with_help("Accepted, without effect"),
        Opt::new(PtxFlag::Width, 'w', "width")
            .with_argument("N", "Lines of N columns, references included (72)"),
    ],
)
.with_examples(&[("ptx -f -w 60 FILE", "An index whose order ignores case")])
.reads_standard_input();

/// The largest number of columns of a line or a gap.
const MAX_COLUMNS: usize = 1_000_000;

/// The end of a sentence: a mark with quotes and parentheses after it, then the end of a line, a
/// tab or two blanks.
const SENTENCE_END: &[u8] = b"[.?!][]\"')}]*\\($\\|\t\\|  \\)[ \t\n]*";

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexFormat {
    Plain,
    Roff,
    Tex,
}

/// The reference of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReferenceKind {
    None,
    /// The file and the number of the line.
    Automatic,
    /// The first word of each line of the input.
    FirstWord,
}

/// The command line as it is meant.
struct PtxOptions {
    is_traditional: bool,
    format: IndexFormat,
    macro_name: Vec<u8>,
    /// The mark of a cut; empty for none.
    truncation: Vec<u8>,
    references: ReferenceKind,
    references_on_right: bool,
    ignores_case: bool,
    gap: usize,
    width: usize,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let options = resolve_options(ctx, &p)?;
    let mut operands = p.operands.clone();
    let mut output = None;
    if options.is_traditional {
        if let Some(extra) = operands.get(2) {
            return Err(extra_operand(ctx, extra));
        }
        output = (operands.len() == 2).then(|| operands.pop().unwrap_or_default());
    }
    let contexts = resolve_contexts(ctx, &p, &options)?;
    if operands.is_empty() {
        operands.push(b"-".to_vec());
    }
    if let Some(name) = &output {
        redirect_output(ctx, name)?;
    }
    let mut text = PtxText::new(options.references);
    for name in &operands {
        let is_stdin = name.is_empty() || name == b"-";
        let data = read_operand(ctx, if is_stdin { b"-" } else { name })?;
        let shown = if is_stdin { Vec::new() } else { name.clone() };
        if let Err(pattern) = text.add_file(shown, data, &contexts) {
            let shown = quote::quote_in_sentence(&pattern);
            ctx.error_bytes(&[b"error: regular expression has a match of length zero: ", &shown]);
            return Err(Exit::FAILURE);
        }
    }
    text.sort_keys(options.ignores_case);
    let mut writer = LineWriter::new(&options, &contexts, &text);
    for occurrence in text.occurrences() {
        if writer.write_line(&mut ctx.stdout, occurrence).is_err() {
            break;
        }
    }
    let _ = ctx.stdout.flush();
    Ok(Exit::SUCCESS)
}

/// Sends standard output to the file that the traditional form names.
fn redirect_output(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<(), Exit> {
    match std::fs::File::create(ctx.path(name)) {
        Ok(file) => {
            let sink = box_applet::OutputSink::File(std::rc::Rc::new(file));
            ctx.stdout = box_applet::OutStream::buffered(sink);
            Ok(())
        }
        Err(e) => Err(report_file(ctx, name, &e)),
    }
}

fn report_file(ctx: &mut Ctx<'_>, name: &[u8], e: &std::io::Error) -> Exit {
    ctx.io_error(name, e);
    Exit::FAILURE
}

fn read_operand(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<Vec<u8>, Exit> {
    ctx.read(name).map_err(|e| report_file(ctx, name, &e))
}

fn resolve_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<PtxFlag>) -> Result<PtxOptions, Exit> {
    let is_traditional = p.has_option(PtxFlag::Traditional);
    let mut format = if is_traditional { IndexFormat::Roff } else { IndexFormat::Plain };
    for (flag, value) in &p.options {
        match (flag, value) {
            (PtxFlag::Roff, _) => format = IndexFormat::Roff,
            (PtxFlag::Tex, _) => format = IndexFormat::Tex,
            (PtxFlag::Format, Some(name)) => {
                let formats = [("roff", IndexFormat::Roff), ("tex", IndexFormat::Tex)];
                format = choice(&formats, name, "--format").map_err(|text| {
                    ctx.error_bytes(&[&text]);
                    ctx.hint();
                    Exit::FAILURE
                })?;
            }
            _ => {}
        }
    }
    let references = if p.has_option(PtxFlag::AutoReference) {
        ReferenceKind::Automatic
    } else if p.has_option(PtxFlag::References) {
        ReferenceKind::FirstWord
    } else {
        ReferenceKind::None
    };
    Ok(PtxOptions {
        is_traditional,
        format,
        macro_name: unescaped_value(p, PtxFlag::MacroName).unwrap_or_else(|| b"xx".to_vec()),
        truncation: unescaped_value(p, PtxFlag::FlagTruncation).unwrap_or_else(|| b"/".to_vec()),
        references,
        references_on_right: p.has_option(PtxFlag::RightReferences),
        ignores_case: p.has_option(PtxFlag::IgnoreCase),
        gap: parse_columns(ctx, p, PtxFlag::GapSize, "gap width", 3)?,
        width: parse_columns(ctx, p, PtxFlag::Width, "line width", 72)?,
    })
}

/// Returns the number of columns of an option; refuses 0 and anything that is not a number.
fn parse_columns(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<PtxFlag>,
    flag: PtxFlag,
    what: &str,
    default: usize,
) -> Result<usize, Exit> {
    let Some(text) = p.last_value(flag) else { return Ok(default) };
    let columns = number::any_base(text).ok().and_then(|n| usize::try_from(n).ok());
    if let Some(n) = columns.filter(|n| (1..=MAX_COLUMNS).contains(n)) {
        return Ok(n);
    }
    let shown = quote::quote_in_sentence(text);
    ctx.error_bytes(&[format!("invalid {what}: ").as_bytes(), &shown]);
    Err(Exit::FAILURE)
}

/// Returns the rules by which the text is divided into contexts and words.
fn resolve_contexts(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<PtxFlag>,
    options: &PtxOptions,
) -> Result<Contexts, Exit> {
    let has_first_words = p.has_option(PtxFlag::References);
    let sentence = match unescaped_value(p, PtxFlag::SentenceRegexp) {
        Some(pattern) => pattern,
        None if options.is_traditional || has_first_words => b"\n".to_vec(),
        None => SENTENCE_END.to_vec(),
    };
    let word = unescaped_value(p, PtxFlag::WordRegexp).unwrap_or_default();
    let breaks = match p.last_value(PtxFlag::BreakFile) {
        Some(name) => Some(read_operand(ctx, name)?),
        None => None,
    };
    let [ignored, only] = [PtxFlag::IgnoreFile, PtxFlag::OnlyFile].map(|flag| p.last_value(flag));
    let mut word_list = |name: Option<&[u8]>| match name {
        Some(name) => {
            read_operand(ctx, name).map(|data| Some(WordList::new(&data, options.ignores_case)))
        }
        None => Ok(None),
    };
    let (ignored, only) = (word_list(ignored)?, word_list(only)?);
    Ok(Contexts {
        sentence: compile_regex(ctx, &sentence, options.ignores_case)?,
        sentence_pattern: sentence,
        word: compile_regex(ctx, &word, options.ignores_case)?,
        is_word_byte: word_bytes(breaks.as_deref(), options.is_traditional),
        ignored,
        only,
        has_first_words,
    })
}

/// Returns the bytes that words consist of, unless a regular expression defines words.
fn word_bytes(breaks: Option<&[u8]>, is_traditional: bool) -> [bool; 256] {
    let mut bytes = [false; 256];
    for (c, is_word) in (0u8..=255).zip(bytes.iter_mut()) {
        *is_word = match breaks {
            Some(breaks) => !breaks.contains(&c),
            None => is_traditional || c.is_ascii_alphabetic(),
        };
        if is_traditional && b" \t\n".contains(&c) {
            *is_word = false;
        }
    }
    bytes
}

/// Compiles a pattern in the syntax of Emacs; an empty one is none.
fn compile_regex(
    ctx: &mut Ctx<'_>,
    pattern: &[u8],
    ignores_case: bool,
) -> Result<Option<Regex>, Exit> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let options = RegexOptions::new(RegexSyntax::Emacs).utf8(false);
    let options = options.icase(ignores_case).multiline(true);
    Regex::new(pattern, &options).map(Some).map_err(|e| {
        let shown = quote::quote_in_sentence(pattern);
        ctx.error_bytes(&[format!("{e} (for regexp ").as_bytes(), &shown, b")"]);
        Exit::FAILURE
    })
}

/// Returns the value of an option with its escapes replaced.
fn unescaped_value(p: &ParsedOptions<PtxFlag>, flag: PtxFlag) -> Option<Vec<u8>> {
    p.last_value(flag).map(unescape)
}

/// Replaces escapes as in C; `\c` ends the text, and an unknown escape stays as it is.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((&c, tail)) = rest.split_first() {
        rest = tail;
        if c != b'\\' {
            out.push(c);
            continue;
        }
        let Some((&letter, tail)) = rest.split_first() else { break };
        rest = tail;
        let (base, most): (u32, u8) = match letter {
            b'a' => (0, 7),
            b'b' => (0, 8),
            b'c' => return out,
            b'f' => (0, 12),
            b'n' => (0, b'\n'),
            b'r' => (0, b'\r'),
            b't' => (0, b'\t'),
            b'v' => (0, 11),
            b'x' => (16, 3),
            b'0' => (8, 3),
            other => {
                out.extend_from_slice(&[b'\\', other]);
                continue;
            }
        };
        if base == 0 {
            out.push(most);
            continue;
        }
        let digit = |c: &u8| char::from(*c).to_digit(base);
        let digits = rest.iter().take(usize::from(most)).map_while(digit);
        let count = digits.clone().count();
        if count == 0 && letter == b'x' {
            out.extend_from_slice(b"\\x");
            continue;
        }
        out.push((digits.fold(0, |n, d| n * base + d) & 0xff) as u8);
        rest = &rest[count..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `ptx -F` of GNU coreutils 9.1.
    #[test]
    fn escapes_are_those_of_c() {
        for (text, value) in [
            (&b"a\\tb"[..], &b"a\tb"[..]),
            (b"\\x41B", b"\x1b"),
            (b"\\0101", b"A"),
            (b"\\q\\.", b"\\q\\."),
            (b"a\\cb", b"a"),
            (b"a\\", b"a"),
        ] {
            assert_eq!(unescape(text), value, "{text:?}");
        }
    }
}
