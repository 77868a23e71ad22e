//! The command line (GNU grep manual, "Command-line Options").

use std::io::Read;

use box_applet::opts::{Arg, Opt, Spec};
use box_applet::{Ctx, Exit};
use box_text::glob::{self, Pattern};

use crate::colors::Colors;
use crate::config::{Binary, Config, Directories, FileRule, Mode, Syntax};

/// Ids of options without a letter.
mod id {
    pub const NO_IGNORE_CASE: char = '\u{1}';
    pub const LABEL: char = '\u{2}';
    pub const LINE_BUFFERED: char = '\u{3}';
    pub const BINARY_FILES: char = '\u{4}';
    pub const INCLUDE: char = '\u{5}';
    pub const EXCLUDE: char = '\u{6}';
    pub const EXCLUDE_FROM: char = '\u{7}';
    pub const EXCLUDE_DIR: char = '\u{8}';
    pub const SEPARATOR: char = '\u{9}';
    pub const NO_SEPARATOR: char = '\u{a}';
    pub const COLOR: char = '\u{b}';
}

const SPEC: Spec = Spec {
    usage: "[OPTION]... PATTERNS [FILE]...",
    about: "Search for PATTERNS in each FILE.\nPATTERNS can contain multiple patterns separated by newlines.",
    options: &[
        Opt::flag('E', "extended-regexp", "PATTERNS are extended regular expressions"),
        Opt::flag('F', "fixed-strings", "PATTERNS are strings"),
        Opt::flag('G', "basic-regexp", "PATTERNS are basic regular expressions"),
        Opt::flag('P', "perl-regexp", "PATTERNS are Perl regular expressions"),
        Opt::value('e', "regexp", "PATTERNS", "use PATTERNS for matching"),
        Opt::value('f', "file", "FILE", "take PATTERNS from FILE"),
        Opt::flag('i', "ignore-case", "ignore case distinctions in patterns and data"),
        Opt::flag('y', "", "obsolete synonym for -i"),
        Opt::flag(id::NO_IGNORE_CASE, "no-ignore-case", "do not ignore case distinctions (default)")
            .long_only(),
        Opt::flag('w', "word-regexp", "match only whole words"),
        Opt::flag('x', "line-regexp", "match only whole lines"),
        Opt::flag('z', "null-data", "a data line ends in 0 byte, not newline"),
        Opt::flag('s', "no-messages", "suppress error messages"),
        Opt::flag('v', "invert-match", "select non-matching lines"),
        Opt::flag('V', "version", "display version information and exit"),
        Opt::value('m', "max-count", "NUM", "stop after NUM selected lines"),
        Opt::flag('b', "byte-offset", "print the byte offset with output lines"),
        Opt::flag('n', "line-number", "print line number with output lines"),
        Opt::flag(id::LINE_BUFFERED, "line-buffered", "flush output on every line").long_only(),
        Opt::flag('H', "with-filename", "print file name with output lines"),
        Opt::flag('h', "no-filename", "suppress the file name prefix on output"),
        Opt::value(id::LABEL, "label", "LABEL", "use LABEL as the standard input file name prefix")
            .long_only(),
        Opt::flag('o', "only-matching", "show only nonempty parts of lines that match"),
        Opt::flag('q', "quiet", "suppress all normal output"),
        Opt::flag('q', "silent", "the same").long_only(),
        Opt::value(
            id::BINARY_FILES,
            "binary-files",
            "TYPE",
            "assume that binary files are TYPE;\n                              TYPE is 'binary', 'text', or 'without-match'",
        )
        .long_only(),
        Opt::flag('a', "text", "equivalent to --binary-files=text"),
        Opt::flag('I', "", "equivalent to --binary-files=without-match"),
        Opt::value(
            'd',
            "directories",
            "ACTION",
            "how to handle directories: 'read', 'recurse', or 'skip'",
        ),
        Opt::value('D', "devices", "ACTION", "how to handle devices: 'read' or 'skip'"),
        Opt::flag('r', "recursive", "like --directories=recurse"),
        Opt::flag('R', "dereference-recursive", "likewise, but follow all symlinks"),
        Opt::value(id::INCLUDE, "include", "GLOB", "search only files that match GLOB").long_only(),
        Opt::value(id::EXCLUDE, "exclude", "GLOB", "skip files that match GLOB").long_only(),
        Opt::value(
            id::EXCLUDE_FROM,
            "exclude-from",
            "FILE",
            "skip files that match any file pattern from FILE",
        )
        .long_only(),
        Opt::value(id::EXCLUDE_DIR, "exclude-dir", "GLOB", "skip directories that match GLOB")
            .long_only(),
        Opt::flag('L', "files-without-match", "print only names of FILEs with no selected lines"),
        Opt::flag('l', "files-with-matches", "print only names of FILEs with selected lines"),
        Opt::flag('c', "count", "print only a count of selected lines per FILE"),
        Opt::flag('T', "initial-tab", "make tabs line up (if needed)"),
        Opt::flag('Z', "null", "print 0 byte after FILE name"),
        Opt::value('B', "before-context", "NUM", "print NUM lines of leading context"),
        Opt::value('A', "after-context", "NUM", "print NUM lines of trailing context"),
        Opt::value('C', "context", "NUM", "print NUM lines of output context; also -NUM"),
        Opt::value(
            id::SEPARATOR,
            "group-separator",
            "SEP",
            "print SEP on line between matches with context",
        )
        .long_only(),
        Opt::flag(
            id::NO_SEPARATOR,
            "no-group-separator",
            "do not print separator for matches with context",
        )
        .long_only(),
        Opt::optional(
            id::COLOR,
            "color",
            "WHEN",
            "highlight matches; WHEN is 'always', 'never', or 'auto'",
        )
        .long_only(),
        Opt::optional(id::COLOR, "colour", "WHEN", "the same").long_only(),
        Opt::flag('U', "binary", "do not strip CR characters at EOL (no effect here)"),
    ],
    after: "When FILE is '-', read standard input.  With no FILE, read '.' if\nrecursive, '-' otherwise.  With fewer than two FILEs, assume -h.\nExit status is 0 if any line is selected, 1 otherwise;\nif any error occurs and -q is not given, the exit status is 2.",
    posix_order: false,
};

