//! `head` (POSIX XCU head; GNU `-c -n -q -v -z`, negative counts, `-NUM`).

use std::collections::VecDeque;
use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};

use crate::common::input::{self, CopyStop, InputFile, write_output};
use crate::common::number::NumberError;
use crate::common::{number, quote};

/// An option of `head`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadFlag {
    Bytes,
    Lines,
    Quiet,
    Verbose,
    ZeroTerminated,
}

const SPEC: Spec<HeadFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print the first lines of each FILE: 10, unless an option says otherwise.",
    &[
        Opt::new(HeadFlag::Bytes, 'c', "bytes")
            .with_argument("[-]NUM", "Print NUM bytes; with -NUM all but the last NUM"),
        Opt::new(HeadFlag::Lines, 'n', "lines")
            .with_argument("[-]NUM", "Print NUM lines; with -NUM all but the last NUM"),
        Opt::new(HeadFlag::Quiet, 'q', "quiet").with_help(words::NO_HEADERS),
        Opt::long(HeadFlag::Quiet, "silent").with_help(words::SAME),
        Opt::new(HeadFlag::Verbose, 'v', "verbose").with_help(words::HEADERS),
        Opt::new(HeadFlag::ZeroTerminated, 'z', "zero-terminated").with_help(words::NUL_LINES),
    ],
)
.with_examples(&[
    ("head -n 20 FILE", "First twenty lines"),
    ("head -n -1 FILE", "All but the last line"),
])
.with_footer(words::SIZES)
.reads_standard_input();

/// The part of a file to print: the number of `-c` or `-n`, which may have a sign (`head` and
/// `tail`).
#[derive(Clone, Copy)]
pub(super) struct HeadCount {
    pub n: u64,
    pub bytes: bool,
    /// Whether the sign that changes the meaning was given: `-` for `head`, `+` for `tail`.
    pub signed: bool,
}

impl HeadCount {
    /// Parses a number after an optional minus sign, without which an error quotes it.
    pub(super) fn parse<'t>(
        text: &'t [u8],
        bytes: bool,
        sign: &[u8],
    ) -> Result<HeadCount, (&'t [u8], NumberError)> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        match number::parse_size(digits) {
            Ok(n) => Ok(HeadCount { n, bytes, signed: text.starts_with(sign) }),
            Err(e) => Err((digits, e)),
        }
    }
}

/// Reports an invalid number of bytes or lines, with GNU's message.
pub(super) fn invalid_count(ctx: &mut Ctx<'_>, bytes: bool, shown: &[u8], e: NumberError) -> Exit {
    let what: &[u8] = if bytes { b"bytes" } else { b"lines" };
    let shown = quote::quote_in_sentence(shown);
    input::report_failure(
        ctx,
        &[b"invalid number of ", what, b": ", &shown, number::error_suffix(e)],
    )
}

/// The part to print of each file, and the files.
struct HeadPlan {
    count: HeadCount,
    delimiter: u8,
    headers: bool,
    files: Vec<Vec<u8>>,
}

