//! `gzip` and its relatives: one command that acts by its name (gzip 1.12 manual; the
//! others take the same everyday options).
//!
//! Deviations: a level chooses speed for gzip, bzip2 and xz only; zstd has one level. The stored
//! name and time of gzip members are neither written nor used (`-n` always).

mod options;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use box_applet::{Ctx, Ended, Exit, OutStream, OutputSink};
use box_sys::{FileKind, meta, path};

use self::options::CompressJob;
use crate::codec::CompressionFormat;

/// Runs one of the commands.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let (job, operands) = options::parse(ctx, args)?;
    if job.list && job.format == CompressionFormat::Gzip {
        let _ = writeln!(
            ctx.stdout,
            "         compressed        uncompressed  ratio uncompressed_name"
        );
    }
    Ok(match job.output.clone() {
        Some(output) if output != b"-" && !job.test && !job.list => {
            into(ctx, job, &operands, &output)
        }
        Some(_) => process_operands(ctx, &CompressJob { to_stdout: true, ..job }, &operands),
        None => process_operands(ctx, &job, &operands),
    })
}

/// Writes the results of all operands one after another into one file.
fn into(ctx: &mut Ctx<'_>, job: CompressJob, operands: &[Vec<u8>], output: &[u8]) -> Exit {
    let path = ctx.path(output);
    if !job.force && meta::stat(&path, false).is_ok() {
        ctx.error_bytes(&[output, b" already exists; not overwritten"]);
        return Exit::FAILURE;
    }
    let file = match File::create(&path) {
        Ok(file) => OutStream::buffered(OutputSink::File(file.into())),
        Err(e) => {
            ctx.io_error(output, &e);
            return Exit::FAILURE;
        }
    };
    let (is_removed, job) = (!job.keep, CompressJob { to_stdout: true, ..job });
    let stdout = std::mem::replace(&mut ctx.stdout, file);
    let exit = process_operands(ctx, &job, operands);
    let mut file = std::mem::replace(&mut ctx.stdout, stdout);
    if let Err(e) = file.flush() {
        ctx.io_error(output, &e);
        return Exit::FAILURE;
    }
    if exit != Exit::SUCCESS {
        let _ = std::fs::remove_file(path);
        return exit;
    }
    for operand in operands.iter().filter(|o| is_removed && *o != b"-") {
        if let Err(e) = std::fs::remove_file(ctx.path(operand)) {
            ctx.io_error(operand, &e);
            return Exit::FAILURE;
        }
    }
    exit
}

fn process_operands(ctx: &mut Ctx<'_>, job: &CompressJob, operands: &[Vec<u8>]) -> Exit {
    let mut status = 0;
    for operand in operands {
        status = worse_status(status, process_operand(ctx, job, operand));
        if ctx.stdout.flush().is_err() {
            break;
        }
    }
    Exit(status)
}

/// Returns the worse of two statuses: errors (1) outweigh warnings (2), which outweigh success.
fn worse_status(a: u8, b: u8) -> u8 {
    match (a, b) {
        (1, _) | (_, 1) => 1,
        (a, b) => a.max(b),
    }
}

fn process_operand(ctx: &mut Ctx<'_>, job: &CompressJob, operand: &[u8]) -> u8 {
    if operand == b"-" {
        let mut input = ctx.stdin.detach_stream();
        let result = convert_data(job, &mut input, &mut ctx.stdout);
        ctx.stdin = input;
        return report_result(ctx, job, b"stdin", result.map(drop));
    }
    let mut path = ctx.path(operand);
    let mut shown = operand.to_vec();
    let mut stat = meta::stat(&path, true);
    if stat.is_err() && job.decompress && !operand.ends_with(&job.suffix) {
        // gunzip FILE finds FILE.gz.
        let longer = [operand, &job.suffix].concat();
        let other = ctx.path(&longer);
        if let Ok(s) = meta::stat(&other, true) {
            (path, shown, stat) = (other, longer, Ok(s));
        } else if job.format == CompressionFormat::Gzip {
            shown = longer;
        }
    }
    let stat = match stat {
        Ok(s) => s,
        Err(e) => {
            ctx.io_error(&shown, &e);
            return 1;
        }
    };
    if stat.kind == FileKind::Dir {
        if job.recursive {
            return process_tree(ctx, job, operand);
        }
        if !job.quiet {
            ctx.error_bytes(&[operand, b" is a directory -- ignored"]);
        }
        return 2;
    }
    process_file(ctx, job, &path, &shown, &stat)
}