/// The whole command line.
pub struct Parsed {
    pub config: Config,
    pub patterns: Vec<Vec<u8>>,
    pub operands: Vec<Vec<u8>>,
}

/// Reads the command line; `Err` holds the status to end with.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Parsed, Exit> {
    let args = context_digits(args);
    let mut parsed = SPEC.parse_or_exit(ctx, &args, Exit::USAGE)?;
    if parsed.has('V') {
        let _ = std::io::Write::write_all(
            &mut ctx.stdout,
            format!("{} (Wasibox) {}\n", ctx.name, env!("CARGO_PKG_VERSION")).as_bytes(),
        );
        return Err(Exit::SUCCESS);
    }
    let mut config = defaults(ctx);
    let mut patterns = None;
    let mut options = std::mem::take(&mut parsed.options);
    let mut modes = Modes::default();
    for (option, value) in &mut options {
        let value = value.take().unwrap_or_default();
        if matches!(option, 'e' | 'f') {
            let list = patterns.get_or_insert_with(Vec::new);
            if *option == 'e' {
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
        apply(ctx, &mut config, &mut modes, *option, &value)?;
    }
    modes.settle(&mut config);
    let mut operands = parsed.operands;
    let patterns = match patterns {
        Some(list) => list,
        None if operands.is_empty() => {
            usage(ctx);
            return Err(Exit::USAGE);
        }
        None => {
            let mut list = Vec::new();
            split_patterns(&operands.remove(0), &mut list);
            list
        }
    };
    Ok(Parsed { config, patterns, operands })
}

fn defaults(ctx: &Ctx<'_>) -> Config {
    Config {
        syntax: match ctx.name.as_str() {
            "egrep" => Syntax::Extended,
            "fgrep" => Syntax::Fixed,
            _ => Syntax::Basic,
        },
        ignore_case: false,
        words: false,
        whole_lines: false,
        end: b'\n',
        utf8: utf8_locale(ctx),
        invert: false,
        max_count: None,
        mode: Mode::Lines,
        only_matching: false,
        byte_offset: false,
        line_number: false,
        with_filename: None,
        null_after_name: false,
        initial_tab: false,
        label: b"(standard input)".to_vec(),
        before: 0,
        after: 0,
        context_given: false,
        separator: Some(b"--".to_vec()),
        colors: None,
        binary: Binary::Report,
        directories: match ctx.name.as_str() {
            "rgrep" => Directories::Recurse,
            _ => Directories::Read,
        },
        skip_devices: None,
        follow: false,
        no_messages: false,
        line_buffered: false,
        file_rules: Vec::new(),
        exclude_dirs: Vec::new(),
    }
}

/// Options whose effect depends on each other.
#[derive(Default)]
struct Modes {
    matcher: Option<Syntax>,
    before: Option<u64>,
    after: Option<u64>,
    both: Option<u64>,
    count: bool,
    list: Option<Mode>,
    quiet: bool,
}

impl Modes {
    fn settle(self, config: &mut Config) {
        config.before = self.before.or(self.both).unwrap_or(0);
        config.after = self.after.or(self.both).unwrap_or(0);
        config.context_given = self.before.or(self.after).or(self.both).is_some();
        config.mode = match (self.quiet, self.list, self.count) {
            (true, _, _) => Mode::Quiet,
            (_, Some(list), _) => list,
            (_, _, true) => Mode::Count,
            _ => Mode::Lines,
        };
    }
}

fn apply(
    ctx: &mut Ctx<'_>,
    config: &mut Config,
    modes: &mut Modes,
    option: char,
    value: &[u8],
) -> Result<(), Exit> {
    match option {
        'E' | 'F' | 'G' | 'P' => {
            let syntax = match option {
                'E' => Syntax::Extended,
                'F' => Syntax::Fixed,
                'P' => Syntax::Perl,
                _ => Syntax::Basic,
            };
            if modes.matcher.is_some_and(|m| m != syntax) {
                return Err(fail(ctx, "conflicting matchers specified"));
            }
            modes.matcher = Some(syntax);
            config.syntax = syntax;
        }
        'i' | 'y' => config.ignore_case = true,
        id::NO_IGNORE_CASE => config.ignore_case = false,
        'w' => config.words = true,
        'x' => config.whole_lines = true,
        'z' => config.end = 0,
        's' => config.no_messages = true,
        'v' => config.invert = true,
        'm' => match number(value) {
            Some(n) => config.max_count = u64::try_from(n).ok(),
            None => return Err(fail(ctx, "invalid max count")),
        },
        'b' => config.byte_offset = true,
        'n' => config.line_number = true,
        id::LINE_BUFFERED => config.line_buffered = true,
        'H' => config.with_filename = Some(true),
        'h' => config.with_filename = Some(false),
        id::LABEL => config.label = value.to_vec(),
        'o' => config.only_matching = true,
        'q' => modes.quiet = true,
        id::BINARY_FILES => {
            config.binary = match value {
                b"binary" => Binary::Report,
                b"text" => Binary::Text,
                b"without-match" => Binary::WithoutMatch,
                _ => return Err(fail(ctx, "unknown binary-files type")),
            }
        }
        'a' => config.binary = Binary::Text,
        'I' => config.binary = Binary::WithoutMatch,
        'd' => {
            config.directories = match abbreviated(value, &["read", "recurse", "skip"]) {
                Some("read") => Directories::Read,
                Some("skip") => Directories::Skip,
                Some(_) => Directories::Recurse,
                None => {
                    let valid = ["read", "recurse", "skip"];
                    return Err(invalid_argument(ctx, value, "--directories", &valid));
                }
            };
            config.follow = false;
        }
        'D' => {
            config.skip_devices = match value {
                b"read" => Some(false),
                b"skip" => Some(true),
                _ => return Err(fail(ctx, "unknown devices method")),
            }
        }
        'r' | 'R' => {
            config.directories = Directories::Recurse;
            config.follow = option == 'R';
        }
        id::INCLUDE | id::EXCLUDE => config.file_rules.push(FileRule {
            pattern: Pattern::new(value, glob_options()),
            include: option == id::INCLUDE,
        }),
        id::EXCLUDE_FROM => {
            let text = read_file(ctx, value)?;
            for line in text.split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
                let pattern = Pattern::new(line, glob_options());
                config.file_rules.push(FileRule { pattern, include: false });
            }
        }
        id::EXCLUDE_DIR => {
            let mut value = value;
            while let [head @ .., b'/'] = value
                && !head.is_empty()
            {
                value = head;
            }
            config.exclude_dirs.push(Pattern::new(value, glob_options()));
        }
        'L' => modes.list = Some(Mode::FilesWithout),
        'l' => modes.list = Some(Mode::FilesWith),
        'c' => modes.count = true,
        'T' => config.initial_tab = true,
        'Z' => config.null_after_name = true,
        'A' | 'B' | 'C' => {
            let Some(n) = number(value).and_then(|n| u64::try_from(n).ok()) else {
                let shown = String::from_utf8_lossy(value);
                return Err(fail(ctx, &format!("{shown}: invalid context length argument")));
            };
            *match option {
                'A' => &mut modes.after,
                'B' => &mut modes.before,
                _ => &mut modes.both,
            } = Some(n);
        }
        id::SEPARATOR => config.separator = Some(value.to_vec()),
        id::NO_SEPARATOR => config.separator = None,
        id::COLOR => {
            let on = match value {
                b"always" | b"yes" | b"force" => true,
                b"never" | b"no" | b"none" => false,
                b"auto" | b"tty" | b"if-tty" | b"" => {
                    let term = ctx.env.get(b"TERM");
                    is_terminal(ctx) && term.is_some_and(|t| t != b"dumb" && !t.is_empty())
                }
                _ => {
                    usage(ctx);
                    return Err(Exit::USAGE);
                }
            };
            if on && let Some(old) = ctx.env.get(b"GREP_COLOR").filter(|v| !v.is_empty()) {
                let old = String::from_utf8_lossy(old).into_owned();
                ctx.error(format_args!(
                    "warning: GREP_COLOR='{old}' is deprecated; use GREP_COLORS='mt={old}'"
                ));
            }
            let env = |name| ctx.env.get(name);
            config.colors = on.then(|| Colors::new(env(b"GREP_COLOR"), env(b"GREP_COLORS")));
        }
        _ => {}
    }
    Ok(())
}

