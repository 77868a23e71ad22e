//! `fd`: finds files by a pattern of their names, with the options and results of fd 10.
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line, as written and as meant |
//! | `pattern` | patterns as regular expressions: letter case, mistakes that are reported |
//! | `filter` | types, sizes, times, owners |
//! | `ignored` | `.gitignore`, `.ignore`, `.fdignore`, and other lists of what is left out |
//! | `walk` | the walk over folders |
//! | `template` | placeholders of `--format`, `-x` and `-X` |
//! | `results` | what happens with a file: printing it, commands |
//!
//! Results come in order, because one thread walks. Deliberately absent: colours, hyperlinks,
//! completions of shells.

mod filter;
mod ignored;
mod options;
mod pattern;
mod results;
mod template;
mod walk;

use box_applet::{Ctx, Ended, Exit};

use options::FdOptions;
use results::Results;

/// A failure that ends fd, with its message.
pub(crate) struct Fault(pub String);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let (words, commands) = match results::split_commands(args) {
        Ok(parts) => parts,
        Err(fault) => return Ok(report(ctx, &fault)),
    };
    let parsed = options::SPEC.parse_or_exit(ctx, &words, Exit(2))?;
    match search(ctx, &parsed, commands) {
        Ok(exit) => Ok(exit),
        Err(fault) => Ok(report(ctx, &fault)),
    }
}

fn search(
    ctx: &mut Ctx<'_>,
    parsed: &options::WrittenOptions,
    commands: Vec<results::CommandWords>,
) -> Result<Exit, Fault> {
    let options = FdOptions::read(ctx, parsed, !commands.is_empty())?;
    let patterns = pattern::compile_patterns(&options)?;
    let mut results = Results::new(commands, &options)?;
    walk::walk_roots(ctx, &options, &patterns, &mut results);
    Ok(results.finish(ctx, &options))
}

fn report(ctx: &mut Ctx<'_>, fault: &Fault) -> Exit {
    print_error(ctx, &fault.0);
    Exit::FAILURE
}

/// Writes a message as fd does.
fn print_error(ctx: &mut Ctx<'_>, message: &str) {
    use std::io::Write;
    let _ = ctx.stdout.flush();
    let _ = writeln!(ctx.stderr, "[fd error]: {message}");
    let _ = ctx.stderr.flush();
}
