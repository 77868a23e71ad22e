//! The commands, by letter.

use std::collections::VecDeque;
use std::io::Write;

use super::address::{EdCommandText, EdLines};
use super::{Editor, Result, RunStep, UndoState, fail};
use crate::machine::list;

/// Columns of the lines that `l` makes.
const WIDTH: usize = 72;

impl Editor<'_, '_> {
    /// Runs one command line. `warned`: the command before warned of unsaved changes.
    pub(super) fn command(&mut self, line: &[u8], warned: bool) -> Result<RunStep> {
        let mut t = EdCommandText { line, at: 0 };
        let range = self.range(&mut t)?;
        t.blanks();
        let Some(c) = t.peek() else {
            // A line by itself is printed; without one, the next.
            let at = if range.given > 0 { range.to } else { self.current + 1 };
            if at == 0 || at > self.lines.len() {
                return fail("Invalid address");
            }
            self.current = at;
            return self.print(EdLines { from: at, to: at, given: 1 }, b'p');
        };
        t.at += 1;
        match c {
            b'p' | b'l' | b'n' => {
                let suffix = suffix(&mut t)?;
                let from = needed(range)?;
                let how = [&[c][..], &suffix].concat();
                self.print_all(EdLines { from, ..range }, &how)
            }
            b'a' | b'i' | b'c' => self.add_text(&mut t, range, c),
            b'd' => {
                let suffix = suffix(&mut t)?;
                let from = needed(range)?;
                self.remember();
                self.delete(from, range.to);
                self.current = from.min(self.lines.len());
                self.print_suffix(&suffix)
            }
            b'j' => self.join(&mut t, range),
            b'm' | b't' => self.transfer(&mut t, range, c),
            b'k' => self.mark(&mut t, range),
            b's' => self.substitute(&mut t, range),
            b'g' | b'v' => self.global(&mut t, range, c == b'g'),
            b'u' => self.undo(&mut t),
            b'=' => {
                let suffix = suffix(&mut t)?;
                let n = if range.given > 0 { range.to } else { self.lines.len() };
                let _ = writeln!(self.ctx.stdout, "{n}");
                self.print_suffix(&suffix)
            }
            b'z' => self.scroll(&mut t, range),
            b'#' => Ok(RunStep::Go),
            b'!' => {
                if range.given > 0 {
                    return fail("Unexpected address");
                }
                self.shell(t.rest())?;
                Ok(RunStep::Go)
            }
            b'r' | b'w' | b'W' | b'e' | b'E' | b'f' => self.with_file(&mut t, range, c, warned),
            b'q' | b'Q' | b'h' | b'H' | b'P' if range.given > 0 => fail("Unexpected address"),
            b'q' | b'Q' | b'h' | b'H' | b'P' => self.about_session(&mut t, c, warned),
            _ => fail("Unknown command"),
        }
    }

    /// `k`: the line keeps the mark wherever it goes.
    fn mark(&mut self, t: &mut EdCommandText<'_>, range: EdLines) -> Result<RunStep> {
        let mark = t.peek().filter(u8::is_ascii_lowercase).ok_or("Invalid mark character")?;
        t.at += 1;
        let suffix = suffix(t)?;
        needed(range)?;
        self.marks.insert(mark, self.lines[range.to - 1].id);
        self.print_suffix(&suffix)
    }

    /// `a`, `i` and `c`: lines up to a single dot.
    fn add_text(&mut self, t: &mut EdCommandText<'_>, range: EdLines, c: u8) -> Result<RunStep> {
        let suffix = suffix(t)?;
        self.remember();
        let at = match c {
            b'a' => range.to,
            b'i' => range.from.saturating_sub(1),
            _ => {
                let from = needed(range)?;
                self.delete(from, range.to);
                from - 1
            }
        };
        let mut texts = Vec::new();
        while let Some(line) = self.next_line().filter(|l| l != b".") {
            texts.push(line);
        }
        let empty = texts.is_empty();
        self.insert(at, texts);
        if empty {
            let line = if c == b'i' { range.to } else { at + usize::from(c == b'c') };
            self.current = line.min(self.lines.len());
        }
        self.print_suffix(&suffix)
    }

    /// `j`: by default, the current line and the next one become one.
    fn join(&mut self, t: &mut EdCommandText<'_>, range: EdLines) -> Result<RunStep> {
        let suffix = suffix(t)?;
        let to = if range.given == 0 { self.current + 1 } else { range.to };
        let from = needed(range)?;
        if to > self.lines.len() {
            return fail("Invalid address");
        }
        if from < to {
            self.remember();
            let parts: Vec<Vec<u8>> =
                self.lines[from - 1..to].iter().map(|l| l.text.to_vec()).collect();
            self.delete(from, to);
            self.insert(from - 1, vec![parts.concat()]);
        }
        self.print_suffix(&suffix)
    }

