//! `read` (POSIX XCU, bash manual 4.2).

use std::rc::Rc;
use std::time::{Duration, Instant};

use box_sys::events;
use sh_expand::array::IndexedArray;
use sh_expand::{Cause, ExpandError, Ifs, Str};

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::io::{Desc, OpenFile};
use crate::shell::{Flow, Unwind};
use crate::state::assign::{is_name, is_reference};

/// A line with the places of escaped bytes: those neither split nor get trimmed.
#[derive(Default)]
struct Line {
    text: Vec<u8>,
    escaped: Vec<usize>,
    /// The input ended behind a backslash: bash's mark for what it escapes is the last byte.
    dangling: bool,
}

impl Line {
    /// Such a mark disappears with quote removal, but not if it is all there is.
    fn part(&self, start: usize, end: usize) -> Str {
        let dangling = self.dangling && end == self.text.len() && end > start + 1;
        Rc::new(self.text[start..end - usize::from(dangling)].to_vec())
    }

    fn whole(&self) -> Str {
        self.part(0, self.text.len())
    }

    fn dangle(&mut self) {
        self.dangling = true;
        self.text.push(1);
    }

    fn is_escaped(&self, at: usize) -> bool {
        !self.escaped.is_empty() && self.escaped.binary_search(&at).is_ok()
    }
}

/// A number of seconds, perhaps with a fraction.
fn seconds(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? };
    Some(whole as f64 + format!("0.{fraction}0").parse::<f64>().ok()?)
}

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "ersa:d:i:n:N:p:t:u:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let raw = p.has(b'r');
    let count = |shell: &mut Shell<'_>, letter: u8| -> Result<Option<usize>, ()> {
        let Some(v) = p.value(letter).cloned() else { return Ok(None) };
        match integer(&v).and_then(|n| usize::try_from(n).ok()) {
            Some(n) => Ok(Some(n)),
            None => {
                shell.builtin_error(b"read", &[&v, b": invalid number"]);
                Err(())
            }
        }
    };
    let (Ok(chars), Ok(exact)) = (count(shell, b'n'), count(shell, b'N')) else { return Ok(1) };
    let fd = match p.value(b'u').cloned() {
        None => 0,
        Some(v) => match integer(&v).and_then(|n| u32::try_from(n).ok()) {
            Some(n) if shell.state.fds.get(n).is_some() => n,
            known => {
                let reason: &[u8] = match known.is_some_and(|n| i32::try_from(n).is_ok()) {
                    true => b": invalid file descriptor: Bad file descriptor",
                    false => b": invalid file descriptor specification",
                };
                shell.builtin_error(call.name(), &[&v, reason]);
                return Ok(1);
            }
        },
    };
    let mut timeout = None;
    if let Some(t) = p.value(b't').cloned() {
        match seconds(&t) {
            Some(t) => timeout = Some(t),
            None => {
                shell.builtin_error(call.name(), &[&t, b": invalid timeout specification"]);
                return Ok(1);
            }
        }
    }
    if let Some(prompt) = p.value(b'p')
        && shell.fd_is_terminal(fd)
    {
        let prompt = prompt.clone();
        shell.err(&prompt);
    }
    if timeout == Some(0.0) {
        // Only whether input is there.
        return Ok(i32::from(!shell.input_ready(fd)));
    }
    // The other names are looked at when they get their value.
    if let Some(name) = p.operands.first().filter(|name| !is_reference(name)) {
        shell.builtin_error(call.name(), &[&invalid(name)]);
        return Ok(1);
    }
    let delim = match p.value(b'd') {
        _ if exact.is_some() => None,
        None => Some(b'\n'),
        Some(d) => Some(d.first().copied().unwrap_or(0)),
    };
    let limit = exact.or(chars);
    let mut line = Line::default();
    let deadline = timeout.and_then(|t| {
        let time = Duration::try_from_secs_f64(t).unwrap_or(Duration::MAX);
        Instant::now().checked_add(time)
    });
    let mut from = From { fd, deadline, timed_out: false, failed: None };
    let complete = match (limit, raw) {
        (Some(0), _) => true,
        (None, true) => read_raw(shell, &mut from, delim, &mut line)?,
        _ => read_chars(shell, &mut from, delim, limit, raw, &mut line)?,
    };
    if let Some(e) = from.failed {
        let text = box_sys::strerror(&e);
        let fd = fd.to_string();
        shell.builtin_error(call.name(), &[b"read error: ", fd.as_bytes(), b": ", text.as_bytes()]);
        return Ok(1);
    }
    let status = match complete {
        true => 0,
        // As if ended by ALRM.
        false if from.timed_out => 128 + i32::from(box_sys::signal::ALRM),
        false => 1,
    };
    let r = store(shell, &p, line, exact.is_some());
    match r {
        Ok(()) => Ok(status),
        Err(e) => {
            shell.assignment_error(call.name(), &e);
            shell.after_assignment_error(&e)
        }
    }
}

