//! The history of commands (bash manual 9): which lines are kept, and the file.
//!
//! | file | contents |
//! |---|---|
//! | `expand` | `!!`, `!n`, `!string` |

pub mod expand;

use std::fs::File;
use std::io::Write;

use box_text::glob::{GlobOptions, GlobPattern};
use sh_syntax::parse::{ParseOptions, parse_all};

use crate::Shell;
use crate::state::options::SetOpt;

/// The lines of the history.
#[derive(Debug, Default)]
pub struct History {
    lines: Vec<Vec<u8>>,
    /// The number of lines at the end that the file does not have.
    new: usize,
}

impl std::ops::Deref for History {
    type Target = Vec<Vec<u8>>;
    fn deref(&self) -> &Vec<Vec<u8>> {
        &self.lines
    }
}

impl History {
    /// Adds a line.
    pub fn push(&mut self, line: Vec<u8>) {
        self.lines.push(line);
        self.new += 1;
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        *self = History::default();
    }

    /// Removes the line at an index.
    pub fn remove(&mut self, at: usize) {
        let is_new = at + self.new >= self.lines.len();
        self.lines.remove(at);
        self.new -= usize::from(is_new);
    }

    /// Removes the oldest lines, so that `most` remain.
    pub fn keep_last(&mut self, most: usize) {
        let excess = self.lines.len().saturating_sub(most);
        self.lines.drain(..excess);
        self.new = self.new.min(self.lines.len());
    }

    /// Takes the lines, to lend them.
    pub(crate) fn take_lines(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.lines)
    }

    /// Puts lines back that were lent.
    pub(crate) fn put_lines(&mut self, lines: Vec<Vec<u8>>) {
        self.lines = lines;
    }
}

/// Joins the lines of a command to one entry: with `; ` or a blank where that means the same, else
/// with the line ends, as within quotes (`cmdhist`).
fn join_lines(lines: &[Vec<u8>], options: &ParseOptions) -> Vec<u8> {
    let trimmed = |line: &[u8]| line.strip_suffix(b"\n").unwrap_or(line).to_vec();
    let Some((first, rest)) = lines.split_first() else { return Vec::new() };
    let mut joined = trimmed(first);
    let whole = lines.concat();
    let meaning =
        |text: &[u8]| parse_all(text, options).ok().map(|list| sh_syntax::print::print_list(&list));
    let wanted = meaning(&whole);
    let mut left: usize = lines.iter().map(Vec::len).sum::<usize>() - first.len();
    for line in rest {
        let at = whole.len() - left;
        left -= line.len();
        let line = trimmed(line);
        let glue = [&b"; "[..], b" "].into_iter().find(|glue| {
            let text = [&joined[..], glue, &whole[at..]].concat();
            wanted.is_some() && meaning(&text) == wanted
        });
        joined.extend_from_slice(glue.unwrap_or(b"\n"));
        joined.extend_from_slice(&line);
    }
    joined
}

