//! `gzip` and its relatives: one command, told apart by name (gzip 1.12 manual; the
//! others take the same everyday options).
//!
//! Deviations: a level chooses speed for gzip, bzip2 and xz only; zstd has one level. The stored
//! name and time of gzip members are neither written nor used (`-n` always).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit, Output, Sink};
use box_sys::{Kind, meta};

use crate::codec::Format;

/// The options of all of them, with those of one.
macro_rules! spec {
    ($($own:expr),* $(,)?) => {
        Spec {
            usage: "[OPTION]... [FILE]...",
            about: "Compress or decompress FILEs in place (by default, standard input to standard output).",
            options: &[
                Opt::flag('c', "stdout", "write to standard output, keep input files"),
                Opt::flag('C', "to-stdout", "the same as --stdout").long_only(),
                Opt::flag('d', "decompress", "decompress"),
                Opt::flag('U', "uncompress", "the same as --decompress").long_only(),
                Opt::flag('z', "compress", "compress"),
                Opt::flag('f', "force", "overwrite existing output, compress links"),
                Opt::flag('k', "keep", "keep input files"),
                Opt::flag('l', "list", "list compressed file contents"),
                Opt::flag('q', "quiet", "suppress warnings"),
                Opt::flag('r', "recursive", "operate recursively on directories"),
                Opt::value('S', "suffix", "SUF", "use suffix SUF on compressed files"),
                Opt::flag('t', "test", "test compressed file integrity"),
                Opt::flag('v', "verbose", "say what is done"),
                Opt::flag('2', "", ""),
                Opt::flag('3', "", ""),
                Opt::flag('4', "", ""),
                Opt::flag('5', "", ""),
                Opt::flag('6', "", ""),
                Opt::flag('7', "", ""),
                Opt::flag('8', "", ""),
                $($own),*
            ],
            after: "With no FILE, or when FILE is -, read standard input.",
            posix_order: false,
        }
    };
}

const GZIP: Spec = spec![
    Opt::flag('1', "fast", "compress faster"),
    Opt::flag('9', "best", "compress better; -6 is the default"),
    Opt::flag('n', "no-name", "do not save or restore name and time stamp"),
    Opt::flag('N', "name", "accepted and ignored"),
    Opt::flag('R', "rsyncable", "accepted and ignored").long_only(),
];
const BZIP2: Spec = spec![
    Opt::flag('1', "fast", "blocks of 100 kB"),
    Opt::flag('9', "best", "blocks of 900 kB"),
    Opt::flag('s', "small", "accepted and ignored"),
];
const XZ: Spec = spec![
    Opt::flag('0', "", "the fastest preset"),
    Opt::flag('1', "fast", "compress faster"),
    Opt::flag('9', "best", "compress better; -6 is the default"),
    Opt::flag('e', "extreme", "accepted and ignored"),
    Opt::value('F', "format", "FORMAT", "auto or xz"),
    Opt::value('T', "threads", "NUM", "accepted and ignored"),
    Opt::value('M', "memlimit", "LIMIT", "accepted and ignored"),
    Opt::flag('Q', "no-warn", "warnings do not change the exit status"),
];
const ZSTD: Spec = spec![
    Opt::flag('0', "", ""),
    Opt::flag('1', "", "levels 1 to 22 are accepted; there is one"),
    Opt::flag('9', "", ""),
    Opt::value('o', "", "FILE", "write to FILE"),
    Opt::flag('R', "rm", "remove input files").long_only(),
    Opt::optional('F', "fast", "NUM", "accepted and ignored").long_only(),
    Opt::flag('u', "ultra", "accepted and ignored").long_only(),
    Opt::optional('L', "long", "NUM", "accepted and ignored").long_only(),
    Opt::value('T', "threads", "NUM", "accepted and ignored"),
    Opt::flag('P', "no-progress", "accepted and ignored").long_only(),
];

/// What is to be done, from name and options.
struct Job {
    format: Format,
    decompress: bool,
    to_stdout: bool,
    test: bool,
    list: bool,
    keep: bool,
    force: bool,
    quiet: bool,
    verbose: bool,
    recursive: bool,
    level: u32,
    suffix: Vec<u8>,
    /// Where everything goes, instead of a file for each.
    output: Option<Vec<u8>>,
}

