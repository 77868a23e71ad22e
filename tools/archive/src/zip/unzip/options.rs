//! The command lines of `unzip` and `zipinfo`. Options may come before and after the archive; `-x`
//! and `-d` may also come after the members.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, OptArg, Spec, UsageError};
use box_applet::{Ctx, Exit};

use crate::zip::extract::{Extract, Overwrite};

/// The exit status for an invalid command line.
const USAGE: Exit = Exit(10);

/// An option of `unzip`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnzipFlag {
    Pipe,
    PipeWithNames,
    List,
    Verbose,
    Test,
    Comment,
    /// An option of `zipinfo` only.
    Names,
    Freshen,
    Update,
    Exclude,
    Directory,
    OverwriteNone,
    OverwriteAll,
    Quiet,
    JunkPaths,
    IgnoreCase,
    Lower,
    Text,
    Special,
    /// An option that is accepted without effect.
    Ignored,
}

const UNZIP: Spec<UnzipFlag> = Spec::new(
    "[-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]",
    "Extract files in list, except those in xlist, to exdir. With -Z as the first option, behave as zipinfo does.",
    &[
        Opt::new(UnzipFlag::Pipe, 'p', "").with_help("Write the contents of files to standard output"),
        Opt::new(UnzipFlag::PipeWithNames, 'c', "").with_help("Write them with the name before each"),
        Opt::new(UnzipFlag::List, 'l', "").with_help("List the files"),
        Opt::new(UnzipFlag::Verbose, 'v', "").with_help("List the files with all details"),
        Opt::new(UnzipFlag::Test, 't', "").with_help("Check the data in the archive"),
        Opt::new(UnzipFlag::Comment, 'z', "").with_help("Print only the comment of the archive"),
        Opt::new(UnzipFlag::Freshen, 'f', "").with_help("Replace older files, create none"),
        Opt::new(UnzipFlag::Update, 'u', "").with_help("Replace older files, create missing ones"),
        Opt::new(UnzipFlag::Exclude, 'x', "").with_help("Leave out the files in xlist"),
        Opt::new(UnzipFlag::Directory, 'd', "").with_argument("exdir", "Extract files into exdir"),
        Opt::new(UnzipFlag::OverwriteNone, 'n', "").with_help("Never overwrite existing files"),
        Opt::new(UnzipFlag::OverwriteAll, 'o', "").with_help("Overwrite files without asking"),
        Opt::new(UnzipFlag::Quiet, 'q', "").with_help("Print fewer messages; none with -qq"),
        Opt::new(UnzipFlag::JunkPaths, 'j', "").with_help("Extract all files into one directory"),
        Opt::new(UnzipFlag::IgnoreCase, 'C', "").with_help("Match names regardless of case"),
        Opt::new(UnzipFlag::Lower, 'L', "").with_help("Make names lowercase"),
        Opt::new(UnzipFlag::Text, 'a', "").with_help("Convert the line endings of text files"),
        Opt::new(UnzipFlag::Special, 'K', "").with_help("Keep the set-ID and sticky permission bits"),
        Opt::new(UnzipFlag::Ignored, 'P', "").with_argument("password", words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'O', "").with_argument("charset", words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'I', "").with_argument("charset", words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'b', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'B', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'X', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'D', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'U', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'V', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'M', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'W', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, ':', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, '^', "").with_help(words::IGNORED),
    ],
)
.with_examples(&[
    ("unzip -l FILE.zip", "List the members"),
    ("unzip FILE.zip -d DIR", "Extract everything into DIR"),
    ("unzip -p FILE.zip NAME", "Print one member"),
]);

