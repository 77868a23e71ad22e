//! `xargs` after POSIX XCU "xargs" and GNU findutils 4.9.
//!
//! | step | file |
//! |---|---|
//! | options | here |
//! | input to items: quotes, delimiters, lines, end string | `input` |
//! | items to command lines, sizes, statuses | `runner` |
//!
//! Statuses: 123 if a command failed, 124 if one exited with 255, 125 if one was killed, 126 if it
//! cannot be run, 127 if it is not found, and 1 for other errors.

mod input;
mod runner;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use box_applet::command::ChildStream;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::escape::control_char;

use input::{ItemReader, Splitting};
use runner::{XargsLimits, XargsRunner};

/// The default number of bytes of a command line, and the maximum.
const DEFAULT_CHARS: usize = 128 * 1024;
const MAX_CHARS: usize = 2 * 1024 * 1024 - 4096;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum XargsFlag {
    Null,
    ArgFile,
    Delimiter,
    Eof,
    Replace,
    MaxLines,
    /// `-L`. It is separate from `-l` because messages name the option.
    Lines,
    MaxArgs,
    OpenTty,
    MaxProcs,
    Interactive,
    ProcessSlotVar,
    NoRunIfEmpty,
    MaxChars,
    ShowLimits,
    Verbose,
    Exit,
}

const SPEC: Spec<XargsFlag> = Spec::new(
    "[OPTION]... [COMMAND [ARG]...]",
    "Run COMMAND (echo) with words of standard input as further arguments.",
    &[
        Opt::new(XargsFlag::Null, '0', "null")
            .with_help("Read words that end with a NUL byte, and take them as they are"),
        Opt::new(XargsFlag::ArgFile, 'a', "arg-file").with_argument("FILE", "Read words from FILE"),
        Opt::new(XargsFlag::Delimiter, 'd', "delimiter").with_argument(
            "CHARACTER",
            "Read words that end with this character, and take them as they are",
        ),
        Opt::new(XargsFlag::Eof, 'E', "").with_argument("END", "Stop at a line that is END"),
        Opt::new(XargsFlag::Eof, 'e', "eof")
            .may_take("END", "The same; without END no line ends the input"),
        Opt::new(XargsFlag::Replace, 'I', "").with_argument(
            "R",
            "Run COMMAND once for each line; the line replaces R in its arguments",
        ),
        Opt::new(XargsFlag::Replace, 'i', "replace").may_take("R", "The same; without R it is {}"),
        Opt::new(XargsFlag::Lines, 'L', "")
            .with_argument("MAX-LINES", "Take words of at most MAX-LINES lines for one run"),
        Opt::new(XargsFlag::MaxLines, 'l', "max-lines")
            .may_take("MAX-LINES", "The same; without MAX-LINES it is 1"),
        Opt::new(XargsFlag::MaxArgs, 'n', "max-args")
            .with_argument("MAX-ARGS", "Take at most MAX-ARGS words for one run"),
        Opt::new(XargsFlag::OpenTty, 'o', "open-tty")
            .with_help("Give COMMAND the terminal as standard input"),
        Opt::new(XargsFlag::MaxProcs, 'P', "max-procs").with_argument(
            "MAX-PROCS",
            "Run up to MAX-PROCS commands at the same time; 0 sets no limit",
        ),
        Opt::new(XargsFlag::Interactive, 'p', "interactive").with_help("Ask before each run"),
        Opt::long(XargsFlag::ProcessSlotVar, "process-slot-var")
            .with_argument("VAR", "Set VAR to a number that is unique among the running commands"),
        Opt::new(XargsFlag::NoRunIfEmpty, 'r', "no-run-if-empty")
            .with_help("Run nothing if there are no words"),
        Opt::new(XargsFlag::MaxChars, 's', "max-chars")
            .with_argument("MAX-CHARS", "Make command lines of at most MAX-CHARS bytes"),
        Opt::long(XargsFlag::ShowLimits, "show-limits")
            .with_help("Print how long command lines can be"),
        Opt::new(XargsFlag::Verbose, 't', "verbose").with_help("Print each command before it runs"),
        Opt::new(XargsFlag::Exit, 'x', "exit")
            .with_help("End if a line's words do not fit into one run"),
    ],
)
.with_examples(&[
    ("find . -name '*.tmp' -print0 | xargs -0 rm", "Remove files, whatever their names"),
    ("xargs -n1 -P4 CMD < LIST", "Run four at a time, one argument each"),
    ("ls | xargs -I{} cp {} {}.bak", "Put each line where {} stands"),
])
.posix_order();

