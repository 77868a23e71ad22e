//! The command lines of `unzip` and `zipinfo`. Options may stand in front of the archive and behind it, `-x` and
//! `-d` behind the members.

use std::io::Write;

use box_applet::opts::{Arg, Opt, Spec, UsageError};
use box_applet::{Ctx, Exit};

use crate::zip::extract::{Extract, Overwrite};

/// A command line that does not fit.
const USAGE: Exit = Exit(10);

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Pipe,
    PipeWithNames,
    List,
    Verbose,
    Test,
    Comment,
    /// Of zipinfo.
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
    /// Accepted, without effect.
    Ignored,
}

const UNZIP: Spec<Flag> = Spec::new(
    "[-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]",
    "Extract files in list, except those in xlist, to exdir. With -Z as the first letter, do as zipinfo does.",
    &[
        Opt::new(Flag::Pipe, 'p', "").says("extract files to pipe, no messages"),
        Opt::new(Flag::PipeWithNames, 'c', "").says("extract files to pipe, with names"),
        Opt::new(Flag::List, 'l', "").says("list files (short format)"),
        Opt::new(Flag::Verbose, 'v', "").says("list verbosely"),
        Opt::new(Flag::Test, 't', "").says("test compressed archive data"),
        Opt::new(Flag::Comment, 'z', "").says("display archive comment only"),
        Opt::new(Flag::Freshen, 'f', "").says("freshen existing files, create none"),
        Opt::new(Flag::Update, 'u', "").says("update files, create if necessary"),
        Opt::new(Flag::Exclude, 'x', "").says("exclude files that follow (in xlist)"),
        Opt::new(Flag::Directory, 'd', "").takes("exdir", "extract files into exdir"),
        Opt::new(Flag::OverwriteNone, 'n', "").says("never overwrite existing files"),
        Opt::new(Flag::OverwriteAll, 'o', "").says("overwrite files without prompting"),
        Opt::new(Flag::Quiet, 'q', "").says("quiet mode (-qq => quieter)"),
        Opt::new(Flag::JunkPaths, 'j', "").says("junk paths (do not make directories)"),
        Opt::new(Flag::IgnoreCase, 'C', "").says("match filenames case-insensitively"),
        Opt::new(Flag::Lower, 'L', "").says("make names lowercase"),
        Opt::new(Flag::Text, 'a', "").says("auto-convert any text files"),
        Opt::new(Flag::Special, 'K', "").says("keep setuid/setgid/tacky permissions"),
        Opt::new(Flag::Ignored, 'P', "").takes("password", "accepted and ignored"),
        Opt::new(Flag::Ignored, 'O', "").takes("charset", "accepted and ignored"),
        Opt::new(Flag::Ignored, 'I', "").takes("charset", "accepted and ignored"),
        Opt::new(Flag::Ignored, 'b', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'B', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'X', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'D', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'U', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'V', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'M', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'W', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, ':', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, '^', "").says("accepted and ignored"),
    ],
);

const ZIPINFO: Spec<Flag> = Spec::new(
    "[-opts] file[.zip] [list] [-x xlist]",
    "List files in list, except those in xlist, as ls -l does.",
    &[
        Opt::new(Flag::Names, '1', "").says("list names only, one per line"),
        Opt::new(Flag::Ignored, 's', "").says("the default format"),
        Opt::new(Flag::Ignored, 'm', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'l', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'h', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 't', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'v', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'M', "").says("accepted and ignored"),
        Opt::new(Flag::Ignored, 'U', "").says("accepted and ignored"),
        Opt::new(Flag::Comment, 'z', "").says("display archive comment only"),
        Opt::new(Flag::IgnoreCase, 'C', "").says("match filenames case-insensitively"),
        Opt::new(Flag::Quiet, 'q', "").says("quiet mode"),
        Opt::new(Flag::Exclude, 'x', "").says("exclude files that follow (in xlist)"),
        Opt::new(Flag::Ignored, 'O', "").takes("charset", "accepted and ignored"),
        Opt::new(Flag::Ignored, 'I', "").takes("charset", "accepted and ignored"),
    ],
);

/// What is to be done.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Action {
    Extract,
    /// To standard output; with names.
    Pipe(bool),
    Test,
    List,
    Verbose,
    Comment,
    Info,
    /// `zipinfo -1`.
    Names,
}

/// What is to be done, from the command line.
pub(super) struct Job {
    pub action: Action,
    pub quiet: usize,
    pub ignore_case: bool,
    pub archive: Vec<u8>,
    pub only: Vec<Vec<u8>>,
    pub except: Vec<Vec<u8>>,
    pub extract: Extract,
}

