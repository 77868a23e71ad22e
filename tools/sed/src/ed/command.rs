//! The commands, by letter.

use std::collections::VecDeque;
use std::io::Write;

use super::address::{EdCommandText, EdLines};
use super::{Editor, Result, RunStep, UndoState, fail_with};
use crate::machine::unambiguous_text;

/// The number of columns of the lines that `l` prints.
const WIDTH: usize = 72;

impl Editor<'_, '_> {
    /// Runs one command line. `warned` says that the previous command warned of unsaved changes.
    pub(super) fn run_command(&mut self, line: &[u8], warned: bool) -> Result<RunStep> {
        let mut t = EdCommandText { line, at: 0 };
        let range = self.parse_range(&mut t)?;
        t.skip_blanks();
        let Some(c) = t.peek_byte() else {
            // An address without a command prints that line, and an empty command the next one.
            let at = if range.given > 0 { range.to } else { self.current + 1 };
            if at == 0 || at > self.lines.len() {
                return fail_with("Invalid address");
            }
            self.current = at;
            return self.run_print(EdLines { from: at, to: at, given: 1 }, b'p');
        };
        t.at += 1;
        match c {
            b'p' | b'l' | b'n' => {
                let suffix = parse_suffix(&mut t)?;
                let from = require_line(range)?;
                let how = [&[c][..], &suffix].concat();
                self.print_all(EdLines { from, ..range }, &how)
            }
            b'a' | b'i' | b'c' => self.add_text(&mut t, range, c),
            b'd' => {
                let suffix = parse_suffix(&mut t)?;
                let from = require_line(range)?;
                self.remember_undo();
                self.delete_lines(from, range.to);
                self.current = from.min(self.lines.len());
                self.print_suffix(&suffix)
            }
            b'j' => self.run_join(&mut t, range),
            b'm' | b't' => self.run_transfer(&mut t, range, c),
            b'k' => self.run_mark(&mut t, range),
            b's' => self.run_substitute(&mut t, range),
            b'g' | b'v' => self.run_global(&mut t, range, c == b'g'),
            b'u' => self.run_undo(&mut t),
            b'=' => {
                let suffix = parse_suffix(&mut t)?;
                let n = if range.given > 0 { range.to } else { self.lines.len() };
                let _ = writeln!(self.ctx.stdout, "{n}");
                self.print_suffix(&suffix)
            }
            b'z' => self.run_scroll(&mut t, range),
            b'#' => Ok(RunStep::Go),
            b'!' => {
                if range.given > 0 {
                    return fail_with("Unexpected address");
                }
                self.run_shell(t.rest_bytes())?;
                Ok(RunStep::Go)
            }
            b'r' | b'w' | b'W' | b'e' | b'E' | b'f' => self.with_file(&mut t, range, c, warned),
            b'q' | b'Q' | b'h' | b'H' | b'P' if range.given > 0 => fail_with("Unexpected address"),
            b'q' | b'Q' | b'h' | b'H' | b'P' => self.about_session(&mut t, c, warned),
            _ => fail_with("Unknown command"),
        }
    }

    /// Runs `k`, which marks a line; the mark moves with the line.
    fn run_mark(&mut self, t: &mut EdCommandText<'_>, range: EdLines) -> Result<RunStep> {
        let mark = t.peek_byte().filter(u8::is_ascii_lowercase).ok_or("Invalid mark character")?;
        t.at += 1;
        let suffix = parse_suffix(t)?;
        require_line(range)?;
        self.marks.insert(mark, self.lines[range.to - 1].id);
        self.print_suffix(&suffix)
    }

    /// Runs `a`, `i` and `c`: reads lines up to a single dot.
    fn add_text(&mut self, t: &mut EdCommandText<'_>, range: EdLines, c: u8) -> Result<RunStep> {
        let suffix = parse_suffix(t)?;
        self.remember_undo();
        let at = match c {
            b'a' => range.to,
            b'i' => range.from.saturating_sub(1),
            _ => {
                let from = require_line(range)?;
                self.delete_lines(from, range.to);
                from - 1
            }
        };
        let mut texts = Vec::new();
        while let Some(line) = self.next_line().filter(|l| l != b".") {
            texts.push(line);
        }
        let empty = texts.is_empty();
        self.insert_lines(at, texts);
        if empty {
            let line = if c == b'i' { range.to } else { at + usize::from(c == b'c') };
            self.current = line.min(self.lines.len());
        }
        self.print_suffix(&suffix)
    }

