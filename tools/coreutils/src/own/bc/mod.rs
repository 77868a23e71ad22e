//! `bc` (POSIX XCU bc; GNU extensions: `print`, `else`, `halt`, `&& || !`, `last`, names with
//! several letters, `void` functions, arrays by reference, `-l`).
//!
//! | file | contents |
//! |---|---|
//! | `decimal` | decimal numbers of any length with a scale |
//! | `lex` | tokens |
//! | `parse` | parsing of statements to a tree |
//! | `run` | the machine: variables, functions, output |
//! | `math` | the functions of `-l` |

pub(crate) mod dc;
mod decimal;
mod lex;
mod math;
mod parse;
mod run;

use std::io::{BufRead, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use parse::BcProgress;
use run::{BcFlow, BcMachine};

/// An option of `bc`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BcFlag {
    Expression,
    Interactive,
    Mathlib,
    Quiet,
    Standard,
    Warn,
}

const SPEC: Spec<BcFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Calculate with numbers of any length.",
    &[
        Opt::new(BcFlag::Interactive, 'i', "interactive").with_help(words::IGNORED),
        Opt::new(BcFlag::Mathlib, 'l', "mathlib")
            .with_help("Define s, c, a, l, e and j (sine, cosine and so on); set scale=20"),
        Opt::new(BcFlag::Quiet, 'q', "quiet").with_help("Print no banner (never done)"),
        Opt::new(BcFlag::Standard, 's', "standard").with_help(words::IGNORED),
        Opt::new(BcFlag::Warn, 'w', "warn").with_help(words::IGNORED),
        Opt::new(BcFlag::Expression, 'e', "expression").with_argument("EXPR", "Run EXPR"),
    ],
)
.with_examples(&[
    ("echo 'scale=3; 10/3' | bc", "Divide with three decimals"),
    ("echo 'obase=16; 255' | bc", "Convert to hexadecimal"),
]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let line_length = ctx.env.get(b"BC_LINE_LENGTH").and_then(crate::common::number::parse_decimal);
    let mut machine = BcMachine::new(line_length.map_or(70, |n| usize::try_from(n).unwrap_or(70)));
    if p.has_option(BcFlag::Mathlib) {
        machine.use_math();
    }
    let mut expressions: Vec<u8> = Vec::new();
    for e in p.all_values(BcFlag::Expression) {
        expressions.extend_from_slice(e);
        expressions.push(b'\n');
    }
    if run_statements(ctx, &mut machine, &mut expressions, true, b"(expression)") == BcFlow::Halt {
        return Ok(Exit(machine.status));
    }
    for file in &p.operands {
        let Ok(mut text) = ctx.read(file) else {
            let line = [b"File ".as_slice(), file, b" is unavailable.\n"].concat();
            let _ = ctx.stderr.write_all(&line);
            return Ok(Exit::FAILURE);
        };
        if run_statements(ctx, &mut machine, &mut text, true, file) == BcFlow::Halt {
            return Ok(Exit(machine.status));
        }
    }
    if p.has_option(BcFlag::Expression) && p.operands.is_empty() {
        return Ok(Exit(machine.status));
    }
    // Statements run as soon as they are complete, so that `bc` can be used interactively.
    let mut pending = Vec::new();
    loop {
        let mut line = Vec::new();
        let end = match ctx.stdin.read_until(b'\n', &mut line) {
            Ok(n) => n == 0,
            Err(_) => true,
        };
        pending.extend_from_slice(&line);
        if run_statements(ctx, &mut machine, &mut pending, end, b"(standard_in)") == BcFlow::Halt
            || end
        {
            return Ok(Exit(machine.status));
        }
        if ctx.stdout.flush().is_err() {
            return Ok(Exit::FAILURE);
        }
    }
}

/// Runs the complete statements of a text and leaves the rest in it.
fn run_statements(
    ctx: &mut Ctx<'_>,
    machine: &mut BcMachine,
    text: &mut Vec<u8>,
    end: bool,
    source: &[u8],
) -> BcFlow {
    loop {
        if text.is_empty() {
            return BcFlow::Next;
        }
        match parse::parse(text, end) {
            BcProgress::Done(items, used) => {
                machine.line += text[..used].iter().filter(|c| **c == b'\n').count();
                text.drain(..used);
                for item in items {
                    match machine.run_item(ctx, item) {
                        Ok(BcFlow::Halt) => return BcFlow::Halt,
                        Ok(_) => {}
                        // A function executed `halt`.
                        Err(m) if m.is_empty() => return BcFlow::Halt,
                        Err(m) => {
                            let _ = ctx.stdout.flush();
                            let _ = ctx.stderr.write_all(
                                format!("Runtime error (func=(main), adr=0): {m}\n").as_bytes(),
                            );
                            break;
                        }
                    }
                }
            }
            BcProgress::More => return BcFlow::Next,
            BcProgress::Error(message, used) => {
                let _ = ctx.stdout.flush();
                let at = machine.line
                    + text[..used.saturating_sub(1).min(text.len())]
                        .iter()
                        .filter(|c| **c == b'\n')
                        .count()
                    + 1;
                let line = [source, format!(" {at}: {message}\n").as_bytes()].concat();
                let _ = ctx.stderr.write_all(&line);
                machine.line += text[..used].iter().filter(|c| **c == b'\n').count();
                text.drain(..used);
            }
        }
    }
}
