//! The line that is being edited: its text, the cursor, killed text, and undo.

/// A line and the place in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditedLine {
    text: Vec<char>,
    at: usize,
}

/// The maximum number of steps that can be undone.
const UNDOS: usize = 200;
/// The maximum number of texts that can be yanked.
const KILLS: usize = 20;

/// A line with its earlier states and the texts that were killed.
#[derive(Debug, Default)]
pub struct LineBuffer {
    line: EditedLine,
    undo: Vec<EditedLine>,
    kills: Vec<Vec<char>>,
    /// Whether the last action was a kill, so that the next one continues it.
    is_killing: bool,
    /// The place of the text that was yanked last, and its number among the kills.
    yanked: Option<(usize, usize)>,
    /// Whether the last action inserted a character, so that undo takes a word at once.
    is_typing: bool,
}

/// The part of the line that a kill removes, seen from the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    ToStart,
    ToEnd,
    /// To the beginning of the word before, words being letters and digits.
    WordBefore,
    WordAfter,
    /// To the blank before the word before.
    BlankWordBefore,
}

impl EditedLine {
    /// Returns a line with the cursor at its end.
    pub fn new(text: &str) -> EditedLine {
        let text: Vec<char> = text.chars().collect();
        EditedLine { at: text.len(), text }
    }

    /// Returns its text.
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric()
}

impl LineBuffer {
    /// Returns the characters.
    pub fn chars(&self) -> &[char] {
        &self.line.text
    }

    /// Returns the cursor's place, in characters.
    pub fn cursor(&self) -> usize {
        self.line.at
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        self.line.text()
    }

    /// Returns the text before the cursor.
    pub fn text_before(&self) -> String {
        self.line.text[..self.line.at].iter().collect()
    }

    /// Returns the line, to be kept.
    pub fn line(&self) -> EditedLine {
        self.line.clone()
    }

    /// Replaces the line, as moving in the history does.
    pub fn set_line(&mut self, line: EditedLine) {
        self.line = line;
        self.undo.clear();
        self.end_action();
    }

    /// Begins another line; killed text stays.
    pub fn clear(&mut self) {
        self.set_line(EditedLine::default());
    }

    /// Records that an action was none of those that continue.
    pub fn end_action(&mut self) {
        (self.is_killing, self.is_typing, self.yanked) = (false, false, None);
    }

    fn remember(&mut self) {
        if self.undo.len() == UNDOS {
            self.undo.remove(0);
        }
        self.undo.push(self.line.clone());
    }

    /// Moves the cursor.
    pub fn move_to(&mut self, at: usize) {
        self.line.at = at.min(self.line.text.len());
        self.end_action();
    }

    /// Returns the place of a movement by a character, past marks that take no room of their own.
    pub fn beside(&self, forward: bool) -> usize {
        let EditedLine { text, at } = &self.line;
        let joins = |at: usize| {
            text.get(at).is_some_and(|c| unicode_width::UnicodeWidthChar::width(*c) == Some(0))
        };
        let mut to = *at;
        loop {
            to = if forward { (to + 1).min(text.len()) } else { to.saturating_sub(1) };
            if to == 0 || to == text.len() || !joins(to) {
                return to;
            }
        }
    }

    /// Returns the place at the beginning of a word before the cursor, or at the end of one after it.
    pub fn word_beside(&self, forward: bool) -> usize {
        self.skip(forward, is_word)
    }

    fn skip(&self, forward: bool, belongs: impl Fn(char) -> bool) -> usize {
        let EditedLine { text, at } = &self.line;
        let mut to = *at;
        let next = |to: usize| {
            if forward { text.get(to).copied() } else { to.checked_sub(1).map(|i| text[i]) }
        };
        for wanted in [false, true] {
            while next(to).is_some_and(|c| belongs(c) == wanted) {
                to = if forward { to + 1 } else { to - 1 };
            }
        }
        to
    }

    /// Inserts a character.
    pub fn insert_char(&mut self, c: char) {
        if !self.is_typing || c == ' ' {
            self.remember();
        }
        self.line.text.insert(self.line.at, c);
        self.line.at += 1;
        self.end_action();
        self.is_typing = true;
    }

    /// Inserts a text.
    pub fn insert_text(&mut self, text: &str) {
        self.replace_range(self.line.at..self.line.at, text);
    }

    /// Replaces a part of the line and puts the cursor behind it.
    pub fn replace_range(&mut self, range: std::ops::Range<usize>, by: &str) {
        self.remember();
        let new: Vec<char> = by.chars().collect();
        self.line.at = range.start + new.len();
        self.line.text.splice(range, new);
        self.end_action();
    }

    /// Removes the character before the cursor or the one at it; returns whether there was one.
    pub fn delete_char(&mut self, forward: bool) -> bool {
        let to = self.beside(forward);
        if to == self.line.at {
            return false;
        }
        let (start, end) = (to.min(self.line.at), to.max(self.line.at));
        self.replace_range(start..end, "");
        true
    }