    /// Runs `j`: by default, joins the current line and the next one.
    fn run_join(&mut self, t: &mut EdCommandText<'_>, range: EdLines) -> Result<RunStep> {
        let suffix = parse_suffix(t)?;
        let to = if range.given == 0 { self.current + 1 } else { range.to };
        let from = require_line(range)?;
        if to > self.lines.len() {
            return fail_with("Invalid address");
        }
        if from < to {
            self.remember_undo();
            let parts: Vec<Vec<u8>> =
                self.lines[from - 1..to].iter().map(|l| l.text.to_vec()).collect();
            self.delete_lines(from, to);
            self.insert_lines(from - 1, vec![parts.concat()]);
        }
        self.print_suffix(&suffix)
    }

    /// Runs `u`, which itself can be undone.
    fn run_undo(&mut self, t: &mut EdCommandText<'_>) -> Result<RunStep> {
        let suffix = parse_suffix(t)?;
        let before = self.undo.take().ok_or("Nothing to undo")?;
        let now = UndoState {
            lines: std::mem::replace(&mut self.lines, before.lines),
            current: std::mem::replace(&mut self.current, before.current),
            modified: std::mem::replace(&mut self.modified, before.modified),
        };
        self.undo = Some(now);
        self.print_suffix(&suffix)
    }

    /// Runs `z`, which prints as many lines as the window has. A number sets the size of the
    /// window.
    fn run_scroll(&mut self, t: &mut EdCommandText<'_>, range: EdLines) -> Result<RunStep> {
        let count = t.take_number().unwrap_or(self.window).max(1);
        self.window = count;
        let suffix = parse_suffix(t)?;
        let from = if range.given > 0 { range.to } else { self.current + 1 };
        let to = from.saturating_add(count - 1).min(self.lines.len());
        if from == 0 || from > to {
            return fail_with("Invalid address");
        }
        self.print_all(EdLines { from, to, given: 2 }, &[b"p", &suffix[..]].concat())
    }

