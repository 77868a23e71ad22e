//! `paste` (POSIX XCU paste; GNU coreutils 9.1): lines of files side by side, or each file's lines in one.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, StdInput};

use crate::common::{input, quote};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasteFlag {
    Delimiters,
    Serial,
    Zero,
}

const SPEC: Spec<PasteFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Put lines of the FILEs side by side, separated by tabs.",
    &[
        Opt::new(PasteFlag::Delimiters, 'd', "delimiters")
            .with_argument("LIST", "Separate by the characters of LIST, in turn"),
        Opt::new(PasteFlag::Serial, 's', "serial")
            .with_help("Put the lines of one file into one line, file by file"),
        Opt::new(PasteFlag::Zero, 'z', "zero-terminated").with_help(words::NUL_LINES),
    ],
)
.reads_standard_input()
.with_examples(&[
    ("paste -sd, FILE", "All lines as one, joined by commas"),
    ("paste -d: A B", "Lines of two files side by side"),
]);

/// The number of bytes that are collected before they are written.
const BLOCK: usize = 64 << 10;

/// The delimiters between lines, which are used in turn; `None` stands for no delimiter.
type Delimiters = Vec<Option<u8>>;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let list = p.last_value(PasteFlag::Delimiters).unwrap_or(b"\t");
    let Some(delimiters) = parse_delimiters(list) else {
        let shown = quote::quote_with_colon(list);
        return Err(input::report_failure(
            ctx,
            &[b"delimiter list ends with an unescaped backslash: ", &shown],
        ));
    };
    let end = if p.has_option(PasteFlag::Zero) { 0 } else { b'\n' };
    let (one_by_one, files) = (p.has_option(PasteFlag::Serial), input::or_stdin(p.operands));
    Ok(if one_by_one {
        paste_serial(ctx, &files, &delimiters, end)
    } else {
        paste_parallel(ctx, &files, &delimiters, end)
    })
}

/// Parses a list of characters with escapes; returns `None` if it ends with a backslash. An empty
/// list is one empty delimiter.
fn parse_delimiters(list: &[u8]) -> Option<Delimiters> {
    let mut out = Vec::new();
    let mut bytes = list.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match *bytes.next()? {
                b'0' => None,
                b'b' => Some(8),
                b'f' => Some(12),
                b'n' => Some(b'\n'),
                b'r' => Some(b'\r'),
                b't' => Some(b'\t'),
                b'v' => Some(11),
                other => Some(other),
            },
            _ => Some(byte),
        });
    }
    if out.is_empty() {
        out.push(None);
    }
    Some(out)
}

/// Joins the lines of each file to one line.
fn paste_serial(ctx: &mut Ctx<'_>, files: &[Vec<u8>], delimiters: &Delimiters, end: u8) -> Exit {
    input::for_each_file(ctx, files, |reader, out| {
        let mut next = delimiters.iter().cycle();
        let mut is_first = true;
        input::for_each_line(reader, end, |line, _| {
            if !std::mem::take(&mut is_first)
                && let Some(Some(delimiter)) = next.next()
            {
                input::write_output(out, &[*delimiter])?;
            }
            input::write_output(out, line)?;
            Ok(true)
        })?;
        input::write_output(out, &[end])
    })
}

/// A file that is read line by line.
enum PasteInput {
    /// The applet's standard input; several operands `-` read its lines in turn.
    Stdin,
    File(BufReader<std::fs::File>),
    Ended,
}

impl PasteInput {
    /// Appends the next line to `out` without its end; returns whether there was one.
    fn line(&mut self, stdin: &mut StdInput, end: u8, out: &mut Vec<u8>) -> io::Result<bool> {
        let n = match self {
            PasteInput::Stdin => stdin.read_until(end, out)?,
            PasteInput::File(file) => file.read_until(end, out)?,
            PasteInput::Ended => 0,
        };
        if n == 0 {
            *self = PasteInput::Ended;
        } else if out.last() == Some(&end) {
            out.pop();
        }
        Ok(n > 0)
    }
}

/// Joins the lines of all files side by side, until all files have ended.
fn paste_parallel(ctx: &mut Ctx<'_>, files: &[Vec<u8>], delimiters: &Delimiters, end: u8) -> Exit {
    let mut sources = VecDeque::new();
    for file in files {
        if file == b"-" {
            sources.push_back(PasteInput::Stdin);
            continue;
        }
        match input::open_file(&ctx.path(file)) {
            Ok(opened) => {
                sources.push_back(PasteInput::File(BufReader::with_capacity(input::BLOCK, opened)))
            }
            Err(e) => {
                return input::file_error(ctx, file, &e);
            }
        }
    }
    let last = sources.len() - 1;
    let mut out = Vec::with_capacity(2 * BLOCK);
    loop {
        let begin = out.len();
        let mut any = false;
        for (n, source) in sources.iter_mut().enumerate() {
            match source.line(&mut ctx.stdin, end, &mut out) {
                Ok(had) => any |= had,
                Err(e) => {
                    let _ = ctx.stdout.write_all(&out[..begin]);
                    return input::file_error(ctx, &files[n], &e);
                }
            }
            if n == last {
                out.push(end);
            } else if let Some(delimiter) = delimiters[n % delimiters.len()] {
                out.push(delimiter);
            }
        }
        if !any {
            out.truncate(begin);
        }
        if (!any || out.len() >= BLOCK) && ctx.stdout.write_all(&out).is_err() {
            return Exit::FAILURE;
        }
        if !any {
            return Exit::SUCCESS;
        }
        if out.len() >= BLOCK {
            out.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_escapes() {
        assert_eq!(
            parse_delimiters(b",\\t\\0\\\\x"),
            Some(vec![Some(b','), Some(9), None, Some(b'\\'), Some(b'x')])
        );
        assert_eq!(parse_delimiters(b""), Some(vec![None]));
        assert_eq!(parse_delimiters(b"a\\"), None);
    }
}