const ZIPINFO: Spec<UnzipFlag> = Spec::new(
    "[-opts] file[.zip] [list] [-x xlist]",
    "List files in list, except those in xlist, as ls -l does.",
    &[
        Opt::new(UnzipFlag::Names, '1', "").with_help("List names only, one per line"),
        Opt::new(UnzipFlag::Ignored, 's', "").with_help("The default format"),
        Opt::new(UnzipFlag::Ignored, 'm', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'l', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'h', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 't', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'v', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'M', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'U', "").with_help(words::IGNORED),
        Opt::new(UnzipFlag::Comment, 'z', "").with_help("Print only the comment of the archive"),
        Opt::new(UnzipFlag::IgnoreCase, 'C', "").with_help("Match names regardless of case"),
        Opt::new(UnzipFlag::Quiet, 'q', "").with_help("Quiet mode"),
        Opt::new(UnzipFlag::Exclude, 'x', "").with_help("Leave out the files in xlist"),
        Opt::new(UnzipFlag::Ignored, 'O', "").with_argument("charset", words::IGNORED),
        Opt::new(UnzipFlag::Ignored, 'I', "").with_argument("charset", words::IGNORED),
    ],
)
.with_examples(&[("zipinfo -1 FILE.zip", "Print only the names of the members")]);

/// The operation of a run.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum UnzipAction {
    Extract,
    /// Members are written to standard output; the flag says whether their names are printed, too.
    Pipe(bool),
    Test,
    List,
    Verbose,
    Comment,
    Info,
    /// Only names are listed (`zipinfo -1`).
    Names,
}

/// The settings from the command line.
pub(super) struct UnzipJob {
    pub action: UnzipAction,
    pub quiet: usize,
    pub ignore_case: bool,
    pub archive: Vec<u8>,
    pub only: Vec<Vec<u8>>,
    pub except: Vec<Vec<u8>>,
    pub extract: Extract,
}

