//! `sort` (POSIX XCU sort; GNU), with byte-order collation.
//!
//! | file | contents |
//! |---|---|
//! | `options` | options and keys (`-k F.C,F.C`) |
//! | `key` | the position of a key in a line, and the comparison of two keys |
//! | `number` | comparison of numbers in text, months and versions |
//! | `lines` | lines in memory, sorted by a cached prefix of their first key |
//! | `debug` | underlined keys and warnings (`--debug`) |
//! | `merge` | merging of sorted files (`-m`, and inputs larger than the memory bound) |

mod debug;
mod key;
mod lines;
mod merge;
mod number;
pub(crate) use number::compare_version;
mod options;

use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufRead, BufWriter, Write};

use box_applet::opts::ParsedOptions;
use box_applet::{Ctx, Ended, Exit};

use crate::common::input::{self, CopyStop, InputFile};
use crate::common::{files0, paths, quote};
use debug::DebugWriter;
use lines::SortLines;
use merge::SortRun;
use options::{Check, SPEC, SortFlag, SortOptions, SortUsageError};

/// The reason why a sort ends early: a message and status 2, or a failed write.
enum SortFatal {
    Message(Vec<u8>),
    Write,
}

impl SortFatal {
    fn file_error(what: &str, file: &[u8], e: &std::io::Error) -> SortFatal {
        let shown = if file == b"-" { b"-".to_vec() } else { quote::quote_with_colon(file) };
        let text = box_sys::error_text(e);
        SortFatal::Message([what.as_bytes(), b": ", &shown, b": ", text.as_bytes()].concat())
    }

