//! `read` (POSIX XCU, bash manual 4.2).

use std::rc::Rc;
use std::time::{Duration, Instant};

use box_sys::events;
use sh_expand::array::IndexedArray;
use sh_expand::{Attributes, ExpandCause, ExpandError, Ifs, OwnedKey, Str};

use super::opts::parse_integer;
use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::io::{DescriptorTarget, OpenFile, ReadingMode};
use crate::shell::{Flow, Unwind};
use crate::state::assign::{is_name, is_reference};

/// A line with the positions of its escaped bytes, which neither separate fields nor are trimmed.
#[derive(Default)]
struct EscapedLine {
    text: Vec<u8>,
    escaped: Vec<usize>,
    /// The input ended after a backslash: bash's mark for escaped characters is the last byte.
    dangling: bool,
}

impl EscapedLine {
    /// Returns a part of the line without the mark at its end, which quote removal removes unless
    /// it is the whole part.
    fn part_text(&self, start: usize, end: usize) -> Str {
        let dangling = self.dangling && end == self.text.len() && end > start + 1;
        Rc::new(self.text[start..end - usize::from(dangling)].to_vec())
    }

    fn whole_text(&self) -> Str {
        self.part_text(0, self.text.len())
    }

    fn keep_dangling(&mut self) {
        self.dangling = true;
        self.text.push(1);
    }

    fn extend_escaped(&mut self, byte: Option<u8>) {
        if let Some(byte) = byte {
            self.escaped.push(self.text.len());
            self.text.push(byte);
        }
    }

    fn is_escaped(&self, at: usize) -> bool {
        !self.escaped.is_empty() && self.escaped.binary_search(&at).is_ok()
    }
}

/// Parses a number of seconds, with an optional fraction.
fn parse_seconds(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()? };
    Some(whole as f64 + format!("0.{fraction}0").parse::<f64>().ok()?)
}

/// The request of a call.
struct ReadRequest {
    fd: u32,
    /// The byte that ends the input; `None` if only the length does (`-N`).
    delimiter: Option<u8>,
    /// The maximum number of characters.
    limit: Option<usize>,
    /// `-N`: the text is not split.
    exact: bool,
    /// `-r`: backslashes have no meaning.
    raw: bool,
    /// The timeout in seconds.
    timeout: Option<f64>,
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "ersa:d:i:n:N:p:t:u:")?;
    let request = match parse_request(shell, &p) {
        Ok(request) => request,
        Err(parts) => {
            shell.builtin_error(call.name(), &[&parts]);
            return Ok(1);
        }
    };
    if let Some(prompt) = p.last_value(b'p')
        && shell.fd_is_terminal(request.fd)
    {
        shell.write_err(prompt);
    }
    if request.timeout == Some(0.0) {
        // `read -t 0` only checks whether input is available.
        return Ok(i32::from(!shell.input_ready(request.fd)));
    }
    // The other names are checked when they are assigned.
    if let Some(name) = p.operands.first().filter(|name| !is_reference(name)) {
        shell.builtin_error(call.name(), &[b"`", name, b"': not a valid identifier"]);
        return Ok(1);
    }
    let mode = ReadingMode {
        is_silent: p.has_letter(b's'),
        by_characters: request.limit.is_some() || request.delimiter != Some(b'\n'),
    };
    let _mode = shell.begin_reading_mode(request.fd, mode);
    let mut line = EscapedLine::default();
    let mut from = ReadSource::new(&request);
    let complete = match (request.limit, request.raw) {
        (Some(0), _) => true,
        (None, true) => read_raw(shell, &mut from, &mut line)?,
        (None, false) => read_escaped(shell, &mut from, &mut line)?,
        (Some(limit), raw) => read_chars(shell, &mut from, limit, raw, &mut line)?,
    };
    if let Some(e) = from.failed {
        let (fd, text) = (request.fd.to_string(), box_sys::error_text(&e));
        shell.builtin_error(call.name(), &[b"read error: ", fd.as_bytes(), b": ", text.as_bytes()]);
        return Ok(1);
    }
    let status = if complete {
        0
    } else if from.timed_out {
        // The status of a process that ALRM ended.
        128 + i32::from(box_sys::signal::ALRM)
    } else {
        1
    };
    match store_fields(shell, &p, line, request.exact) {
        Ok(()) => Ok(status),
        Err(e) => shell.assignment_refused(call.name(), &e),
    }
}

