//! `getopt` (util-linux): parses a script's options and prints them in normal form.

use std::io::Write;

use box_applet::help::{HelpPage, HelpSection, words};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input;

const HELP: HelpPage = HelpPage::new(
    "[OPTION]... -o LETTERS [--] [ARG]...\nLETTERS [ARG]...",
    "Bring the options among ARGs into a form that a script can read in a loop.",
    &[HelpSection::new(
        "Options",
        &[
            (
                "  -o, --options LETTERS",
                "Letters to accept; one with : after it takes a value, one with :: may take one",
            ),
            (
                "  -l, --longoptions NAMES",
                "Long names to accept, separated by commas, with the same colons",
            ),
            ("  -n, --name NAME", "Name of the script, for error messages"),
            ("  -a, --alternative", "Accept long names after a single dash"),
            ("  -q, --quiet", "Print no error messages"),
            ("  -Q, --quiet-output", "Print nothing but error messages"),
            ("  -s, --shell SHELL", "Quote for sh, bash, csh or tcsh"),
            ("  -u, --unquoted", "Do not quote"),
            ("  -T, --test", "End with status 4, which identifies this enhanced version"),
            ("  -h, --help", words::HELP),
            ("  -V, --version", words::VERSION),
        ],
    )],
)
.with_examples(&[(
    "args=$(getopt -o vo: -l verbose,output: -- \"$@\") && eval set -- \"$args\"",
    "Options of a script",
)]);

#[derive(Clone, Copy, PartialEq)]
enum ArgumentKind {
    No,
    Required,
    Optional,
}

/// The settings that getopt's own options make.
#[derive(Default)]
struct GetoptSettings {
    short: Option<Vec<u8>>,
    long: Vec<(Vec<u8>, ArgumentKind)>,
    name: Option<Vec<u8>>,
    quiet: bool,
    no_output: bool,
    alternative: bool,
    unquoted: bool,
    csh: bool,
}

fn quote_word(text: &[u8], csh: bool) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &c in text {
        match c {
            b'\'' => out.extend_from_slice(b"'\\''"),
            b'\\' if csh => out.extend_from_slice(b"\\\\"),
            b'!' if csh => out.extend_from_slice(b"'\\!'"),
            b'\n' if csh => out.extend_from_slice(b"\\n"),
            c => out.push(c),
        }
    }
    out.push(b'\'');
    out
}

fn argument_kind(colons: usize) -> ArgumentKind {
    match colons {
        0 => ArgumentKind::No,
        1 => ArgumentKind::Required,
        _ => ArgumentKind::Optional,
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let (settings, parameters) = parse_settings(ctx, args)?;
    if let Some(name) = &settings.name {
        ctx.name = String::from_utf8_lossy(name).into_owned();
    }
    Ok(GetoptParser::new(ctx, &settings, parameters).parse())
}

/// Prints GNU's message about getopt's own command line.
fn report_misuse(ctx: &mut Ctx<'_>, parts: &[&[u8]]) -> Exit {
    input::usage_error(ctx, parts);
    Exit::USAGE
}

/// Parses getopt's own options; returns the settings, and the parameters to which they apply.
fn parse_settings<'a>(
    ctx: &mut Ctx<'_>,
    args: &'a [Vec<u8>],
) -> Result<(GetoptSettings, &'a [Vec<u8>]), Exit> {
    let mut s = GetoptSettings::default();
    let compatible = args.first().is_none_or(|a| !a.starts_with(b"-"))
        || ctx.env.get(b"GETOPT_COMPATIBLE").is_some();
    if compatible {
        let Some((first, rest)) = args.split_first() else {
            return Err(report_misuse(ctx, &[b"missing optstring argument"]));
        };
        s.short = Some(first.clone());
        s.unquoted = true;
        return Ok((s, rest));
    }
    let mut rest = args;
    let mut ended = false;
    while let Some((word, after)) = rest.split_first() {
        if word == b"--" {
            (rest, ended) = (after, true);
            break;
        }
        if word.len() < 2 || !word.starts_with(b"-") {
            break;
        }
        rest = s.take_option(ctx, word, after)?;
    }
    if s.short.is_none() {
        let Some((optstring, after)) = rest.split_first() else {
            return Err(report_misuse(ctx, &[b"missing optstring argument"]));
        };
        s.short = Some(optstring.clone());
        (rest, ended) = (after, optstring == b"--");
    }
    if let Some((word, after)) = rest.split_first()
        && word == b"--"
        && !ended
    {
        rest = after;
    }
    Ok((s, rest))
}

