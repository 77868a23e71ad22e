//! `gzip` and its relatives (gzip 1.12 manual): one command that acts according to its name. All of
//! them take the same common options.
//!
//! Deviations: a level has an effect with gzip, bzip2 and xz only, because zstd has one level here.
//! The name and time in gzip members are never written, and only `-l` uses them.

mod convert;
mod list;
mod options;
mod refusal;
mod report;

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use box_applet::{Ctx, Ended, Exit, OutStream, OutputSink, clock};
use box_sys::{FileKind, meta, path};

use self::convert::{check_head, convert_data};
use self::list::SizeTable;
use self::options::CompressJob;
use self::refusal::replace_refusal;
use self::report::{print_beginning, print_end, print_sum, report_error, report_garbage};
use crate::codec::CompressionFormat;

/// Runs one of the commands.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let (job, operands) = options::parse(ctx, args)?;
    Ok(match job.output.clone() {
        Some(output) if output != b"-" && !job.test && !job.list => {
            into(ctx, job, &operands, &output)
        }
        Some(_) => process_operands(ctx, &CompressJob { to_stdout: true, ..job }, &operands),
        None => process_operands(ctx, &job, &operands),
    })
}

/// Writes the results of all operands to one file, one after another.
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
    let mut table = SizeTable::default();
    for operand in operands {
        status = worse_status(status, process_operand(ctx, job, operand, &mut table));
        if ctx.stdout.flush().is_err() {
            break;
        }
    }
    if job.list && operands.len() > 1 {
        table.print_totals(ctx, job);
    }
    if status == 0 {
        print_sum(ctx, job, table.data_size());
    }
    Exit(status)
}

/// Returns the worse of two statuses. An error (1) is worse than a warning (2).
fn worse_status(a: u8, b: u8) -> u8 {
    match (a, b) {
        (1, _) | (_, 1) => 1,
        (a, b) => a.max(b),
    }
}

fn process_operand(
    ctx: &mut Ctx<'_>,
    job: &CompressJob,
    operand: &[u8],
    table: &mut SizeTable,
) -> u8 {
    if operand == b"-" {
        let mut input = ctx.stdin.detach_stream();
        let status = process_stream(ctx, job, &mut input, job.format.stdin_name(), table);
        ctx.stdin = input;
        return status;
    }
    let mut path = ctx.path(operand);
    let mut shown = operand.to_vec();
    let mut stat = meta::stat(&path, true);
    if stat.is_err() && job.decompress && !operand.ends_with(&job.suffix) {
        // `gunzip FILE` also finds FILE.gz.
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
            return process_tree(ctx, job, operand, table);
        }
        if !job.quiet {
            ctx.error_bytes(&[operand, b" is a directory -- ignored"]);
        }
        return 2;
    }
    process_file(ctx, job, &path, &shown, &stat, table)
}

/// Processes all files below a directory in the order of their names; returns the exit status.
fn process_tree(ctx: &mut Ctx<'_>, job: &CompressJob, operand: &[u8], table: &mut SizeTable) -> u8 {
    let names = match path::names_in(&ctx.path(operand)) {
        Ok(names) => names,
        Err(e) => {
            ctx.io_error(operand, &e);
            return 1;
        }
    };
    let mut status = 0;
    for name in names {
        let inner = path::join_path(operand, &name);
        status = worse_status(status, process_operand(ctx, job, &inner, table));
    }
    status
}

/// Tests or lists a stream, or converts it to standard output; returns the exit status.
fn process_stream(
    ctx: &mut Ctx<'_>,
    job: &CompressJob,
    input: &mut dyn Read,
    shown: &[u8],
    table: &mut SizeTable,
) -> u8 {
    print_beginning(ctx, job, shown);
    let mut sink = io::sink();
    let is_sunk = job.test || job.list;
    let out: &mut dyn Write = if is_sunk { &mut sink } else { &mut ctx.stdout };
    let sizes = match convert_data(job, input, out) {
        Ok(sizes) => sizes,
        Err(e) => {
            table.skip_row();
            return report_error(ctx, job, shown, &e);
        }
    };
    let status = if sizes.has_garbage { report_garbage(ctx, job, shown) } else { 0 };
    if job.list && !sizes.has_garbage {
        let (name, seconds) = if shown == job.format.stdin_name() {
            (&b"stdout"[..], clock::current_time().0)
        } else {
            let stat = meta::stat(&ctx.path(shown), true);
            (shown, stat.map_or(0, |s| (s.mtime / 1_000_000_000).cast_signed()))
        };
        table.print_row(ctx, job, name, &sizes, seconds);
    }
    table.add_plain(&sizes);
    print_end(ctx, job, shown, None, &sizes);
    status
}

fn process_file(
    ctx: &mut Ctx<'_>,
    job: &CompressJob,
    path: &Path,
    shown: &[u8],
    stat: &meta::Stat,
    table: &mut SizeTable,
) -> u8 {
    let mut input = match File::open(path) {
        Ok(f) => BufReader::with_capacity(1 << 16, f),
        Err(e) => {
            ctx.io_error(shown, &e);
            return 1;
        }
    };
    if job.test || job.list || job.to_stdout {
        return process_stream(ctx, job, &mut input, shown, table);
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
    print_beginning(ctx, job, shown);
    if let Err(e) = check_head(job, &mut input) {
        return report_error(ctx, job, shown, &e);
    }
    let result = File::create(&target_path).and_then(|f| {
        let mut out = io::BufWriter::with_capacity(1 << 16, f);
        let sizes = convert_data(job, &mut input, &mut out)?;
        out.flush()?;
        Ok(sizes)
    });
    let sizes = match result {
        Ok(sizes) => sizes,
        Err(e) => {
            let _ = std::fs::remove_file(&target_path);
            return report_error(ctx, job, shown, &e);
        }
    };
    let status = if sizes.has_garbage { report_garbage(ctx, job, shown) } else { 0 };
    // The set-user-ID, set-group-ID and sticky bits are not copied.
    let plain = meta::Stat { mode: stat.mode & 0o777, ..*stat };
    box_applet::inherit_metadata(&plain, &target_path);
    let _ = meta::set_times(&target_path, Some(stat.atime), Some(stat.mtime), true);
    if !job.keep
        && let Err(e) = std::fs::remove_file(path)
    {
        ctx.io_error(shown, &e);
        return 1;
    }
    table.add_plain(&sizes);
    print_end(ctx, job, shown, Some(&target), &sizes);
    status
}

/// Returns the name of the output file, or `None` if the name's suffix does not fit the operation.
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