/// Parses the options; the error is a message about an option that makes no sense.
fn parse_request(shell: &Shell<'_>, p: &BuiltinArguments<'_>) -> Result<ReadRequest, Vec<u8>> {
    let wrong = |text: &Str, what: &[u8]| [text.as_slice(), what].concat();
    let number = |letter: u8| match p.last_value(letter) {
        None => Ok(None),
        Some(text) => match parse_integer(text).and_then(|n| usize::try_from(n).ok()) {
            Some(n) => Ok(Some(n)),
            None => Err(wrong(text, b": invalid number")),
        },
    };
    let (chars, exact) = (number(b'n')?, number(b'N')?);
    let fd = match p.last_value(b'u') {
        None => 0,
        Some(text) => match parse_integer(text).and_then(|n| u32::try_from(n).ok()) {
            Some(n) if shell.state.fds.get(n).is_some() => n,
            Some(n) if i32::try_from(n).is_ok() => {
                return Err(wrong(text, b": invalid file descriptor: Bad file descriptor"));
            }
            _ => return Err(wrong(text, b": invalid file descriptor specification")),
        },
    };
    let timeout = match p.last_value(b't') {
        None => None,
        Some(text) => match parse_seconds(text) {
            None => return Err(wrong(text, b": invalid timeout specification")),
            seconds => seconds,
        },
    };
    let delimiter = match p.last_value(b'd') {
        _ if exact.is_some() => None,
        None => Some(b'\n'),
        Some(d) => Some(d.first().copied().unwrap_or(0)),
    };
    let limit = exact.or(chars);
    Ok(ReadRequest {
        fd,
        delimiter,
        limit,
        exact: exact.is_some(),
        raw: p.has_letter(b'r'),
        timeout,
    })
}

/// The source of the input, and the reason why it ended early.
struct ReadSource {
    fd: u32,
    delimiter: Option<u8>,
    deadline: Option<Instant>,
    timed_out: bool,
    failed: Option<std::io::Error>,
}

impl ReadSource {
    fn new(request: &ReadRequest) -> ReadSource {
        let deadline = request.timeout.and_then(|t| {
            let time = Duration::try_from_secs_f64(t).unwrap_or(Duration::MAX);
            Instant::now().checked_add(time)
        });
        let ReadRequest { fd, delimiter, .. } = *request;
        ReadSource { fd, delimiter, deadline, timed_out: false, failed: None }
    }

    /// Reads up to and including the delimiter and returns whether it was found.
    fn line(&mut self, shell: &mut Shell<'_>, out: &mut Vec<u8>) -> Result<bool, Unwind> {
        self.until(shell, self.delimiter, usize::MAX, out)
    }

    /// Reads one byte; `None` at the end.
    fn byte(&mut self, shell: &mut Shell<'_>) -> Result<Option<u8>, Unwind> {
        let mut byte = Vec::with_capacity(1);
        self.until(shell, None, 1, &mut byte)?;
        Ok(byte.first().copied())
    }

