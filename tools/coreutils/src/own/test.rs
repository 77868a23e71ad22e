//! `test` and `[` (POSIX XCU test; GNU manual "test invocation"). The grammar is in
//! [`box_applet::condition`]. This file has GNU's integers, which may have any number of digits,
//! and GNU's messages.

use std::cmp::Ordering;

use box_applet::condition::{self, ConditionHost, ConditionProblem, FileComparison};
use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit, InputSource};
use box_sys::{Stat, meta};

use crate::common::{paths, quote};

const HELP: HelpPage = HelpPage::new(
    "EXPRESSION ]",
    "End with status 0 if EXPRESSION is true, and with 1 if not; `test EXPRESSION' \
        does the same.",
    &[HelpSection::new(
        "Expressions",
        &[
            ("  ( E ), ! E", "E is true; E is false"),
            ("  E1 -a E2, E1 -o E2", "Both are true; one of them is"),
            ("  -n TEXT, -z TEXT", "TEXT is not empty; it is"),
            (
                "  A = B, A != B, A < B, A > B",
                "Texts are equal, differ, sort before or after each other",
            ),
            (
                "  A -eq B, -ne, -lt, -le, -gt, -ge",
                "Integers are equal, differ, are less, at most, greater, at least",
            ),
            ("  A -ef B, A -nt B, A -ot B", "Files are the same, newer, older"),
            (
                "  -e FILE, -f, -d, -s",
                "FILE exists; is a regular file; is a directory; is not empty",
            ),
            (
                "  -h FILE, -L, -p, -S, -b, -c",
                "It is a symbolic link (-h and -L), a pipe, a socket, a block or character device",
            ),
            ("  -r FILE, -w, -x", "It can be read, written, run"),
            ("  -g FILE, -u, -k", "It has the bit setgid, setuid, sticky"),
            (
                "  -O FILE, -G, -N",
                "It is owned by this user, by this group; it was modified since it was last read",
            ),
            ("  -t FD", "The descriptor is a terminal"),
        ],
    )],
)
.with_examples(&[("[ -f FILE ] && echo yes", "Is there such a file?")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut args = args;
    if ctx.name == "[" {
        match args {
            [only] if only == b"--help" => return Ok(ctx.print(&HELP.text(&ctx.name))),
            [only] if only == b"--version" => return Ok(ctx.print(&ctx.version())),
            _ => {}
        }
        match args.split_last() {
            Some((last, rest)) if last == b"]" => args = rest,
            _ => {
                ctx.error("missing ']'");
                return Ok(Exit::USAGE);
            }
        }
    }
    let words: Vec<&Vec<u8>> = args.iter().collect();
    Ok(match condition::is_true(&mut Applet(ctx), &words) {
        Ok(true) => Exit::SUCCESS,
        Ok(false) => Exit::FAILURE,
        Err(problem) => {
            let (before, word, behind) = message(&problem);
            let word = word.map(quote::quote_in_sentence).unwrap_or_default();
            ctx.error_bytes(&[before.as_bytes(), &word, behind.as_bytes()]);
            Exit::USAGE
        }
    })
}

struct Applet<'a, 'c>(&'a Ctx<'c>);

impl ConditionHost for Applet<'_, '_> {
    type Error = ConditionProblem;
    const UNARY: &'static [u8] = b"bcdefgGhkLnNOprsStuwxz";

    fn unary(&mut self, letter: u8, operand: &[u8]) -> Result<bool, ConditionProblem> {
        if letter == b't' {
            let n = integer(operand)?;
            let digits = std::str::from_utf8(n.digits).ok();
            let fd = digits.and_then(|d| if d.is_empty() { Some(0) } else { d.parse().ok() });
            return Ok(!n.negative && is_terminal(self.0, fd));
        }
        let stat = self.stat(operand, !matches!(letter, b'h' | b'L'));
        Ok(stat.and_then(|s| condition::file_holds(letter, &s)).unwrap_or(false))
    }

    fn compare(&mut self, left: &[u8], right: &[u8]) -> Result<Ordering, ConditionProblem> {
        let (a, b) = (integer(left)?, integer(right)?);
        let sizes = a.digits.len().cmp(&b.digits.len()).then_with(|| a.digits.cmp(b.digits));
        Ok(match (a.negative, b.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => sizes,
            (true, true) => sizes.reverse(),
        })
    }

    fn files(&mut self, operator: FileComparison, left: &[u8], right: &[u8]) -> bool {
        if operator == FileComparison::Same {
            let same = || paths::same_file(&self.0.path(left), &self.0.path(right));
            return !left.is_empty() && !right.is_empty() && same();
        }
        let (a, b) = (self.stat(left, true), self.stat(right, true));
        condition::files_hold(operator, a.as_ref(), b.as_ref())
    }
}

impl Applet<'_, '_> {
    /// Returns a file's status. An empty name is not a file.
    fn stat(&self, name: &[u8], follow: bool) -> Option<Stat> {
        if name.is_empty() { None } else { meta::stat(&self.0.path(name), follow).ok() }
    }
}

/// Returns the message about an error as the text before the word that it quotes, that word, and
/// the text after it.
fn message(problem: &ConditionProblem) -> (&'static str, Option<&[u8]>, &'static str) {
    match problem {
        // Only a word that looks like an operator is called one.
        ConditionProblem::NotUnary { operator, .. } if matches!(operator[..], [b'-', _]) => {
            ("", Some(operator), ": unary operator expected")
        }
        ConditionProblem::NotUnary { operand, .. } => {
            ("missing argument after ", Some(operand), "")
        }
        ConditionProblem::NotBinary(operator) => ("", Some(operator), ": binary operator expected"),
        ConditionProblem::Missing(last) => ("missing argument after ", Some(last), ""),
        ConditionProblem::Unclosed(None) => ("')' expected", None, ""),
        ConditionProblem::Unclosed(Some(found)) => ("')' expected, found ", Some(found), ""),
        ConditionProblem::Extra(word) => ("extra argument ", Some(word), ""),
        ConditionProblem::Integer(text) => ("invalid integer ", Some(text), ""),
        ConditionProblem::Deep => ("expression nested too deeply", None, ""),
    }
}

/// An integer of any length.
struct Integer<'t> {
    negative: bool,
    /// The digits without leading zeros; empty for the number 0.
    digits: &'t [u8],
}

/// Parses an integer with an optional sign and white space around it.
fn integer(text: &[u8]) -> Result<Integer<'_>, ConditionProblem> {
    let (negative, digits) = match text.trim_ascii() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(ConditionProblem::Integer(text.to_vec()));
    }
    let zeros = digits.iter().take_while(|d| **d == b'0').count();
    let digits = &digits[zeros..];
    Ok(Integer { negative: negative && !digits.is_empty(), digits })
}

fn is_terminal(ctx: &Ctx<'_>, fd: Option<u32>) -> bool {
    let sink = |s: &box_applet::OutputSink| match s {
        box_applet::OutputSink::File(f) => box_sys::is_terminal(f),
        _ => false,
    };
    match fd {
        Some(0) => match ctx.stdin.source() {
            InputSource::File(f) => box_sys::is_terminal(f),
            _ => false,
        },
        Some(1) => sink(ctx.stdout.sink()),
        Some(2) => sink(ctx.stderr.sink()),
        Some(n) => ctx.extra_fds.iter().any(|(k, f)| *k == n && box_sys::is_terminal(f)),
        None => false,
    }
}
