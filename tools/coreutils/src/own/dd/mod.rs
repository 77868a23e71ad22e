//! `dd` (POSIX XCU dd; GNU manual "dd invocation").
//!
//! | file | contents |
//! |---|---|
//! | `options` | operands |
//! | `source`, `output` | input and output |
//! | `transfer` | the loop over blocks |
//! | `records`, `ebcdic` | conversions |
//! | `report` | the figures at the end |

mod ebcdic;
mod options;
mod output;
mod records;
mod report;
mod source;
mod transfer;

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::rc::Rc;
use std::time::Instant;

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit, InputSource, OutputSink};

use crate::common::{input, quote};
use options::{DdFault, DdOptions, DdStatus, parse_options};
use output::DdOut;
use report::format_report;
use source::{ReadSeek, UnbufferedFile, skip_input};
use transfer::{DdOutcome, transfer_records};

const HELP: HelpPage = HelpPage::new(
    "[OPERAND]...",
    "Copy and convert data in blocks.",
    &[HelpSection::new(
        "Operands",
        &[
            ("  if=FILE", "Read FILE instead of standard input"),
            ("  of=FILE", "Write FILE instead of standard output"),
            ("  bs=BYTES", "Size of blocks on both sides (512)"),
            ("  ibs=BYTES, obs=BYTES", "Size of blocks that are read, and written"),
            ("  cbs=BYTES", "Size of records, for block and unblock"),
            ("  count=N", "Stop after N blocks of input"),
            ("  skip=N, iseek=N", "Skip N blocks of input"),
            ("  seek=N, oseek=N", "Skip N blocks of output"),
            (
                "  conv=WORD,...",
                "Convert: ascii ebcdic ibm block unblock lcase ucase sparse swab sync excl \
        nocreat notrunc noerror fdatasync fsync",
            ),
            (
                "  iflag=WORD,...",
                "Flags for reading: append direct directory dsync sync fullblock nonblock noatime nocache \
        noctty nofollow count_bytes skip_bytes",
            ),
            ("  oflag=WORD,...", "Flags for writing: the same, and seek_bytes"),
            ("  status=WORD", "Report none (only errors), noxfer (no speed) or progress"),
        ],
    )],
)
.with_notes(
    "Numbers may have a unit: c is 1, w 2, b 512, K 1024, M 1024*1024 and so on, kB \
        1000; 2x512 is a product. N with a B at its end counts bytes.",
)
.with_examples(&[("dd if=/dev/zero of=FILE bs=1M count=10", "A file of 10 MiB")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    match args {
        [a] if a == b"--help" => return Ok(ctx.print(&HELP.text(&ctx.name))),
        [a] if a == b"--version" => return Ok(ctx.print(&ctx.version())),
        _ => {}
    }
    let o = match parse_options(args) {
        Ok(o) => o,
        Err(fault) => {
            ctx.error_bytes(&[&fault.message()]);
            if matches!(fault, DdFault::Word { .. }) {
                input::usage_hint(ctx);
            }
            return Ok(Exit::FAILURE);
        }
    };
    copy_blocks(ctx, &o)
}

fn copy_blocks(ctx: &mut Ctx<'_>, o: &DdOptions) -> Ended {
    let input_name = o.input.as_deref().unwrap_or(b"standard input");
    let output_name = o.output.as_deref().unwrap_or(b"standard output");
    let mut reader = open_input(ctx, o)?;
    let file = open_output(ctx, o)?;
    let skip = offset(o.skip, o.ibs).ok_or_else(|| {
        let shown = quote::quote_with_colon(input_name);
        let why = b": cannot skip: Value too large for defined data type";
        input::report_failure(ctx, &[&shown, why])
    })?;
    skip_input(&mut *reader, skip, o.ibs)
        .map_err(|e| input::report_cannot(ctx, "cannot skip", input_name, &e))?;
    if skip > 0 && o.status != DdStatus::None && reader.beyond_end() {
        let shown = quote::quote_with_colon(input_name);
        ctx.error_bytes(&[&shown, b": cannot skip to specified offset"]);
    }
    let seek = offset(o.seek, o.obs).ok_or_else(|| {
        let (number, block) = (o.seek.0, o.obs);
        ctx.error(format_args!(
            "offset too large: cannot truncate to a length of seek={number} ({block}-byte) blocks"
        ));
        Exit::FAILURE
    })?;
    if let Some(file) = file.as_deref().filter(|_| seek > 0) {
        seek_output(ctx, o, file, seek, output_name)?;
    }
    let _ = ctx.stdout.flush();
    let start = Instant::now();
    let mut out = DdOut {
        sink: &mut ctx.stdout,
        file: file.clone(),
        buf: Vec::new(),
        obs: o.obs,
        sparse: o.sparse,
        hole: false,
    };
    let progress = (o.status == DdStatus::Progress).then_some(&mut ctx.stderr as &mut dyn Write);
    let DdOutcome { counts, errors } = transfer_records(&mut *reader, &mut out, o, start, progress);
    let mut exit = Exit::SUCCESS;
    for (reading, e) in &errors {
        if !reading && e.kind() == io::ErrorKind::BrokenPipe {
            return Err(Exit::SIGPIPE);
        }
        exit = if *reading {
            input::report_cannot(ctx, "error reading", input_name, e)
        } else {
            input::report_cannot(ctx, "error writing", output_name, e)
        };
    }
    ctx.stdout.take_error();
    if let Some(file) = file.filter(|_| o.sync) {
        let _ = file.sync_all();
    }
    if o.status != DdStatus::None {
        let text =
            format_report(&counts, start.elapsed(), o.status, o.status == DdStatus::Progress);
        let _ = ctx.stderr.write_all(text.as_bytes());
    }
    Ok(exit)
}

/// Returns the offset in bytes of a number of blocks, or of bytes if the flag says so; `None` if no
/// file can have that offset.
fn offset((number, is_bytes): (u64, bool), block: usize) -> Option<u64> {
    let offset = if is_bytes { Some(number) } else { number.checked_mul(block as u64) };
    offset.filter(|offset| i64::try_from(*offset).is_ok())
}

fn open_input(ctx: &mut Ctx<'_>, o: &DdOptions) -> Result<Box<dyn ReadSeek>, Exit> {
    if let Some(name) = &o.input {
        let opened = File::open(ctx.path(name));
        return Ok(Box::new(opened.map_err(|e| open_error(ctx, name, &e))?));
    }
    // Standard input is read without read-ahead, so that the next reader of the descriptor misses
    // no bytes.
    match ctx.stdin.source().clone() {
        InputSource::File(f) => Ok(Box::new(UnbufferedFile(f))),
        InputSource::Bytes(b) => Ok(Box::new(io::Cursor::new(b.to_vec()))),
        InputSource::Closed => {
            let e = io::Error::from_raw_os_error(box_sys::errno::code::EBADF);
            Err(open_error(ctx, b"standard input", &e))
        }
    }
}

/// Opens the file to write to; `None` if standard output is closed.
fn open_output(ctx: &mut Ctx<'_>, o: &DdOptions) -> Result<Option<Rc<File>>, Exit> {
    let Some(name) = &o.output else {
        return Ok(match ctx.stdout.sink() {
            OutputSink::File(f) => Some(f.clone()),
            _ => None,
        });
    };
    let mut open = OpenOptions::new();
    open.write(true).create(!o.nocreat).create_new(o.excl).append(o.append);
    // The output is not truncated to zero if bytes before the seek position must be kept.
    open.truncate(!o.notrunc && o.seek.0 == 0 && !o.append && !o.excl);
    let opened = open.open(ctx.path(name));
    Ok(Some(Rc::new(opened.map_err(|e| open_error(ctx, name, &e))?)))
}

/// Truncates the output to the length of `seek`, unless `notrunc` is given, and seeks there.
fn seek_output(
    ctx: &mut Ctx<'_>,
    o: &DdOptions,
    mut file: &File,
    seek: u64,
    name: &[u8],
) -> Result<(), Exit> {
    let shown = quote::quote_in_sentence(name);
    if o.output.is_some()
        && !o.notrunc
        && let Err(e) = file.set_len(seek)
        // Devices have no length, so seeking is enough.
        && file.metadata().is_ok_and(|m| m.is_file())
    {
        let text = format!("failed to truncate to {seek} bytes in output file ");
        let why = box_sys::error_text(&e);
        return Err(input::report_failure(ctx, &[text.as_bytes(), &shown, b": ", why.as_bytes()]));
    }
    let by = SeekFrom::Current(i64::try_from(seek).unwrap_or(i64::MAX));
    file.seek(by).map_err(|e| {
        let why = box_sys::error_text(&e);
        input::report_failure(ctx, &[&shown, b": cannot seek: ", why.as_bytes()])
    })?;
    Ok(())
}

fn open_error(ctx: &mut Ctx<'_>, name: &[u8], e: &io::Error) -> Exit {
    input::report_cannot(ctx, "failed to open", name, e)
}
