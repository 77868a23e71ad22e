//! The command `s`, which replaces matches in a range of lines.

use std::rc::Rc;

use box_text::number::utf8_len;
use box_text::regex::{Captures, Regex};

use super::address::{EdCommandText, EdLines};
use super::{Editor, Result, RunStep, fail_with};

/// A substitution, which is kept for `s` without arguments and for `%`.
#[derive(Clone)]
pub(super) struct EdSubstitute {
    regex: Rc<Regex>,
    replacement: Vec<u8>,
    global: bool,
    count: usize,
}

impl Editor<'_, '_> {
    pub(super) fn run_substitute(
        &mut self,
        t: &mut EdCommandText<'_>,
        range: EdLines,
    ) -> Result<RunStep> {
        let s;
        let mut print = Vec::new();
        match t.peek_byte() {
            None | Some(b'g' | b'p' | b'l' | b'n') => {
                let mut again = self.last_substitute.clone().ok_or("No previous substitution")?;
                while let Some(c) = t.peek_byte() {
                    t.at += 1;
                    match c {
                        b'g' => again.global = !again.global,
                        b'p' | b'l' | b'n' => print.push(c),
                        _ => return fail_with("Invalid command suffix"),
                    }
                }
                s = again;
            }
            Some(b' ' | b'\n') => return fail_with("Invalid pattern delimiter"),
            Some(delimiter) => {
                t.at += 1;
                let pattern = t.take_until(delimiter);
                let mut closed = true;
                let (replacement, flags) =
                    self.parse_replacement(t.rest_bytes(), delimiter, &mut closed)?;
                let mut t = EdCommandText { line: &flags, at: 0 };
                let (mut global, mut count, mut ignore_case) = (false, 1, false);
                while let Some(c) = t.peek_byte() {
                    match c {
                        b'0'..=b'9' => {
                            count = t
                                .take_number()
                                .filter(|n| *n > 0)
                                .ok_or("Invalid command suffix")?;
                            continue;
                        }
                        b'g' => global = true,
                        b'i' | b'I' => ignore_case = true,
                        b'p' | b'l' | b'n' => print.push(c),
                        _ => return fail_with("Invalid command suffix"),
                    }
                    t.at += 1;
                }
                if !closed {
                    print.push(b'p');
                }
                let regex = self.compile_regex(&pattern, ignore_case)?;
                s = EdSubstitute { regex, replacement, global, count };
            }
        }
        self.last_substitute = Some(s.clone());
        if range.from == 0 {
            return fail_with("Invalid address");
        }
        self.remember_undo();
        let (mut at, mut left, mut last) = (range.from - 1, range.to + 1 - range.from, None);
        while left > 0 {
            left -= 1;
            let text = self.lines[at].text.clone();
            match replace_matches(&s, &text) {
                None => at += 1,
                Some(new) => {
                    let mut parts: Vec<Vec<u8>> =
                        new.split(|c| *c == b'\n').map(<[u8]>::to_vec).collect();
                    let first = parts.remove(0);
                    // The first part replaces the line's text, so that the line keeps its marks.
                    self.lines[at].text = Rc::new(first);
                    let n = parts.len();
                    self.insert_lines(at + 1, parts);
                    at += n + 1;
                    last = Some(at);
                    self.modified = true;
                }
            }
        }
        match last {
            Some(line) => self.current = line,
            // Within a `g`, lines without a match are skipped.
            None if self.feed.is_some() => return Ok(RunStep::Go),
            None => return fail_with("No match"),
        }
        self.print_suffix(&print)
    }

    /// Parses the replacement and the flags after it. A backslash at the end of a line continues it
    /// on the next one.
    fn parse_replacement(
        &mut self,
        text: &[u8],
        delimiter: u8,
        closed: &mut bool,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut out = Vec::new();
        let mut line = text.to_vec();
        let mut at = 0;
        loop {
            match line.get(at) {
                None => {
                    *closed = false;
                    break;
                }
                Some(b'\\') => match line.get(at + 1) {
                    None => {
                        out.push(b'\n');
                        line = self.next_line().ok_or("Unexpected end-of-file")?;
                        at = 0;
                        continue;
                    }
                    Some(c) => {
                        if *c != delimiter {
                            out.push(b'\\');
                        }
                        out.push(*c);
                        at += 2;
                        continue;
                    }
                },
                Some(c) if *c == delimiter => {
                    at += 1;
                    break;
                }
                Some(c) => out.push(*c),
            }
            at += 1;
        }
        let flags = line.get(at..).unwrap_or_default().to_vec();
        if out == b"%" {
            let last = self.last_substitute.as_ref().ok_or("No previous substitution")?;
            out.clone_from(&last.replacement);
        }
        Ok((out, flags))
    }
}

/// Returns the line with its matches replaced; `None` if there are none.
fn replace_matches(s: &EdSubstitute, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut captures = Captures::default();
    let (mut pos, mut copied, mut seen, mut done) = (0, 0, 0, false);
    let mut last_end = None;
    while pos <= text.len() && s.regex.captures_at(text, pos, &mut captures) {
        let Some((start, end)) = captures.get(0) else { break };
        let empty = start == end;
        if !(empty && last_end == Some(start)) {
            seen += 1;
            if seen >= s.count {
                out.extend_from_slice(&text[copied..start]);
                expand_replacement(&s.replacement, text, &captures, &mut out);
                (copied, done) = (end, true);
                if !s.global {
                    break;
                }
            }
        }
        last_end = Some(end);
        pos = if empty {
            if end >= text.len() {
                break;
            }
            end + utf8_len(&text[end..]).max(1)
        } else {
            end
        };
    }
    if !done {
        return None;
    }
    out.extend_from_slice(&text[copied..]);
    Some(out)
}

fn expand_replacement(replacement: &[u8], text: &[u8], captures: &Captures, out: &mut Vec<u8>) {
    let mut rest = replacement;
    while let Some((c, tail)) = rest.split_first() {
        rest = tail;
        let group = match (c, tail.first()) {
            (b'&', _) => Some(0),
            (b'\\', Some(d @ b'0'..=b'9')) => {
                rest = &tail[1..];
                Some(usize::from(d - b'0'))
            }
            (b'\\', Some(other)) => {
                out.push(*other);
                rest = &tail[1..];
                None
            }
            _ => {
                out.push(*c);
                None
            }
        };
        if let Some((from, to)) = group.and_then(|n| captures.get(n)) {
            out.extend_from_slice(&text[from..to]);
        }
    }
}
