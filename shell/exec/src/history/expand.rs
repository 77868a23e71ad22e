//! History expansion (bash manual 9.3): `!!`, `!n`, `!string`, words and modifiers of an event.

use std::ops::Range;

/// Why a line cannot be expanded, with the text that is to blame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryFault {
    #[error("{}: event not found", show(.0))]
    NoEvent(Vec<u8>),
    #[error("{}: bad word specifier", show(.0))]
    BadWord(Vec<u8>),
    #[error("{}: substitution failed", show(.0))]
    NoSubstitution(Vec<u8>),
    #[error("{}: unrecognized history modifier", show(.0))]
    BadModifier(Vec<u8>),
}

fn show(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The result of an expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedLine {
    pub text: Vec<u8>,
    /// Whether anything was replaced, so that the line is shown again.
    pub has_changed: bool,
    /// `:p`: the line is shown and kept, but not run.
    pub only_shows: bool,
}

type Result<T> = std::result::Result<T, HistoryFault>;

/// Expands a line with the history before it.
///
/// # Errors
/// The line must not run if an event, a word or a text to replace does not exist.
pub fn expand_line(line: &[u8], history: &[Vec<u8>]) -> Result<ExpandedLine> {
    let mut e = Expansion { history, line, at: 0, out: Vec::new(), only_shows: false };
    let mut has_changed = false;
    if line.first() == Some(&b'^') {
        e.quick_substitution()?;
        has_changed = true;
    }
    let (mut in_double, mut in_single) = (false, false);
    while let Some(&c) = line.get(e.at) {
        match c {
            b'\\' if !in_single => {
                e.copy(2);
                continue;
            }
            b'\'' if !in_double => in_single = !in_single,
            b'"' if !in_single => in_double = !in_double,
            b'!' if !in_single && e.begins_event(in_double) => {
                e.event()?;
                has_changed = true;
                continue;
            }
            _ => {}
        }
        e.copy(1);
    }
    Ok(ExpandedLine { text: e.out, has_changed, only_shows: e.only_shows })
}

struct Expansion<'l> {
    history: &'l [Vec<u8>],
    line: &'l [u8],
    at: usize,
    out: Vec<u8>,
    only_shows: bool,
}

