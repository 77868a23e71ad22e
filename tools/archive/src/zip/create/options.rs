//! Parses `zip`'s command line. Options may appear anywhere, and `-x` and `-i` take all words up to
//! the next option.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, OptArg, Spec, UsageError};
use box_applet::{Ctx, Exit};

use crate::zip::{format, lossy_name};

/// An option of `zip`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ZipFlag {
    Freshen,
    Update,
    Delete,
    Move,
    Recurse,
    JunkPaths,
    Level(u32),
    Quiet,
    Exclude,
    Include,
    NoDirectories,
    Test,
    NoExtra,
    Symlinks,
    Suffixes,
    Method,
    NamesFromStdin,
    Help,
    /// An option that is accepted without effect.
    Ignored,
}

const SPEC: Spec<ZipFlag> = Spec::new(
    "[-options] [-b path] [-n suffixes] [zipfile list] [-xi list]",
    "Add or replace entries of zipfile from list, which can include the special name - to compress\n\
            standard input. If zipfile is -, write the archive to standard output.",
    &[
        Opt::new(ZipFlag::Freshen, 'f', "freshen").with_help("Replace only entries whose files have changed"),
        Opt::new(ZipFlag::Update, 'u', "update").with_help("Add new files, and replace entries whose files have changed"),
        Opt::new(ZipFlag::Delete, 'd', "delete").with_help("Delete entries in zipfile"),
        Opt::new(ZipFlag::Move, 'm', "move").with_help("Remove the files once they are in zipfile"),
        Opt::new(ZipFlag::Recurse, 'r', "recurse-paths").with_help("Recurse into directories"),
        Opt::new(ZipFlag::JunkPaths, 'j', "junk-paths").with_help("Do not record directory names"),
        Opt::new(ZipFlag::Level(0), '0', "").with_help("Store only"),
        Opt::new(ZipFlag::Level(1), '1', "").with_help("Compress faster"),
        Opt::new(ZipFlag::Level(2), '2', ""),
        Opt::new(ZipFlag::Level(3), '3', ""),
        Opt::new(ZipFlag::Level(4), '4', ""),
        Opt::new(ZipFlag::Level(5), '5', ""),
        Opt::new(ZipFlag::Level(6), '6', "").with_help("The default"),
        Opt::new(ZipFlag::Level(7), '7', ""),
        Opt::new(ZipFlag::Level(8), '8', ""),
        Opt::new(ZipFlag::Level(9), '9', "").with_help("Compress better"),
        Opt::new(ZipFlag::Quiet, 'q', "quiet").with_help("Print no messages"),
        Opt::new(ZipFlag::Ignored, 'v', "verbose").with_help(words::IGNORED),
        Opt::new(ZipFlag::Exclude, 'x', "exclude")
            .with_argument("LIST", "Exclude the names that follow"),
        Opt::new(ZipFlag::Include, 'i', "include")
            .with_argument("LIST", "Include only the names that follow"),
        Opt::new(ZipFlag::NoDirectories, 'D', "no-dir-entries")
            .with_help("Do not add directory entries"),
        Opt::new(ZipFlag::Test, 'T', "test").with_help("Test zipfile integrity"),
        Opt::new(ZipFlag::NoExtra, 'X', "no-extra").with_help("Leave out extra attributes of files"),
        Opt::new(ZipFlag::Symlinks, 'y', "symlinks").with_help("Store symbolic links as links"),
        Opt::new(ZipFlag::Suffixes, 'n', "suffixes")
            .with_argument(".S:.S", "Do not compress files with these suffixes"),
        Opt::new(ZipFlag::Method, 'Z', "compression-method")
            .with_argument("METHOD", "Store, deflate or bzip2"),
        Opt::new(ZipFlag::NamesFromStdin, '@', "names-stdin")
            .with_help("Read names from standard input"),
        Opt::new(ZipFlag::Ignored, 'b', "temp-path").with_argument("DIR", words::IGNORED),
        Opt::new(ZipFlag::Ignored, 't', "").with_argument("DATE", words::IGNORED),
        Opt::new(ZipFlag::Ignored, 'o', "").with_help(words::IGNORED),
        Opt::new(ZipFlag::Ignored, 'k', "").with_help(words::IGNORED),
        Opt::new(ZipFlag::Ignored, 'A', "").with_help(words::IGNORED),
        Opt::new(ZipFlag::Ignored, 'g', "").with_help(words::IGNORED),
        Opt::new(ZipFlag::Ignored, 'S', "").with_help(words::IGNORED),
        Opt::new(ZipFlag::Help, 'h', "").with_help("The same as --help"),
        Opt::new(ZipFlag::Help, '?', ""),
    ],
)
.with_examples(&[
    ("zip -r FILE.zip DIR", "Pack a directory"),
    ("zip -r FILE.zip DIR -x '*.tmp'", "Leave out some of its files"),
    ("zip -d FILE.zip '*.tmp'", "Delete members"),
]);

