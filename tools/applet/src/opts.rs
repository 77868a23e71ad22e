//! Command-line options, declared once as a const list: parsing follows `getopt_long(3)`
//! (permutation, abbreviated long options, `--`), usage and `--help` texts derive from the list.
//!
//! ```
//! use box_applet::opts::{Opt, Spec};
//! const SPEC: Spec = Spec {
//!     usage: "[OPTION]... [FILE]...",
//!     about: "Print the first lines of each FILE.",
//!     options: &[
//!         Opt::value('n', "lines", "NUM", "print the first NUM lines"),
//!         Opt::flag('q', "quiet", "never print headers"),
//!     ],
//!     after: "",
//!     posix_order: false,
//! };
//! let args = [b"-qn".to_vec(), b"3".to_vec(), b"f".to_vec()];
//! let parsed = SPEC.parse(&args).unwrap();
//! assert!(parsed.has('q'));
//! assert_eq!(parsed.last('n'), Some(&b"3"[..]));
//! assert_eq!(parsed.operands, [b"f".to_vec()]);
//! ```

use std::io::Write;

use crate::{Ctx, Exit};

/// Whether an option takes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    No,
    Required(&'static str),
    /// Only attached: `-iSUFFIX`, `--in-place=SUFFIX`.
    Optional(&'static str),
}

/// One option. `id` is its short letter, or any other char for a long-only option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    pub id: char,
    /// Whether `id` is usable as a short option.
    pub short: bool,
    /// Long name without dashes; empty for none.
    pub long: &'static str,
    pub arg: Arg,
    pub help: &'static str,
}

impl Opt {
    /// An option without argument.
    pub const fn flag(short: char, long: &'static str, help: &'static str) -> Opt {
        Opt { id: short, short: true, long, arg: Arg::No, help }
    }

    /// An option with a required argument.
    pub const fn value(
        short: char,
        long: &'static str,
        arg: &'static str,
        help: &'static str,
    ) -> Opt {
        Opt { id: short, short: true, long, arg: Arg::Required(arg), help }
    }

    /// An option with an optional, attached argument.
    pub const fn optional(
        short: char,
        long: &'static str,
        arg: &'static str,
        help: &'static str,
    ) -> Opt {
        Opt { id: short, short: true, long, arg: Arg::Optional(arg), help }
    }

    /// The same option without its short letter; `id` still names it in the result.
    pub const fn long_only(self) -> Opt {
        Opt { short: false, ..self }
    }
}

/// The command line of an applet.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// What follows the name in the usage line.
    pub usage: &'static str,
    /// What it does, a sentence or a paragraph.
    pub about: &'static str,
    pub options: &'static [Opt],
    /// Text after the options in `--help`.
    pub after: &'static str,
    /// Options end at the first operand (POSIX guideline 9; `env`, `xargs`, `timeout`).
    pub posix_order: bool,
}

/// Parsed options in order, and operands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    pub options: Vec<(char, Option<Vec<u8>>)>,
    pub operands: Vec<Vec<u8>>,
}

impl Parsed {
    /// Whether the option was given.
    pub fn has(&self, id: char) -> bool {
        self.options.iter().any(|(i, _)| *i == id)
    }

    /// How often the option was given.
    pub fn count(&self, id: char) -> usize {
        self.options.iter().filter(|(i, _)| *i == id).count()
    }

    /// The argument of the option's last use.
    pub fn last(&self, id: char) -> Option<&[u8]> {
        let found = self.options.iter().rev().find(|(i, _)| *i == id)?;
        found.1.as_deref()
    }

    /// All arguments of the option, in order.
    pub fn all(&self, id: char) -> impl Iterator<Item = &[u8]> {
        self.options.iter().filter(move |(i, _)| *i == id).filter_map(|(_, v)| v.as_deref())
    }

    /// The option among `ids` that was given last.
    pub fn last_of(&self, ids: &[char]) -> Option<char> {
        self.options.iter().rev().map(|(i, _)| *i).find(|i| ids.contains(i))
    }
}

/// A command line that does not fit; the text is GNU's, without the `NAME: ` prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageError {
    Message(String),
    /// `--help` was asked for.
    Help,
    /// `--version` was asked for.
    Version,
}