fn glob_options() -> glob::Options {
    glob::Options::default()
}

fn is_terminal(ctx: &Ctx<'_>) -> bool {
    match ctx.stdout.sink() {
        box_applet::Sink::File(f) => box_sys::is_terminal(f),
        _ => false,
    }
}

/// Whether characters are UTF-8: everywhere but in an explicit C locale.
fn utf8_locale(ctx: &Ctx<'_>) -> bool {
    let names: [&[u8]; 3] = [b"LC_ALL", b"LC_CTYPE", b"LANG"];
    let locale = names.iter().find_map(|n| ctx.env.get(n).filter(|v| !v.is_empty()));
    !matches!(locale, Some(b"C" | b"POSIX"))
}

/// `-NUM` anywhere among the short options becomes `-C NUM`.
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
            let takes_next = matches!(takes, Some(Arg::Required(_)));
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
            if SPEC.argument_of(c).is_some_and(|arg| arg != Arg::No) {
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
    let mut text = Vec::new();
    let read = if name == b"-" {
        ctx.stdin.read_to_end(&mut text)
    } else {
        std::fs::File::open(ctx.path(name)).and_then(|mut f| f.read_to_end(&mut text))
    };
    match read {
        Ok(_) => Ok(text),
        Err(e) => {
            ctx.io_error(name, &e);
            Err(Exit::USAGE)
        }
    }
}

/// A decimal number, as large as fits.
fn number(text: &[u8]) -> Option<i64> {
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

/// The one word that begins with `value`.
fn abbreviated(value: &[u8], words: &[&'static str]) -> Option<&'static str> {
    let mut found = words.iter().filter(|w| w.as_bytes().starts_with(value));
    let first = found.next().copied();
    let exact = words.iter().find(|w| w.as_bytes() == value).copied();
    exact.or(if found.next().is_none() { first } else { None })
}

fn fail(ctx: &mut Ctx<'_>, message: &str) -> Exit {
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
    usage(ctx);
    Exit::FAILURE
}

fn usage(ctx: &mut Ctx<'_>) {
    let text = format!(
        "Usage: {name} {usage}\nTry '{name} --help' for more information.\n",
        name = ctx.name,
        usage = SPEC.usage
    );
    let _ = std::io::Write::write_all(&mut ctx.stderr, text.as_bytes());
}
