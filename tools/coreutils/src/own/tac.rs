//! `tac` (GNU): prints the records of files in reverse order. With `-r` the separator is a regular
//! expression in Emacs' syntax.

mod backwards;

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use crate::common::{input, quote};

/// An option of `tac`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TacFlag {
    Before,
    Regex,
    Separator,
}

const SPEC: Spec<TacFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print the lines of each FILE, the last one first.",
    &[
        Opt::new(TacFlag::Before, 'b', "before").with_help("Treat separators as preceding lines"),
        Opt::new(TacFlag::Regex, 'r', "regex")
            .with_help("Take the separator as a regular expression"),
        Opt::new(TacFlag::Separator, 's', "separator")
            .with_argument("STRING", "Split at STRING instead of newlines"),
    ],
)
.reads_standard_input();

/// The separator of records.
enum TacSeparator {
    Text(Vec<u8>),
    Regex(Box<Regex>),
}

impl TacSeparator {
    fn from_options(ctx: &mut Ctx<'_>, p: &ParsedOptions<TacFlag>) -> Result<TacSeparator, Exit> {
        let text: &[u8] = match p.last_value(TacFlag::Separator) {
            Some(b"") if p.has_option(TacFlag::Regex) => {
                return Err(input::report_failure(ctx, &[b"separator cannot be empty"]));
            }
            // An empty separator means NUL.
            Some(b"") => b"\0",
            Some(text) => text,
            None => b"\n",
        };
        if !p.has_option(TacFlag::Regex) {
            return Ok(TacSeparator::Text(text.to_vec()));
        }
        let regex = Regex::new(text, &RegexOptions::new(RegexSyntax::Emacs).multiline(true));
        regex.map(|r| TacSeparator::Regex(Box::new(r))).map_err(|e| {
            ctx.error(e);
            Exit::FAILURE
        })
    }

    /// Returns the start and end of each separator in a text, in ascending order.
    fn find_places(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut places = match self {
            TacSeparator::Regex(regex) => find_separators(regex, text),
            TacSeparator::Text(one) if one.len() == 1 => {
                memchr::memchr_iter(one[0], text).map(|i| (i, i + 1)).collect()
            }
            TacSeparator::Text(separator) => from_end(separator, text),
        };
        places.dedup();
        places
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let separator = TacSeparator::from_options(ctx, &p)?;
    let (before, files) = (p.has_option(TacFlag::Before), input::or_stdin(p.operands));
    let mut exit = Exit::SUCCESS;
    for file in &files {
        if let TacSeparator::Text(text) = &separator
            && let [byte] = text[..]
            && let Some(mut opened) = open_regular(ctx, file)
        {
            match backwards::write(&mut opened, byte, before, &mut ctx.stdout) {
                Ok(()) => {}
                Err(input::CopyStop::Write) => return Ok(Exit::FAILURE),
                Err(input::CopyStop::Read(e)) => exit = read_error(ctx, file, &e),
            }
            continue;
        }
        match ctx.read(file) {
            Ok(text) => {
                let out = reverse_records(&text, &separator.find_places(&text), before);
                if ctx.stdout.write_all(&out).is_err() {
                    return Ok(Exit::FAILURE);
                }
            }
            Err(e) => exit = not_read(ctx, file, &e),
        }
    }
    Ok(exit)
}

/// Opens an operand if it is a regular file, which can be read from its end.
fn open_regular(ctx: &Ctx<'_>, operand: &[u8]) -> Option<std::fs::File> {
    let opened = if operand == b"-" { None } else { std::fs::File::open(ctx.path(operand)).ok() }?;
    opened.metadata().is_ok_and(|m| m.is_file()).then_some(opened)
}

fn not_read(ctx: &mut Ctx<'_>, file: &[u8], e: &std::io::Error) -> Exit {
    if e.raw_os_error() == Some(box_sys::errno::code::EISDIR) {
        return read_error(ctx, file, e);
    }
    let (shown, why) = (quote::quote_in_sentence(file), box_sys::error_text(e));
    input::report_failure(ctx, &[b"failed to open ", &shown, b" for reading: ", why.as_bytes()])
}

fn read_error(ctx: &mut Ctx<'_>, file: &[u8], e: &std::io::Error) -> Exit {
    let (shown, text) = (quote::quote_with_colon(file), box_sys::error_text(e));
    input::report_failure(ctx, &[&shown, b": read error: ", text.as_bytes()])
}

/// Returns the matches of a regular expression in ascending order, without overlap.
fn find_separators(regex: &Regex, text: &[u8]) -> Vec<(usize, usize)> {
    // GNU searches backwards: each match has the last possible start before the match found
    // previously.
    let mut out = Vec::new();
    let mut limit = text.len();
    loop {
        let hay = &text[..limit];
        let mut found = None;
        for start in (0..limit).rev() {
            match regex.find_at(hay, start) {
                Some((s, e)) if s == start && e > s => {
                    found = Some((s, e));
                    break;
                }
                _ => {}
            }
            // One forward search now and then shows whether there is any match left.
            if start % 4096 == 0 && regex.find_at(hay, 0).is_none() {
                break;
            }
        }
        match found {
            Some((s, e)) => {
                out.push((s, e));
                limit = s;
            }
            None => break,
        }
    }
    out.reverse();
    out
}

/// Returns the occurrences of a fixed separator in ascending order, without overlap. They are
/// searched from the end, as GNU does.
fn from_end(separator: &[u8], text: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let finder = memchr::memmem::FinderRev::new(separator);
    let mut limit = text.len();
    while let Some(at) = finder.rfind(&text[..limit]) {
        out.push((at, at + separator.len()));
        limit = at;
    }
    out.reverse();
    out
}

fn reverse_records(text: &[u8], separators: &[(usize, usize)], before: bool) -> Vec<u8> {
    let mut cuts: Vec<usize> = vec![0];
    cuts.extend(separators.iter().map(|(s, e)| if before { *s } else { *e }));
    cuts.push(text.len());
    cuts.dedup();
    let mut out = Vec::with_capacity(text.len());
    for pair in cuts.windows(2).rev() {
        out.extend_from_slice(&text[pair[0]..pair[1]]);
    }
    out
}