/// The settings that result from the options.
struct XargsConfig {
    splitting: Splitting,
    eof: Option<Vec<u8>>,
    replace: Option<Vec<u8>>,
    lines: Option<u64>,
    args: Option<u64>,
    chars: usize,
    exit_if_large: bool,
}

/// Runs `xargs`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let config = parse_config(ctx, &parsed)?;
    let procs = parse_procs(ctx, &parsed)?;
    if parsed.has_option(XargsFlag::ShowLimits) {
        show_limits(ctx, config.chars);
    }
    let (reader, child_stdin) = open_input(ctx, &parsed)?;
    let mut command = parsed.operands.clone();
    if command.is_empty() {
        command.push(b"echo".to_vec());
    }
    let limits = XargsLimits {
        args: config.args,
        lines: config.lines,
        chars: config.chars,
        exit_if_large: config.exit_if_large,
    };
    let mut runner = XargsRunner::new(command, limits);
    runner.replace = config.replace.clone();
    runner.stdin = child_stdin;
    runner.procs = usize::try_from(procs).unwrap_or(usize::MAX);
    runner.verbose =
        parsed.has_option(XargsFlag::Verbose) || parsed.has_option(XargsFlag::Interactive);
    runner.slot_var = parsed.last_value(XargsFlag::ProcessSlotVar).map(<[u8]>::to_vec);
    if parsed.has_option(XargsFlag::Interactive) {
        match File::open("/dev/tty") {
            Ok(tty) => runner.prompt = Some(BufReader::new(tty)),
            Err(e) => {
                let text = box_sys::error_text(&e);
                ctx.error(format_args!("failed to open /dev/tty for reading: {text}"));
                return Ok(Exit::FAILURE);
            }
        }
    }
    let run_if_empty = !parsed.has_option(XargsFlag::NoRunIfEmpty) && config.replace.is_none();
    let items = ItemReader::new(reader, config.splitting, config.eof);
    let result = feed_items(ctx, &mut runner, items, run_if_empty);
    let status = match result {
        Ok(()) => runner.wait_all(ctx),
        Err(status) => {
            runner.wait_all(ctx);
            status
        }
    };
    Ok(Exit(status))
}

/// Passes all items to the runner. The error is the exit status.
fn feed_items(
    ctx: &mut Ctx<'_>,
    runner: &mut XargsRunner,
    mut items: ItemReader,
    run_if_empty: bool,
) -> Result<(), u8> {
    loop {
        match items.next() {
            Ok(Some(item)) => {
                if items.take_nul_warning() {
                    ctx.error(
                        "WARNING: a NUL character occurred in the input.  It cannot be passed \
                         through in the argument list.  Did you mean to use the --null option?",
                    );
                }
                runner.push(ctx, item, items.lines_read())?;
            }
            Ok(None) => break,
            Err(input::InputError::Quote(kind)) => {
                runner.flush(ctx, false)?;
                ctx.error(format_args!(
                    "unmatched {kind} quote; by default quotes are special to xargs unless you \
                     use the -0 option"
                ));
                return Err(1);
            }
            Err(input::InputError::Io(e)) => {
                let text = box_sys::error_text(&e);
                ctx.error(format_args!("read error: {text}"));
                return Err(1);
            }
        }
    }
    runner.flush(ctx, run_if_empty)
}