/// Processes every file below a directory, in the order of their names.
fn process_tree(ctx: &mut Ctx<'_>, job: &CompressJob, operand: &[u8]) -> u8 {
    let names = match path::names_in(&ctx.path(operand)) {
        Ok(names) => names,
        Err(e) => {
            ctx.io_error(operand, &e);
            return 1;
        }
    };
    let mut status = 0;
    for name in names {
        status = worse_status(status, process_operand(ctx, job, &path::join_path(operand, &name)));
    }
    status
}

fn process_file(
    ctx: &mut Ctx<'_>,
    job: &CompressJob,
    path: &Path,
    shown: &[u8],
    stat: &meta::Stat,
) -> u8 {
    let input = match File::open(path) {
        Ok(f) => f,
        Err(e) => {
            ctx.io_error(shown, &e);
            return 1;
        }
    };
    let mut input = BufReader::with_capacity(1 << 16, input);
    if job.test || job.list || job.to_stdout {
        let mut sink = io::sink();
        let out: &mut dyn Write = if job.test || job.list { &mut sink } else { &mut ctx.stdout };
        let result = convert_data(job, &mut input, out);
        if let (true, Ok(size)) = (job.list, &result) {
            list_line(ctx, shown, stat.size, *size);
        }
        if let (true, true, Ok(_)) = (job.test, job.verbose, &result) {
            ctx.error_bytes(&[shown, b":\t OK"]);
        }
        return report_result(ctx, job, shown, result.map(drop));
    }
    let Some(target) = target_name(job, shown) else {
        if !job.quiet {
            if job.decompress {
                ctx.error_bytes(&[shown, b": unknown suffix -- ignored"]);
            } else {
                let suffix = &job.suffix;
                ctx.error_bytes(&[shown, b" already has suffix ", suffix, b" -- unchanged"]);
            }
        }
        return 2;
    };
    if let Some((message, status)) = replace_refusal(job, path, shown, stat) {
        if !job.quiet {
            ctx.error_bytes(&[&message]);
        }
        return status;
    }
    let target_path = ctx.path(&target);
    if !job.force && meta::stat(&target_path, false).is_ok() {
        ctx.error_bytes(&[&target, b" already exists;\tnot overwritten"]);
        return 2;
    }
    let result = File::create(&target_path).and_then(|f| {
        let mut out = io::BufWriter::with_capacity(1 << 16, f);
        convert_data(job, &mut input, &mut out)?;
        out.flush()
    });
    if result.is_err() {
        let _ = std::fs::remove_file(&target_path);
        return report_result(ctx, job, shown, result);
    }
    // Compression does not carry the set-user-ID bits over.
    let plain = meta::Stat { mode: stat.mode & 0o777, ..*stat };
    box_applet::inherit_metadata(&plain, &target_path);
    let _ = meta::set_times(&target_path, Some(stat.atime), Some(stat.mtime), true);
    if !job.keep
        && let Err(e) = std::fs::remove_file(path)
    {
        ctx.io_error(shown, &e);
        return 1;
    }
    if job.verbose {
        ctx.error_bytes(&[shown, b":\t -- replaced with ", &target]);
    }
    0
}

