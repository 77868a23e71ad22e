//! `tail` (POSIX XCU tail; GNU `-c -f -F -n -q -s -v -z --pid --retry`, `+NUM`). Files are followed
//! by polling, because the guest has no inotify.

mod follow;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};
use box_sys::meta;

use super::head::{self, HeadCount};
use super::sleep;
use crate::common::input::{self, CopyStop, InputFile, write_output};
use crate::common::number::{self, BoundError};
use crate::common::quote;
use follow::{FollowPlan, FollowedFile};

/// An option of `tail`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TailFlag {
    Bytes,
    Follow,
    FollowName,
    FollowPlain,
    Lines,
    MaxUnchangedStats,
    Pid,
    Quiet,
    Retry,
    SleepInterval,
    Verbose,
    ZeroTerminated,
}

const SPEC: Spec<TailFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print the last lines of each FILE: 10, unless an option says otherwise.",
    &[
        Opt::new(TailFlag::Bytes, 'c', "bytes")
            .with_argument("[+]NUM", "Print NUM bytes; with +NUM all from the NUM-th on"),
        Opt::new(TailFlag::FollowPlain, 'f', "").with_help("Keep running, and print what is added"),
        Opt::long(TailFlag::Follow, "follow")
            .may_take("HOW", "Like -f: by descriptor (default) or by name"),
        Opt::new(TailFlag::FollowName, 'F', "")
            .with_help("Follow by name, and wait for the file to come back"),
        Opt::new(TailFlag::Lines, 'n', "lines")
            .with_argument("[+]NUM", "Print NUM lines; with +NUM all from the NUM-th on"),
        Opt::long(TailFlag::MaxUnchangedStats, "max-unchanged-stats")
            .with_argument("N", words::IGNORED),
        Opt::long(TailFlag::Pid, "pid")
            .with_argument("PID", "With -f: end when process PID has ended"),
        Opt::new(TailFlag::Quiet, 'q', "quiet").with_help(words::NO_HEADERS),
        Opt::long(TailFlag::Quiet, "silent").with_help(words::SAME),
        Opt::long(TailFlag::Retry, "retry").with_help("Keep trying to open a file that is missing"),
        Opt::new(TailFlag::SleepInterval, 's', "sleep-interval")
            .with_argument("N", "With -f: look again after N seconds (1)"),
        Opt::new(TailFlag::Verbose, 'v', "verbose").with_help(words::HEADERS),
        Opt::new(TailFlag::ZeroTerminated, 'z', "zero-terminated").with_help(words::NUL_LINES),
    ],
)
.with_examples(&[
    ("tail -n 20 FILE", "Last twenty lines"),
    ("tail -n +2 FILE", "All but the first line"),
    ("tail -f LOG", "Follow a file as it grows"),
])
.with_footer(words::SIZES)
.reads_standard_input();