/// The operation on the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ZipAction {
    #[default]
    Add,
    Update,
    Freshen,
    Delete,
}

/// The settings from the command line.
#[derive(Default)]
pub struct ZipJob {
    pub action: ZipAction,
    pub archive: Vec<u8>,
    pub names: Vec<Vec<u8>>,
    pub only: Vec<Vec<u8>>,
    pub except: Vec<Vec<u8>>,
    pub names_from_stdin: bool,
    pub quiet: bool,
    pub recurse: bool,
    pub junk: bool,
    pub no_dirs: bool,
    /// Whether symbolic links are stored as links.
    pub links: bool,
    pub remove: bool,
    pub test: bool,
    pub no_extra: bool,
    pub level: u32,
    pub method: u16,
    /// The suffixes of files that are stored without compression.
    pub store: Vec<Vec<u8>>,
}

impl ZipJob {
    fn new() -> ZipJob {
        let suffixes = ".Z:.zip:.zoo:.arc:.lzh:.arj".split(':');
        let store = suffixes.map(|s| s.as_bytes().to_vec()).collect();
        ZipJob { level: 6, method: format::DEFLATED, store, ..ZipJob::default() }
    }
}

/// The list to which the following words belong.
#[derive(Clone, Copy, PartialEq)]
enum ZipList {
    Names,
    Only,
    Except,
}

/// The state of reading the command line.
struct ZipReader<'a> {
    job: ZipJob,
    list: ZipList,
    /// Whether the archive has been named.
    named: bool,
    rest: std::slice::Iter<'a, Vec<u8>>,
}

/// Parses the command line.
///
/// # Errors
/// The command line is wrong, or it asks for help. The error is the exit status; the text has been
/// printed.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<ZipJob, Exit> {
    let mut reader =
        ZipReader { job: ZipJob::new(), list: ZipList::Names, named: false, rest: args.iter() };
    let mut plain = false;
    while let Some(arg) = reader.rest.next() {
        match arg.strip_prefix(b"-") {
            Some(b"-") if !plain => plain = true,
            Some([b'-', name @ ..]) if !plain => reader.take_long(ctx, name)?,
            Some(word) if !plain && !word.is_empty() => reader.take_letters(ctx, word)?,
            _ => reader.take_operand(arg),
        }
    }
    let ZipReader { job, named, .. } = reader;
    let unselected = job.only.is_empty() && job.except.is_empty();
    if !named && !unselected {
        return Err(report_invalid(ctx, "nothing to select from"));
    }
    if !named {
        return Err(print_help(ctx));
    }
    Ok(job)
}

