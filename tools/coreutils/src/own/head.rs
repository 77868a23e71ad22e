//! `head` (POSIX XCU head; GNU `-c -n -q -v -z`, negative counts, `-NUM`).

use std::collections::VecDeque;
use std::io::{BufRead, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit, Output};

use crate::common::input::{self, In, Stop, put};
use crate::common::{number, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [FILE]...",
    about: "Print the first 10 lines of each FILE to standard output.\nWith more than one FILE, precede each with a header giving the file name.\n\nWith no FILE, or when FILE is -, read standard input.",
    options: &[
        Opt::value(
            'c',
            "bytes",
            "[-]NUM",
            "print the first NUM bytes of each file;\nwith a leading '-', print all but the last NUM bytes",
        ),
        Opt::value(
            'n',
            "lines",
            "[-]NUM",
            "print the first NUM lines instead of the first 10;\nwith a leading '-', print all but the last NUM lines",
        ),
        Opt::flag('q', "quiet", "never print headers giving file names"),
        Opt::flag('\u{1}', "silent", "the same").long_only(),
        Opt::flag('v', "verbose", "always print headers giving file names"),
        Opt::flag('z', "zero-terminated", "line delimiter is NUL, not newline"),
    ],
    after: "NUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.",
    posix_order: false,
};

#[derive(Clone, Copy)]
struct Count {
    n: u64,
    bytes: bool,
    /// All but the last `n`.
    but: bool,
}

/// `-5`, `-5c`, `-2kq`: the obsolete form, first argument only, as options.
fn obsolete(args: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
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

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let changed = obsolete(args);
    let p = match SPEC.parse_or_exit(ctx, changed.as_deref().unwrap_or(args), Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut count = Count { n: 10, bytes: false, but: false };
    for (id, value) in &p.options {
        if !matches!(id, 'c' | 'n') {
            continue;
        }
        let text = value.as_deref().unwrap_or_default();
        let but = text.starts_with(b"-");
        let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
        match number::size(digits) {
            Ok(n) => count = Count { n, bytes: *id == 'c', but },
            Err(e) => {
                let what: &[u8] = if *id == 'c' { b"bytes" } else { b"lines" };
                let shown = quote::always(digits);
                ctx.error_bytes(&[b"invalid number of ", what, b": ", &shown, number::reason(e)]);
                return Exit::FAILURE;
            }
        }
    }
    let delimiter = if p.has('z') { 0 } else { b'\n' };
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let headers = match p.last_of(&['q', '\u{1}', 'v']) {
        Some('v') => true,
        Some(_) => false,
        None => files.len() > 1,
    };
    let mut exit = Exit::SUCCESS;
    let mut first = true;
    for file in files {
        let mut reader = match input::open(&mut ctx.stdin, &ctx.cwd, file) {
            Ok(r) => r,
            Err(e) => {
                let directory = e.raw_os_error() == Some(box_sys::errno::code::EISDIR);
                if directory && headers {
                    header(&mut ctx.stdout, file, &mut first);
                }
                let what = if directory { "error reading" } else { "cannot open" };
                let shown = quote::always(file);
                let text = box_sys::strerror(&e);
                let mid: &[u8] = if directory { b": " } else { b" for reading: " };
                ctx.error_bytes(&[what.as_bytes(), b" ", &shown, mid, text.as_bytes()]);
                exit = Exit::FAILURE;
                continue;
            }
        };
        if headers {
            header(&mut ctx.stdout, file, &mut first);
        }
        let result = match count {
            Count { bytes: true, but: false, n } => first_bytes(&mut reader, n, &mut ctx.stdout),
            Count { bytes: true, but: true, n } => all_but_bytes(&mut reader, n, &mut ctx.stdout),
            Count { but: false, n, .. } => first_lines(&mut reader, n, delimiter, &mut ctx.stdout),
            Count { n, .. } => all_but_lines(&mut reader, n, delimiter, &mut ctx.stdout),
        };
        match result {
            Ok(()) => {}
            Err(Stop::Read(e)) => {
                let shown = quote::always(file);
                ctx.error_bytes(&[
                    b"error reading ",
                    &shown,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                exit = Exit::FAILURE;
            }
            Err(Stop::Write) => return Exit::FAILURE,
        }
        if file == b"-" {
            // The next reader of this descriptor continues after what was printed.
            ctx.stdin.give_back();
        }
    }
    exit
}

/// The header before a file (`head` and `tail`).
pub(crate) fn header(out: &mut Output, file: &[u8], first: &mut bool) {
    let name: &[u8] = if file == b"-" { b"standard input" } else { file };
    let gap: &[u8] = if *first { b"" } else { b"\n" };
    *first = false;
    let _ = out.write_all(&[gap, b"==> ", name, b" <==\n"].concat());
}

fn blocks(
    reader: &mut In<'_>,
    mut f: impl FnMut(&[u8]) -> Result<(usize, bool), Stop>,
) -> Result<(), Stop> {
    loop {
        let block = match reader.fill_buf() {
            Ok(b) => b,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Stop::Read(e)),
        };
        if block.is_empty() {
            return Ok(());
        }
        let (used, go_on) = f(block)?;
        reader.consume(used);
        if !go_on {
            return Ok(());
        }
    }
}

fn first_bytes(reader: &mut In<'_>, mut n: u64, out: &mut Output) -> Result<(), Stop> {
    if n == 0 {
        return Ok(());
    }
    blocks(reader, |block| {
        let take = usize::try_from(n).unwrap_or(usize::MAX).min(block.len());
        put(out, &block[..take])?;
        n -= take as u64;
        Ok((take, n > 0))
    })
}

fn first_lines(
    reader: &mut In<'_>,
    mut n: u64,
    delimiter: u8,
    out: &mut Output,
) -> Result<(), Stop> {
    if n == 0 {
        return Ok(());
    }
    blocks(reader, |block| {
        let mut end = block.len();
        for at in memchr::memchr_iter(delimiter, block) {
            n -= 1;
            if n == 0 {
                end = at + 1;
                break;
            }
        }
        put(out, &block[..end])?;
        Ok((end, n > 0))
    })
}

fn all_but_bytes(reader: &mut In<'_>, n: u64, out: &mut Output) -> Result<(), Stop> {
    let keep = usize::try_from(n).unwrap_or(usize::MAX);
    let mut held: Vec<u8> = Vec::new();
    blocks(reader, |block| {
        held.extend_from_slice(block);
        // Written in larger pieces, so that the rest is not moved for every block.
        if held.len() > keep.saturating_mul(2).saturating_add(1 << 16) {
            let free = held.len() - keep;
            put(out, &held[..free])?;
            held.drain(..free);
        }
        Ok((block.len(), true))
    })?;
    put(out, &held[..held.len().saturating_sub(keep)])
}

fn all_but_lines(reader: &mut In<'_>, n: u64, delimiter: u8, out: &mut Output) -> Result<(), Stop> {
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
            put(out, l)?;
        }
        Ok(true)
    })
}