/// Runs one of the commands.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let name = ctx.name.clone();
    let (format, spec) = match name.as_str() {
        "bzip2" | "bunzip2" | "bzcat" => (Format::Bzip2, BZIP2),
        "xz" | "unxz" | "xzcat" => (Format::Xz, XZ),
        "zstd" | "unzstd" | "zstdcat" => (Format::Zstd, ZSTD),
        _ => (Format::Gzip, GZIP),
    };
    let parsed = match spec.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(exit) => return exit,
    };
    let of_xz = parsed.last('F').filter(|_| format == Format::Xz);
    if let Some(other) = of_xz.filter(|f| !matches!(*f, b"auto" | b"xz")) {
        ctx.error_bytes(&[b"the format ", other, b" is not supported"]);
        return Exit::FAILURE;
    }
    let cat = name.ends_with("cat");
    if format == Format::Gzip {
        // `gunzip` and `zcat` are scripts that call it.
        ctx.name = "gzip".into();
    }
    let test = parsed.has('t');
    let list = parsed.has('l');
    let by_name = cat || name.contains("un");
    let direction = parsed.last_of(&['d', 'U', 'z']);
    let level = parsed.options.iter().rev().find_map(|(c, _)| c.to_digit(10)).unwrap_or(6);
    let job = Job {
        format,
        decompress: test || list || direction.map_or(by_name, |d| d != 'z'),
        to_stdout: cat || parsed.has('c') || parsed.has('C'),
        test,
        list,
        // zstd keeps its input by default.
        keep: parsed.has('k') || format == Format::Zstd && !parsed.has('R'),
        force: parsed.has('f'),
        quiet: parsed.has('q'),
        verbose: parsed.has('v'),
        recursive: parsed.has('r'),
        level,
        output: parsed.last('o').filter(|_| format == Format::Zstd).map(<[u8]>::to_vec),
        suffix: parsed.last('S').map_or_else(|| format.suffix().into(), |s| s.to_vec()),
    };
    if list && format == Format::Gzip {
        let _ = writeln!(
            ctx.stdout,
            "         compressed        uncompressed  ratio uncompressed_name"
        );
    }
    let operands = if parsed.operands.is_empty() { vec![b"-".to_vec()] } else { parsed.operands };
    match job.output.clone() {
        Some(output) if output != b"-" && !test && !list => into(ctx, job, &operands, &output),
        Some(_) => each(ctx, &Job { to_stdout: true, ..job }, &operands),
        None => each(ctx, &job, &operands),
    }
}

