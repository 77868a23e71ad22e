//! Command-line options, declared once: parsing, usage and `--help` all derive from one const list.
//! Parsing follows `getopt_long(3)`: permutation, abbreviated long options, `--`.
//!
//! An applet identifies its options by an enum of its own. Several rows of the list may have the
//! same variant: they are spellings of one option. The result of parsing is a [`ParsedOptions`],
//! the options as written; the applet resolves them to their meaning, a struct of its own, before
//! it does anything.
//!
//! ```
//! use box_applet::help::words::SAME;
//! use box_applet::opts::{Opt, Spec};
//! #[derive(Clone, Copy, Debug, PartialEq, Eq)]
//! enum Flag {
//!     Lines,
//!     Quiet,
//! }
//! const SPEC: Spec<Flag> = Spec::new(
//!     "[OPTION]... [FILE]...",
//!     "Print the start of each FILE.",
//!     &[
//!         Opt::new(Flag::Lines, 'n', "lines").with_argument("NUM", "Print NUM lines"),
//!         Opt::new(Flag::Quiet, 'q', "quiet").with_help("Print no headers"),
//!         Opt::long(Flag::Quiet, "silent").with_help(SAME),
//!     ],
//! );
//! let args = [b"--sil".to_vec(), b"-n3".to_vec(), b"f".to_vec()];
//! let parsed = SPEC.parse(&args).unwrap();
//! assert!(parsed.has_option(Flag::Quiet));
//! assert_eq!(parsed.last_value(Flag::Lines), Some(&b"3"[..]));
//! assert_eq!(parsed.operands, [b"f".to_vec()]);
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `opts/written` | [`ParsedOptions`]: queries of the options as written |
//! | `opts/parse` | arguments to options and operands |
//! | `opts/help` | the rows of `--help` |

mod help;
mod parse;
mod written;

use crate::help::{HelpPage, HelpSection};
use crate::{Ctx, Exit};
pub use parse::{OptionRows, UsageError, parse_words};
pub use written::ParsedOptions;

/// The kind of argument that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptArg {
    /// The option takes no argument: `-q`.
    No,
    /// The option always has an argument, attached or as the next word; the text is its name in
    /// `--help`.
    Required(&'static str),
    /// The option has an argument only if it is attached: `-iSUFFIX`, `--in-place=SUFFIX`; the text
    /// is its name in `--help`.
    Optional(&'static str),
}

/// The spelling and the description of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptForm<'a> {
    pub short: Option<char>,
    /// The long name without dashes; empty if there is none.
    pub long: &'a str,
    pub arg: OptArg,
    /// The text for `--help`, which lists only options that have one.
    pub help: &'static str,
}

/// One way to write an option, and the applet's identifier of the option.
#[derive(Clone, Copy, Debug)]
pub struct Opt<I> {
    id: I,
    form: OptForm<'static>,
}

impl<I: Copy> Opt<I> {
    /// Declares an option without argument, with a letter and a long name, which may be empty for
    /// none.
    pub const fn new(id: I, short: char, long: &'static str) -> Opt<I> {
        Opt { id, form: OptForm { short: Some(short), long, arg: OptArg::No, help: "" } }
    }

    /// Declares an option without argument that has no letter.
    pub const fn long(id: I, long: &'static str) -> Opt<I> {
        Opt { id, form: OptForm { short: None, long, arg: OptArg::No, help: "" } }
    }

    /// Adds a text for `--help`, which lists only options that have a text.
    pub const fn with_help(self, help: &'static str) -> Opt<I> {
        Opt { form: OptForm { help, ..self.form }, ..self }
    }

    /// Adds an argument, which `--help` calls `arg`, and a text.
    pub const fn with_argument(self, arg: &'static str, help: &'static str) -> Opt<I> {
        Opt { form: OptForm { arg: OptArg::Required(arg), help, ..self.form }, ..self }
    }

    /// Adds an optional argument, which must be attached, and a text.
    pub const fn may_take(self, arg: &'static str, help: &'static str) -> Opt<I> {
        Opt { form: OptForm { arg: OptArg::Optional(arg), help, ..self.form }, ..self }
    }
}

/// The syntax of an applet's command line.
#[derive(Clone, Copy, Debug)]
pub struct Spec<I: 'static = ()> {
    /// The texts after the name in the usage lines, one per line.
    pub usage: &'static str,
    about: &'static str,
    options: &'static [Opt<I>],
    after: &'static str,
    reads_standard_input: bool,
    examples: &'static [(&'static str, &'static str)],
    posix_order: bool,
}

impl<I: Copy + PartialEq> Spec<I> {
    /// Declares a command line: the ways to call the applet, one per line and without its name, a
    /// sentence about what it does, and every way to write an option, in the order of `--help`.
    /// Options may follow operands.
    pub const fn new(
        usage: &'static str,
        about: &'static str,
        options: &'static [Opt<I>],
    ) -> Spec<I> {
        Spec {
            usage,
            about,
            options,
            after: "",
            reads_standard_input: false,
            examples: &[],
            posix_order: false,
        }
    }

    /// Adds paragraphs after the options in `--help`, one per line.
    pub const fn with_footer(self, after: &'static str) -> Spec<I> {
        Spec { after, ..self }
    }