    /// Reads up to and including `delim`, at most `max` bytes, and returns whether the delimiter
    /// was found.
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

/// Reads the line unchanged, for `-r`.
fn read_raw(
    shell: &mut Shell<'_>,
    from: &mut ReadSource,
    line: &mut EscapedLine,
) -> Result<bool, Unwind> {
    let found = from.line(shell, &mut line.text)?;
    if found {
        line.text.pop();
    }
    if memchr::memchr(0, &line.text).is_some() {
        line.text.retain(|c| *c != 0);
    }
    Ok(found)
}

/// Reads lines that are joined by a backslash before the delimiter.
fn read_escaped(
    shell: &mut Shell<'_>,
    from: &mut ReadSource,
    line: &mut EscapedLine,
) -> Result<bool, Unwind> {
    loop {
        let mut part = Vec::new();
        let found = from.line(shell, &mut part)?;
        if found {
            part.pop();
        }
        let mut joined = false;
        let mut bytes = part.into_iter();
        while let Some(byte) = bytes.next() {
            match (byte, bytes.len()) {
                (b'\\', 1..) => {
                    // A backslash and newline are removed even if the delimiter is another byte.
                    let next = bytes.next().filter(|next| *next != b'\n');
                    line.extend_escaped(next);
                }
                (b'\\', 0) if found => {
                    // The delimiter is the escaped character.
                    joined = true;
                    line.extend_escaped(from.delimiter.filter(|d| *d != b'\n'));
                }
                (b'\\', 0) => line.keep_dangling(),
                (0, _) => {}
                (byte, _) => line.text.push(byte),
            }
        }
        if !joined {
            return Ok(found);
        }
    }
}

/// Reads at most this number of characters, byte by byte, so that no input beyond them is consumed.
fn read_chars(
    shell: &mut Shell<'_>,
    from: &mut ReadSource,
    limit: usize,
    raw: bool,
    line: &mut EscapedLine,
) -> Result<bool, Unwind> {
    let utf8 = !shell.state.options.expand().c_locale;
    let mut chars = 0;
    // The number of bytes that the current character still lacks.
    let mut lacking = 0;
    while chars < limit || lacking > 0 {
        let Some(c) = from.byte(shell)? else { return Ok(false) };
        if from.delimiter == Some(c) && lacking == 0 {
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
        match c {
            b'\\' if !raw => match from.byte(shell)? {
                Some(b'\n') => continue,
                None => {
                    line.keep_dangling();
                    return Ok(false);
                }
                escaped => line.extend_escaped(escaped),
            },
            0 => continue,
            _ => {
                line.text.push(c);
                lacking = match c {
                    0xc2..=0xdf if utf8 => 1,
                    0xe0..=0xef if utf8 => 2,
                    0xf0..=0xf4 if utf8 => 3,
                    _ => 0,
                };
            }
        }
        chars += 1;
    }
    Ok(true)
}

/// Assigns the variables their values.
fn store_fields(
    shell: &mut Shell<'_>,
    p: &BuiltinArguments<'_>,
    line: EscapedLine,
    exact: bool,
) -> Result<(), ExpandError> {
    if let Some(array) = p.last_value(b'a') {
        return store_array(shell, array, &line, exact);
    }
    let Some((last, before)) = p.operands.split_last() else {
        return shell.assign_scalar_to(b"REPLY", None, false, line.whole_text());
    };
    if exact {
        for (at, name) in p.operands.iter().enumerate() {
            assign_variable(shell, name, if at == 0 { line.whole_text() } else { Str::default() })?;
        }
        return Ok(());
    }
    let ifs = read_ifs(shell);
    let mut at = 0;
    for name in before {
        let (value, next) = match next_field(&line, at, &ifs) {
            Some((field, next)) => (field, next),
            None => (Str::default(), line.text.len()),
        };
        at = next;
        assign_variable(shell, name, value)?;
    }
    assign_variable(shell, last, last_field(&line, at, &ifs))
}

/// Performs `-a`: each field becomes an element.
fn store_array(
    shell: &mut Shell<'_>,
    array: &[u8],
    line: &EscapedLine,
    exact: bool,
) -> Result<(), ExpandError> {
    if !is_name(array) {
        return Err(ExpandError::not_an_identifier(array));
    }
    let target = shell.follow_nameref(array)?.name.into_owned();
    if shell.state.vars.get(&target).is_some_and(|v| v.attrs.intersects(Attributes::ASSOC)) {
        return Err(ExpandCause::NotIndexed(target).into());
    }
    let mut fields = IndexedArray::new();
    if exact {
        fields.set(0, line.whole_text());
    } else {
        let ifs = read_ifs(shell);
        let (mut at, mut n) = (0, 0);
        while let Some((field, next)) = next_field(line, at, &ifs) {
            fields.set(n, field);
            n += 1;
            at = next;
        }
    }
    shell.check_writable(&target)?;
    let attrs = shell.state.vars.get(&target).map(|v| v.attrs).unwrap_or_default();
    if !attrs.intersects(Attributes::CONVERTING) {
        return shell.set_array(&target, fields);
    }
    // The attributes convert each element as it is assigned.
    let values: Vec<(i64, Str)> = fields.iter().map(|(i, v)| (i, v.clone())).collect();
    shell.set_array(&target, IndexedArray::new())?;
    for (i, v) in values {
        shell.set_array_element(&target, &OwnedKey::Index(i), false, v)?;
    }
    Ok(())
}

fn assign_variable(shell: &mut Shell<'_>, name: &Str, value: Str) -> Result<(), ExpandError> {
    if is_reference(name) {
        shell.assign_reference(name, value)
    } else {
        Err(ExpandError::not_an_identifier(name))
    }
}

fn read_ifs(shell: &mut Shell<'_>) -> Ifs {
    Ifs::new(shell.variable_text(b"IFS").as_ref().map(|v| v.as_slice()))
}

/// Returns the next field from `at` on and the start of the one after it; `None` at the end.
fn next_field(line: &EscapedLine, at: usize, ifs: &Ifs) -> Option<(Str, usize)> {
    let text = &line.text;
    let blank = |i: usize| ifs.is_blank(text[i]) && !line.is_escaped(i);
    // Length of the IFS character there, which may have several bytes.
    let delimiter = |i: usize| if line.is_escaped(i) { 0 } else { ifs.delimiter_len(&text[i..]) };
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
    let value = line.part_text(start, end);
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

/// Returns the value of the last variable: the rest of the line without surrounding blanks. If that
/// is a single field, the delimiter after it is removed, too.
fn last_field(line: &EscapedLine, at: usize, ifs: &Ifs) -> Str {
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
    if let Some((value, next)) = next_field(line, start, ifs)
        && next >= text.len()
        && start + value.len() < text.len() - usize::from(line.dangling)
    {
        return value;
    }
    line.part_text(start, end)
}

impl Shell<'_> {
    /// Returns whether a read would not block.
    fn input_ready(&self, fd: u32) -> bool {
        let now = |f: &OpenFile| {
            f.is_seekable() || events::poll_readable(f.file(), Duration::ZERO).unwrap_or(false)
        };
        match self.state.fds.get(fd) {
            Some(DescriptorTarget::File(f)) => now(f),
            Some(DescriptorTarget::Memory(m)) => m.real_file().is_none_or(|f| now(&f)),
            _ => false,
        }
    }
}