/// Converts the obsolete forms `-5`, `-5c` and `-2kq`, which only the first argument may have, to
/// options.
fn translate_obsolete(args: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let first = args.first()?.strip_prefix(b"-")?;
    let digits = first.iter().take_while(|c| c.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let (number, letters) = first.split_at(digits);
    let mut unit: &[u8] = b"";
    let mut bytes = false;
    let mut rest = Vec::new();
    for c in letters {
        match c {
            b'c' => bytes = true,
            b'b' => (bytes, unit) = (true, b"b"),
            b'k' => (bytes, unit) = (true, b"K"),
            b'm' => (bytes, unit) = (true, b"M"),
            b'l' => bytes = false,
            b'q' | b'v' | b'z' => rest.push(vec![b'-', *c]),
            _ => return None,
        }
    }
    let option = if bytes { b"-c".to_vec() } else { b"-n".to_vec() };
    rest.push([option.as_slice(), number, unit].concat());
    rest.extend_from_slice(&args[1..]);
    Some(rest)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    parse_plan(ctx, args).map(|plan| print_files(ctx, &plan))
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<HeadPlan, Exit> {
    let changed = translate_obsolete(args);
    let p = SPEC.parse_or_exit(ctx, changed.as_deref().unwrap_or(args), Exit::FAILURE)?;
    let mut count = HeadCount { n: 10, bytes: false, signed: false };
    for (flag, value) in &p.options {
        if !matches!(flag, HeadFlag::Bytes | HeadFlag::Lines) {
            continue;
        }
        let bytes = *flag == HeadFlag::Bytes;
        count = HeadCount::parse(value.as_deref().unwrap_or_default(), bytes, b"-")
            .map_err(|(digits, e)| invalid_count(ctx, bytes, digits, e))?;
        // No file is that long, so all its bytes would be left out.
        if bytes && count.signed && i64::try_from(count.n).is_err() {
            let number = count.n.to_string();
            return Err(invalid_count(ctx, true, number.as_bytes(), NumberError::Overflow));
        }
    }
    let headers = p.last_choice(&[(HeadFlag::Quiet, false), (HeadFlag::Verbose, true)]);
    Ok(HeadPlan {
        count,
        delimiter: if p.has_option(HeadFlag::ZeroTerminated) { 0 } else { b'\n' },
        headers: headers.unwrap_or(p.operands.len() > 1),
        files: input::or_stdin(p.operands),
    })
}

fn print_files(ctx: &mut Ctx<'_>, plan: &HeadPlan) -> Exit {
    let mut exit = Exit::SUCCESS;
    let mut first = true;
    for file in &plan.files {
        let opened = input::open_operand(&mut ctx.stdin, &ctx.cwd, file);
        // As in GNU's, a directory counts as opened, but cannot be read.
        let readable = opened.as_ref().map_or_else(is_directory, |_| true);
        if plan.headers && readable {
            write_header(&mut ctx.stdout, file, &mut first);
        }
        let result = match opened {
            Ok(mut reader) => copy_beginning(&mut reader, plan, &mut ctx.stdout),
            Err(e) => {
                exit = cannot_open(ctx, file, &e);
                continue;
            }
        };
        match result {
            Ok(()) => {}
            Err(CopyStop::Read(e)) => exit = input::report_cannot(ctx, "error reading", file, &e),
            Err(CopyStop::Write) => return Exit::FAILURE,
        }
        if file == b"-" {
            // The next reader of this descriptor continues after the bytes that were printed.
            ctx.stdin.give_back();
        }
    }
    exit
}

/// Returns whether a file could not be opened because it is a directory.
pub(super) fn is_directory(e: &io::Error) -> bool {
    e.raw_os_error() == Some(box_sys::errno::code::EISDIR)
}

/// Reports that a file cannot be opened or, if it is a directory, cannot be read (`head` and
/// `tail`).
pub(super) fn cannot_open(ctx: &mut Ctx<'_>, file: &[u8], e: &io::Error) -> Exit {
    if is_directory(e) {
        return input::report_cannot(ctx, "error reading", file, e);
    }
    let text = box_sys::error_text(e);
    let shown = quote::quote_in_sentence(file);
    input::report_failure(ctx, &[b"cannot open ", &shown, b" for reading: ", text.as_bytes()])
}

/// Writes the header before a file (`head` and `tail`).
pub(super) fn write_header(out: &mut OutStream, file: &[u8], first: &mut bool) {
    let name: &[u8] = if file == b"-" { b"standard input" } else { file };
    let gap: &[u8] = if *first { b"" } else { b"\n" };
    *first = false;
    let _ = out.write_all(&[gap, b"==> ", name, b" <==\n"].concat());
}

fn copy_beginning(
    reader: &mut InputFile<'_>,
    plan: &HeadPlan,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    let HeadCount { n, bytes, signed: all_but } = plan.count;
    match (bytes, all_but) {
        (true, false) => first_bytes(reader, n, out),
        (true, true) => all_but_bytes(reader, n, out),
        (false, false) => first_lines(reader, n, plan.delimiter, out),
        (false, true) => all_but_lines(reader, n, plan.delimiter, out),
    }
}

fn first_bytes(
    reader: &mut InputFile<'_>,
    mut n: u64,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    if n == 0 {
        return Ok(());
    }
    input::for_each_block(reader, |block| {
        let take = usize::try_from(n).unwrap_or(usize::MAX).min(block.len());
        write_output(out, &block[..take])?;
        n -= take as u64;
        Ok((take, n > 0))
    })
}

fn first_lines(
    reader: &mut InputFile<'_>,
    mut n: u64,
    delimiter: u8,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    if n == 0 {
        return Ok(());
    }
    input::for_each_block(reader, |block| {
        let mut end = block.len();
        for at in memchr::memchr_iter(delimiter, block) {
            n -= 1;
            if n == 0 {
                end = at + 1;
                break;
            }
        }
        write_output(out, &block[..end])?;
        Ok((end, n > 0))
    })
}

fn all_but_bytes(reader: &mut InputFile<'_>, n: u64, out: &mut OutStream) -> Result<(), CopyStop> {
    let keep = usize::try_from(n).unwrap_or(usize::MAX);
    let mut held: Vec<u8> = Vec::new();
    input::for_each_block(reader, |block| {
        held.extend_from_slice(block);
        // Bytes are written in larger pieces, so that the rest is not moved for every block.
        if held.len() > keep.saturating_mul(2).saturating_add(1 << 16) {
            let free = held.len() - keep;
            write_output(out, &held[..free])?;
            held.drain(..free);
        }
        Ok((block.len(), true))
    })?;
    write_output(out, &held[..held.len().saturating_sub(keep)])
}

fn all_but_lines(
    reader: &mut InputFile<'_>,
    n: u64,
    delimiter: u8,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    let keep = usize::try_from(n).unwrap_or(usize::MAX);
    let mut held: VecDeque<Vec<u8>> = VecDeque::new();
    input::for_each_line(reader, delimiter, |line, ended| {
        let mut buf =
            if held.len() > keep { held.pop_front().unwrap_or_default() } else { Vec::new() };
        buf.clear();
        buf.extend_from_slice(line);
        if ended {
            buf.push(delimiter);
        }
        held.push_back(buf);
        if held.len() > keep
            && let Some(l) = held.front()
        {
            write_output(out, l)?;
        }
        Ok(true)
    })
}