impl GetoptSettings {
    /// Takes one option, with a value from `after` if it needs one; returns the rest of the
    /// arguments.
    fn take_option<'a>(
        &mut self,
        ctx: &mut Ctx<'_>,
        word: &[u8],
        after: &'a [Vec<u8>],
    ) -> Result<&'a [Vec<u8>], Exit> {
        let (name, mut value) = match word.strip_prefix(b"--") {
            Some(long) => match long.iter().position(|c| *c == b'=') {
                Some(i) => (&long[..i], Some(&long[i + 1..])),
                None => (long, None),
            },
            None => (&word[1..2], Some(&word[2..]).filter(|rest| !rest.is_empty())),
        };
        let full = full_name(name);
        let mut rest = after;
        if matches!(full, b"name" | b"options" | b"shell" | b"longoptions") && value.is_none() {
            let Some((next, after)) = after.split_first() else {
                return Err(report_misuse(ctx, &[b"option requires an argument -- '", name, b"'"]));
            };
            (value, rest) = (Some(next.as_slice()), after);
        }
        let value = value.unwrap_or_default();
        match full {
            b"name" => self.name = Some(value.to_vec()),
            b"options" => self.short = Some(value.to_vec()),
            b"shell" => self.csh = matches!(value, b"csh" | b"tcsh"),
            b"longoptions" => self.add_long(value),
            // The status of the enhanced getopt for `--test`, without output.
            b"test" => return Err(Exit(4)),
            b"help" => return Err(ctx.print(&HELP.text(&ctx.name))),
            b"version" => return Err(ctx.print(&ctx.version())),
            flag if self.set(flag) => {}
            _ => return Err(report_misuse(ctx, &[b"unrecognized option '", word, b"'"])),
        }
        // A word may hold several flags.
        if let [b'-', b'a' | b'q' | b'Q' | b'u', more @ ..] = word {
            for letter in more {
                self.set(full_name(&[*letter]));
            }
        }
        Ok(rest)
    }

    /// Sets a flag by its long name; returns false for an unknown name.
    fn set(&mut self, flag: &[u8]) -> bool {
        match flag {
            b"alternative" => self.alternative = true,
            b"quiet" => self.quiet = true,
            b"quiet-output" => self.no_output = true,
            b"unquoted" => self.unquoted = true,
            _ => return false,
        }
        true
    }

    /// Adds long options: `NAME`, `NAME:` and `NAME::`, separated by commas or white space.
    fn add_long(&mut self, list: &[u8]) {
        let names = list.split(|c| matches!(c, b',' | b' ' | b'\t' | b'\n'));
        for name in names.filter(|name| !name.is_empty()) {
            let colons = name.iter().rev().take_while(|c| **c == b':').count();
            self.long.push((name[..name.len() - colons].to_vec(), argument_kind(colons)));
        }
    }
}

/// Returns the unabbreviated long name of an option of `getopt`.
fn full_name(name: &[u8]) -> &[u8] {
    match name {
        b"a" => b"alternative",
        b"l" => b"longoptions",
        b"n" => b"name",
        b"o" => b"options",
        b"q" => b"quiet",
        b"Q" => b"quiet-output",
        b"s" => b"shell",
        b"T" => b"test",
        b"u" => b"unquoted",
        b"h" => b"help",
        b"V" => b"version",
        short if short.len() > 1 && b"longoptions".starts_with(short) => b"longoptions",
        other => other,
    }
}

/// A parser that converts parameters to their normal form.
struct GetoptParser<'a, 'c, 'p> {
    ctx: &'a mut Ctx<'c>,
    settings: &'a GetoptSettings,
    /// The letters that are options, without the prefix that selects the mode.
    letters: &'a [u8],
    /// Whether options end at the first operand.
    stop: bool,
    /// Whether operands stay where they are.
    in_place: bool,
    quiet: bool,
    rest: std::slice::Iter<'p, Vec<u8>>,
    out: Vec<u8>,
    operands: Vec<&'p [u8]>,
    failed: bool,
}

