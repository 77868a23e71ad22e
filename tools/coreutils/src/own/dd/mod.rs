//! `dd` (POSIX XCU dd; GNU manual "dd invocation").
//!
//! | file | what |
//! |---|---|
//! | `options` | operands |
//! | `source`, `output` | both ends |
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

use box_applet::{Ctx, Exit, Sink, Source};

use crate::common::{input, quote};
use options::{Options, Status, options};
use output::Out;
use report::{Counts, report};
use source::{ReadSeek, Shared, skip_input};
use transfer::transfer;

const HELP: &str = "Usage: dd [OPERAND]...
  or:  dd OPTION
Copy a file, converting and formatting according to the operands.

  bs=BYTES        read and write up to BYTES bytes at a time (default: 512); overrides ibs and obs
  cbs=BYTES       convert BYTES bytes at a time
  conv=CONVS      convert the file as per the comma separated symbol list:
                  ascii ebcdic ibm block unblock lcase ucase sparse swab sync
                  excl nocreat notrunc noerror fdatasync fsync
  count=N         copy only N input blocks
  ibs=BYTES       read up to BYTES bytes at a time (default: 512)
  if=FILE         read from FILE instead of stdin
  iflag=FLAGS     read as per the comma separated symbol list
  obs=BYTES       write BYTES bytes at a time (default: 512)
  of=FILE         write to FILE instead of stdout
  oflag=FLAGS     write as per the comma separated symbol list
  seek=N          (or oseek=N) skip N obs-sized output blocks
  skip=N          (or iseek=N) skip N ibs-sized input blocks
  status=LEVEL    'none' error messages only, 'noxfer' no transfer statistics, 'progress' periodic statistics

N and BYTES may be followed by: c=1, w=2, b=512, kB=1000, K=1024, MB, M, GB, G, and so on;
a trailing B means a number of bytes; products are written with x.
Flags: append direct directory dsync sync fullblock nonblock noatime nocache noctty nofollow
       count_bytes skip_bytes seek_bytes
      --help        display this help and exit
      --version     output version information and exit
";

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    match args {
        [a] if a == b"--help" => {
            let _ = ctx.stdout.write_all(HELP.as_bytes());
            return Exit::SUCCESS;
        }
        [a] if a == b"--version" => {
            let text = format!("dd (Wasibox) {}\n", env!("CARGO_PKG_VERSION"));
            let _ = ctx.stdout.write_all(text.as_bytes());
            return Exit::SUCCESS;
        }
        _ => {}
    }
    let o = match options(args) {
        Ok(o) => o,
        Err(m) => {
            ctx.error_bytes(&[&m]);
            if !m.starts_with(b"invalid number") && !m.starts_with(b"cannot combine") {
                input::usage_hint(ctx);
            }
            return Exit::FAILURE;
        }
    };
    copy(ctx, &o)
}

fn copy(ctx: &mut Ctx<'_>, o: &Options) -> Exit {
    // Standard input is read without read-ahead: who reads it next must not miss bytes.
    let stdin = ctx.stdin.source().clone();
    let mut reader: Box<dyn ReadSeek> = match (&o.input, stdin) {
        (Some(name), _) => match File::open(ctx.path(name)) {
            Ok(f) => Box::new(f),
            Err(e) => return open_error(ctx, name, &e),
        },
        (None, Source::File(f)) => Box::new(Shared(f)),
        (None, Source::Bytes(b)) => Box::new(io::Cursor::new(b.to_vec())),
        (None, Source::Closed) => {
            let e = io::Error::from_raw_os_error(box_sys::errno::code::EBADF);
            return open_error(ctx, b"standard input", &e);
        }
    };
    let input_name = o.input.clone().unwrap_or_else(|| b"standard input".to_vec());
    let output_name = o.output.clone().unwrap_or_else(|| b"standard output".to_vec());
    let file = match &o.output {
        Some(name) => {
            let mut open = OpenOptions::new();
            open.write(true).create(!o.nocreat).create_new(o.excl).append(o.append);
            // What lies before the seek position stays.
            open.truncate(!o.notrunc && o.seek.0 == 0 && !o.append && !o.excl);
            match open.open(ctx.path(name)) {
                Ok(f) => Some(Rc::new(f)),
                Err(e) => return open_error(ctx, name, &e),
            }
        }
        None => match ctx.stdout.sink() {
            Sink::File(f) => Some(f.clone()),
            _ => None,
        },
    };
    let skip = if o.skip.1 { o.skip.0 } else { o.skip.0.saturating_mul(o.ibs as u64) };
    let seek = if o.seek.1 { o.seek.0 } else { o.seek.0.saturating_mul(o.obs as u64) };
    if let Err(e) = skip_input(&mut *reader, skip, o.ibs) {
        input::cannot(ctx, "cannot skip", &input_name, &e);
        return Exit::FAILURE;
    }
    if skip > 0 && reader.beyond_end() {
        let shown = quote::colon(&input_name);
        ctx.error_bytes(&[&shown, b": cannot skip to specified offset"]);
    }
    if seek > 0
        && let Some(f) = &file
    {
        if o.output.is_some()
            && !o.notrunc
            && let Err(e) = f.set_len(seek)
        {
            // Devices have no length; seeking is enough for them.
            if f.metadata().is_ok_and(|m| m.is_file()) {
                let text = format!("failed to truncate to {seek} bytes in output file ");
                let shown = quote::always(&output_name);
                ctx.error_bytes(&[
                    text.as_bytes(),
                    &shown,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                return Exit::FAILURE;
            }
        }
        if let Err(e) = (&**f).seek(SeekFrom::Current(i64::try_from(seek).unwrap_or(i64::MAX))) {
            let shown = quote::always(&output_name);
            ctx.error_bytes(&[&shown, b": cannot seek: ", box_sys::strerror(&e).as_bytes()]);
            return Exit::FAILURE;
        }
    }
    let _ = ctx.stdout.flush();
    let start = Instant::now();
    let mut counts = Counts::default();
    let mut errors: Vec<(bool, io::Error)> = Vec::new();
    {
        let mut out = Out {
            sink: &mut ctx.stdout,
            file: file.clone(),
            buf: Vec::new(),
            obs: o.obs,
            sparse: o.sparse,
            hole: false,
        };
        let progress = (o.status == Status::Progress).then_some(&mut ctx.stderr as &mut dyn Write);
        transfer(&mut *reader, &mut out, o, &mut counts, &mut errors, start, progress);
    }
    let mut exit = Exit::SUCCESS;
    for (reading, e) in &errors {
        if !reading && e.kind() == io::ErrorKind::BrokenPipe {
            return Exit::SIGPIPE;
        }
        let (what, name) =
            if *reading { ("error reading", &input_name) } else { ("error writing", &output_name) };
        input::cannot(ctx, what, name, e);
        exit = Exit::FAILURE;
    }
    ctx.stdout.take_error();
    if o.sync
        && let Some(f) = &file
    {
        let _ = f.sync_all();
    }
    if o.status != Status::None {
        let text = report(&counts, start.elapsed(), o.status, o.status == Status::Progress);
        let _ = ctx.stderr.write_all(text.as_bytes());
    }
    exit
}

fn open_error(ctx: &mut Ctx<'_>, name: &[u8], e: &io::Error) -> Exit {
    input::cannot(ctx, "failed to open", name, e);
    Exit::FAILURE
}