/// All operands one after another into one file.
fn into(ctx: &mut Ctx<'_>, job: Job, operands: &[Vec<u8>], output: &[u8]) -> Exit {
    let path = ctx.path(output);
    if !job.force && meta::stat(&path, false).is_ok() {
        ctx.error_bytes(&[output, b" already exists; not overwritten"]);
        return Exit::FAILURE;
    }
    let file = match File::create(&path) {
        Ok(file) => Output::buffered(Sink::File(file.into())),
        Err(e) => {
            ctx.io_error(output, &e);
            return Exit::FAILURE;
        }
    };
    let (is_removed, job) = (!job.keep, Job { to_stdout: true, ..job });
    let stdout = std::mem::replace(&mut ctx.stdout, file);
    let exit = each(ctx, &job, operands);
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

fn each(ctx: &mut Ctx<'_>, job: &Job, operands: &[Vec<u8>]) -> Exit {
    let mut status = 0;
    for operand in operands {
        status = worse(status, one(ctx, job, operand));
        if ctx.stdout.flush().is_err() {
            break;
        }
    }
    Exit(status)
}

/// Errors (1) outweigh warnings (2), which outweigh success.
fn worse(a: u8, b: u8) -> u8 {
    match (a, b) {
        (1, _) | (_, 1) => 1,
        (a, b) => a.max(b),
    }
}

fn one(ctx: &mut Ctx<'_>, job: &Job, operand: &[u8]) -> u8 {
    if operand == b"-" {
        let mut input =
            std::mem::replace(&mut ctx.stdin, box_applet::Input::new(box_applet::Source::Closed));
        let result = convert(job, &mut input, &mut ctx.stdout);
        ctx.stdin = input;
        return report(ctx, job, b"stdin", result.map(drop));
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
        } else if job.format == Format::Gzip {
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
    if stat.kind == Kind::Dir {
        if job.recursive {
            return tree(ctx, job, operand);
        }
        if !job.quiet {
            ctx.error_bytes(&[operand, b" is a directory -- ignored"]);
        }
        return 2;
    }
    file(ctx, job, &path, &shown, &stat)
}

/// Every file below a directory, in the order of their names.
fn tree(ctx: &mut Ctx<'_>, job: &Job, operand: &[u8]) -> u8 {
    let mut names = match std::fs::read_dir(ctx.path(operand)) {
        Ok(entries) => entries
            .flatten()
            .map(|e| box_sys::path::os_into_bytes(e.file_name()))
            .collect::<Vec<_>>(),
        Err(e) => {
            ctx.io_error(operand, &e);
            return 1;
        }
    };
    names.sort();
    let mut status = 0;
    for name in names {
        let below = [operand, b"/", &name].concat();
        status = worse(status, one(ctx, job, &below));
    }
    status
}

fn file(ctx: &mut Ctx<'_>, job: &Job, path: &Path, shown: &[u8], stat: &meta::Stat) -> u8 {
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
        let result = convert(job, &mut input, out);
        if let (true, Ok(size)) = (job.list, &result) {
            list_line(ctx, shown, stat.size, *size);
        }
        if let (true, true, Ok(_)) = (job.test, job.verbose, &result) {
            ctx.error_bytes(&[shown, b":\t OK"]);
        }
        return report(ctx, job, shown, result.map(drop));
    }
    let Some(target) = target_name(job, shown) else {
        if !job.quiet {
            let (why, status) = if job.decompress {
                (&b": unknown suffix -- ignored"[..], 2)
            } else {
                (&b" already has suffix"[..], 2)
            };
            if job.decompress {
                ctx.error_bytes(&[shown, why]);
            } else {
                let suffix = job.suffix.clone();
                ctx.error_bytes(&[shown, why, b" ", &suffix[..], b" -- unchanged"]);
            }
            return status;
        }
        return 2;
    };
    if let Some((message, status)) = refusal(job, path, shown, stat) {
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
        convert(job, &mut input, &mut out)?;
        out.flush()
    });
    if result.is_err() {
        let _ = std::fs::remove_file(&target_path);
        return report(ctx, job, shown, result);
    }
    // Compression does not carry the set-user-ID bits over.
    let plain = meta::Stat { mode: stat.mode & 0o777, ..*stat };
    box_applet::inherit(&plain, &target_path);
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

/// Why a file is not replaced: what else names it or what it is would be lost. The text and the status.
fn refusal(job: &Job, path: &Path, name: &[u8], stat: &meta::Stat) -> Option<(Vec<u8>, u8)> {
    let link = meta::stat(path, false).is_ok_and(|s| s.kind == Kind::Symlink);
    let others = stat.nlink.saturating_sub(1);
    let plural = if others == 1 { "" } else { "s" };
    let said = |text: String, status| Some(([name, text.as_bytes()].concat(), status));
    match job.format {
        Format::Gzip => match () {
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
        Format::Bzip2 if !job.force => {
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
        Format::Xz if !job.force && !job.keep => match () {
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

/// The output name; `None` if the suffix does not fit the direction.
fn target_name(job: &Job, name: &[u8]) -> Option<Vec<u8>> {
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

/// Copies input to output through the codec; the number of decompressed bytes.
fn convert(job: &Job, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<u64> {
    if !job.decompress {
        let mut encoder = job.format.writer(Box::new(out), job.level)?;
        let n = io::copy(input, &mut encoder)?;
        encoder.finish()?;
        return Ok(n);
    }
    let head = input.fill_buf()?;
    if head.is_empty() && job.format != Format::Gzip {
        return Ok(0);
    }
    let Some(format) = Format::detect(head) else {
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

/// Prints what went wrong; a closed pipe is left to the dispatcher.
fn report(ctx: &mut Ctx<'_>, job: &Job, shown: &[u8], result: io::Result<()>) -> u8 {
    let Err(e) = result else { return 0 };
    // bzip2 tells damaged data from other failures.
    let damaged = if job.format == Format::Bzip2 { 2 } else { 1 };
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
