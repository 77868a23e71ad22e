//! Incremental search in the history (bash manual 8.2.5).

use super::keys::Key;
use super::line::EditedLine;
use super::{Editing, Step};

/// A search that is going on.
pub(super) struct HistorySearch {
    pattern: String,
    backward: bool,
    /// The entry that was found last, or the one that the search began at.
    entry: usize,
    has_failed: bool,
    /// The line and its entry, to be restored if the search is given up.
    before: (usize, EditedLine),
}

/// Returns the entry nearest to `from` in the direction that contains the pattern, with the
/// character where it begins. `from` itself counts.
pub(super) fn find_entry(
    history: &[Vec<u8>],
    pattern: &str,
    from: usize,
    backward: bool,
) -> Option<(usize, usize)> {
    let found = |n: usize| {
        let line = String::from_utf8_lossy(history.get(n)?);
        let at = line.rfind(pattern)?;
        Some((n, line[..at].chars().count()))
    };
    if backward {
        (0..=from.min(history.len().checked_sub(1)?)).rev().find_map(found)
    } else {
        (from..history.len()).find_map(found)
    }
}

impl Editing<'_, '_> {
    pub(super) fn begin_search(&mut self, backward: bool) {
        let search = HistorySearch {
            pattern: String::new(),
            backward,
            entry: self.entry,
            has_failed: false,
            before: (self.entry, self.buffer.line()),
        };
        self.show_search(search);
    }

    fn show_search(&mut self, search: HistorySearch) {
        let failed = if search.has_failed { "failed " } else { "" };
        let kind = if search.backward { "reverse-i-search" } else { "i-search" };
        let prompt = format!("({failed}{kind})`{}': ", search.pattern);
        let text = self.picture.set_prompt(&prompt);
        self.show(&text);
        self.search = Some(search);
    }

    /// Searches from an entry on.
    fn search_from(&mut self, mut search: HistorySearch, from: Option<usize>) {
        let history = self.request.history;
        let found = from
            .filter(|_| !search.pattern.is_empty())
            .and_then(|from| find_entry(history, &search.pattern, from, search.backward));
        search.has_failed = found.is_none() && !search.pattern.is_empty();
        if let Some((entry, at)) = found {
            search.entry = entry;
            let line = self.history_line(entry);
            self.buffer.set_line(line);
            self.buffer.move_to(at);
        }
        self.show_search(search);
    }

    /// Ends the search; the line stays.
    fn end_search(&mut self, search: HistorySearch) {
        self.entry = search.entry;
        let prompt = String::from_utf8_lossy(self.request.prompt).into_owned();
        let last = prompt.rsplit('\n').next().unwrap_or_default().to_owned();
        let text = self.picture.set_prompt(&last);
        self.show(&text);
    }

    /// Acts on a key during a search: keys that do not belong to it end it and have their usual
    /// effect.
    pub(super) fn search_key(&mut self, mut search: HistorySearch, key: Key) -> Step {
        match key {
            Key::Char(c) => {
                search.pattern.push(c);
                let from = search.entry;
                self.search_from(search, Some(from));
            }
            Key::Backspace => {
                search.pattern.pop();
                let from = search.before.0;
                self.search_from(search, Some(from));
            }
            Key::Control(letter @ ('R' | 'S')) => {
                search.backward = letter == 'R';
                let from = if search.backward {
                    search.entry.checked_sub(1)
                } else {
                    Some(search.entry + 1)
                };
                self.search_from(search, from);
            }
            Key::Control('G') => {
                let (entry, line) = search.before.clone();
                search.entry = entry;
                self.buffer.set_line(line);
                self.end_search(search);
            }
            key => {
                self.end_search(search);
                return self.edit_key(key);
            }
        }
        Step::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::find_entry;

    #[test]
    fn entries_are_found_in_both_directions() {
        let history: Vec<Vec<u8>> =
            ["echo one", "ls", "echo two"].iter().map(|l| l.as_bytes().to_vec()).collect();
        assert_eq!(find_entry(&history, "echo", 3, true), Some((2, 0)));
        assert_eq!(find_entry(&history, "echo", 1, true), Some((0, 0)));
        assert_eq!(find_entry(&history, "two", 0, false), Some((2, 5)));
        assert_eq!(find_entry(&history, "none", 3, true), None);
        assert_eq!(find_entry(&[], "x", 0, true), None);
    }
}
