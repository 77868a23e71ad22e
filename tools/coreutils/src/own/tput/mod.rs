//! `tput` (ncurses): prints capabilities of common terminals: dumb, xterm and its relatives, ansi
//! and linux.
//!
//! | file | contents |
//! |---|---|
//! | `terminals.ti` | the terminals, in terminfo's source format |
//! | `terminals` | the reader of that format |
//! | `parameters` | operators of parametrised strings, such as `%p1%d` |
//!
//! Deliberately absent: padding (`$<5>`), terminfo files, and the initialisation of the terminal
//! (`init`, `reset`), because there is none.

mod parameters;
mod terminals;

use std::io::{Read, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use self::terminals::{Capability, Terminal};

/// An option of `tput`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TputFlag {
    FromStdin,
    KeepScrollback,
    PrintVersion,
    Terminal,
}

const SPEC: Spec<TputFlag> = Spec::new(
    "[OPTION]... [CAPABILITY [PARAMETER]...]",
    "Print what the terminal needs for a capability: clear, bold, setaf 1, cols.",
    &[
        Opt::new(TputFlag::FromStdin, 'S', "").with_help("Read capabilities from standard input"),
        Opt::new(TputFlag::Terminal, 'T', "").with_argument("TERM", "Take TERM instead of $TERM"),
        Opt::new(TputFlag::PrintVersion, 'V', "").with_help(words::VERSION),
        Opt::new(TputFlag::KeepScrollback, 'x', "").with_help("Keep the scrollback when clearing"),
    ],
)
.with_footer("`clear' clears the screen, `longname' prints the terminal's name.");

/// The status of a system error is its number (here ENXIO, which is 6 on Linux) plus 4.
const NO_DEVICE: Exit = Exit(10);
const NO_TERMINAL: Exit = Exit(3);
const NO_CAPABILITY: Exit = Exit(4);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    if p.has_option(TputFlag::PrintVersion) {
        return Ok(ctx.print(&ctx.version()));
    }
    let name = p
        .last_value(TputFlag::Terminal)
        .or_else(|| ctx.env.get(b"TERM"))
        .unwrap_or_default()
        .to_vec();
    if name.is_empty() {
        ctx.error("No value for $TERM and no -T specified");
        return Ok(Exit::USAGE);
    }
    let shown = String::from_utf8_lossy(&name).into_owned();
    let Some(terminal) = terminals::find_terminal(&shown) else {
        ctx.error(format_args!("unknown terminal \"{shown}\""));
        return Ok(NO_TERMINAL);
    };
    let mut commands: Vec<Vec<Vec<u8>>> = Vec::new();
    if p.has_option(TputFlag::FromStdin) {
        let mut text = Vec::new();
        let _ = ctx.stdin.read_to_end(&mut text);
        for line in text.split(|c| *c == b'\n') {
            let words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
            let words: Vec<_> = words.map(<[u8]>::to_vec).collect();
            if !words.is_empty() {
                commands.push(words);
            }
        }
    } else if p.operands.is_empty() {
        let _ = ctx.stderr.write_all(SPEC.help_text("tput").as_bytes());
        return Ok(Exit::USAGE);
    } else {
        commands.push(p.operands.clone());
    }
    let mut exit = Exit::SUCCESS;
    for words in &commands {
        let mut rest = words.as_slice();
        while let Some((name, parameters)) = rest.split_first() {
            let (status, used) = print_capability(
                ctx,
                &terminal,
                name,
                parameters,
                p.has_option(TputFlag::KeepScrollback),
            );
            if status != Exit::SUCCESS {
                exit = status;
            }
            rest = &parameters[used..];
        }
    }
    Ok(exit)
}

/// Prints one capability; returns the exit status, and the number of parameters that it took.
fn print_capability(
    ctx: &mut Ctx<'_>,
    terminal: &Terminal,
    name: &[u8],
    given: &[Vec<u8>],
    keep_scrollback: bool,
) -> (Exit, usize) {
    let shown = String::from_utf8_lossy(name).into_owned();
    match shown.as_str() {
        "longname" => {
            let _ = ctx.stdout.write_all(terminal.long_name.as_bytes());
            return (Exit::SUCCESS, 0);
        }
        "init" | "reset" => {
            ctx.error("terminal attributes: No such device or address\n");
            return (NO_DEVICE, 0);
        }
        _ => {}
    }
    if !terminals::is_known(&shown) {
        ctx.error(format_args!("unknown terminfo capability '{shown}'"));
        return (NO_CAPABILITY, 0);
    }
    let value = terminal.get(&shown);
    match value {
        Some(Capability::Flag) => (Exit::SUCCESS, 0),
        Some(Capability::Number(n)) => {
            // The size that the shell knows takes precedence over the terminal's own.
            let variable: &[u8] = match shown.as_str() {
                "cols" => b"COLUMNS",
                "lines" => b"LINES",
                _ => b"",
            };
            let known = ctx.env.get(variable).and_then(crate::common::number::parse_decimal);
            let n = known.filter(|n| *n > 0).unwrap_or(u64::from(*n));
            let _ = writeln!(ctx.stdout, "{n}");
            (Exit::SUCCESS, 0)
        }
        Some(Capability::Text(text)) => {
            let wanted = parameters::count_parameters(text).min(given.len());
            let out = match wanted {
                0 => text.clone(),
                n => parameters::fill_parameters(text, &given[..n]),
            };
            let _ = ctx.stdout.write_all(&out);
            if shown == "clear"
                && !keep_scrollback
                && let Some(Capability::Text(text)) = terminal.get("E3")
            {
                let _ = ctx.stdout.write_all(text);
            }
            (Exit::SUCCESS, wanted)
        }
        None if terminals::is_number(&shown) => {
            let _ = ctx.stdout.write_all(b"-1\n");
            (Exit::SUCCESS, 0)
        }
        // All words that follow are taken as its parameters.
        None => (Exit::FAILURE, given.len()),
    }
}