    /// `u`, which itself can be undone.
    fn undo(&mut self, t: &mut EdCommandText<'_>) -> Result<RunStep> {
        let suffix = suffix(t)?;
        let before = self.undo.take().ok_or("Nothing to undo")?;
        let now = UndoState {
            lines: std::mem::replace(&mut self.lines, before.lines),
            current: std::mem::replace(&mut self.current, before.current),
            modified: std::mem::replace(&mut self.modified, before.modified),
        };
        self.undo = Some(now);
        self.print_suffix(&suffix)
    }

    /// `z`: as many lines as the window has, or as are asked for from then on.
    fn scroll(&mut self, t: &mut EdCommandText<'_>, range: EdLines) -> Result<RunStep> {
        let count = t.number().unwrap_or(self.window).max(1);
        self.window = count;
        let suffix = suffix(t)?;
        let from = if range.given > 0 { range.to } else { self.current + 1 };
        let to = from.saturating_add(count - 1).min(self.lines.len());
        if from == 0 || from > to {
            return fail("Invalid address");
        }
        self.print_all(EdLines { from, to, given: 2 }, &[b"p", &suffix[..]].concat())
    }

    /// `q`, `Q`, `h`, `H` and `P`: what concerns no line.
    fn about_session(&mut self, t: &mut EdCommandText<'_>, c: u8, warned: bool) -> Result<RunStep> {
        let suffix = suffix(t)?;
        match c {
            b'Q' => return Ok(RunStep::Quit),
            b'q' => return self.quit(warned),
            b'P' => self.prompting = !self.prompting,
            _ => {
                if c == b'H' {
                    self.verbose = !self.verbose;
                }
                if !self.error.is_empty() && (c == b'h' || self.verbose) {
                    let _ = writeln!(self.ctx.stdout, "{}", self.error);
                }
            }
        }
        self.print_suffix(&suffix)
    }

    fn quit(&mut self, warned: bool) -> Result<RunStep> {
        if self.modified && !warned {
            self.warned = true;
            return fail("Warning: buffer modified");
        }
        Ok(RunStep::Quit)
    }

    fn with_file(
        &mut self,
        t: &mut EdCommandText<'_>,
        range: EdLines,
        c: u8,
        warned: bool,
    ) -> Result<RunStep> {
        let quits = c == b'w' && matches!(t.peek(), Some(b'q' | b'Q'));
        if quits {
            t.at += 1;
        }
        if !matches!(t.peek(), None | Some(b' ' | b'\t')) {
            return fail("Unexpected command suffix");
        }
        if range.given > 0 && matches!(c, b'e' | b'E' | b'f') {
            return fail("Unexpected address");
        }
        t.blanks();
        let operand = t.rest().to_vec();
        let shell = operand.starts_with(b"!");
        if c == b'f' {
            return self.file_name(operand);
        }
        let edits = matches!(c, b'e' | b'E');
        if c == b'e' && self.modified && !warned {
            self.warned = true;
            return fail("Warning: buffer modified");
        }
        if !operand.is_empty() && !shell && (self.name.is_empty() || edits) {
            self.name.clone_from(&operand);
        }
        let name = if operand.is_empty() { self.name.clone() } else { operand };
        if name.is_empty() {
            return fail("No current filename");
        }
        match c {
            b'r' => {
                self.remember();
                let at = if range.given > 0 { range.to } else { self.lines.len() };
                self.read(&name, at)?;
            }
            b'w' | b'W' => {
                let whole = range.given == 0;
                let (from, to) = if whole { (1, self.lines.len()) } else { (range.from, range.to) };
                self.write(&name, c == b'W', from, to)?;
                if from <= 1 && to == self.lines.len() && !shell {
                    self.modified = false;
                }
                if quits {
                    return self.quit(warned);
                }
            }
            _ => {
                self.lines.clear();
                (self.current, self.modified, self.undo) = (0, false, None);
                self.read(&name, 0)?;
                self.modified = false;
            }
        }
        Ok(RunStep::Go)
    }

    /// `f`: the default name, changed if one is given.
    fn file_name(&mut self, operand: Vec<u8>) -> Result<RunStep> {
        if operand.starts_with(b"!") {
            return fail("Invalid redirection");
        }
        if !operand.is_empty() {
            self.name = operand;
        }
        if self.name.is_empty() {
            return fail("No current filename");
        }
        let _ = self.ctx.stdout.write_all(&[&self.name[..], b"\n"].concat());
        Ok(RunStep::Go)
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.lines.drain(from - 1..to);
        self.modified = true;
    }