/// Opens the reader of items, and the standard input of the commands.
fn open_input(
    ctx: &mut Ctx<'_>,
    parsed: &ParsedOptions<XargsFlag>,
) -> Result<(Box<dyn BufRead>, ChildStream), Exit> {
    let mut stdin = ChildStream::Null;
    if parsed.has_option(XargsFlag::OpenTty) {
        match File::open("/dev/tty") {
            Ok(tty) => stdin = ChildStream::File(tty.into()),
            Err(e) => {
                ctx.io_error("\u{2018}/dev/tty\u{2019}".as_bytes(), &e);
                return Err(Exit::FAILURE);
            }
        }
    }
    match parsed.last_value(XargsFlag::ArgFile) {
        None | Some(b"-") => Ok((Box::new(ctx.stdin.detach_stream()), stdin)),
        Some(name) => match File::open(ctx.path(name)) {
            Ok(file) => {
                if !parsed.has_option(XargsFlag::OpenTty) {
                    stdin = ChildStream::Inherit;
                }
                Ok((Box::new(BufReader::with_capacity(64 * 1024, file)), stdin))
            }
            Err(e) => {
                let text = box_sys::error_text(&e);
                let open = "Cannot open input file \u{2018}".as_bytes();
                ctx.error_bytes(&[open, name, "\u{2019}: ".as_bytes(), text.as_bytes()]);
                Err(Exit::FAILURE)
            }
        },
    }
}

/// Makes the configuration from the options. The last of `-I`, `-L` and `-n` counts.
fn parse_config(ctx: &mut Ctx<'_>, parsed: &ParsedOptions<XargsFlag>) -> Result<XargsConfig, Exit> {
    let mut config = XargsConfig {
        splitting: Splitting::Words,
        eof: None,
        replace: None,
        lines: None,
        args: None,
        chars: DEFAULT_CHARS,
        exit_if_large: parsed.has_option(XargsFlag::Exit),
    };
    for (option, value) in &parsed.options {
        config.apply_option(ctx, *option, value.as_deref())?;
    }
    config.settle_options();
    Ok(config)
}

impl XargsConfig {
    /// Applies one option about splitting the input or the length of commands.
    fn apply_option(
        &mut self,
        ctx: &mut Ctx<'_>,
        option: XargsFlag,
        value: Option<&[u8]>,
    ) -> Result<(), Exit> {
        match option {
            XargsFlag::Null => self.splitting = Splitting::Byte(0),
            XargsFlag::Delimiter => match parse_delimiter(value.unwrap_or_default()) {
                Ok(byte) => self.splitting = Splitting::Byte(byte),
                Err(message) => {
                    ctx.error(message);
                    return Err(Exit::FAILURE);
                }
            },
            XargsFlag::Eof => self.eof = value.filter(|v| !v.is_empty()).map(<[u8]>::to_vec),
            XargsFlag::Replace => {
                exclude_option(ctx, &mut self.args, "--max-args", "--replace/-I/-i");
                exclude_option(ctx, &mut self.lines, "--max-lines", "--replace/-I/-i");
                self.replace = Some(value.unwrap_or(b"{}").to_vec());
            }
            XargsFlag::Lines | XargsFlag::MaxLines => {
                exclude_option(ctx, &mut self.args, "--max-args", "-L");
                exclude_option(ctx, &mut self.replace, "--replace", "-L");
                let letter = if option == XargsFlag::Lines { 'L' } else { 'l' };
                self.lines = Some(match value {
                    Some(text) => at_least(ctx, text, letter, 1)?,
                    None => 1,
                });
            }
            XargsFlag::MaxArgs => {
                let n = at_least(ctx, value.unwrap_or_default(), 'n', 1)?;
                exclude_option(ctx, &mut self.lines, "--max-lines", "--max-args/-n");
                // GNU accepts `-I{} -n1`.
                if self.replace.is_none() || n != 1 {
                    exclude_option(ctx, &mut self.replace, "--replace", "--max-args/-n");
                    self.args = Some(n);
                }
            }
            XargsFlag::MaxChars => {
                let n = at_least(ctx, value.unwrap_or_default(), 's', 1)?;
                let n = usize::try_from(n).unwrap_or(usize::MAX);
                if n > MAX_CHARS {
                    ctx.error(format_args!(
                        "warning: value {n} for -s option is too large, using {MAX_CHARS} instead"
                    ));
                }
                self.chars = n.min(MAX_CHARS);
            }
            _ => {}
        }
        Ok(())
    }

