//! `tail` (POSIX XCU tail; GNU `-c -f -F -n -q -s -v -z --pid --retry`, `+NUM`). Following is by
//! polling: there is no inotify on the guest.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit, Output};
use box_sys::meta;

use super::head::header;
use crate::common::input::{self, In, Stop, put};
use crate::common::{number, paths, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "Print the last 10 lines of each FILE to standard output.\nWith more than one FILE, precede each with a header giving the file name.\n\nWith no FILE, or when FILE is -, read standard input.",
    options: &[
        Opt::value(
            'c',
            "bytes",
            "[+]NUM",
            "output the last NUM bytes; or use -c +NUM to output\nstarting with byte NUM of each file",
        ),
        Opt::flag('f', "", "output appended data as the file grows"),
        Opt::optional('\u{1}', "follow", "HOW", "the same; by 'descriptor' (default) or 'name'")
            .long_only(),
        Opt::flag('F', "", "same as --follow=name --retry"),
        Opt::value(
            'n',
            "lines",
            "[+]NUM",
            "output the last NUM lines, instead of the last 10;\nor use -n +NUM to output starting with line NUM",
        ),
        Opt::value('\u{2}', "max-unchanged-stats", "N", "(ignored)").long_only(),
        Opt::value('\u{3}', "pid", "PID", "with -f, terminate after process ID, PID dies")
            .long_only(),
        Opt::flag('q', "quiet", "never output headers giving file names"),
        Opt::flag('\u{4}', "silent", "the same").long_only(),
        Opt::flag('\u{5}', "retry", "keep trying to open a file if it is inaccessible").long_only(),
        Opt::value(
            's',
            "sleep-interval",
            "N",
            "with -f, sleep for approximately N seconds\n(default 1.0) between iterations",
        ),
        Opt::flag('v', "verbose", "always output headers giving file names"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    after: "NUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.",
    posix_order: false,
};

#[derive(Clone, Copy)]
struct Count {
    n: u64,
    bytes: bool,
    from_start: bool,
}

/// `+5`, `-5c`, `-3f`: the obsolete form, as options; only with at most one file.
fn obsolete(args: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
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
    // Without digits, `-c` and `-f` are ordinary options and `+` alone is a file.
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

/// A file being followed.
struct Followed {
    name: Vec<u8>,
    file: Option<File>,
    stat: Option<box_sys::Stat>,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let changed = obsolete(args);
    let p = match SPEC.parse_or_exit(ctx, changed.as_deref().unwrap_or(args), Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut count = Count { n: 10, bytes: false, from_start: false };
    for (id, value) in &p.options {
        if !matches!(id, 'c' | 'n') {
            continue;
        }
        let text = value.as_deref().unwrap_or_default();
        let from_start = text.starts_with(b"+");
        let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
        match number::size(digits) {
            Ok(n) => count = Count { n, bytes: *id == 'c', from_start },
            Err(e) => {
                let what: &[u8] = if *id == 'c' { b"bytes" } else { b"lines" };
                let shown = quote::always(text);
                ctx.error_bytes(&[b"invalid number of ", what, b": ", &shown, number::reason(e)]);
                return Exit::FAILURE;
            }
        }
    }
    let by_name = p.has('F') || p.last('\u{1}') == Some(b"name");
    let follow = p.has('f') || by_name || p.has('\u{1}');
    let retry = p.has('F') || p.has('\u{5}');
    let interval = match p.last('s').map(|t| (t.to_vec(), super::sleep::seconds(t))) {
        Some((text, None)) => {
            ctx.error_bytes(&[b"invalid number of seconds: ", &quote::always(&text)]);
            return Exit::FAILURE;
        }
        Some((_, Some(s))) => super::sleep::duration(s),
        None => Duration::from_secs(1),
    };
    let pid = match p.last('\u{3}').map(|t| (t.to_vec(), number::decimal(t))) {
        Some((text, None)) => {
            ctx.error_bytes(&[b"invalid PID: ", &quote::always(&text)]);
            return Exit::FAILURE;
        }
        Some((_, Some(n))) => u32::try_from(n).ok(),
        None => None,
    };
    let delimiter = if p.has('z') { 0 } else { b'\n' };
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let headers = match p.last_of(&['q', '\u{4}', 'v']) {
        Some('v') => true,
        Some(_) => false,
        None => files.len() > 1,
    };
    let mut exit = Exit::SUCCESS;
    let mut first = true;
    let mut followed = Vec::new();
    for file in files {
        let stat = meta::stat(&ctx.path(file), true).ok();
        let opened = if file == b"-" {
            Ok(In::Stdin(&mut ctx.stdin))
        } else {
            input::open_file(&ctx.path(file))
                .map(|f| In::File(io::BufReader::with_capacity(input::BLOCK, f)))
        };
        let mut reader = match opened {
            Ok(r) => r,
            Err(e) => {
                let directory = e.raw_os_error() == Some(box_sys::errno::code::EISDIR);
                if directory && headers {
                    header(&mut ctx.stdout, file, &mut first);
                }
                let shown = quote::always(file);
                let text = box_sys::strerror(&e);
                if directory {
                    ctx.error_bytes(&[b"error reading ", &shown, b": ", text.as_bytes()]);
                } else {
                    ctx.error_bytes(&[b"cannot open ", &shown, b" for reading: ", text.as_bytes()]);
                }
                exit = Exit::FAILURE;
                if follow && retry {
                    followed.push(Followed { name: file.clone(), file: None, stat: None });
                }
                continue;
            }
        };
        if headers {
            header(&mut ctx.stdout, file, &mut first);
        }
        match end_of(&mut reader, count, delimiter, &mut ctx.stdout) {
            Ok(()) => {}
            Err(Stop::Read(e)) => {
                drop(reader);
                let shown = quote::always(file);
                ctx.error_bytes(&[
                    b"error reading ",
                    &shown,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                exit = Exit::FAILURE;
                continue;
            }
            Err(Stop::Write) => return Exit::FAILURE,
        }
        if let In::File(f) = reader {
            // The buffer was read to the end, so the descriptor stands there too.
            followed.push(Followed { name: file.clone(), file: Some(f.into_inner()), stat });
        }
    }
    if follow && !followed.is_empty() {
        let plan = Follow { by_name, retry, interval, pid, headers };
        return self::follow(ctx, followed, &plan);
    }
    exit
}

/// Writes the end of one input.
fn end_of(reader: &mut In<'_>, count: Count, delimiter: u8, out: &mut Output) -> Result<(), Stop> {
    if count.from_start {
        skip(reader, count, delimiter)?;
        return input::copy(reader, out);
    }
    if let In::File(f) = reader
        && let Some(start) = seek_start(f.get_mut(), count, delimiter)?
    {
        f.seek(SeekFrom::Start(start)).map_err(Stop::Read)?;
        return input::copy(f, out);
    }
    if count.bytes {
        last_bytes(reader, count.n, out)
    } else {
        last_lines(reader, count.n, delimiter, out)
    }
}

/// Skips to byte or line `n`, counted from 1.
fn skip(reader: &mut In<'_>, count: Count, delimiter: u8) -> Result<(), Stop> {
    let mut left = count.n.saturating_sub(1);
    if count.bytes
        && let In::File(f) = reader
        && f.seek(SeekFrom::Start(left.min(i64::MAX as u64))).is_ok()
    {
        return Ok(());
    }
    while left > 0 {
        let block = match reader.fill_buf() {
            Ok(b) => b,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Stop::Read(e)),
        };
        if block.is_empty() {
            break;
        }
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
        reader.consume(used);
    }
    Ok(())
}

/// Where the last part begins in a regular file, found from its end; `None` if it cannot seek.
fn seek_start(file: &mut File, count: Count, delimiter: u8) -> Result<Option<u64>, Stop> {
    let regular = file.metadata().is_ok_and(|m| m.is_file());
    let size = match file.seek(SeekFrom::End(0)) {
        // Files of size 0 may be made up on reading, as those in /proc.
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
        file.seek(SeekFrom::Start(start)).map_err(Stop::Read)?;
        file.read_exact(part).map_err(Stop::Read)?;
        for at in memchr::memrchr_iter(delimiter, part) {
            let at = start + at as u64;
            // The delimiter that ends the last line separates nothing.
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

fn last_bytes(reader: &mut In<'_>, n: u64, out: &mut Output) -> Result<(), Stop> {
    let keep = usize::try_from(n).unwrap_or(usize::MAX);
    let mut held: Vec<u8> = Vec::new();
    loop {
        let block = match reader.fill_buf() {
            Ok(b) => b,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Stop::Read(e)),
        };
        if block.is_empty() {
            break;
        }
        held.extend_from_slice(block);
        let used = block.len();
        reader.consume(used);
        if held.len() > keep.saturating_mul(2).saturating_add(1 << 16) {
            held.drain(..held.len() - keep);
        }
    }
    put(out, &held[held.len().saturating_sub(keep)..])
}

/// The last lines of a stream: whole blocks are kept as long as they can matter.
fn last_lines(reader: &mut In<'_>, n: u64, delimiter: u8, out: &mut Output) -> Result<(), Stop> {
    let mut held: VecDeque<(Vec<u8>, u64)> = VecDeque::new();
    let mut total = 0u64;
    loop {
        let block = match reader.fill_buf() {
            Ok(b) => b,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Stop::Read(e)),
        };
        if block.is_empty() {
            break;
        }
        let lines = memchr::memchr_iter(delimiter, block).count() as u64;
        // Small reads share a block, else each would cost an allocation of its own.
        match held.back_mut().filter(|(b, _)| b.len() + block.len() <= input::BLOCK) {
            Some((b, l)) => {
                b.extend_from_slice(block);
                *l += lines;
            }
            None => held.push_back((block.to_vec(), lines)),
        }
        total += lines;
        let used = block.len();
        reader.consume(used);
        while held.len() > 1 && held.front().is_some_and(|(_, l)| total - l > n) {
            if let Some((_, l)) = held.pop_front() {
                total -= l;
            }
        }
    }
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
            put(out, &block[start..])?;
        }
    }
    Ok(())
}

struct Follow {
    by_name: bool,
    retry: bool,
    interval: Duration,
    pid: Option<u32>,
    headers: bool,
}

/// Writes what is appended, until the process dies or the output closes.
fn follow(ctx: &mut Ctx<'_>, mut files: Vec<Followed>, plan: &Follow) -> Exit {
    let mut last = files.len().wrapping_sub(1);
    let mut first = false;
    let mut buf = vec![0; 64 * 1024];
    loop {
        let gone = plan.pid.is_some_and(|p| ctx.procs.kill(p, 0).is_err());
        for (i, tailed) in files.iter_mut().enumerate() {
            if plan.by_name {
                renew(ctx, tailed, plan.retry);
            }
            let Some(file) = &mut tailed.file else { continue };
            // A file that became shorter is read anew.
            let position = file.stream_position().unwrap_or(0);
            if file.metadata().is_ok_and(|m| m.is_file() && m.len() < position) {
                let _ = file.seek(SeekFrom::Start(0));
                let shown = quote::colon(&tailed.name);
                ctx.error_bytes(&[&shown, b": file truncated"]);
            }
            while let Some(file) = &mut tailed.file {
                let n = match file.read(&mut buf) {
                    Ok(0) => break,
                    Ok(n) => n,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => break,
                };
                if plan.headers && last != i {
                    header(&mut ctx.stdout, &tailed.name, &mut first);
                    last = i;
                }
                if ctx.stdout.write_all(&buf[..n]).is_err() {
                    return Exit::FAILURE;
                }
            }
        }
        if ctx.stdout.flush().is_err() {
            return Exit::FAILURE;
        }
        if gone {
            return Exit::SUCCESS;
        }
        if files.iter().all(|f| f.file.is_none()) && !plan.retry {
            ctx.error("no files remaining");
            return Exit::FAILURE;
        }
        std::thread::sleep(plan.interval.max(Duration::from_millis(1)));
    }
}

/// Opens a file again if its name means another one now.
fn renew(ctx: &mut Ctx<'_>, f: &mut Followed, retry: bool) {
    let path = ctx.path(&f.name);
    match meta::stat(&path, true) {
        Ok(s) => {
            if f.stat.is_some_and(|old| paths::same(&old, &s) || old.ino == 0 && f.file.is_some()) {
                f.stat = Some(s);
                return;
            }
            let Ok(file) = input::open_file(&path) else { return };
            let shown = quote::always(&f.name);
            let what: &[u8] = if f.stat.is_some() || f.file.is_some() {
                b" has been replaced;  following new file"
            } else {
                b" has appeared;  following new file"
            };
            ctx.error_bytes(&[&shown, what]);
            f.file = Some(file);
            f.stat = Some(s);
        }
        Err(e) => {
            if f.file.is_some() {
                let shown = quote::always(&f.name);
                let text = box_sys::strerror(&e);
                ctx.error_bytes(&[&shown, b" has become inaccessible: ", text.as_bytes()]);
            }
            f.file = None;
            if retry {
                f.stat = None;
            }
        }
    }
}