impl Spec {
    /// Parses `args` (without `argv[0]`).
    pub fn parse(&self, args: &[Vec<u8>]) -> Result<Parsed, UsageError> {
        let mut out = Parsed::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == b"--" {
                out.operands.extend(args.cloned());
                break;
            }
            if let Some(long) = arg.strip_prefix(b"--") {
                self.long(long, &mut args, &mut out)?;
            } else if arg.len() > 1 && arg[0] == b'-' {
                self.short(&arg[1..], &mut args, &mut out)?;
            } else if self.posix_order {
                out.operands.push(arg.clone());
                out.operands.extend(args.cloned());
                break;
            } else {
                out.operands.push(arg.clone());
            }
        }
        Ok(out)
    }

    fn long<'a>(
        &self,
        text: &[u8],
        rest: &mut impl Iterator<Item = &'a Vec<u8>>,
        out: &mut Parsed,
    ) -> Result<(), UsageError> {
        let (name, value) = match text.iter().position(|&c| c == b'=') {
            Some(i) => (&text[..i], Some(text[i + 1..].to_vec())),
            None => (text, None),
        };
        let shown = String::from_utf8_lossy(name);
        let matches: Vec<&Opt> = self
            .options
            .iter()
            .filter(|o| !o.long.is_empty() && o.long.as_bytes().starts_with(name))
            .collect();
        let exact = matches.iter().find(|o| o.long.as_bytes() == name);
        let opt = match (exact, matches.as_slice()) {
            (Some(o), _) => o,
            (None, [o]) => o,
            // Names of one option (`--color`, `--colour`) are not ambiguous.
            (None, [o, rest @ ..]) if rest.iter().all(|r| r.id == o.id) => o,
            (None, []) => {
                return Err(match name {
                    b"help" => UsageError::Help,
                    b"version" => UsageError::Version,
                    _ => UsageError::Message(format!("unrecognized option '--{shown}'")),
                });
            }
            (None, many) => {
                let list: Vec<String> = many.iter().map(|o| format!("'--{}'", o.long)).collect();
                return Err(UsageError::Message(format!(
                    "option '--{shown}' is ambiguous; possibilities: {}",
                    list.join(" ")
                )));
            }
        };
        let value = match (opt.arg, value) {
            (Arg::No, Some(_)) => {
                return Err(UsageError::Message(format!(
                    "option '--{}' doesn't allow an argument",
                    opt.long
                )));
            }
            (Arg::Required(_), None) => match rest.next() {
                Some(v) => Some(v.clone()),
                None => {
                    return Err(UsageError::Message(format!(
                        "option '--{}' requires an argument",
                        opt.long
                    )));
                }
            },
            (_, v) => v,
        };
        out.options.push((opt.id, value));
        Ok(())
    }

    fn short<'a>(
        &self,
        cluster: &[u8],
        rest: &mut impl Iterator<Item = &'a Vec<u8>>,
        out: &mut Parsed,
    ) -> Result<(), UsageError> {
        for (i, &c) in cluster.iter().enumerate() {
            let Some(opt) = self.options.iter().find(|o| o.short && o.id == char::from(c)) else {
                return Err(UsageError::Message(format!("invalid option -- '{}'", char::from(c))));
            };
            let attached = &cluster[i + 1..];
            match opt.arg {
                Arg::No => out.options.push((opt.id, None)),
                Arg::Optional(_) => {
                    let value = (!attached.is_empty()).then(|| attached.to_vec());
                    out.options.push((opt.id, value));
                    return Ok(());
                }
                Arg::Required(_) => {
                    let value = if attached.is_empty() {
                        rest.next().cloned()
                    } else {
                        Some(attached.to_vec())
                    };
                    if value.is_none() {
                        return Err(UsageError::Message(format!(
                            "option requires an argument -- '{}'",
                            char::from(c)
                        )));
                    }
                    out.options.push((opt.id, value));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The `--help` text.
    pub fn help(&self, name: &str) -> String {
        let mut text = format!("Usage: {name} {}\n{}\n", self.usage, self.about);
        if !self.options.is_empty() {
            text.push('\n');
        }
        for o in self.options {
            let short = if o.short { format!("-{}", o.id) } else { "  ".to_string() };
            let comma = if o.short && !o.long.is_empty() { ", " } else { "  " };
            let long = if o.long.is_empty() { String::new() } else { format!("--{}", o.long) };
            let arg = match o.arg {
                Arg::No => String::new(),
                Arg::Required(a) if o.long.is_empty() => format!(" {a}"),
                Arg::Required(a) => format!("={a}"),
                Arg::Optional(a) if o.long.is_empty() => format!("[{a}]"),
                Arg::Optional(a) => format!("[={a}]"),
            };
            let left = format!("  {short}{comma}{long}{arg}");
            if left.len() < 30 {
                text.push_str(&format!("{left:<30}{}\n", o.help));
            } else {
                text.push_str(&format!("{left}\n{:30}{}\n", "", o.help));
            }
        }
        text.push_str("      --help                  display this help and exit\n");
        text.push_str("      --version               output version information and exit\n");
        if !self.after.is_empty() {
            text.push('\n');
            text.push_str(self.after);
            text.push('\n');
        }
        text
    }

    /// Parses, or answers `--help`/`--version`/a usage error on the applet's streams.
    /// `Err` holds the status to end with: 0 after help, `usage_status` after an error.
    pub fn parse_or_exit(
        &self,
        ctx: &mut Ctx<'_>,
        args: &[Vec<u8>],
        usage_status: Exit,
    ) -> Result<Parsed, Exit> {
        match self.parse(args) {
            Ok(p) => Ok(p),
            Err(UsageError::Help) => {
                let text = self.help(&ctx.name);
                let _ = ctx.stdout.write_all(text.as_bytes());
                Err(Exit::SUCCESS)
            }
            Err(UsageError::Version) => {
                let text = format!("{} (Wasibox) {}\n", ctx.name, env!("CARGO_PKG_VERSION"));
                let _ = ctx.stdout.write_all(text.as_bytes());
                Err(Exit::SUCCESS)
            }
            Err(UsageError::Message(m)) => {
                ctx.error(&m);
                let hint = format!("Try '{} --help' for more information.\n", ctx.name);
                let _ = ctx.stderr.write_all(hint.as_bytes());
                Err(usage_status)
            }
        }
    }
}