    /// Applies the rules for combinations of options.
    fn settle_options(&mut self) {
        self.exit_if_large |= self.replace.is_some() || self.lines.is_some();
        if self.replace.is_some() && self.splitting == Splitting::Words {
            self.splitting = Splitting::Lines;
        }
        if matches!(self.splitting, Splitting::Byte(_)) {
            self.eof = None;
        }
    }
}

/// Drops an option that a later one excludes, with a warning.
fn exclude_option<T>(ctx: &mut Ctx<'_>, earlier: &mut Option<T>, old: &str, new: &str) {
    if earlier.take().is_some() {
        ctx.error(format_args!(
            "warning: options {old} and {new} are mutually exclusive, ignoring previous {old} value"
        ));
    }
}

/// Returns the number of commands that run at once; 0 for as many as possible.
fn parse_procs(ctx: &mut Ctx<'_>, parsed: &ParsedOptions<XargsFlag>) -> Result<u64, Exit> {
    parsed.last_value(XargsFlag::MaxProcs).map_or(Ok(1), |text| at_least(ctx, text, 'P', 0))
}

/// Parses the number of an option.
fn at_least(ctx: &mut Ctx<'_>, text: &[u8], option: char, least: u64) -> Result<u64, Exit> {
    let shown = String::from_utf8_lossy(text);
    // A number that is too large becomes the maximum, as with strtol(3).
    let parsed = box_text::number::parse_integer(text, 10);
    let is_whole = parsed.len > 0 && parsed.len == text.len();
    let most = if option == 'P' { i32::MAX.unsigned_abs().into() } else { u64::MAX };
    let message = match u64::try_from(parsed.signed().0) {
        _ if !is_whole => format!("invalid number \"{shown}\" for -{option} option"),
        Ok(n) if (least..=most).contains(&n) => return Ok(n),
        Ok(n) if n > most => format!("value {shown} for -{option} option should be <= {most}"),
        _ => format!("value {shown} for -{option} option should be >= {least}"),
    };
    ctx.error(message);
    ctx.hint();
    Err(Exit::FAILURE)
}

/// Parses a character or an escape.
fn parse_delimiter(text: &[u8]) -> Result<u8, String> {
    let shown = String::from_utf8_lossy(text);
    let escape = |digits: &[u8], radix: u32| {
        let digits = std::str::from_utf8(digits).ok()?;
        u32::from_str_radix(digits, radix).ok().and_then(|n| u8::try_from(n).ok())
    };
    let byte = match text {
        [byte] => Some(*byte),
        [b'\\', b'x', digits @ ..] => escape(digits, 16),
        [b'\\', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => escape(digits, 8),
        [b'\\', b'\\'] => Some(b'\\'),
        [b'\\', c] => {
            let control = control_char(*c).ok_or_else(|| {
                format!("Invalid escape sequence {shown} in input delimiter specification.")
            })?;
            Some(control)
        }
        _ => None,
    };
    byte.ok_or_else(|| {
        format!(
            "Invalid input delimiter specification {shown}: the delimiter must be either a \
             single character or an escape sequence starting with \\."
        )
    })
}

fn show_limits(ctx: &mut Ctx<'_>, chars: usize) {
    let env: usize = ctx.env.iter().map(|(k, v)| k.len() + v.len() + 2).sum();
    let text = format!(
        "Your environment variables take up {env} bytes\n\
         POSIX upper limit on argument length (this system): {MAX_CHARS}\n\
         POSIX smallest allowable upper limit on argument length (all systems): 4096\n\
         Maximum length of command we could actually use: {}\n\
         Size of command buffer we are actually using: {chars}\n\
         Maximum parallelism (--max-procs must be no greater): {}\n",
        MAX_CHARS.saturating_sub(env),
        i32::MAX
    );
    let _ = ctx.stderr.write_all(text.as_bytes());
}
