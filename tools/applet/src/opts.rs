//! Command-line options, declared once: parsing (`getopt_long(3)`: permutation,
//! abbreviated long options, `--`), usage and `--help` all derive from one const list.
//!
//! An applet names its options by an enum of its own. Several rows of the list may have one name:
//! then they are the same option, spelled differently. The options as written are a
//! [`ParsedOptions`]; the applet resolves them to their meaning, a struct of its own, before it
//! does anything.
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

/// Whether an option takes an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptArg {
    /// Takes no argument: `-q`.
    No,
    /// Always has an argument, attached or as the next word; the text is its name in `--help`.
    Required(&'static str),
    /// Has only an attached argument: `-iSUFFIX`, `--in-place=SUFFIX`; the text is its name in
    /// `--help`.
    Optional(&'static str),
}

/// The spelling and the description of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptForm<'a> {
    pub short: Option<char>,
    /// The long name without dashes; empty for none.
    pub long: &'a str,
    pub arg: OptArg,
    /// For `--help`, which names only options that have one.
    pub help: &'static str,
}

/// One way to write an option, and the name that the applet knows it by.
#[derive(Clone, Copy, Debug)]
pub struct Opt<I> {
    id: I,
    form: OptForm<'static>,
}

impl<I: Copy> Opt<I> {
    /// Declares an option without argument, with a letter and a long name; an empty long name is
    /// none.
    pub const fn new(id: I, short: char, long: &'static str) -> Opt<I> {
        Opt { id, form: OptForm { short: Some(short), long, arg: OptArg::No, help: "" } }
    }

    /// Declares an option without argument that has no letter.
    pub const fn long(id: I, long: &'static str) -> Opt<I> {
        Opt { id, form: OptForm { short: None, long, arg: OptArg::No, help: "" } }
    }

    /// Adds a text for `--help`, which lists only options that have one.
    pub const fn with_help(self, help: &'static str) -> Opt<I> {
        Opt { form: OptForm { help, ..self.form }, ..self }
    }

    /// Adds an argument, which `--help` calls `arg`, and a text.
    pub const fn with_argument(self, arg: &'static str, help: &'static str) -> Opt<I> {
        Opt { form: OptForm { arg: OptArg::Required(arg), help, ..self.form }, ..self }
    }

    /// Adds an argument that may be missing and is attached otherwise, and a text.
    pub const fn may_take(self, arg: &'static str, help: &'static str) -> Opt<I> {
        Opt { form: OptForm { arg: OptArg::Optional(arg), help, ..self.form }, ..self }
    }
}

/// The command line of an applet.
#[derive(Clone, Copy, Debug)]
pub struct Spec<I: 'static = ()> {
    /// The texts after the name in the usage lines, one a line.
    pub usage: &'static str,
    about: &'static str,
    options: &'static [Opt<I>],
    after: &'static str,
    reads_standard_input: bool,
    examples: &'static [(&'static str, &'static str)],
    posix_order: bool,
}

impl<I: Copy + PartialEq> Spec<I> {
    /// Declares a command line: the ways to call the applet, one a line and without its name, a
    /// sentence about what it does, and every way to write an option, in the order of `--help`.
    /// Options may stand after operands.
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

    /// Adds paragraphs after the options in `--help`, one a line.
    pub const fn with_footer(self, after: &'static str) -> Spec<I> {
        Spec { after, ..self }
    }

    /// Adds to `--help` that standard input is read without operands and for `-`.
    pub const fn reads_standard_input(self) -> Spec<I> {
        Spec { reads_standard_input: true, ..self }
    }

    /// Adds examples to `--help`: commands, and what they do.
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

    /// Returns the kind of argument that the option of this letter takes; `None` if no option has
    /// the letter.
    pub fn argument_of(&self, letter: u8) -> Option<OptArg> {
        let letter = Some(char::from(letter));
        self.options.iter().find(|o| o.form.short == letter).map(|o| o.form.arg)
    }

    /// Returns the kind of argument that the option of this whole long name, without dashes, takes;
    /// `None` if there is none.
    pub fn argument_of_long(&self, name: &[u8]) -> Option<OptArg> {
        let mut named = self.options.iter().filter(|o| !o.form.long.is_empty());
        named.find(|o| o.form.long.as_bytes() == name).map(|o| o.form.arg)
    }

    /// Returns the options of the letters in one word, which is given without its dash, each with
    /// its attached text and the kind of argument it takes. It is for commands whose options are
    /// not followed by their arguments in the usual way. `Err` is a letter that no option has.
    pub fn match_letters<'w>(&self, word: &'w [u8]) -> Result<Vec<(I, OptArg, &'w [u8])>, u8> {
        let found = parse::match_letters(&self.option_forms(), word)?;
        let named =
            |(row, rest): (usize, _)| (self.options[row].id, self.options[row].form.arg, rest);
        Ok(found.into_iter().map(named).collect())
    }

    /// Returns the option of a long name, without dashes, which may be abbreviated (`--verb` for
    /// `--verbose`), and the kind of argument it takes.
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

    /// Says on the applet's streams why there is nothing to do; returns the status to end with, as
    /// of [`Spec::parse_or_exit`].
    pub fn answer_usage(&self, ctx: &mut Ctx<'_>, e: UsageError, usage_status: Exit) -> Exit {
        answer_usage(ctx, e, &|name| self.help_text(name), usage_status)
    }

    fn option_forms(&self) -> Vec<&'static OptForm<'static>> {
        self.options.iter().map(|o| &o.form).collect()
    }
}

/// Says on the applet's streams why there is nothing to do; returns the status to end with.
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