/// Parses the command line of `unzip`.
///
/// # Errors
/// The command line is wrong, or it asks for help. The error is the exit status; the text has been
/// printed.
pub(super) fn parse_unzip(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<UnzipJob, Exit> {
    UnzipReader::new(UNZIP, UnzipAction::Extract, args).read(ctx)
}

/// Parses the command line of `zipinfo`, with the errors of [`parse_unzip`].
pub(super) fn parse_zipinfo(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<UnzipJob, Exit> {
    UnzipReader::new(ZIPINFO, UnzipAction::Info, args).read(ctx)
}

/// The state of reading a command line.
struct UnzipReader<'a> {
    job: UnzipJob,
    /// The options that are accepted, which `-Z` changes.
    spec: Spec<UnzipFlag>,
    /// The action of `-l` or `-v`. Any other action takes precedence.
    listing: Option<UnzipAction>,
    action: Option<UnzipAction>,
    /// Whether operands are members that are left out.
    excluding: bool,
    named: bool,
    rest: std::slice::Iter<'a, Vec<u8>>,
}

impl UnzipReader<'_> {
    /// Returns a reader at the beginning of `args`. `action` is the operation if no option changes
    /// it.
    fn new(spec: Spec<UnzipFlag>, action: UnzipAction, args: &[Vec<u8>]) -> UnzipReader<'_> {
        let job = UnzipJob {
            action,
            quiet: 0,
            ignore_case: false,
            archive: Vec::new(),
            only: Vec::new(),
            except: Vec::new(),
            extract: Extract::default(),
        };
        let rest = args.iter();
        UnzipReader { job, spec, listing: None, action: None, excluding: false, named: false, rest }
    }

    fn read(mut self, ctx: &mut Ctx<'_>) -> Result<UnzipJob, Exit> {
        let mut plain = false;
        while let Some(arg) = self.rest.next() {
            match arg.strip_prefix(b"-") {
                Some(b"-") if !plain => plain = true,
                Some([b'-', name @ ..]) if !plain => return Err(self.take_long(ctx, name)),
                Some(word) if !plain && !word.is_empty() => self.take_letters(ctx, word)?,
                _ => self.take_operand(arg),
            }
        }
        if !self.named {
            let _ = ctx.stdout.write_all(self.spec.help_text(&ctx.name).as_bytes());
            let asked = self.listing == Some(UnzipAction::Verbose);
            return Err(if asked { Exit::SUCCESS } else { USAGE });
        }
        let mut job = self.job;
        job.action = self.action.or(self.listing).unwrap_or(job.action);
        job.extract.quiet = job.quiet > 0;
        Ok(job)
    }

    /// Takes an operand. The first one is the archive, and the others are members.
    fn take_operand(&mut self, arg: &[u8]) {
        if !self.named {
            self.job.archive = arg.to_vec();
            self.named = true;
        } else if self.excluding {
            self.job.except.push(arg.to_vec());
        } else {
            self.job.only.push(arg.to_vec());
        }
    }

    /// Takes a long option, of which there are only `--help` and `--version`; returns the exit
    /// status.
    fn take_long(&self, ctx: &mut Ctx<'_>, name: &[u8]) -> Exit {
        match self.spec.find_long(name) {
            Err(asked @ (UsageError::Help | UsageError::Version)) => {
                self.spec.answer_usage(ctx, asked, USAGE)
            }
            _ => self.print_usage(ctx),
        }
    }

    /// Prints the accepted options on standard error; returns the exit status.
    fn print_usage(&self, ctx: &mut Ctx<'_>) -> Exit {
        let _ = ctx.stderr.write_all(self.spec.help_text(&ctx.name).as_bytes());
        USAGE
    }

    /// Takes the option letters in one word.
    fn take_letters(&mut self, ctx: &mut Ctx<'_>, mut word: &[u8]) -> Result<(), Exit> {
        if let Some(letters) = word.strip_prefix(b"Z") {
            word = letters;
            self.spec = ZIPINFO;
            self.job.action = UnzipAction::Info;
            self.listing = None;
        }
        let found = self.spec.match_letters(word).map_err(|_| self.print_usage(ctx))?;
        for (flag, takes, attached) in found {
            if takes == OptArg::No {
                self.take_option(flag);
                continue;
            }
            let attached = Some(attached).filter(|a| !a.is_empty()).map(<[u8]>::to_vec);
            let Some(value) = attached.or_else(|| self.rest.next().cloned()) else {
                let letter = char::from(word[word.len() - 1]);
                ctx.error(format_args!(" must specify argument of -{letter} option"));
                return Err(USAGE);
            };
            if flag == UnzipFlag::Directory {
                self.job.extract.dir = Some(value);
            }
        }
        Ok(())
    }

    /// Applies an option without an argument.
    fn take_option(&mut self, flag: UnzipFlag) {
        let extract = &mut self.job.extract;
        match flag {
            UnzipFlag::List => self.listing = self.listing.or(Some(UnzipAction::List)),
            UnzipFlag::Verbose => self.listing = Some(UnzipAction::Verbose),
            UnzipFlag::Test => self.action = Some(UnzipAction::Test),
            UnzipFlag::Comment => self.action = Some(UnzipAction::Comment),
            UnzipFlag::Pipe => self.action = Some(UnzipAction::Pipe(false)),
            UnzipFlag::PipeWithNames => self.action = Some(UnzipAction::Pipe(true)),
            UnzipFlag::Names => self.action = Some(UnzipAction::Names),
            UnzipFlag::OverwriteAll => extract.overwrite = Overwrite::All,
            UnzipFlag::OverwriteNone => extract.overwrite = Overwrite::None,
            UnzipFlag::JunkPaths => extract.junk = true,
            UnzipFlag::Lower => extract.lower = true,
            UnzipFlag::Freshen => extract.freshen = true,
            UnzipFlag::Update => extract.update = true,
            UnzipFlag::Text => extract.text = true,
            UnzipFlag::Special => extract.special = true,
            UnzipFlag::Quiet => self.job.quiet += 1,
            UnzipFlag::IgnoreCase => self.job.ignore_case = true,
            UnzipFlag::Exclude => self.excluding = true,
            // `Directory` has an argument and is applied by the caller.
            UnzipFlag::Directory | UnzipFlag::Ignored => {}
        }
    }
}
