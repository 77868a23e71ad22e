//! `tar` (GNU tar 1.34 manual): creates, lists, changes and extracts archives.
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `member` | the properties of a member |
//! | `decode`, `sparse`, `pax` | conversion of headers to members |
//! | `encode` | conversion of members to headers, in four formats |
//! | `read` | reading of archives and their selected members |
//! | `select`, `transform`, `owner` | names, patterns and owners |
//! | `create` | writing of files to an archive |
//! | `edit` | `-r`, `-u`, `-A`, `--delete`, `--test-label` |
//! | `extract` | extraction of members; defences against hostile archives |
//! | `pipe` | members as input of commands (`--to-command`) |
//! | `ignore`, `confirm` | `--exclude-ignore`, `-w` |
//! | `list`, `diff`, `checkpoint` | `-t` and verbose lines, `-d`, `--checkpoint` |
//!
//! Deviations: directory entries are archived in the byte order of their names, so that equal trees
//! give equal archives. There are no multi-volume and incremental archives. Holes of files are
//! stored as zeros.

mod checkpoint;
mod confirm;
mod create;
pub(crate) mod decode;
mod diff;
mod edit;
pub(crate) mod encode;
mod extract;
mod ignore;
mod list;
pub(crate) mod member;
mod options;
mod owner;
pub(crate) mod pax;
mod pipe;
mod read;
pub(crate) mod select;
mod sparse;
mod transform;

use std::io::{self, Write};

use box_applet::{Ctx, Ended, Exit};
use box_sys::error_text;

use options::{TarAction, TarOptions};
use read::{ArchiveInput, open_archive};

/// The exit status of a run that found differences (`-d`, `--test-label`).
const DIFFERS: u8 = 1;
/// The exit status of a run that had errors (GNU tar manual, "Synopsis").
const FAILED: u8 = 2;
/// The exit status after an unknown option or one without its value (sysexits(3), `EX_USAGE`).
const USAGE: u8 = 64;

/// Runs `tar`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let options = options::parse(ctx, args)?;
    let result = match options.action {
        TarAction::Create => create::create_archive(ctx, &options),
        TarAction::Append | TarAction::Update => edit::append_files(ctx, &options),
        TarAction::Concatenate => edit::append_archives(ctx, &options),
        TarAction::Delete => edit::delete_members(ctx, &options),
        TarAction::List => read_archive(ctx, &options, list::list_archive),
        TarAction::Extract => read_archive(ctx, &options, extract::extract_archive),
        TarAction::Diff => match diff::compare_archive(ctx, &options) {
            Ok((true, true)) => return Ok(Exit(DIFFERS)),
            Ok((ok, _)) => Ok(ok),
            Err(e) => Err(e),
        },
        TarAction::TestLabel => {
            return edit::test_label(ctx, &options).map_or_else(
                |e| Ok(report_outcome(ctx, Err(e))),
                |is_equal| Ok(if is_equal { Exit::SUCCESS } else { Exit(DIFFERS) }),
            );
        }
    };
    Ok(report_outcome(ctx, result))
}

/// Reports the errors of a run; returns its exit status.
fn report_outcome(ctx: &mut Ctx<'_>, result: Outcome) -> Exit {
    match result {
        Ok(true) => Exit::SUCCESS,
        Ok(false) | Err(TarFatal::Failed) => {
            ctx.error("Exiting with failure status due to previous errors");
            Exit(FAILED)
        }
        Err(TarFatal::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe => Exit::SIGPIPE,
        Err(TarFatal::Io(e)) => report_fatal(ctx, &error_text(&e)),
        Err(TarFatal::Message(m)) => report_fatal(ctx, &m),
        Err(TarFatal::Usage(m)) => {
            ctx.error(m);
            let _ = ctx.stderr.write_all(options::HINT);
            Exit(FAILED)
        }
    }
}

fn report_fatal(ctx: &mut Ctx<'_>, message: &str) -> Exit {
    ctx.error(message);
    ctx.error("Error is not recoverable: exiting now");
    Exit(FAILED)
}

/// An error that ends a run at once.
enum TarFatal {
    Io(io::Error),
    Message(String),
    /// An error in the command line; the hint follows its message.
    Usage(String),
    /// An error that has already been reported.
    Failed,
}

impl TarFatal {
    /// Returns the error of an archive or a directory that cannot be opened.
    fn cannot_open(name: &[u8], e: &io::Error) -> TarFatal {
        let name = String::from_utf8_lossy(name);
        TarFatal::Message(format!("{name}: Cannot open: {}", error_text(e)))
    }
}

impl From<io::Error> for TarFatal {
    fn from(e: io::Error) -> TarFatal {
        TarFatal::Io(e)
    }
}

/// The result of an action: whether all members succeeded, or an error that ends the run.
type Outcome = Result<bool, TarFatal>;

/// A function that reads an archive member by member.
type Reader = fn(&mut Ctx<'_>, &TarOptions, &mut ArchiveInput<'_>) -> Outcome;

/// Opens the archive and passes it to `action`.
fn read_archive(ctx: &mut Ctx<'_>, options: &TarOptions, action: Reader) -> Outcome {
    let mut input = open_archive(ctx, options)?;
    action(ctx, options, &mut input)
}

/// Writes a member's name with unprintable characters escaped as GNU tar does.
fn write_name(out: &mut dyn Write, name: &[u8]) -> io::Result<()> {
    for &c in name {
        match c {
            7 => out.write_all(b"\\a")?,
            8 => out.write_all(b"\\b")?,
            b'\t' => out.write_all(b"\\t")?,
            b'\n' => out.write_all(b"\\n")?,
            11 => out.write_all(b"\\v")?,
            12 => out.write_all(b"\\f")?,
            b'\r' => out.write_all(b"\\r")?,
            b'\\' => out.write_all(b"\\\\")?,
            0..=31 | 127 => write!(out, "\\{c:03o}")?,
            _ => out.write_all(&[c])?,
        }
    }
    Ok(())
}