    /// Runs `q`, `Q`, `h`, `H` and `P`, the commands that do not affect lines.
    fn about_session(&mut self, t: &mut EdCommandText<'_>, c: u8, warned: bool) -> Result<RunStep> {
        let suffix = parse_suffix(t)?;
        match c {
            b'Q' => return Ok(RunStep::Quit),
            b'q' => return self.run_quit(warned),
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

    fn run_quit(&mut self, warned: bool) -> Result<RunStep> {
        if self.modified && !warned {
            self.warned = true;
            return fail_with("Warning: buffer modified");
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
        let quits = c == b'w' && matches!(t.peek_byte(), Some(b'q' | b'Q'));
        if quits {
            t.at += 1;
        }
        if !matches!(t.peek_byte(), None | Some(b' ' | b'\t')) {
            return fail_with("Unexpected command suffix");
        }
        if range.given > 0 && matches!(c, b'e' | b'E' | b'f') {
            return fail_with("Unexpected address");
        }
        t.skip_blanks();
        let operand = t.rest_bytes().to_vec();
        let shell = operand.starts_with(b"!");
        if c == b'f' {
            return self.file_name(operand);
        }
        let edits = matches!(c, b'e' | b'E');
        if c == b'e' && self.modified && !warned {
            self.warned = true;
            return fail_with("Warning: buffer modified");
        }
        if !operand.is_empty() && !shell && (self.name.is_empty() || edits) {
            self.name.clone_from(&operand);
        }
        let name = if operand.is_empty() { self.name.clone() } else { operand };
        if name.is_empty() {
            return fail_with("No current filename");
        }
        match c {
            b'r' => {
                self.remember_undo();
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
                    return self.run_quit(warned);
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

    /// Runs `f`, which prints the default name, and first changes it if one is given.
    fn file_name(&mut self, operand: Vec<u8>) -> Result<RunStep> {
        if operand.starts_with(b"!") {
            return fail_with("Invalid redirection");
        }
        if !operand.is_empty() {
            self.name = operand;
        }
        if self.name.is_empty() {
            return fail_with("No current filename");
        }
        let _ = self.ctx.stdout.write_all(&[&self.name[..], b"\n"].concat());
        Ok(RunStep::Go)
    }

    fn delete_lines(&mut self, from: usize, to: usize) {
        self.lines.drain(from - 1..to);
        self.modified = true;
    }

    /// Runs `m` and `t`.
    fn run_transfer(
        &mut self,
        t: &mut EdCommandText<'_>,
        range: EdLines,
        c: u8,
    ) -> Result<RunStep> {
        let from = require_line(range)?;
        let current = self.current;
        let target = self.parse_range(t)?;
        self.current = current;
        let suffix = parse_suffix(t)?;
        let to = if target.given > 0 { target.to } else { current };
        let n = range.to + 1 - from;
        if c == b't' {
            self.remember_undo();
            let texts = self.lines[from - 1..range.to].iter().map(|l| l.text.to_vec()).collect();
            self.insert_lines(to, texts);
        } else {
            if (from..range.to).contains(&to) {
                return fail_with("Invalid destination");
            }
            self.remember_undo();
            let moved: Vec<_> = self.lines.drain(from - 1..range.to).collect();
            let at = if to >= range.to { to - n } else { to };
            self.lines.splice(at..at, moved);
            self.current = at + n;
            self.modified = true;
        }
        self.print_suffix(&suffix)
    }

    /// Runs `g` and `v`, which run a list of commands for each line that matches, or does not
    /// match.
    fn run_global(
        &mut self,
        t: &mut EdCommandText<'_>,
        range: EdLines,
        positive: bool,
    ) -> Result<RunStep> {
        if self.feed.is_some() {
            return fail_with("Cannot nest global commands");
        }
        let delimiter = t.peek_byte().filter(|c| *c != b' ').ok_or("Invalid pattern delimiter")?;
        t.at += 1;
        let pattern = t.take_until(delimiter);
        let regex = self.compile_regex(&pattern, false)?;
        if t.peek_byte() == Some(b'I') {
            t.at += 1;
        }
        let mut list = vec![t.rest_bytes().to_vec()];
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
        self.remember_undo();
        let mut hint = 0;
        for id in chosen {
            // Lines mostly keep their order, so the search begins where the last line was found.
            let n = self.lines.len();
            let Some(at) = (0..n).map(|i| (hint + i) % n).find(|i| self.lines[*i].id == id) else {
                continue;
            };
            hint = at;
            self.current = at + 1;
            self.feed = Some(list.iter().cloned().collect::<VecDeque<_>>());
            while let Some(line) = self.next_line() {
                if self.run_command(&line, false)? == RunStep::Quit {
                    self.feed = None;
                    return Ok(RunStep::Quit);
                }
            }
        }
        self.feed = None;
        Ok(RunStep::Go)
    }

    /// Prints lines in the forms that the letters request, and makes the last one the current line.
    fn print_all(&mut self, range: EdLines, how: &[u8]) -> Result<RunStep> {
        let kind = if how.contains(&b'l') { b'l' } else { b'p' };
        let numbers = how.contains(&b'n');
        for at in range.from..=range.to {
            if numbers {
                let _ = write!(self.ctx.stdout, "{at}\t");
            }
            self.run_print(EdLines { from: at, to: at, given: 1 }, kind)?;
        }
        self.current = range.to;
        Ok(RunStep::Go)
    }

    fn run_print(&mut self, range: EdLines, how: u8) -> Result<RunStep> {
        let text = self.lines[range.from - 1].text.clone();
        let out = match how {
            b'l' => unambiguous_text(&text, b"\\$", WIDTH, false),
            _ => [&text[..], b"\n"].concat(),
        };
        let _ = self.ctx.stdout.write_all(&out);
        Ok(RunStep::Go)
    }

    /// Prints the current line if letters after a command request it.
    pub(super) fn print_suffix(&mut self, letters: &[u8]) -> Result<RunStep> {
        if letters.is_empty() {
            return Ok(RunStep::Go);
        }
        let at = self.current;
        if at == 0 {
            return fail_with("Invalid address");
        }
        self.print_all(EdLines { from: at, to: at, given: 1 }, letters)
    }
}

/// Parses the letters `p`, `l` and `n` after a command.
fn parse_suffix(t: &mut EdCommandText<'_>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    while let Some(c) = t.peek_byte() {
        match c {
            b'p' | b'l' | b'n' => out.push(c),
            _ => return fail_with("Invalid command suffix"),
        }
        t.at += 1;
    }
    Ok(out)
}

/// Returns the first line of a range that must not be 0.
fn require_line(range: EdLines) -> Result<usize> {
    if range.from == 0 { fail_with("Invalid address") } else { Ok(range.from) }
}

fn ends_in_backslash(line: &[u8]) -> bool {
    line.iter().rev().take_while(|c| **c == b'\\').count() % 2 == 1
}