/// Returns the reason why a file is not replaced, as its text and the exit status: its other names or
/// its special kind would be lost.
fn replace_refusal(
    job: &CompressJob,
    path: &Path,
    name: &[u8],
    stat: &meta::Stat,
) -> Option<(Vec<u8>, u8)> {
    let link = meta::stat(path, false).is_ok_and(|s| s.kind == FileKind::Symlink);
    let others = stat.nlink.saturating_sub(1);
    let plural = if others == 1 { "" } else { "s" };
    let said = |text: String, status| Some(([name, text.as_bytes()].concat(), status));
    match job.format {
        CompressionFormat::Gzip => match () {
            () if link && !job.force => said(": Too many levels of symbolic links".into(), 1),
            () if stat.mode & 0o4000 != 0 => {
                said(" is set-user-ID on execution - ignored".into(), 2)
            }
            () if stat.mode & 0o2000 != 0 => {
                said(" is set-group-ID on execution - ignored".into(), 2)
            }
            () if job.force => None,
            () if stat.mode & 0o1000 != 0 => {
                said(" has the sticky bit set - file ignored".into(), 2)
            }
            () if others > 0 => {
                said(format!(" has {others} other link{plural} -- file ignored"), 2)
            }
            () => None,
        },
        CompressionFormat::Bzip2 if !job.force => {
            let text = [b"Input file ", name].concat();
            match () {
                () if link => Some(([&text[..], b" is not a normal file."].concat(), 1)),
                () if others > 0 => {
                    let count = format!(" has {others} other link{plural}.");
                    Some(([&text[..], count.as_bytes()].concat(), 1))
                }
                () => None,
            }
        }
        CompressionFormat::Xz if !job.force && !job.keep => match () {
            () if link => said(": Is a symbolic link, skipping".into(), 2),
            () if stat.mode & 0o6000 != 0 => {
                said(": File has setuid or setgid bit set, skipping".into(), 2)
            }
            () if stat.mode & 0o1000 != 0 => said(": File has sticky bit set, skipping".into(), 2),
            () if others > 0 => {
                said(": Input file has more than one hard link, skipping".into(), 2)
            }
            () => None,
        },
        _ => None,
    }
}

/// Returns the output name; `None` if the suffix does not fit the direction.
fn target_name(job: &CompressJob, name: &[u8]) -> Option<Vec<u8>> {
    if !job.decompress {
        return (job.force || !name.ends_with(&job.suffix)).then(|| [name, &job.suffix].concat());
    }
    for (from, to) in [
        (&job.suffix[..], ""),
        (b".tgz", ".tar"),
        (b".taz", ".tar"),
        (b".tbz2", ".tar"),
        (b".txz", ".tar"),
        (b".tzst", ".tar"),
    ] {
        if let Some(stem) = name.strip_suffix(from).filter(|s| !s.is_empty()) {
            return Some([stem, to.as_bytes()].concat());
        }
    }
    None
}

/// Copies input to output through the codec; returns the number of decompressed bytes.
fn convert_data(
    job: &CompressJob,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> io::Result<u64> {
    if !job.decompress {
        let mut encoder = job.format.writer(Box::new(out), job.level)?;
        let n = io::copy(input, &mut encoder)?;
        encoder.finish()?;
        return Ok(n);
    }
    let head = input.fill_buf()?;
    if head.is_empty() && job.format != CompressionFormat::Gzip {
        return Ok(0);
    }
    let Some(format) = CompressionFormat::detect(head) else {
        if job.force && job.to_stdout {
            return io::copy(input, out);
        }
        let text = if head.is_empty() { "unexpected end of file" } else { "not in gzip format" };
        let text = text.replace("gzip", &format!("{:?}", job.format).to_lowercase());
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    };
    let mut reader = format.reader(Box::new(input))?;
    let mut buf = vec![0u8; 1 << 16];
    let mut total = 0u64;
    loop {
        match reader.read(&mut buf) {
            Ok(0) => return Ok(total),
            Ok(n) => {
                out.write_all(&buf[..n])?;
                total += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Prints the error of a file; a closed pipe is left to the dispatcher.
fn report_result(ctx: &mut Ctx<'_>, job: &CompressJob, shown: &[u8], result: io::Result<()>) -> u8 {
    let Err(e) = result else { return 0 };
    // bzip2 has a status of its own for damaged data.
    let damaged = if job.format == CompressionFormat::Bzip2 { 2 } else { 1 };
    match e.kind() {
        io::ErrorKind::BrokenPipe => 0,
        io::ErrorKind::UnexpectedEof => {
            ctx.error_bytes(&[shown, b": unexpected end of file"]);
            damaged
        }
        io::ErrorKind::InvalidData => {
            ctx.io_error(shown, &e);
            damaged
        }
        _ => {
            ctx.io_error(shown, &e);
            1
        }
    }
}

fn list_line(ctx: &mut Ctx<'_>, shown: &[u8], packed: u64, size: u64) {
    let ratio = if size == 0 { 0.0 } else { 100.0 - 100.0 * packed as f64 / size as f64 };
    let name = shown.strip_suffix(b".gz").unwrap_or(shown);
    let line = format!("{packed:>19} {size:>19} {ratio:>5.1}% ");
    let _ = ctx.stdout.write_all(line.as_bytes());
    let _ = ctx.stdout.write_all(name);
    let _ = ctx.stdout.write_all(b"\n");
}
