//! `cpio` (GNU cpio 2.13 manual): writes archives of the files that standard input lists, and reads
//! archives.
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `entry`, `decode`, `encode` | headers of newc, crc, odc and bin; `tar` has ustar and tar |
//! | `copy_in` | `-i` and `-t`; defences against hostile archives |
//! | `copy_out` | `-o` |
//! | `pass` | `-p` |
//!
//! Deviation: extraction writes nothing outside the directory unless `--absolute-filenames` is
//! given.

mod copy_in;
mod copy_out;
mod decode;
mod encode;
mod entry;
mod options;
mod pass;

use std::io::{self, BufRead, BufReader, Write};

use box_applet::{Ctx, Ended, Exit};
use box_sys::error_text;

use options::{CpioMode, CpioOptions};

/// The exit status of a run that had errors.
const FAILED: Exit = Exit(2);

/// Runs `cpio`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let options = options::parse(ctx, args)?;
    if let Some(dir) = &options.directory {
        let target = ctx.path(dir);
        if let Err(e) = std::fs::read_dir(&target) {
            report_failure(ctx, dir, "cannot change to directory", &e);
            return Err(FAILED);
        }
        ctx.cwd = target;
    }
    let result = match options.mode {
        CpioMode::Out => copy_out::write_archive(ctx, &options),
        CpioMode::In => copy_in::read_archive(ctx, &options),
        CpioMode::Pass => pass::copy_files(ctx, &options),
    };
    match result {
        Ok(CpioSummary { bytes, ok }) => {
            if options.to_stdout {
                ctx.stdout.flush().ok();
            }
            if !options.quiet {
                let blocks = bytes.div_ceil(options.block_size);
                let plural = if blocks == 1 { "" } else { "s" };
                let _ = writeln!(ctx.stderr, "{blocks} block{plural}");
            }
            Ok(if ok { Exit::SUCCESS } else { FAILED })
        }
        Err(CpioError::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::SIGPIPE),
        Err(e) => {
            ctx.error(e);
            Ok(FAILED)
        }
    }
}

/// The totals of a run.
struct CpioSummary {
    /// The length of the archive, or of the files that were copied, in bytes.
    bytes: u64,
    /// Whether everything has succeeded.
    ok: bool,
}

/// An error that ends a run.
#[derive(Debug, thiserror::Error)]
enum CpioError {
    #[error("premature end of archive")]
    NoArchive,
    #[error("premature end of file")]
    Truncated,
    #[error("malformed header")]
    Malformed,
    #[error("Cannot open {0}: {1}")]
    Open(String, String),
    #[error("{}", error_text(.0))]
    Io(io::Error),
}

impl From<io::Error> for CpioError {
    fn from(e: io::Error) -> CpioError {
        match e.kind() {
            io::ErrorKind::UnexpectedEof => CpioError::Truncated,
            _ => CpioError::Io(e),
        }
    }
}

impl CpioError {
    fn cannot_open(name: &[u8], e: &io::Error) -> CpioError {
        CpioError::Open(String::from_utf8_lossy(name).into_owned(), error_text(e))
    }
}

/// Reports an error of a file.
fn report_failure(ctx: &mut Ctx<'_>, name: &[u8], what: &str, e: &io::Error) {
    let text = format!(": {what}: {}", error_text(e));
    ctx.error_bytes(&[name, text.as_bytes()]);
}

/// Returns the names that standard input lists, each in a line or with a NUL after it.
fn read_names(ctx: &mut Ctx<'_>, options: &CpioOptions) -> io::Result<Vec<Vec<u8>>> {
    let end = if options.has_nul { 0 } else { b'\n' };
    let mut names = Vec::new();
    let mut input = BufReader::new(ctx.stdin.detach_stream());
    loop {
        let mut name = Vec::new();
        if input.read_until(end, &mut name)? == 0 {
            return Ok(names);
        }
        if name.last() == Some(&end) {
            name.pop();
        }
        if !name.is_empty() {
            names.push(name);
        }
    }
}

/// Prints a file's name for `-v`, or a dot for `-V`.
fn print_progress(ctx: &mut Ctx<'_>, options: &CpioOptions, name: &[u8]) {
    if options.verbose {
        let _ = ctx.stderr.write_all(&[name, b"\n"].concat());
    } else if options.has_dots {
        let _ = ctx.stderr.write_all(b".");
    }
}