impl Expansion<'_> {
    fn copy(&mut self, n: usize) {
        let end = (self.at + n).min(self.line.len());
        self.out.extend_from_slice(&self.line[self.at..end]);
        self.at = end;
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn take(&mut self, c: u8) -> bool {
        let is_there = self.peek() == Some(c);
        self.at += usize::from(is_there);
        is_there
    }

    /// Returns whether the exclamation mark is the beginning of an event. It is none in `$!`, `${!a}`
    /// and `[!a]`, and before a blank, `=` or the end.
    fn begins_event(&self, in_double: bool) -> bool {
        let next = self.line.get(self.at + 1);
        let ends = matches!(next, None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'=' | b'('));
        let before = self.out.last();
        !(ends
            || in_double && next == Some(&b'"')
            || matches!(before, Some(b'$' | b'['))
            || self.out.ends_with(b"${"))
    }

    fn fault(&self, from: usize) -> Vec<u8> {
        self.line[from..self.at].trim_ascii_end().to_vec()
    }

    /// Expands one event, with its words and modifiers.
    fn event(&mut self) -> Result<()> {
        let begun = self.at;
        self.at += 1;
        let event: Vec<u8> = match self.peek() {
            Some(b'!') => {
                self.at += 1;
                self.entry_before(1)
            }
            Some(b'#') => {
                self.at += 1;
                Some(self.out.clone())
            }
            // Words of the last command.
            Some(b'$' | b'^' | b'*' | b':') => self.entry_before(1),
            Some(b'-') if self.line.get(self.at + 1).is_some_and(u8::is_ascii_digit) => {
                self.at += 1;
                let n = self.number().unwrap_or(0);
                self.entry_before(n)
            }
            Some(b'0'..=b'9') => {
                let n = self.number().unwrap_or(0);
                n.checked_sub(1).and_then(|n| self.history.get(n)).cloned()
            }
            Some(b'?') => {
                self.at += 1;
                let text = self.until(|c| c == b'?' || c == b'\n');
                self.take(b'?');
                let has = |l: &&Vec<u8>| memchr::memmem::find(l, &text).is_some();
                self.history.iter().rev().find(has).cloned()
            }
            _ => {
                let text = self.until(|c| {
                    matches!(
                        c,
                        b' ' | b'\t'
                            | b'\n'
                            | b':'
                            | b';'
                            | b'&'
                            | b'|'
                            | b'<'
                            | b'>'
                            | b'('
                            | b')'
                            | b'"'
                            | b'\''
                            | b'^'
                            | b'$'
                            | b'*'
                            | b'?'
                    )
                });
                self.history.iter().rev().find(|l| l.starts_with(&text)).cloned()
            }
        }
        .ok_or_else(|| HistoryFault::NoEvent(self.fault(begun)))?;
        let chosen = self.words(&event)?;
        let text = self.modifiers(chosen)?;
        self.out.extend_from_slice(&text);
        Ok(())
    }

    fn entry_before(&self, n: usize) -> Option<Vec<u8>> {
        self.history.len().checked_sub(n).and_then(|at| self.history.get(at)).cloned()
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.until(|c| !c.is_ascii_digit());
        std::str::from_utf8(&digits).ok()?.parse().ok()
    }

    fn until(&mut self, ends: impl Fn(u8) -> bool) -> Vec<u8> {
        let begun = self.at;
        while self.peek().is_some_and(|c| !ends(c)) {
            self.at += 1;
        }
        self.line[begun..self.at].to_vec()
    }

    /// Returns the chosen words of an event, or all of it.
    fn words(&mut self, event: &[u8]) -> Result<Vec<u8>> {
        let begun = self.at;
        let has_colon = self.peek() == Some(b':');
        let first = if has_colon { self.line.get(self.at + 1).copied() } else { self.peek() };
        let is_word = match first {
            Some(b'^' | b'$' | b'*') => true,
            Some(b'0'..=b'9' | b'-' | b'%') => has_colon,
            _ => false,
        };
        if !is_word {
            return Ok(event.to_vec());
        }
        self.at += usize::from(has_colon);
        let all = split_words(event);
        let last = all.len().saturating_sub(1);
        let (from, to) = if self.take(b'*') {
            // Without arguments this is nothing.
            (1, last)
        } else {
            let from = if self.peek() == Some(b'-') { Some(0) } else { self.word_number(last) };
            let from = from.ok_or_else(|| HistoryFault::BadWord(self.fault(begun)))?;
            if self.take(b'*') {
                (from, last)
            } else if self.take(b'-') {
                // An open range omits the last word.
                let to = self.word_number(last).unwrap_or(last.saturating_sub(1));
                (from, to)
            } else {
                (from, from)
            }
        };
        if from > to && from == 1 && to == 0 {
            return Ok(Vec::new());
        }
        if from > to || to > last {
            return Err(HistoryFault::BadWord(self.fault(begun)));
        }
        Ok(event[all[from].start..all[to].end].to_vec())
    }

    fn word_number(&mut self, last: usize) -> Option<usize> {
        match self.peek()? {
            b'^' => {
                self.at += 1;
                Some(1)
            }
            b'$' => {
                self.at += 1;
                Some(last)
            }
            b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn modifiers(&mut self, mut text: Vec<u8>) -> Result<Vec<u8>> {
        while self.peek() == Some(b':') {
            let begun = self.at;
            self.at += 1;
            let is_global = matches!(self.peek(), Some(b'g' | b'a'));
            self.at += usize::from(is_global);
            let Some(letter) = self.peek() else {
                self.at = begun;
                break;
            };
            self.at += 1;
            let slash = |text: &[u8]| text.iter().rposition(|c| *c == b'/');
            let dot = |text: &[u8]| text.iter().rposition(|c| *c == b'.');
            match letter {
                b'h' => text.truncate(slash(&text).unwrap_or(text.len())),
                b't' => drop(text.drain(..slash(&text).map_or(0, |at| at + 1))),
                b'r' => text.truncate(dot(&text).unwrap_or(text.len())),
                b'e' => drop(text.drain(..dot(&text).unwrap_or(0))),
                b'p' => self.only_shows = true,
                b'q' => text = box_text::escape::at_q(&text),
                b's' => {
                    let Some(end) = self.peek() else {
                        return Err(HistoryFault::NoSubstitution(self.fault(begun)));
                    };
                    self.at += 1;
                    let from = self.until(|c| c == end);
                    self.take(end);
                    let to = self.until(|c| c == end || c == b'\n');
                    self.take(end);
                    text = substitute(&text, &from, &to, is_global)
                        .ok_or_else(|| HistoryFault::NoSubstitution(self.fault(begun)))?;
                }
                _ => {
                    let blamed = self.line[begun + 1..self.at].to_vec();
                    return Err(HistoryFault::BadModifier(blamed));
                }
            }
        }
        Ok(text)
    }

    /// Performs `^from^to^` at the beginning of a line.
    fn quick_substitution(&mut self) -> Result<()> {
        self.at = 1;
        let from = self.until(|c| c == b'^' || c == b'\n');
        self.take(b'^');
        let to = self.until(|c| c == b'^' || c == b'\n');
        self.take(b'^');
        let blame = || HistoryFault::NoSubstitution([b":s", &self.fault(0)[..]].concat());
        let last = self.entry_before(1).ok_or_else(blame)?;
        let text = substitute(&last, &from, &to, false).ok_or_else(blame)?;
        self.out = self.modifiers(text)?;
        Ok(())
    }
}

/// Replaces a text by another, in which `&` stands for the first; `None` if it does not occur.
fn substitute(text: &[u8], from: &[u8], to: &[u8], is_global: bool) -> Option<Vec<u8>> {
    let first = memchr::memmem::find(text, from).filter(|_| !from.is_empty())?;
    let mut new = Vec::new();
    let mut rest = to.iter().copied().peekable();
    while let Some(c) = rest.next() {
        match c {
            b'\\' if rest.peek() == Some(&b'&') => new.extend(rest.next()),
            b'&' => new.extend_from_slice(from),
            c => new.push(c),
        }
    }
    let mut out = text[..first].to_vec();
    let mut at = first;
    loop {
        out.extend_from_slice(&new);
        at += from.len();
        let Some(next) = memchr::memmem::find(&text[at..], from).filter(|_| is_global) else {
            break;
        };
        out.extend_from_slice(&text[at..at + next]);
        at += next;
    }
    out.extend_from_slice(&text[at..]);
    Some(out)
}

/// Returns where the words of a command are: operators are words, quotes hold words together.
fn split_words(line: &[u8]) -> Vec<Range<usize>> {
    let is_operator = |c: u8| matches!(c, b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')');
    let (mut words, mut at) = (Vec::new(), 0);
    while at < line.len() {
        if line[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        if is_operator(line[at]) {
            while at < line.len() && is_operator(line[at]) && at - start < 2 {
                at += 1;
            }
        } else {
            let mut quote = None;
            while let Some(&c) = line.get(at) {
                match (c, quote) {
                    (b'\\', None | Some(b'"')) => at += 1,
                    (c, Some(q)) if c == q => quote = None,
                    (b'"' | b'\'' | b'`', None) => quote = Some(c),
                    (c, None) if c.is_ascii_whitespace() || is_operator(c) => break,
                    _ => {}
                }
                at += 1;
            }
            at = at.min(line.len());
        }
        words.push(start..at);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> Vec<Vec<u8>> {
        ["echo one two three", "cd /usr/share/doc.d", "ls -l 'a b' | wc"]
            .iter()
            .map(|l| l.as_bytes().to_vec())
            .collect()
    }

    /// What bash 5.2 shows and runs for these lines after that history, with `set -H`.
    #[test]
    fn events_words_and_modifiers() {
        for (line, expected) in [
            ("!!", "ls -l 'a b' | wc"),
            ("sudo !!", "sudo ls -l 'a b' | wc"),
            ("!1", "echo one two three"),
            ("!-2", "cd /usr/share/doc.d"),
            ("!ec", "echo one two three"),
            ("!?one?", "echo one two three"),
            ("echo !$", "echo wc"),
            ("echo !ec:1", "echo one"),
            ("echo !1:2-3", "echo two three"),
            ("echo !1:1*", "echo one two three"),
            ("echo !1*", "echo one two three"),
            ("echo !1:0", "echo echo"),
            ("echo !1:1-", "echo one two"),
            ("echo !!:2", "echo 'a b'"),
            ("echo !cd:$:h", "echo /usr/share"),
            ("echo !cd:$:t", "echo doc.d"),
            ("echo !cd:$:r", "echo /usr/share/doc"),
            ("echo !cd:$:e", "echo .d"),
            ("!ec:s/one/1/", "echo 1 two three"),
            ("!1:gs/e/E/", "Echo onE two thrEE"),
            ("^wc^cat^", "ls -l 'a b' | cat"),
            ("echo \"!1:1\"", "echo \"one\""),
            ("echo a !#", "echo a echo a "),
        ] {
            let found = expand_line(line.as_bytes(), &history()).unwrap();
            assert_eq!(String::from_utf8_lossy(&found.text), expected, "{line}");
            assert!(found.has_changed);
        }
    }

    #[test]
    fn other_marks_stay() {
        for line in [
            "echo hi!",
            "[ ! -e x ]",
            "a != b",
            "echo '!!'",
            "echo \\!!",
            "echo $! ${!x} [!a]",
            "echo \"hi!\"",
        ] {
            let found = expand_line(line.as_bytes(), &history()).unwrap();
            assert_eq!((found.text.as_slice(), found.has_changed), (line.as_bytes(), false));
        }
    }

    #[test]
    fn faults_are_named() {
        let fault = |line: &str| expand_line(line.as_bytes(), &history()).unwrap_err().to_string();
        assert_eq!(fault("!nope\n"), "!nope: event not found");
        assert_eq!(fault("!99"), "!99: event not found");
        assert_eq!(fault("echo !1:9"), ":9: bad word specifier");
        assert_eq!(fault("!1:s/x/y/"), ":s/x/y/: substitution failed");
        assert_eq!(fault("^x^y"), ":s^x^y: substitution failed");
        assert!(expand_line(b"!!:p", &history()).unwrap().only_shows);
    }
}
