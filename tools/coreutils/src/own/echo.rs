//! `echo` (POSIX XCU echo; GNU manual "echo invocation"). As in GNU's, the options `-n -e -E` are
//! recognised only before the first operand and only if every letter of the word is one of these.

use std::io::Write;

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit};
use box_text::escape::{EscapeDialect, decode_escapes};

const HELP: HelpPage = HelpPage::new(
    "[-neE]... [STRING]...",
    "Print the STRINGs with spaces between them, and a newline.",
    &[HelpSection::new(
        "Options",
        &[
            ("  -n", "Print no newline"),
            (
                "  -e",
                "Decode escapes: \\\\ \\a \\b \\e \\f \\n \\r \\t \\v \\0NNN \\xHH, and \\c, \
        which ends the output",
            ),
            ("  -E", "Print backslashes as they are (default)"),
        ],
    )],
);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let posix = ctx.env.get(b"POSIXLY_CORRECT").is_some();
    let (mut newline, mut escapes) = (true, posix);
    let mut words = args;
    if let ([only], false) = (args, posix) {
        if only == b"--help" {
            return Ok(ctx.print(&HELP.text(&ctx.name)));
        }
        if only == b"--version" {
            return Ok(ctx.print(&ctx.version()));
        }
    }
    while let Some((first, rest)) = words.split_first() {
        let letters = first.strip_prefix(b"-").unwrap_or_default();
        let known = |c: &u8| matches!(c, b'n' | b'e' | b'E');
        if letters.is_empty() || !letters.iter().all(known) || posix && first != b"-n" {
            break;
        }
        for c in letters {
            match c {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        words = rest;
    }
    for (i, word) in words.iter().enumerate() {
        if i > 0 && ctx.stdout.write_all(b" ").is_err() {
            return Ok(Exit::FAILURE);
        }
        let result = if escapes {
            let d = decode_escapes(word, EscapeDialect::GnuEcho);
            let result = ctx.stdout.write_all(&d.bytes);
            if d.stop {
                return Ok(if result.is_ok() { Exit::SUCCESS } else { Exit::FAILURE });
            }
            result
        } else {
            ctx.stdout.write_all(word)
        };
        if result.is_err() {
            return Ok(Exit::FAILURE);
        }
    }
    if newline && ctx.stdout.write_all(b"\n").is_err() {
        return Ok(Exit::FAILURE);
    }
    Ok(Exit::SUCCESS)
}