    /// Adds to `--help` that standard input is read without operands and for `-`.
    pub const fn reads_standard_input(self) -> Spec<I> {
        Spec { reads_standard_input: true, ..self }
    }

    /// Adds examples to `--help`: commands and their effects.
    pub const fn with_examples(self, examples: &'static [(&'static str, &'static str)]) -> Spec<I> {
        Spec { examples, ..self }
    }

    /// Makes options end at the first operand (POSIX guideline 9; `env`, `xargs`, `timeout`).
    pub const fn posix_order(self) -> Spec<I> {
        Spec { posix_order: true, ..self }
    }

    /// Parses `args` (without `argv[0]`).
    pub fn parse(&self, args: &[Vec<u8>]) -> Result<ParsedOptions<I>, UsageError> {
        let same = |a: usize, b: usize| self.options[a].id == self.options[b].id;
        let words = parse_words(&self.option_forms(), &same, self.posix_order, args)?;
        let named = words.options.into_iter().map(|(row, value)| (self.options[row].id, value));
        Ok(ParsedOptions { options: named.collect(), operands: words.operands })
    }

    /// Returns the kind of argument that the option with this letter takes; `None` if no option has
    /// the letter.
    pub fn argument_of(&self, letter: u8) -> Option<OptArg> {
        let letter = Some(char::from(letter));
        self.options.iter().find(|o| o.form.short == letter).map(|o| o.form.arg)
    }

    /// Returns the kind of argument that the option with this long name takes; `None` if there is
    /// no such option. The name is not abbreviated and has no dashes.
    pub fn argument_of_long(&self, name: &[u8]) -> Option<OptArg> {
        let mut named = self.options.iter().filter(|o| !o.form.long.is_empty());
        named.find(|o| o.form.long.as_bytes() == name).map(|o| o.form.arg)
    }

    /// Returns the options of the letters in one word, each with its attached text and the kind of
    /// argument it takes. The word is given without its dash. This is for commands whose options
    /// are not followed by their arguments in the usual way. `Err` is a letter that no option has.
    pub fn match_letters<'w>(&self, word: &'w [u8]) -> Result<Vec<(I, OptArg, &'w [u8])>, u8> {
        let found = parse::match_letters(&self.option_forms(), word)?;
        let named =
            |(row, rest): (usize, _)| (self.options[row].id, self.options[row].form.arg, rest);
        Ok(found.into_iter().map(named).collect())
    }

    /// Returns the option with a long name, which is given without dashes and may be abbreviated
    /// (`--verb` for `--verbose`), and the kind of argument it takes.
    pub fn find_long(&self, name: &[u8]) -> Result<(I, OptArg), UsageError> {
        let same = |a: usize, b: usize| self.options[a].id == self.options[b].id;
        let row = parse::match_long(&self.option_forms(), &same, name)?;
        Ok((self.options[row].id, self.options[row].form.arg))
    }

    /// Returns whether a word that is an option takes the word after it as its argument.
    pub fn takes_next(&self, word: &[u8]) -> bool {
        let same = |a: usize, b: usize| self.options[a].id == self.options[b].id;
        parse::takes_next(&self.option_forms(), &same, word)
    }

    /// Returns the text of `--help`.
    pub fn help_text(&self, name: &str) -> String {
        let same = |a: usize, b: usize| self.options[a].id == self.options[b].id;
        let rows = help::option_rows(&self.option_forms(), &same);
        let rows: Vec<_> = rows.iter().map(|(left, right)| (left.as_str(), *right)).collect();
        HelpPage::new(self.usage, self.about, &[HelpSection::new("Options", &rows)])
            .with_notes(self.after)
            .with_standard_input(self.reads_standard_input)
            .with_examples(self.examples)
            .text(name)
    }

    /// Parses a command line, or prints the text of `--help`, of `--version` or of a usage error to
    /// the applet's streams. `Err` holds the status to end with: 0 after help, `usage_status` after
    /// an error.
    pub fn parse_or_exit(
        &self,
        ctx: &mut Ctx<'_>,
        args: &[Vec<u8>],
        usage_status: Exit,
    ) -> Result<ParsedOptions<I>, Exit> {
        self.parse(args).map_err(|e| self.answer_usage(ctx, e, usage_status))
    }

    /// Prints the help, the version or the usage error to the applet's streams; returns the status
    /// to end with, as [`Spec::parse_or_exit`] does.
    pub fn answer_usage(&self, ctx: &mut Ctx<'_>, e: UsageError, usage_status: Exit) -> Exit {
        answer_usage(ctx, e, &|name| self.help_text(name), usage_status)
    }

    fn option_forms(&self) -> Vec<&'static OptForm<'static>> {
        self.options.iter().map(|o| &o.form).collect()
    }
}

/// Prints the help, the version or the usage error to the applet's streams; returns the status to
/// end with.
fn answer_usage(
    ctx: &mut Ctx<'_>,
    e: UsageError,
    help: &dyn Fn(&str) -> String,
    status: Exit,
) -> Exit {
    match e {
        UsageError::Help => {
            let text = help(&ctx.name);
            ctx.print(&text)
        }
        UsageError::Version => ctx.print(&ctx.version()),
        UsageError::Message(m) => {
            ctx.error(&m);
            ctx.hint();
            status
        }
    }
}