impl ZipReader<'_> {
    fn take_operand(&mut self, arg: &[u8]) {
        match self.list {
            ZipList::Only => self.job.only.push(arg.to_vec()),
            ZipList::Except => self.job.except.push(arg.to_vec()),
            ZipList::Names if self.named => self.job.names.push(arg.to_vec()),
            ZipList::Names => {
                self.named = true;
                self.job.archive = with_suffix(arg);
            }
        }
    }

    /// Takes a long option: `NAME` or `NAME=VALUE`.
    fn take_long(&mut self, ctx: &mut Ctx<'_>, word: &[u8]) -> Result<(), Exit> {
        let (name, value) = match word.iter().position(|c| *c == b'=') {
            Some(at) => (&word[..at], &word[at + 1..]),
            None => (word, &[][..]),
        };
        match SPEC.find_long(name) {
            Ok((flag, takes)) => self.take_option(ctx, flag, takes, value),
            Err(UsageError::Message(_)) => Err(report_invalid(
                ctx,
                &format!("long option '{}' not supported", lossy_name(name)),
            )),
            Err(asked) => Err(SPEC.answer_usage(ctx, asked, Exit::SUCCESS)),
        }
    }

    /// Takes the option letters in one word.
    fn take_letters(&mut self, ctx: &mut Ctx<'_>, word: &[u8]) -> Result<(), Exit> {
        let found = SPEC.match_letters(word).map_err(|letter| {
            report_invalid(ctx, &format!("short option '{}' not supported", char::from(letter)))
        })?;
        found
            .into_iter()
            .try_for_each(|(flag, takes, value)| self.take_option(ctx, flag, takes, value))
    }

    /// Applies an option. `attached` is the text attached to it.
    fn take_option(
        &mut self,
        ctx: &mut Ctx<'_>,
        flag: ZipFlag,
        takes: OptArg,
        attached: &[u8],
    ) -> Result<(), Exit> {
        self.list = ZipList::Names;
        let job = &mut self.job;
        match flag {
            ZipFlag::Recurse => job.recurse = true,
            ZipFlag::Quiet => job.quiet = true,
            ZipFlag::JunkPaths => job.junk = true,
            ZipFlag::NoDirectories => job.no_dirs = true,
            ZipFlag::Symlinks => job.links = true,
            ZipFlag::Move => job.remove = true,
            ZipFlag::Test => job.test = true,
            ZipFlag::NoExtra => job.no_extra = true,
            ZipFlag::Delete => job.action = ZipAction::Delete,
            ZipFlag::Update => job.action = ZipAction::Update,
            ZipFlag::Freshen => job.action = ZipAction::Freshen,
            ZipFlag::Level(level) => job.level = level,
            ZipFlag::NamesFromStdin => job.names_from_stdin = true,
            ZipFlag::Help => return Err(print_help(ctx)),
            // If a name is attached to the option, the list has only this name.
            ZipFlag::Exclude if attached.is_empty() => self.list = ZipList::Except,
            ZipFlag::Exclude => job.except.push(attached.to_vec()),
            ZipFlag::Include if attached.is_empty() => self.list = ZipList::Only,
            ZipFlag::Include => job.only.push(attached.to_vec()),
            ZipFlag::Suffixes => {
                let suffixes = self.take_value(ctx, 'n', attached)?;
                let parts = suffixes.split(|c| matches!(c, b':' | b','));
                self.job.store = parts.map(<[u8]>::to_vec).collect();
            }
            ZipFlag::Method => match self.take_value(ctx, 'Z', attached)?.as_slice() {
                b"store" => self.job.level = 0,
                b"deflate" => self.job.method = format::DEFLATED,
                b"bzip2" => self.job.method = format::BZIP2,
                other => {
                    let text = format!("unknown compression method '{}'", lossy_name(other));
                    return Err(report_invalid(ctx, &text));
                }
            },
            ZipFlag::Ignored if takes == OptArg::No => {}
            ZipFlag::Ignored => drop(self.take_value(ctx, 'b', attached)?),
        }
        Ok(())
    }

    /// Returns an option's value, which is the attached text or the next word.
    fn take_value(
        &mut self,
        ctx: &mut Ctx<'_>,
        letter: char,
        attached: &[u8],
    ) -> Result<Vec<u8>, Exit> {
        let attached = Some(attached).filter(|a| !a.is_empty()).map(<[u8]>::to_vec);
        attached
            .or_else(|| self.rest.next().cloned())
            .ok_or_else(|| report_invalid(ctx, &format!("option '{letter}' requires a value")))
    }
}

fn print_help(ctx: &mut Ctx<'_>) -> Exit {
    ctx.print(&SPEC.help_text(&ctx.name))
}

fn report_invalid(ctx: &mut Ctx<'_>, why: &str) -> Exit {
    let text = format!("\nzip error: Invalid command arguments ({why})\n");
    let _ = ctx.stderr.write_all(text.as_bytes());
    Exit(16)
}

/// Appends `.zip` to a name without a suffix.
fn with_suffix(name: &[u8]) -> Vec<u8> {
    let last = name.rsplit(|c| *c == b'/').next().unwrap_or_default();
    if name == b"-" || last.contains(&b'.') { name.to_vec() } else { [name, b".zip"].concat() }
}