impl<'a, 'c, 'p> GetoptParser<'a, 'c, 'p> {
    fn new(
        ctx: &'a mut Ctx<'c>,
        settings: &'a GetoptSettings,
        args: &'p [Vec<u8>],
    ) -> GetoptParser<'a, 'c, 'p> {
        let short = settings.short.as_deref().unwrap_or_default();
        let (stop, in_place, letters) = match short.first() {
            Some(b'+') => (true, false, &short[1..]),
            Some(b'-') => (false, true, &short[1..]),
            _ => (ctx.env.get(b"POSIXLY_CORRECT").is_some(), false, short),
        };
        GetoptParser {
            ctx,
            settings,
            letters: letters.strip_prefix(b":").unwrap_or(letters),
            stop,
            in_place,
            quiet: settings.quiet || letters.starts_with(b":"),
            rest: args.iter(),
            out: Vec::new(),
            operands: Vec::new(),
            failed: false,
        }
    }

    fn parse(mut self) -> Exit {
        while let Some(word) = self.rest.next() {
            if word == b"--" {
                self.operands.extend(self.rest.by_ref().map(Vec::as_slice));
            } else if let Some(text) = word.strip_prefix(b"--") {
                self.parse_long(text);
            } else if word.len() > 2 && word.starts_with(b"-") && self.settings.alternative {
                // A word with a single dash may still hold short options.
                if self.find_long(&word[1..]).is_err() && self.find_short(word[1]).is_some() {
                    self.parse_short(word);
                } else {
                    self.parse_long(&word[1..]);
                }
            } else if word.len() > 1 && word.starts_with(b"-") {
                self.parse_short(word);
            } else if self.in_place {
                self.add_word(word);
            } else {
                self.operands.push(word);
                if self.stop {
                    self.operands.extend(self.rest.by_ref().map(Vec::as_slice));
                }
            }
        }
        self.out.extend_from_slice(b" --");
        for operand in std::mem::take(&mut self.operands) {
            self.add_word(operand);
        }
        self.out.push(b'\n');
        if !self.settings.no_output {
            let _ = self.ctx.stdout.write_all(&self.out);
        }
        if self.failed { Exit::FAILURE } else { Exit::SUCCESS }
    }

    /// Adds a word to the output.
    fn add_word(&mut self, word: &[u8]) {
        self.out.push(b' ');
        if self.settings.unquoted {
            self.out.extend_from_slice(word);
        } else {
            self.out.extend_from_slice(&quote_word(word, self.settings.csh));
        }
    }

    fn report_failure(&mut self, parts: &[&[u8]]) {
        if !self.quiet {
            self.ctx.error_bytes(parts);
        }
        self.failed = true;
    }

    fn find_short(&self, letter: u8) -> Option<ArgumentKind> {
        let i = self.letters.iter().position(|c| *c == letter && letter != b':')?;
        Some(argument_kind(self.letters[i + 1..].iter().take_while(|c| **c == b':').count()))
    }

    /// Returns the option with a long name, which may be abbreviated. The error holds all
    /// candidates.
    fn find_long(&self, text: &[u8]) -> Result<(&'a [u8], ArgumentKind), Vec<&'a [u8]>> {
        let name = text.split(|c| *c == b'=').next().unwrap_or_default();
        let long = &self.settings.long;
        let begins: Vec<_> = long.iter().filter(|l| l.0.starts_with(name)).collect();
        match (long.iter().find(|l| l.0 == name), begins.as_slice()) {
            (Some(found), _) => Ok((&found.0, found.1)),
            (None, [one]) => Ok((&one.0, one.1)),
            _ => Err(begins.into_iter().map(|l| l.0.as_slice()).collect()),
        }
    }

    /// Parses `NAME` or `NAME=VALUE`.
    fn parse_long(&mut self, text: &'p [u8]) {
        let mut parts = text.splitn(2, |c| *c == b'=');
        let (name, attached) = (parts.next().unwrap_or_default(), parts.next());
        let (full, takes) = match self.find_long(text) {
            Ok(found) => found,
            Err(several) if several.len() > 1 => {
                let list = several.iter().flat_map(|l| [b" '--", *l, b"'"].concat());
                let list: Vec<u8> = list.collect();
                let what = b"' is ambiguous; possibilities:";
                return self.report_failure(&[b"option '--", name, what, &list]);
            }
            Err(_) => return self.report_failure(&[b"unrecognized option '--", name, b"'"]),
        };
        let value = match (takes, attached) {
            (ArgumentKind::No, Some(_)) => {
                return self.report_failure(&[b"option '--", full, b"' doesn't allow an argument"]);
            }
            (ArgumentKind::No, None) => None,
            (ArgumentKind::Optional, attached) => Some(attached.unwrap_or_default()),
            (ArgumentKind::Required, Some(attached)) => Some(attached),
            (ArgumentKind::Required, None) => match self.rest.next() {
                Some(next) => Some(next.as_slice()),
                None => {
                    return self.report_failure(&[b"option '--", full, b"' requires an argument"]);
                }
            },
        };
        self.out.extend_from_slice(&[b" --", full].concat());
        if let Some(value) = value {
            self.add_word(value);
        }
    }

    /// Parses the letters after a dash; the first letter that takes a value takes the rest of the
    /// word.
    fn parse_short(&mut self, word: &'p [u8]) {
        for (i, &letter) in word.iter().enumerate().skip(1) {
            let rest = &word[i + 1..];
            let value = match self.find_short(letter) {
                None => {
                    self.report_failure(&[b"invalid option -- '", &[letter], b"'"]);
                    continue;
                }
                Some(ArgumentKind::No) => {
                    self.out.extend_from_slice(&[b' ', b'-', letter]);
                    continue;
                }
                Some(ArgumentKind::Optional) => Some(rest),
                Some(ArgumentKind::Required) if !rest.is_empty() => Some(rest),
                Some(ArgumentKind::Required) => self.rest.next().map(Vec::as_slice),
            };
            match value {
                Some(value) => {
                    self.out.extend_from_slice(&[b' ', b'-', letter]);
                    self.add_word(value);
                }
                None => {
                    self.report_failure(&[b"option requires an argument -- '", &[letter], b"'"])
                }
            }
            return;
        }
    }
}