/// Where input comes from, and what kept it from coming.
struct From {
    fd: u32,
    deadline: Option<Instant>,
    timed_out: bool,
    failed: Option<std::io::Error>,
}

impl From {
    /// Reads up to and including `delim`, at most `max` bytes; whether the delimiter was found.
    fn until(
        &mut self,
        shell: &mut Shell<'_>,
        delim: Option<u8>,
        max: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, Unwind> {
        match shell.read_before(self.fd, delim, max, out, self.deadline)? {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => self.timed_out = true,
            Err(e) => self.failed = Some(e),
        }
        Ok(false)
    }
}

fn read_raw(
    shell: &mut Shell<'_>,
    from: &mut From,
    delim: Option<u8>,
    line: &mut Line,
) -> Result<bool, Unwind> {
    let found = from.until(shell, delim, usize::MAX, &mut line.text)?;
    if found {
        line.text.pop();
    }
    if memchr::memchr(0, &line.text).is_some() {
        line.text.retain(|c| *c != 0);
    }
    Ok(found)
}

/// With backslash processing or a limit of characters: a line at a time where possible.
fn read_chars(
    shell: &mut Shell<'_>,
    from: &mut From,
    delim: Option<u8>,
    limit: Option<usize>,
    raw: bool,
    line: &mut Line,
) -> Result<bool, Unwind> {
    let utf8 = !shell.state.options.expand().c_locale;
    if limit.is_none() {
        // Lines joined by a backslash before the delimiter.
        loop {
            let mut part = Vec::new();
            let found = from.until(shell, delim, usize::MAX, &mut part)?;
            if found {
                part.pop();
            }
            let mut at = 0;
            let mut joined = false;
            while at < part.len() {
                match part[at] {
                    b'\\' if at + 1 < part.len() => {
                        at += 1;
                        // A backslash newline within another delimiter's line disappears.
                        if part[at] != b'\n' {
                            line.escaped.push(line.text.len());
                            line.text.push(part[at]);
                        }
                    }
                    b'\\' => {
                        // At the end of the line: the delimiter is what it escapes.
                        if found {
                            joined = true;
                            if delim != Some(b'\n') {
                                line.escaped.push(line.text.len());
                                line.text.push(delim.unwrap_or(b'\n'));
                            }
                        } else {
                            line.dangle();
                        }
                    }
                    0 => {}
                    c => line.text.push(c),
                }
                at += 1;
            }
            if !joined {
                return Ok(found);
            }
        }
    }
    let limit = limit.unwrap_or(usize::MAX);
    let mut chars = 0;
    let mut byte = Vec::with_capacity(1);
    // Bytes that the character begun still lacks.
    let mut lacking = 0;
    while chars < limit || lacking > 0 {
        byte.clear();
        from.until(shell, None, 1, &mut byte)?;
        let Some(&c) = byte.first() else { return Ok(false) };
        if delim == Some(c) && lacking == 0 {
            return Ok(true);
        }
        if lacking > 0 {
            if c & 0xc0 == 0x80 {
                lacking -= 1;
                line.text.push(c);
                continue;
            }
            lacking = 0;
        }
        if c == b'\\' && !raw {
            byte.clear();
            from.until(shell, None, 1, &mut byte)?;
            match byte.first() {
                Some(b'\n') => continue,
                Some(e) => {
                    line.escaped.push(line.text.len());
                    line.text.push(*e);
                }
                None => {
                    line.dangle();
                    return Ok(false);
                }
            }
            chars += 1;
            continue;
        }
        if c == 0 {
            continue;
        }
        line.text.push(c);
        chars += 1;
        if utf8 {
            lacking = match c {
                0xc2..=0xdf => 1,
                0xe0..=0xef => 2,
                0xf0..=0xf4 => 3,
                _ => 0,
            };
        }
    }
    Ok(true)
}

fn store(
    shell: &mut Shell<'_>,
    p: &super::Parsed<'_>,
    line: Line,
    exact: bool,
) -> Result<(), ExpandError> {
    if let Some(array) = p.value(b'a') {
        let array = array.clone();
        if !is_name(&array) {
            return Err(ExpandError::not_an_identifier(&array));
        }
        let target = shell.follow(&array)?.name.into_owned();
        if shell.state.vars.get(&target).is_some_and(|v| v.attrs.assoc) {
            return Err(Cause::NotIndexed(target).into());
        }
        let mut fields = IndexedArray::new();
        if exact {
            fields.set(0, line.whole());
        } else {
            let ifs = ifs(shell);
            let mut at = 0;
            let mut n = 0;
            while let Some((field, next)) = field(&line, at, &ifs) {
                fields.set(n, field);
                n += 1;
                at = next;
            }
        }
        shell.check_writable(&target)?;
        // Elements are assigned one by one where attributes convert them.
        let attrs = shell.state.vars.get(&target).map(|v| v.attrs).unwrap_or_default();
        if attrs.integer || attrs.lowercase || attrs.uppercase || attrs.capitalize {
            let values: Vec<(i64, Str)> = fields.iter().map(|(i, v)| (i, v.clone())).collect();
            shell.set_array(&target, IndexedArray::new())?;
            for (i, v) in values {
                shell.set_array_element(&target, &sh_expand::OwnedKey::Index(i), false, v)?;
            }
            return Ok(());
        }
        return shell.set_array(&target, fields);
    }
    if p.operands.is_empty() {
        return shell.assign_scalar_to(b"REPLY", None, false, line.whole());
    }
    if exact {
        let (first, rest) = (&p.operands[0], &p.operands[1..]);
        assign(shell, first, line.whole())?;
        for name in rest {
            assign(shell, name, Str::default())?;
        }
        return Ok(());
    }
    let ifs = ifs(shell);
    let mut at = 0;
    for name in &p.operands[..p.operands.len() - 1] {
        let value = match field(&line, at, &ifs) {
            Some((f, next)) => {
                at = next;
                f
            }
            None => {
                at = line.text.len();
                Str::default()
            }
        };
        assign(shell, name, value)?;
    }
    let value = remainder(&line, at, &ifs);
    assign(shell, &p.operands[p.operands.len() - 1], value)
}

fn assign(shell: &mut Shell<'_>, name: &Str, value: Str) -> Result<(), ExpandError> {
    match is_reference(name) {
        true => shell.assign_reference(name, value),
        false => Err(ExpandError::not_an_identifier(name)),
    }
}

fn invalid(name: &[u8]) -> Vec<u8> {
    [b"`", name, b"': not a valid identifier"].concat()
}

fn ifs(shell: &mut Shell<'_>) -> Ifs {
    Ifs::new(shell.var(b"IFS").as_ref().map(|v| v.as_slice()))
}

/// The next field from `at` on and where the one after it begins; `None` at the end.
fn field(line: &Line, at: usize, ifs: &Ifs) -> Option<(Str, usize)> {
    let text = &line.text;
    let blank = |i: usize| ifs.is_blank(text[i]) && !line.is_escaped(i);
    // Length of the character of IFS there, which may have several bytes.
    let delimiter = |i: usize| match line.is_escaped(i) {
        true => 0,
        false => ifs.delimiter_len(&text[i..]),
    };
    let mut start = at;
    while start < text.len() && blank(start) {
        start += 1;
    }
    if start == text.len() {
        return None;
    }
    let mut end = start;
    while end < text.len() && delimiter(end) == 0 {
        end += 1;
    }
    let value = line.part(start, end);
    // Blanks, at most one delimiter, blanks.
    let mut next = end;
    while next < text.len() && blank(next) {
        next += 1;
    }
    if next < text.len() && delimiter(next) > 0 {
        next += delimiter(next);
        while next < text.len() && blank(next) {
            next += 1;
        }
    }
    Some((value, next))
}

/// What the last variable gets: the rest without surrounding blanks; a single field
/// also without the delimiter after it.
fn remainder(line: &Line, at: usize, ifs: &Ifs) -> Str {
    let text = &line.text;
    let blank = |i: usize| ifs.is_blank(text[i]) && !line.is_escaped(i);
    let mut start = at;
    while start < text.len() && blank(start) {
        start += 1;
    }
    let mut end = text.len();
    while end > start && blank(end - 1) {
        end -= 1;
    }
    if let Some((value, next)) = field(line, start, ifs)
        && next >= text.len()
        && start + value.len() < text.len() - usize::from(line.dangling)
    {
        return value;
    }
    line.part(start, end)
}

impl Shell<'_> {
    /// Whether a read would not block.
    fn input_ready(&self, fd: u32) -> bool {
        let now = |f: &OpenFile| {
            f.is_seekable() || events::poll_readable(f.file(), Duration::ZERO).unwrap_or(false)
        };
        match self.state.fds.get(fd) {
            Some(Desc::File(f)) => now(f),
            Some(Desc::Memory(m)) => m.real().is_none_or(|f| now(&f)),
            _ => false,
        }
    }
}