/// Parses the command line of `unzip`; `Err` after a message or help.
pub(super) fn unzip(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Job, Exit> {
    Reader::new(UNZIP, Action::Extract, args).read(ctx)
}

/// Parses the command line of `zipinfo`; `Err` after a message or help.
pub(super) fn zipinfo(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Job, Exit> {
    Reader::new(ZIPINFO, Action::Info, args).read(ctx)
}

/// The command line while it is read.
struct Reader<'a> {
    job: Job,
    /// The letters that words may have: `-Z` changes them.
    spec: Spec<Flag>,
    /// `-l` or `-v`, which any other action outweighs.
    listing: Option<Action>,
    action: Option<Action>,
    /// Words are members that are left out.
    excluding: bool,
    named: bool,
    rest: std::slice::Iter<'a, Vec<u8>>,
}

impl Reader<'_> {
    /// At the beginning of `args`; `action` is what is done unless options say otherwise.
    fn new(spec: Spec<Flag>, action: Action, args: &[Vec<u8>]) -> Reader<'_> {
        let job = Job {
            action,
            quiet: 0,
            ignore_case: false,
            archive: Vec::new(),
            only: Vec::new(),
            except: Vec::new(),
            extract: Extract::default(),
        };
        let rest = args.iter();
        Reader { job, spec, listing: None, action: None, excluding: false, named: false, rest }
    }

    fn read(mut self, ctx: &mut Ctx<'_>) -> Result<Job, Exit> {
        let mut plain = false;
        while let Some(arg) = self.rest.next() {
            match arg.strip_prefix(b"-") {
                Some(b"-") if !plain => plain = true,
                Some([b'-', name @ ..]) if !plain => return Err(self.long(ctx, name)),
                Some(word) if !plain && !word.is_empty() => self.letters(ctx, word)?,
                _ => self.operand(arg),
            }
        }
        if !self.named {
            let _ = ctx.stdout.write_all(self.spec.help(&ctx.name).as_bytes());
            let asked = self.listing == Some(Action::Verbose);
            return Err(if asked { Exit::SUCCESS } else { USAGE });
        }
        let mut job = self.job;
        job.action = self.action.or(self.listing).unwrap_or(job.action);
        job.extract.quiet = job.quiet > 0;
        Ok(job)
    }

    /// The archive, then members.
    fn operand(&mut self, arg: &[u8]) {
        if !self.named {
            self.job.archive = arg.to_vec();
            self.named = true;
        } else if self.excluding {
            self.job.except.push(arg.to_vec());
        } else {
            self.job.only.push(arg.to_vec());
        }
    }

    /// A long name: there are `--help` and `--version` only.
    fn long(&self, ctx: &mut Ctx<'_>, name: &[u8]) -> Exit {
        match self.spec.find_long(name) {
            Err(asked @ (UsageError::Help | UsageError::Version)) => {
                self.spec.answer(ctx, asked, USAGE)
            }
            _ => self.usage(ctx),
        }
    }

    /// What is accepted, on standard error.
    fn usage(&self, ctx: &mut Ctx<'_>) -> Exit {
        let _ = ctx.stderr.write_all(self.spec.help(&ctx.name).as_bytes());
        USAGE
    }

    /// Letters in one word.
    fn letters(&mut self, ctx: &mut Ctx<'_>, mut word: &[u8]) -> Result<(), Exit> {
        if let Some(letters) = word.strip_prefix(b"Z") {
            word = letters;
            self.spec = ZIPINFO;
            self.job.action = Action::Info;
            self.listing = None;
        }
        let found = self.spec.letters(word).map_err(|_| self.usage(ctx))?;
        for (flag, takes, attached) in found {
            if takes == Arg::No {
                self.option(flag);
                continue;
            }
            let attached = Some(attached).filter(|a| !a.is_empty()).map(<[u8]>::to_vec);
            let Some(value) = attached.or_else(|| self.rest.next().cloned()) else {
                let letter = char::from(word[word.len() - 1]);
                ctx.error(format_args!(" must specify argument of -{letter} option"));
                return Err(USAGE);
            };
            if flag == Flag::Directory {
                self.job.extract.dir = Some(value);
            }
        }
        Ok(())
    }

    /// An option without argument.
    fn option(&mut self, flag: Flag) {
        let extract = &mut self.job.extract;
        match flag {
            Flag::List => self.listing = self.listing.or(Some(Action::List)),
            Flag::Verbose => self.listing = Some(Action::Verbose),
            Flag::Test => self.action = Some(Action::Test),
            Flag::Comment => self.action = Some(Action::Comment),
            Flag::Pipe => self.action = Some(Action::Pipe(false)),
            Flag::PipeWithNames => self.action = Some(Action::Pipe(true)),
            Flag::Names => self.action = Some(Action::Names),
            Flag::OverwriteAll => extract.overwrite = Overwrite::All,
            Flag::OverwriteNone => extract.overwrite = Overwrite::None,
            Flag::JunkPaths => extract.junk = true,
            Flag::Lower => extract.lower = true,
            Flag::Freshen => extract.freshen = true,
            Flag::Update => extract.update = true,
            Flag::Text => extract.text = true,
            Flag::Special => extract.special = true,
            Flag::Quiet => self.job.quiet += 1,
            Flag::IgnoreCase => self.job.ignore_case = true,
            Flag::Exclude => self.excluding = true,
            // The first takes an argument.
            Flag::Directory | Flag::Ignored => {}
        }
    }
}