    /// Prints the message; returns the status to end with.
    fn report(self, ctx: &mut Ctx<'_>) -> Exit {
        match self {
            SortFatal::Message(text) => report_refusal(ctx, &[&text]),
            SortFatal::Write => Exit::USAGE,
        }
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(run_sort(ctx, args).err().unwrap_or(Exit::SUCCESS))
}

fn run_sort(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<(), Exit> {
    let args = options::modern_keys(args, &ctx.env).map_err(|wrong| wrong_options(ctx, wrong))?;
    let p = SPEC.parse_or_exit(ctx, &args, Exit::USAGE)?;
    let mut o = SortOptions::new(&p).map_err(|wrong| wrong_options(ctx, wrong))?;
    if let (true, Some(source)) = (o.is_random(), p.last_value(SortFlag::RandomSource)) {
        let seed = read_seed(ctx, source).map_err(|fatal| fatal.report(ctx))?;
        o.set_seed(seed);
    }
    let files = input_files(ctx, &p)?;
    if o.debug {
        let other = match o.check {
            Some(Check::Quiet) => Some("C"),
            Some(Check::Loud) => Some("c"),
            None => o.output.as_ref().map(|_| "o"),
        };
        if let Some(letter) = other {
            let text = format!("options '-{letter} --debug' are incompatible");
            return Err(report_refusal(ctx, &[text.as_bytes()]));
        }
        debug::warn_about_options(ctx, &o);
    }
    if let Some(kind) = o.check {
        if let Some(extra) = files.get(1) {
            let letter: &[u8] = if kind == Check::Quiet { b"C" } else { b"c" };
            let shown = quote::quote_in_sentence(extra);
            return Err(report_refusal(
                ctx,
                &[b"extra operand ", &shown, b" not allowed with -", letter],
            ));
        }
        return Err(check_order(ctx, &files[0], &o, kind));
    }
    // All inputs are checked before the output is opened, because it may be one of them.
    for f in files.iter().filter(|f| *f != b"-") {
        if let Err(e) = File::open(ctx.path(f)) {
            let why = box_sys::error_text(&e);
            let shown = quote::quote_with_colon(f);
            return Err(report_refusal(ctx, &[b"cannot read: ", &shown, b": ", why.as_bytes()]));
        }
    }
    let sorted = if o.merge { merge_files(ctx, &files, &o) } else { sort_files(ctx, &files, &o) };
    sorted.map_err(|fatal| fatal.report(ctx))
}

/// Reports an error in the options; returns the exit status.
fn wrong_options(ctx: &mut Ctx<'_>, wrong: SortUsageError) -> Exit {
    match wrong {
        // GNU sort ends with 1 after an unknown word of an option, because 1 is the default of
        // gnulib's argmatch.
        SortUsageError::Word(text) => input::usage_error(ctx, &[&text]),
        SortUsageError::Other(text) => report_refusal(ctx, &[&text]),
    }
}

/// Prints a message; returns the exit status for errors.
fn report_refusal(ctx: &mut Ctx<'_>, parts: &[&[u8]]) -> Exit {
    ctx.error_bytes(parts);
    Exit::USAGE
}

/// Reads the seed of the random order from the start of `--random-source`.
fn read_seed(ctx: &mut Ctx<'_>, source: &[u8]) -> Result<u64, SortFatal> {
    let mut bytes = [0; 16];
    let mut reader = input::open_operand(&mut ctx.stdin, &ctx.cwd, source)
        .map_err(|e| SortFatal::file_error("open failed", source, &e))?;
    match std::io::Read::read_exact(&mut reader, &mut bytes) {
        Ok(()) => Ok(options::mix(&bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Err(SortFatal::Message(
            [&quote::quote_in_sentence(source), &b": end of file"[..]].concat(),
        )),
        Err(e) => Err(SortFatal::file_error("read failed", source, &e)),
    }
}

fn input_files(ctx: &mut Ctx<'_>, p: &ParsedOptions<SortFlag>) -> Result<Vec<Vec<u8>>, Exit> {
    let Some(list) = p.last_value(SortFlag::Files0From) else {
        return Ok(input::or_stdin(p.operands.clone()));
    };
    match files0::read(ctx, list, &p.operands) {
        Ok((names, 0)) if names.is_empty() => {
            Err(report_refusal(ctx, &[b"no input from ", &quote::quote_in_sentence(list)]))
        }
        Ok((names, 0)) => Ok(names),
        _ => Err(Exit::USAGE),
    }
}

/// Calls `f` with the output. Callers have read all input by now, because the output file, which is
/// opened here, may be one of the inputs.
fn with_output(
    ctx: &mut Ctx<'_>,
    o: &SortOptions,
    f: impl FnOnce(&mut dyn Write) -> Result<(), CopyStop>,
) -> Result<(), SortFatal> {
    let Some(name) = &o.output else {
        if o.debug {
            let mut out = DebugWriter::new(&mut ctx.stdout, o, ctx.env.is_utf8());
            return f(&mut out).map_err(|_| SortFatal::Write);
        }
        return f(&mut ctx.stdout).map_err(|_| SortFatal::Write);
    };
    let file =
        File::create(ctx.path(name)).map_err(|e| SortFatal::file_error("open failed", name, &e))?;
    let mut out = BufWriter::with_capacity(64 * 1024, file);
    let failed = |e: &std::io::Error| SortFatal::file_error("write failed", name, e);
    match f(&mut out) {
        Ok(()) => out.flush().map_err(|e| failed(&e)),
        Err(CopyStop::Read(e)) => Err(failed(&e)),
        Err(CopyStop::Write) => {
            Err(failed(&out.flush().err().unwrap_or_else(|| std::io::ErrorKind::Other.into())))
        }
    }
}

fn sort_files(ctx: &mut Ctx<'_>, files: &[Vec<u8>], o: &SortOptions) -> Result<(), SortFatal> {
    let mut lines = SortLines::default();
    let mut runs: Vec<SortRun> = Vec::new();
    for file in files {
        let reader = input::open_operand(&mut ctx.stdin, &ctx.cwd, file);
        let mut reader = reader.map_err(|e| SortFatal::file_error("read failed", file, &e))?;
        loop {
            let more = lines
                .fill_from(&mut reader, o)
                .map_err(|e| SortFatal::file_error("read failed", file, &e))?;
            if !more {
                break;
            }
            // The memory bound is reached, so the lines in memory are sorted and go to a temporary
            // file.
            lines.sort(o);
            let run = SortRun::spill_lines(&lines, o).map_err(|e| {
                SortFatal::file_error("cannot create temporary file in", b"/tmp", &e)
            })?;
            runs.push(run);
            lines.clear();
        }
    }
    lines.sort(o);
    if runs.is_empty() {
        return with_output(ctx, o, |out| lines.write(out, o));
    }
    let last = SortRun::spill_lines(&lines, o)
        .map_err(|e| SortFatal::file_error("cannot create temporary file in", b"/tmp", &e))?;
    runs.push(last);
    drop(lines);
    with_output(ctx, o, |out| merge::merge_runs(runs, o, out))
}

fn merge_files(ctx: &mut Ctx<'_>, files: &[Vec<u8>], o: &SortOptions) -> Result<(), SortFatal> {
    let mut runs = Vec::new();
    for file in files {
        let failed = |e: &std::io::Error| SortFatal::file_error("read failed", file, e);
        let same =
            o.output.as_ref().is_some_and(|out| paths::same_file(&ctx.path(out), &ctx.path(file)));
        if file == b"-" || same {
            let mut text = Vec::new();
            let mut r =
                input::open_operand(&mut ctx.stdin, &ctx.cwd, file).map_err(|e| failed(&e))?;
            std::io::Read::read_to_end(&mut r, &mut text).map_err(|e| failed(&e))?;
            runs.push(SortRun::from_memory(text));
        } else {
            runs.push(SortRun::from_file(
                input::open_file(&ctx.path(file)).map_err(|e| failed(&e))?,
            ));
        }
    }
    with_output(ctx, o, |out| merge::merge_runs(runs, o, out))
}

/// Checks the order of a file's lines (`-c` and `-C`); returns the exit status. With `-c`, reports
/// the first line that is out of order.
fn check_order(ctx: &mut Ctx<'_>, file: &[u8], o: &SortOptions, kind: Check) -> Exit {
    let mut reader = match input::open_operand(&mut ctx.stdin, &ctx.cwd, file) {
        Ok(r) => r,
        Err(e) => {
            let what: &[u8] = if e.raw_os_error() == Some(box_sys::errno::code::EISDIR) {
                b"read failed: "
            } else {
                b"open failed: "
            };
            ctx.error_bytes(&[
                what,
                &quote::quote_with_colon(file),
                b": ",
                box_sys::error_text(&e).as_bytes(),
            ]);
            return Exit::USAGE;
        }
    };
    let found = find_disorder(&mut reader, o);
    match found {
        Ok(None) => Exit::SUCCESS,
        Ok(Some((number, line))) => {
            if kind == Check::Loud {
                let at = format!(":{number}: disorder: ");
                ctx.error_bytes(&[file, at.as_bytes(), &line]);
            }
            Exit::FAILURE
        }
        Err(e) => {
            ctx.error_bytes(&[b"read failed: ", file, b": ", box_sys::error_text(&e).as_bytes()]);
            Exit::USAGE
        }
    }
}

fn find_disorder(
    reader: &mut InputFile<'_>,
    o: &SortOptions,
) -> std::io::Result<Option<(u64, Vec<u8>)>> {
    let (mut previous, mut line) = (Vec::new(), Vec::new());
    let mut number = 0u64;
    loop {
        line.clear();
        if reader.read_until(o.delimiter, &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() == Some(&o.delimiter) {
            line.pop();
        }
        number += 1;
        let order = if number == 1 { Ordering::Less } else { o.compare_lines(&previous, &line) };
        if order == Ordering::Greater || order == Ordering::Equal && o.unique && number > 1 {
            return Ok(Some((number, line)));
        }
        std::mem::swap(&mut previous, &mut line);
    }
}