    /// `m` and `t`.
    fn transfer(&mut self, t: &mut EdCommandText<'_>, range: EdLines, c: u8) -> Result<RunStep> {
        let from = needed(range)?;
        let current = self.current;
        let target = self.range(t)?;
        self.current = current;
        let suffix = suffix(t)?;
        let to = if target.given > 0 { target.to } else { current };
        let n = range.to + 1 - from;
        if c == b't' {
            self.remember();
            let texts = self.lines[from - 1..range.to].iter().map(|l| l.text.to_vec()).collect();
            self.insert(to, texts);
        } else {
            if (from..range.to).contains(&to) {
                return fail("Invalid destination");
            }
            self.remember();
            let moved: Vec<_> = self.lines.drain(from - 1..range.to).collect();
            let at = if to >= range.to { to - n } else { to };
            self.lines.splice(at..at, moved);
            self.current = at + n;
            self.modified = true;
        }
        self.print_suffix(&suffix)
    }

    /// `g` and `v`: a list of commands for each line that matches, or that does not.
    fn global(
        &mut self,
        t: &mut EdCommandText<'_>,
        range: EdLines,
        positive: bool,
    ) -> Result<RunStep> {
        if self.feed.is_some() {
            return fail("Cannot nest global commands");
        }
        let delimiter = t.peek().filter(|c| *c != b' ').ok_or("Invalid pattern delimiter")?;
        t.at += 1;
        let pattern = t.until(delimiter);
        let regex = self.regex(&pattern, false)?;
        if t.peek() == Some(b'I') {
            t.at += 1;
        }
        let mut list = vec![t.rest().to_vec()];
        while list.last().is_some_and(|l| ends_in_backslash(l)) {
            if let Some(l) = list.last_mut() {
                l.pop();
            }
            list.push(self.next_line().ok_or("Unexpected end-of-file")?);
        }
        if list == [b""] {
            list = vec![b"p".to_vec()];
        }
        let (from, to) =
            if range.given == 0 { (1, self.lines.len()) } else { (range.from, range.to) };
        let chosen: Vec<u64> = self.lines[from.saturating_sub(1)..to]
            .iter()
            .filter(|l| regex.is_match(&l.text) == positive)
            .map(|l| l.id)
            .collect();
        self.remember();
        let mut hint = 0;
        for id in chosen {
            // Lines keep their order mostly: the search begins where the last one was.
            let n = self.lines.len();
            let Some(at) = (0..n).map(|i| (hint + i) % n).find(|i| self.lines[*i].id == id) else {
                continue;
            };
            hint = at;
            self.current = at + 1;
            self.feed = Some(list.iter().cloned().collect::<VecDeque<_>>());
            while let Some(line) = self.next_line() {
                if self.command(&line, false)? == RunStep::Quit {
                    self.feed = None;
                    return Ok(RunStep::Quit);
                }
            }
        }
        self.feed = None;
        Ok(RunStep::Go)
    }

    /// Prints lines in the ways that letters ask for; the last one is the current one then.
    fn print_all(&mut self, range: EdLines, how: &[u8]) -> Result<RunStep> {
        let kind = if how.contains(&b'l') { b'l' } else { b'p' };
        let numbers = how.contains(&b'n');
        for at in range.from..=range.to {
            if numbers {
                let _ = write!(self.ctx.stdout, "{at}\t");
            }
            self.print(EdLines { from: at, to: at, given: 1 }, kind)?;
        }
        self.current = range.to;
        Ok(RunStep::Go)
    }

    fn print(&mut self, range: EdLines, how: u8) -> Result<RunStep> {
        let text = self.lines[range.from - 1].text.clone();
        let out = match how {
            b'l' => list(&text, b"\\$", WIDTH, false),
            _ => [&text[..], b"\n"].concat(),
        };
        let _ = self.ctx.stdout.write_all(&out);
        Ok(RunStep::Go)
    }

    /// Prints the current line if letters behind a command ask for it.
    pub(super) fn print_suffix(&mut self, letters: &[u8]) -> Result<RunStep> {
        if letters.is_empty() {
            return Ok(RunStep::Go);
        }
        let at = self.current;
        if at == 0 {
            return fail("Invalid address");
        }
        self.print_all(EdLines { from: at, to: at, given: 1 }, letters)
    }
}

/// The letters `p`, `l` and `n` behind a command.
fn suffix(t: &mut EdCommandText<'_>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    while let Some(c) = t.peek() {
        match c {
            b'p' | b'l' | b'n' => out.push(c),
            _ => return fail("Invalid command suffix"),
        }
        t.at += 1;
    }
    Ok(out)
}

/// The first line of a range that must not be 0.
fn needed(range: EdLines) -> Result<usize> {
    if range.from == 0 { fail("Invalid address") } else { Ok(range.from) }
}

fn ends_in_backslash(line: &[u8]) -> bool {
    line.iter().rev().take_while(|c| **c == b'\\').count() % 2 == 1
}