    /// Removes a part of the line and keeps it for [`LineBuffer::yank`].
    pub fn kill(&mut self, span: Span) {
        let at = self.line.at;
        let (start, end) = match span {
            Span::ToStart => (0, at),
            Span::ToEnd => (at, self.line.text.len()),
            Span::WordBefore => (self.skip(false, is_word), at),
            Span::WordAfter => (at, self.skip(true, is_word)),
            Span::BlankWordBefore => (self.skip(false, |c| !c.is_whitespace()), at),
        };
        if start == end {
            return;
        }
        let continues = self.is_killing;
        let killed: Vec<char> = self.line.text[start..end].to_vec();
        self.replace_range(start..end, "");
        match self.kills.last_mut().filter(|_| continues) {
            Some(last) if end == at => {
                last.splice(0..0, killed);
            }
            Some(last) => last.extend(killed),
            None => {
                if self.kills.len() == KILLS {
                    self.kills.remove(0);
                }
                self.kills.push(killed);
            }
        }
        self.is_killing = true;
    }

    /// Inserts the text that was killed last.
    pub fn yank(&mut self) {
        let Some(number) = self.kills.len().checked_sub(1) else { return };
        let (start, text) = (self.line.at, self.kills[number].iter().collect::<String>());
        self.insert_text(&text);
        self.yanked = Some((start, number));
    }

    /// Replaces the yanked text by the text that was killed before it.
    pub fn yank_earlier(&mut self) {
        let Some((start, number)) = self.yanked else { return };
        let number = number.checked_sub(1).unwrap_or(self.kills.len() - 1);
        let text: String = self.kills[number].iter().collect();
        self.replace_range(start..self.line.at, &text);
        self.yanked = Some((start, number));
    }

    /// Exchanges the characters around the cursor and moves on.
    pub fn transpose(&mut self) {
        let EditedLine { text, at } = &self.line;
        let at = if *at == text.len() { at.saturating_sub(1) } else { *at };
        if at == 0 {
            return;
        }
        let pair: String = [text[at], text[at - 1]].iter().collect();
        self.replace_range(at - 1..at + 1, &pair);
    }

    /// Changes the case of the word at the cursor: `first` for its first character, `rest` for the
    /// others.
    pub fn change_case(&mut self, first: fn(char) -> String, rest: fn(char) -> String) {
        let end = self.skip(true, is_word);
        let mut has_begun = false;
        let text: String = self.line.text[self.line.at..end]
            .iter()
            .map(|c| {
                let begins = is_word(*c) && !std::mem::replace(&mut has_begun, is_word(*c));
                if begins { first(*c) } else { rest(*c) }
            })
            .collect();
        self.replace_range(self.line.at..end, &text);
    }

    /// Undoes the last change; returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.undo.pop() else { return false };
        self.line = before;
        self.end_action();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str, at: usize) -> LineBuffer {
        let mut b = LineBuffer::default();
        b.set_line(EditedLine::new(text));
        b.move_to(at);
        b
    }

    #[test]
    fn kills_are_yanked_together() {
        // readline(3), "Killing and Yanking".
        let mut b = buffer("ls -l /usr/share", 16);
        b.kill(Span::BlankWordBefore);
        b.kill(Span::BlankWordBefore);
        assert_eq!(b.text(), "ls ");
        b.yank();
        assert_eq!(b.text(), "ls -l /usr/share");
        let mut b = buffer("ls -l /usr/share", 16);
        b.kill(Span::WordBefore);
        assert_eq!(b.text(), "ls -l /usr/");
        b.move_to(0);
        b.kill(Span::WordAfter);
        assert_eq!(b.text(), " -l /usr/");
        b.yank();
        b.yank_earlier();
        assert_eq!(b.text(), "share -l /usr/");
    }

    #[test]
    fn words_are_letters_and_digits() {
        let b = buffer("cp a.txt b-2", 12);
        assert_eq!(b.word_beside(false), 11);
        let b = buffer("cp a.txt b-2", 2);
        assert_eq!((b.word_beside(true), b.word_beside(false)), (4, 0));
    }

    #[test]
    fn changes_are_undone() {
        let mut b = LineBuffer::default();
        "ab cd".chars().for_each(|c| b.insert_char(c));
        b.transpose();
        assert_eq!(b.text(), "ab dc");
        b.undo();
        b.undo();
        assert_eq!(b.text(), "ab");
        b.undo();
        assert!(b.text().is_empty() && !b.undo());
    }

    #[test]
    fn marks_belong_to_their_letter() {
        let mut b = buffer("ae\u{301}o", 4);
        b.move_to(b.beside(false));
        assert_eq!(b.beside(false), 1);
        assert!(b.delete_char(false));
        assert_eq!(b.text(), "ao");
    }
}