impl Shell<'_> {
    fn history_number(&mut self, name: &[u8]) -> Option<usize> {
        let text = self.variable_text(name)?;
        std::str::from_utf8(&text).ok()?.trim().parse().ok()
    }

    /// Keeps a command that was typed, unless HISTCONTROL or HISTIGNORE leave it out.
    pub(crate) fn keep_in_history(&mut self, lines: &[Vec<u8>]) {
        if !self.state.options.has_set(SetOpt::History) || lines.is_empty() {
            return;
        }
        let entry = join_lines(lines, &self.parse_options());
        let control = self.variable_text(b"HISTCONTROL").unwrap_or_default();
        let has = |name: &[u8]| control.split(|c| *c == b':').any(|word| word == name);
        let both = has(b"ignoreboth");
        let is_dup = self.history.last().is_some_and(|last| *last == entry);
        if entry.trim_ascii().is_empty()
            || (both || has(b"ignorespace")) && entry.starts_with(b" ")
            || (both || has(b"ignoredups")) && is_dup
            || self.is_ignored(&entry)
        {
            return;
        }
        if has(b"erasedups") {
            while let Some(at) = self.history.iter().position(|line| *line == entry) {
                self.history.remove(at);
            }
        }
        self.history.push(entry);
        if let Some(most) = self.history_number(b"HISTSIZE") {
            self.history.keep_last(most);
        }
    }

    /// Returns whether a pattern of HISTIGNORE matches an entry; `&` is the entry before it.
    fn is_ignored(&mut self, entry: &[u8]) -> bool {
        let Some(patterns) = self.variable_text(b"HISTIGNORE") else { return false };
        patterns.split(|c| *c == b':').filter(|p| !p.is_empty()).any(|pattern| match pattern {
            b"&" => self.history.last().is_some_and(|last| last == entry),
            pattern => GlobPattern::new(pattern, GlobOptions::default()).is_match(entry),
        })
    }

    fn history_file(&mut self) -> Option<std::path::PathBuf> {
        let name = self.variable_text(b"HISTFILE").filter(|name| !name.is_empty())?;
        Some(self.absolute_path(&name))
    }

    /// Reads the lines of the file that HISTFILE names.
    pub fn load_history(&mut self) {
        let Some(file) = self.history_file() else { return };
        self.append_history_file(&file);
        self.history.new = 0;
        if let Some(most) = self.history_number(b"HISTSIZE") {
            self.history.keep_last(most);
        }
    }

    /// Adds the lines of a file; false if it cannot be read.
    pub(crate) fn append_history_file(&mut self, file: &std::path::Path) -> bool {
        let Ok(text) = self.read_file(file) else { return false };
        let lines = text.split(|c| *c == b'\n').filter(|line| !line.is_empty());
        lines.for_each(|line| self.history.push(line.to_vec()));
        true
    }

    /// Writes the history to a file: the lines that it does not have yet, or all.
    pub(crate) fn write_history_file(
        &mut self,
        file: &std::path::Path,
        all: bool,
    ) -> std::io::Result<()> {
        let count = if all { self.history.len() } else { self.history.new };
        let lines = &self.history.lines[self.history.lines.len() - count..];
        let mut text = Vec::new();
        for line in lines {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        let mut options = File::options();
        options.create(true);
        let options = if all { options.write(true).truncate(true) } else { options.append(true) };
        self.sys.open(file, options)?.write_all(&text)?;
        self.history.new = 0;
        Ok(())
    }

    /// Writes the new lines to the file when the shell ends, and shortens it to HISTFILESIZE.
    pub(crate) fn save_history(&mut self) {
        if self.history.new == 0 || !self.state.options.has_set(SetOpt::History) {
            return;
        }
        let Some(file) = self.history_file() else { return };
        // The shell ends even if the file cannot be written.
        if self.write_history_file(&file, false).is_err() {
            return;
        }
        let (Some(most), Ok(text)) = (self.history_number(b"HISTFILESIZE"), self.read_file(&file))
        else {
            return;
        };
        let lines: Vec<&[u8]> = text.split_inclusive(|c| *c == b'\n').collect();
        if lines.len() > most {
            let rest = lines[lines.len() - most..].concat();
            let _ = std::fs::write(&file, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `history` of bash 5.2 shows after these lines.
    #[test]
    fn commands_of_several_lines_are_one_entry() {
        let joined = |lines: &[&str]| {
            let lines: Vec<Vec<u8>> = lines.iter().map(|l| format!("{l}\n").into_bytes()).collect();
            String::from_utf8(join_lines(&lines, &ParseOptions::default())).unwrap()
        };
        assert_eq!(joined(&["ls"]), "ls");
        assert_eq!(
            joined(&["for i in 1", "do", "echo $i", "done"]),
            "for i in 1; do echo $i; done"
        );
        assert_eq!(
            joined(&["if true", "then echo a", "else echo b", "fi"]),
            "if true; then echo a; else echo b; fi"
        );
        assert_eq!(joined(&["f() {", "echo a", "}"]), "f() { echo a; }");
        assert_eq!(joined(&["echo \"a", "b\""]), "echo \"a\nb\"");
        assert_eq!(joined(&["cat <<E", "x", "E"]), "cat <<E\nx\nE");
        assert_eq!(joined(&["true &&", "false"]), "true && false");
    }

    #[test]
    fn new_lines_are_counted() {
        let mut h = History::default();
        ["a", "b", "c"].iter().for_each(|l| h.push(l.as_bytes().to_vec()));
        h.new = 2;
        h.remove(0);
        assert_eq!((h.len(), h.new), (2, 2));
        h.remove(1);
        assert_eq!((h.len(), h.new), (1, 1));
        h.push(b"d".to_vec());
        h.keep_last(1);
        assert_eq!((h.lines.as_slice(), h.new), (&[b"d".to_vec()][..], 1));
    }
}
