//! awk: POSIX awk with gawk's extensions, a small compiler and a machine.
//!
//! | stage | file |
//! |---|---|
//! | command line, program files | `cli` |
//! | text to tokens | `lex`, `token` |
//! | tokens to typed nodes, names resolved | `parse`, `ast`, `special` |
//! | which parameters are arrays | `resolve` |
//! | nodes to instructions | `compile`, `code` |
//! | the machine | `vm` |
//! | values | `value`, `text`, `array` |
//!
//! # Invariants
//! - No stage recurses deeper than the parser's nesting limit; the machine keeps calls on its
//!   own stacks, so a program cannot overflow the native one.
//! - Strings are bytes; characters are counted as UTF-8 unless the locale is `C`.
//! - The order of `for (k in a)`, the sequence of `rand` and the texts of messages are gawk's,
//!   because scripts' recorded outputs depend on them.
//!
//! Deliberately absent: arbitrary precision (`-M`), dynamic extensions, the debugger and
//! profiler, network files (`/inet`), translations.
#![forbid(unsafe_code)]

mod array;
mod ast;
mod builtin;
mod cli;
mod code;
mod compile;
mod error;
mod lex;
mod parse;
mod resolve;
mod special;
mod text;
mod token;
mod value;
mod vm;

use std::collections::HashSet;
use std::io::Write;

use box_applet::{Applet, Ctx, Ended, Exit};

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("awk", run, "scan files for patterns and act on their records"),
    Applet::new("gawk", run, "scan files for patterns and act on their records"),
    Applet::new("mawk", run, "scan files for patterns and act on their records"),
    Applet::new("nawk", run, "scan files for patterns and act on their records"),
];

/// Reads, compiles and runs a program.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let job = cli::read(ctx, args)?;
    let parsed = match parse::parse(&job.sources, job.settings.traditional) {
        Ok(parsed) => parsed,
        Err(e) => {
            report_syntax_error(ctx, &job.sources, &e);
            return Ok(Exit(e.status));
        }
    };
    // Each warning is printed once.
    let mut said = HashSet::new();
    for (at, warning) in parsed.warnings.iter().filter(|(_, w)| said.insert(w)) {
        let place = place_text(&job.sources, at.source, at.line);
        ctx.error(format_args!("{place}warning: {warning}"));
    }
    for warning in parsed.lint.iter().filter(|_| job.lint) {
        ctx.error(format_args!("warning: {warning}"));
    }
    let mut code = compile::compile_program(&parsed.program);
    drop(parsed);
    code.sources = job.sources.into_iter().map(|s| s.name).collect();
    if let Err(e) = code.patterns.iter().try_for_each(|p| vm::check_pattern(p, job.settings.utf8)) {
        ctx.error(format_args!("error: {e}"));
        return Ok(Exit::FAILURE);
    }
    Ok(Exit(vm::AwkMachine::new(ctx, code, job.settings).run()))
}

/// Returns `cmd. line:3: ` or `FILE:3: `.
fn place_text(sources: &[lex::AwkSource], source: usize, line: usize) -> String {
    match sources.get(source).and_then(|s| s.name.as_ref()) {
        Some(name) => format!("{}:{line}: ", String::from_utf8_lossy(name)),
        None => format!("cmd. line:{line}: "),
    }
}

/// Prints a syntax error as gawk does: the line, and a caret under the token.
fn report_syntax_error(ctx: &mut Ctx<'_>, sources: &[lex::AwkSource], e: &error::AwkSyntaxError) {
    let place = place_text(sources, e.source_index, e.line);
    let text = sources.get(e.source_index).map_or(&[][..], |s| &s.text);
    let line = text.split(|c| *c == b'\n').nth(e.line.saturating_sub(1)).unwrap_or_default();
    let caret = " ".repeat(e.column.min(line.len()));
    let name = ctx.name.clone();
    let shown = String::from_utf8_lossy(line).into_owned();
    ctx.error(format_args!("{place}{shown}"));
    let _ = writeln!(ctx.stderr, "{name}: {place}{caret}^ {}", e.message);
}
