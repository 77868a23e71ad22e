//! `tar` (GNU tar 1.34 manual): create, append, list, extract and compare-free everyday use.
//!
//! Deviations: directory entries are archived in the byte order of their names, so that equal
//! trees give equal archives. No multi-volume, sparse creation, incremental or `--delete`.

mod create;
mod extract;
mod list;
mod options;
mod select;

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use box_applet::{Ctx, Ended, Exit};
use box_sys::error_text;

use crate::codec::{CompressionFormat, peek_head};
use options::{Compression, TarAction, TarOptions};

/// Status of a run that had errors (GNU tar manual, "Synopsis").
const FAILED: u8 = 2;
/// An option that there is not, or one without its value (sysexits(3), `EX_USAGE`).
const USAGE: u8 = 64;

/// Runs `tar`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let options = options::parse(ctx, args)?;
    let result = match options.action {
        TarAction::Create => create::create_archive(ctx, &options),
        TarAction::Append => create::append_archive(ctx, &options),
        TarAction::List => read(ctx, &options, list::list_archive),
        TarAction::Extract => read(ctx, &options, extract::extract_archive),
    };
    Ok(match result {
        Ok(true) => Exit::SUCCESS,
        Ok(false) => {
            ctx.error("Exiting with failure status due to previous errors");
            Exit(FAILED)
        }
        Err(TarFatal::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe => Exit::SIGPIPE,
        Err(TarFatal::Io(e)) => report_fatal(ctx, &error_text(&e)),
        Err(TarFatal::Message(m)) => report_fatal(ctx, &m),
    })
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
}

impl From<io::Error> for TarFatal {
    fn from(e: io::Error) -> TarFatal {
        TarFatal::Io(e)
    }
}

/// Result of an action: whether no member failed.
type Outcome = Result<bool, TarFatal>;

/// A function that reads an archive member by member.
type Reader = fn(&mut Ctx<'_>, &TarOptions, &mut tar::Archive<Box<dyn Read>>) -> Outcome;

/// Opens the archive in any compression and passes it to `action`.
fn read(ctx: &mut Ctx<'_>, options: &TarOptions, action: Reader) -> Outcome {
    let raw: Box<dyn Read> = if options.archive == b"-" {
        Box::new(ctx.stdin.detach_stream())
    } else {
        let file = File::open(ctx.path(&options.archive)).map_err(|e| cannot_open(options, &e))?;
        Box::new(BufReader::with_capacity(1 << 16, file))
    };
    let (head, raw) = peek_head(raw).map_err(|e| {
        let name = String::from_utf8_lossy(&options.archive);
        TarFatal::Message(format!("{name}: Cannot read: {}", error_text(&e)))
    })?;
    let got = head.len();
    let format = match (CompressionFormat::detect(&head), options.compression) {
        (Some(f), _) => Some(f),
        (None, Compression::Is(f)) => {
            let tool = format!("{f:?}").to_lowercase();
            match got {
                0 => ctx.error(format_args!("{tool}: stdin: unexpected end of file")),
                _ => ctx.error(format_args!("stdin: not in {tool} format")),
            }
            return Err(TarFatal::Message("Child returned status 1".to_string()));
        }
        _ => None,
    };
    if got == 0 {
        ctx.error("This does not look like a tar archive");
        return Err(TarFatal::Message("Exiting with failure status due to previous errors".into()));
    }
    let data = match format {
        Some(f) => f.reader(raw)?,
        None => raw,
    };
    let mut archive = tar::Archive::new(data);
    archive.set_ignore_zeros(options.ignore_zeros);
    action(ctx, options, &mut archive)
}

fn cannot_open(options: &TarOptions, e: &io::Error) -> TarFatal {
    let name = String::from_utf8_lossy(&options.archive);
    TarFatal::Message(format!("{name}: Cannot open: {}", error_text(e)))
}

/// Returns the error of a damaged archive, in GNU's words.
fn damaged_archive(e: &io::Error) -> TarFatal {
    let text = e.to_string();
    if e.kind() == io::ErrorKind::UnexpectedEof
        || text.contains("unexpected end")
        || text.contains("unexpected EOF")
    {
        return TarFatal::Message("Unexpected EOF in archive".to_string());
    }
    if text.contains("checksum") || text.contains("numeric field") || text.contains("not a tar") {
        return TarFatal::Message("This does not look like a tar archive".to_string());
    }
    TarFatal::Message(error_text(e))
}

/// Writes a member's name, quoted as GNU tar quotes unprintable characters.
fn write_name(out: &mut dyn Write, name: &[u8]) -> io::Result<()> {
    for &c in name {
        match c {
            b'\n' => out.write_all(b"\\n")?,
            b'\t' => out.write_all(b"\\t")?,
            b'\\' => out.write_all(b"\\\\")?,
            0..=31 | 127 => write!(out, "\\{c:03o}")?,
            _ => out.write_all(&[c])?,
        }
    }
    Ok(())
}
