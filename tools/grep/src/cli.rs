//! The command line (GNU grep manual, "Command-line Options").
//!
//! | step | file |
//! |---|---|
//! | options as written | `cli/table` |
//! | the effect of each option | `cli/apply` |
//! | patterns, operands, combinations of options | here |

mod apply;
mod table;

use box_applet::opts::OptArg;
use box_applet::{Ctx, Exit};
use box_text::glob;

use table::{GrepFlag, SPEC};

use crate::config::{Directories, GrepConfig, GrepMode, GrepSyntax};

/// The whole command line.
pub struct GrepRequest {
    pub config: GrepConfig,
    pub patterns: Vec<Vec<u8>>,
    pub operands: Vec<Vec<u8>>,
}

/// Parses the command line; the error is the exit status.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<GrepRequest, Exit> {
    let args = context_digits(args);
    let mut parsed = SPEC.parse_or_exit(ctx, &args, Exit::USAGE)?;
    if parsed.has_option(GrepFlag::Version) {
        return Err(ctx.print(&ctx.version()));
    }
    let mut config = default_config(ctx);
    let mut patterns = None;
    let mut options = std::mem::take(&mut parsed.options);
    let mut modes = Modes::default();
    for (option, value) in &mut options {
        let value = value.take().unwrap_or_default();
        if matches!(option, GrepFlag::Regexp | GrepFlag::File) {
            let list = patterns.get_or_insert_with(Vec::new);
            if *option == GrepFlag::Regexp {
                split_patterns(&value, list);
            } else {
                let mut text = read_file(ctx, &value)?;
                if text.last() == Some(&b'\n') {
                    text.pop();
                } else if text.is_empty() {
                    continue;
                }
                split_patterns(&text, list);
            }
            continue;
        }
        apply::apply_option(ctx, &mut config, &mut modes, *option, &value)?;
    }
    modes.settle(&mut config);
    let mut operands = parsed.operands;
    let patterns = match patterns {
        Some(list) => list,
        None if operands.is_empty() => {
            print_usage(ctx);
            return Err(Exit::USAGE);
        }
        None => {
            let mut list = Vec::new();
            split_patterns(&operands.remove(0), &mut list);
            list
        }
    };
    Ok(GrepRequest { config, patterns, operands })
}

fn default_config(ctx: &Ctx<'_>) -> GrepConfig {
    GrepConfig {
        syntax: match ctx.name.as_str() {
            "egrep" => GrepSyntax::Extended,
            "fgrep" => GrepSyntax::Fixed,
            _ => GrepSyntax::Basic,
        },
        directories: match ctx.name.as_str() {
            "rgrep" => Directories::Recurse,
            _ => Directories::Read,
        },
        end: b'\n',
        utf8: ctx.env.is_utf8(),
        label: b"(standard input)".to_vec(),
        separator: Some(b"--".to_vec()),
        ..GrepConfig::default()
    }
}

/// Options whose effect depends on each other.
#[derive(Default)]
struct Modes {
    matcher: Option<GrepSyntax>,
    before: Option<u64>,
    after: Option<u64>,
    both: Option<u64>,
    count: bool,
    list: Option<GrepMode>,
    quiet: bool,
}

impl Modes {
    fn settle(self, config: &mut GrepConfig) {
        config.before = self.before.or(self.both).unwrap_or(0);
        config.after = self.after.or(self.both).unwrap_or(0);
        config.context_given = self.before.or(self.after).or(self.both).is_some();
        config.mode = match (self.quiet, self.list, self.count) {
            (true, _, _) => GrepMode::Quiet,
            (_, Some(list), _) => list,
            (_, _, true) => GrepMode::Count,
            _ => GrepMode::Lines,
        };
    }
}

fn glob_options() -> glob::GlobOptions {
    glob::GlobOptions::default()
}

fn is_terminal(ctx: &Ctx<'_>) -> bool {
    match ctx.stdout.sink() {
        box_applet::OutputSink::File(f) => box_sys::is_terminal(f),
        _ => false,
    }
}

/// Replaces `-NUM` anywhere among the short options by `-C NUM`.
fn context_digits(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(args.len());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == b"--" {
            out.push(arg.clone());
            break;
        }
        let short = arg.len() > 1 && arg[0] == b'-' && arg[1] != b'-';
        if !short {
            let long = arg.strip_prefix(b"--");
            let takes = long.and_then(|name| SPEC.argument_of_long(name));
            let takes_next = matches!(takes, Some(OptArg::Required(_)));
            out.push(arg.clone());
            if takes_next {
                out.extend(rest.next().cloned());
            }
            continue;
        }
        let mut kept = vec![b'-'];
        let mut digits = Vec::new();
        let mut takes_next = false;
        for (i, &c) in arg.iter().enumerate().skip(1) {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            kept.push(c);
            if SPEC.argument_of(c).is_some_and(|arg| arg != OptArg::No) {
                kept.extend_from_slice(&arg[i + 1..]);
                takes_next = i + 1 == arg.len();
                break;
            }
        }
        if !digits.is_empty() {
            out.push(b"-C".to_vec());
            out.push(digits);
        }
        if kept.len() > 1 {
            out.push(kept);
        }
        if takes_next {
            out.extend(rest.next().cloned());
        }
    }
    out.extend(rest.cloned());
    out
}

fn split_patterns(text: &[u8], list: &mut Vec<Vec<u8>>) {
    list.extend(text.split(|&b| b == b'\n').map(<[u8]>::to_vec));
}

fn read_file(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<Vec<u8>, Exit> {
    ctx.read(name).map_err(|e| {
        ctx.io_error(name, &e);
        Exit::USAGE
    })
}

/// Parses a decimal number; one that is too large becomes the maximum.
fn parse_number(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n =
        digits.iter().fold(0i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d - b'0')));
    Some(if negative { -n } else { n })
}

/// Returns the one word that begins with `value`.
fn find_abbreviated(value: &[u8], words: &[&'static str]) -> Option<&'static str> {
    let mut found = words.iter().filter(|w| w.as_bytes().starts_with(value));
    let first = found.next().copied();
    let exact = words.iter().find(|w| w.as_bytes() == value).copied();
    exact.or(if found.next().is_none() { first } else { None })
}

fn report_failure(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(message);
    Exit::USAGE
}

fn invalid_argument(ctx: &mut Ctx<'_>, value: &[u8], option: &str, valid: &[&str]) -> Exit {
    let shown = String::from_utf8_lossy(value);
    let mut text = format!(
        "invalid argument \u{2018}{shown}\u{2019} for \u{2018}{option}\u{2019}\nValid arguments are:"
    );
    for word in valid {
        text.push_str(&format!("\n  - \u{2018}{word}\u{2019}"));
    }
    ctx.error(text);
    print_usage(ctx);
    Exit::FAILURE
}

fn print_usage(ctx: &mut Ctx<'_>) {
    let text = format!(
        "Usage: {name} {usage}\nTry '{name} --help' for more information.\n",
        name = ctx.name,
        usage = SPEC.usage
    );
    let _ = std::io::Write::write_all(&mut ctx.stderr, text.as_bytes());
}