/// Converts the obsolete forms `+5`, `-5c` and `-3f` to options. They are accepted only with at
/// most one file. Returns `None` if the arguments have no such form.
fn translate_obsolete(args: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let (first, rest) = args.split_first()?;
    let plus = first.starts_with(b"+");
    if !plus && !first.starts_with(b"-") {
        return None;
    }
    let fits = match rest {
        [] => true,
        [f] => !f.starts_with(b"-") || f == b"-",
        [d, _] => d == b"--",
        _ => false,
    };
    let body = &first[1..];
    let digits = body.iter().take_while(|c| c.is_ascii_digit()).count();
    let (n, letters) = body.split_at(digits);
    // Without digits, `-c` and `-f` are ordinary options, and `+` alone is a file.
    let bare = digits == 0 && (letters.is_empty() || !plus && !matches!(letters, b"l" | b"b"));
    if !fits && (digits == 0 || plus) || bare {
        return None;
    }
    let (kind, follow) = match letters {
        b"" | b"l" => (b'l', false),
        b"f" | b"lf" => (b'l', true),
        b"c" | b"b" => (letters[0], false),
        b"cf" | b"bf" => (letters[0], true),
        _ => return None,
    };
    let n: &[u8] = if n.is_empty() { b"10" } else { n };
    let sign: &[u8] = if plus { b"+" } else { b"" };
    let unit: &[u8] = if kind == b'b' { b"b" } else { b"" };
    let option: &[u8] = if kind == b'l' { b"-n" } else { b"-c" };
    let mut out = vec![[option, sign, n, unit].concat()];
    if follow {
        out.push(b"-f".to_vec());
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// The part of each file to print, and the files.
struct TailPlan {
    count: HeadCount,
    delimiter: u8,
    headers: bool,
    files: Vec<Vec<u8>>,
    follow: Option<FollowPlan>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let (printed, exit) = print_ends(ctx, &plan)?;
    Ok(match &plan.follow {
        Some(follow) if !printed.is_empty() => {
            follow::follow_files(ctx, printed, follow, plan.headers)
        }
        _ => exit,
    })
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<TailPlan, Exit> {
    let changed = translate_obsolete(args);
    let p = SPEC.parse_or_exit(ctx, changed.as_deref().unwrap_or(args), Exit::FAILURE)?;
    let mut count = HeadCount { n: 10, bytes: false, signed: false };
    for (flag, value) in &p.options {
        if !matches!(flag, TailFlag::Bytes | TailFlag::Lines) {
            continue;
        }
        let text = value.as_deref().unwrap_or_default();
        let bytes = *flag == TailFlag::Bytes;
        count = HeadCount::parse(text, bytes, b"+").map_err(|(_, e)| {
            let shown = text.strip_prefix(b"-").unwrap_or(text);
            head::invalid_count(ctx, bytes, shown, e)
        })?;
    }
    let follow = parse_follow(ctx, &p)?;
    let headers = p.last_choice(&[(TailFlag::Quiet, false), (TailFlag::Verbose, true)]);
    Ok(TailPlan {
        count,
        delimiter: if p.has_option(TailFlag::ZeroTerminated) { 0 } else { b'\n' },
        headers: headers.unwrap_or(p.operands.len() > 1),
        files: input::or_stdin(p.operands),
        follow,
    })
}

/// Parses the options for following files; returns `None` if none is followed. The numbers are
/// checked in either case.
fn parse_follow(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<TailFlag>,
) -> Result<Option<FollowPlan>, Exit> {
    let interval = match p.last_value(TailFlag::SleepInterval) {
        Some(text) => sleep::parse_seconds(text).map(sleep::to_duration).ok_or_else(|| {
            input::report_failure(
                ctx,
                &[b"invalid number of seconds: ", &quote::quote_in_sentence(text)],
            )
        })?,
        None => Duration::from_secs(1),
    };
    let pid = match p.last_value(TailFlag::Pid) {
        Some(text) => Some(parse_bounded(ctx, text, "PID", i64::from(i32::MAX))?),
        None => None,
    };
    // Every poll checks all files, so this number has no effect.
    if let Some(text) = p.last_value(TailFlag::MaxUnchangedStats) {
        parse_bounded(ctx, text, "maximum number of unchanged stats between opens", i64::MAX)?;
    }
    let pid = pid.and_then(|n| u32::try_from(n).ok());
    let by_name =
        p.has_option(TailFlag::FollowName) || p.last_value(TailFlag::Follow) == Some(b"name");
    let wanted = by_name || p.has_option(TailFlag::FollowPlain) || p.has_option(TailFlag::Follow);
    let retry = p.has_option(TailFlag::FollowName) || p.has_option(TailFlag::Retry);
    Ok(wanted.then_some(FollowPlan { by_name, retry, interval, pid }))
}

/// Parses the number of an option, which must be between 0 and `most`.
fn parse_bounded(ctx: &mut Ctx<'_>, text: &[u8], noun: &str, most: i64) -> Result<i64, Exit> {
    let mut wrong = |e: BoundError| {
        let shown = quote::quote_in_sentence(text);
        input::report_failure(ctx, &[b"invalid ", noun.as_bytes(), b": ", &shown, e.suffix()])
    };
    match number::parse_bounded(text, (0, most)) {
        Err(BoundError::OutOfRange) => Err(wrong(BoundError::Invalid)),
        parsed => parsed.map_err(wrong),
    }
}

/// Prints the end of each file; returns the files that may be followed, and the exit status so far.
///
/// # Errors
/// Standard output cannot be written.
fn print_ends(ctx: &mut Ctx<'_>, plan: &TailPlan) -> Result<(Vec<FollowedFile>, Exit), Exit> {
    let retry = plan.follow.as_ref().is_some_and(|f| f.retry);
    let mut exit = Exit::SUCCESS;
    let mut first = true;
    let mut printed = Vec::new();
    for file in &plan.files {
        let stat = meta::stat(&ctx.path(file), true).ok();
        let opened = input::open_operand(&mut ctx.stdin, &ctx.cwd, file);
        let readable = opened.as_ref().map_or_else(head::is_directory, |_| true);
        if plan.headers && readable {
            head::write_header(&mut ctx.stdout, file, &mut first);
        }
        let mut reader = match opened {
            Ok(reader) => reader,
            Err(e) => {
                exit = head::cannot_open(ctx, file, &e);
                if retry {
                    printed.push(FollowedFile { name: file.clone(), file: None, stat: None });
                }
                continue;
            }
        };
        match end_of(&mut reader, plan.count, plan.delimiter, &mut ctx.stdout) {
            Ok(()) => {}
            Err(CopyStop::Read(e)) => {
                drop(reader);
                if plan.count.bytes
                    && plan.count.signed
                    && e.kind() == std::io::ErrorKind::InvalidInput
                {
                    let offset = plan.count.n.saturating_sub(1).to_string();
                    let why = box_sys::error_text(&e);
                    let what = format!(": cannot seek to relative offset {offset}: {why}");
                    let name: &[u8] = if file == b"-" { b"standard input" } else { file };
                    let name = quote::quote_with_colon(name);
                    exit = input::report_failure(ctx, &[&name, what.as_bytes()]);
                    continue;
                }
                exit = input::report_cannot(ctx, "error reading", file, &e);
                continue;
            }
            Err(CopyStop::Write) => return Err(Exit::FAILURE),
        }
        if let InputFile::File(f) = reader {
            // The whole buffer has been printed, so reading continues at the position of the file.
            printed.push(FollowedFile { name: file.clone(), file: Some(f.into_inner()), stat });
        }
    }
    Ok((printed, exit))
}

/// Writes the end of one input.
fn end_of(
    reader: &mut InputFile<'_>,
    count: HeadCount,
    delimiter: u8,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    if count.signed {
        skip_to(reader, count, delimiter)?;
        return input::copy_all(reader, out);
    }
    if let InputFile::File(f) = reader
        && let Some(start) = seek_start(f.get_mut(), count, delimiter)?
    {
        f.seek(SeekFrom::Start(start)).map_err(CopyStop::Read)?;
        return input::copy_all(f, out);
    }
    if count.bytes {
        last_bytes(reader, count.n, out)
    } else {
        last_lines(reader, count.n, delimiter, out)
    }
}

/// Skips the input up to byte or line `count.n`, counted from 1.
fn skip_to(reader: &mut InputFile<'_>, count: HeadCount, delimiter: u8) -> Result<(), CopyStop> {
    let mut left = count.n.saturating_sub(1);
    if count.bytes
        && let InputFile::File(f) = reader
    {
        match f.seek(SeekFrom::Start(left.min(i64::MAX as u64))) {
            Ok(_) => return Ok(()),
            // The offset is larger than any file can be.
            Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => {
                return Err(CopyStop::Read(e));
            }
            Err(_) => {}
        }
    }
    if left == 0 {
        return Ok(());
    }
    input::for_each_block(reader, |block| {
        let mut used = block.len();
        if count.bytes {
            used = usize::try_from(left).unwrap_or(usize::MAX).min(used);
            left -= used as u64;
        } else {
            for at in memchr::memchr_iter(delimiter, block) {
                left -= 1;
                if left == 0 {
                    used = at + 1;
                    break;
                }
            }
        }
        Ok((used, left > 0))
    })
}

/// Returns the offset at which the part to print begins, which is searched from the end of the
/// file. Returns `None` if the file is not a regular file with a known size.
fn seek_start(file: &mut File, count: HeadCount, delimiter: u8) -> Result<Option<u64>, CopyStop> {
    let regular = file.metadata().is_ok_and(|m| m.is_file());
    let size = match file.seek(SeekFrom::End(0)) {
        // The contents of a file of size 0 may be generated when it is read, as in /proc.
        Ok(n) if n > 0 && regular => n,
        _ => {
            let _ = file.seek(SeekFrom::Start(0));
            return Ok(None);
        }
    };
    if count.bytes {
        return Ok(Some(size.saturating_sub(count.n)));
    }
    if count.n == 0 {
        return Ok(Some(size));
    }
    let mut buf = vec![0; 64 * 1024];
    let mut end = size;
    let mut left = count.n;
    while end > 0 {
        let start = end.saturating_sub(buf.len() as u64);
        let part = &mut buf[..(end - start) as usize];
        file.seek(SeekFrom::Start(start)).map_err(CopyStop::Read)?;
        file.read_exact(part).map_err(CopyStop::Read)?;
        for at in memchr::memrchr_iter(delimiter, part) {
            let at = start + at as u64;
            // The delimiter at the end of the file begins no line.
            if at + 1 == size {
                continue;
            }
            left -= 1;
            if left == 0 {
                return Ok(Some(at + 1));
            }
        }
        end = start;
    }
    Ok(Some(0))
}

fn last_bytes(reader: &mut InputFile<'_>, n: u64, out: &mut OutStream) -> Result<(), CopyStop> {
    let keep = usize::try_from(n).unwrap_or(usize::MAX);
    let mut held: Vec<u8> = Vec::new();
    input::for_each_block(reader, |block| {
        held.extend_from_slice(block);
        if held.len() > keep.saturating_mul(2).saturating_add(1 << 16) {
            held.drain(..held.len() - keep);
        }
        Ok((block.len(), true))
    })?;
    write_output(out, &held[held.len().saturating_sub(keep)..])
}

/// Writes the last lines of a stream. Blocks of the stream are held in memory as long as the last
/// lines may begin in them.
fn last_lines(
    reader: &mut InputFile<'_>,
    n: u64,
    delimiter: u8,
    out: &mut OutStream,
) -> Result<(), CopyStop> {
    let mut held: VecDeque<(Vec<u8>, u64)> = VecDeque::new();
    let mut total = 0u64;
    input::for_each_block(reader, |block| {
        let lines = memchr::memchr_iter(delimiter, block).count() as u64;
        // Small reads share a block, because otherwise each would cost an allocation.
        match held.back_mut().filter(|(b, _)| b.len() + block.len() <= input::BLOCK) {
            Some((b, l)) => {
                b.extend_from_slice(block);
                *l += lines;
            }
            None => held.push_back((block.to_vec(), lines)),
        }
        total += lines;
        while held.len() > 1 && held.front().is_some_and(|(_, l)| total - l > n) {
            if let Some((_, l)) = held.pop_front() {
                total -= l;
            }
        }
        Ok((block.len(), true))
    })?;
    let unterminated = held.back().is_some_and(|(b, _)| b.last() != Some(&delimiter));
    let mut drop_lines = (total + u64::from(unterminated)).saturating_sub(n);
    for (block, lines) in held {
        if drop_lines > lines {
            drop_lines -= lines;
            continue;
        }
        let mut start = 0;
        if drop_lines > 0 {
            match memchr::memchr_iter(delimiter, &block).nth((drop_lines - 1) as usize) {
                Some(at) => start = at + 1,
                None => start = block.len(),
            }
            drop_lines = 0;
        }
        if n > 0 {
            write_output(out, &block[start..])?;
        }
    }
    Ok(())
}
