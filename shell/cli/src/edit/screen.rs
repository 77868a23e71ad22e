//! The picture of a prompt and a line on a terminal: which bytes change the one that is shown into
//! the one that is wanted. Terminals wrap lines by themselves, so only the column where that happens
//! has to be known.

use unicode_width::UnicodeWidthChar;

/// The brackets around parts of a prompt that take no room: `\[` and `\]`.
const HIDDEN: (char, char) = ('\u{1}', '\u{2}');

/// A place, counted from the beginning of the prompt's last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    row: usize,
    column: usize,
}

/// The picture of the line on the terminal.
#[derive(Debug, Default)]
pub struct LinePicture {
    columns: usize,
    /// The last line of the prompt.
    prompt: String,
    text: Vec<char>,
    cursor: Place,
}

/// A text as it is written, and where it ends.
struct Layout {
    out: String,
    end: Place,
    columns: usize,
}

impl Layout {
    fn new(start: Place, columns: usize) -> Layout {
        Layout { out: String::new(), end: start, columns: columns.max(2) }
    }

    /// Writes a text that takes `width` columns.
    fn put(&mut self, text: &str, width: usize) {
        if self.end.column + width > self.columns {
            // The terminal moves it to the next line.
            self.end = Place { row: self.end.row + 1, column: 0 };
        }
        self.out.push_str(text);
        self.end.column += width;
        if self.end.column == self.columns {
            self.end = Place { row: self.end.row + 1, column: 0 };
        }
    }

    fn put_char(&mut self, c: char) {
        match c {
            '\n' => {
                // After a full line the terminal is still on it.
                let is_wrapped = self.end.column == 0 && self.ends_full();
                self.out.push_str("\r\n");
                if !is_wrapped {
                    self.end.row += 1;
                }
                self.end.column = 0;
            }
            '\t' => {
                let left = self.columns - self.end.column;
                let width = (8 - self.end.column % 8).min(left);
                self.put(&" ".repeat(width), width);
            }
            c if c.is_control() => {
                let shown = char::from_u32(u32::from(c) ^ 0x40).unwrap_or('?');
                self.put("^", 1);
                self.put(shown.encode_utf8(&mut [0; 4]), 1);
            }
            c => self.put(c.encode_utf8(&mut [0; 4]), c.width().unwrap_or(0)),
        }
    }

    /// Returns whether the text ends with a full line, on which the terminal still is.
    fn ends_full(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }

    fn put_prompt(&mut self, prompt: &str) {
        let mut is_hidden = false;
        let mut rest = prompt.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                c if c == HIDDEN.0 => is_hidden = true,
                c if c == HIDDEN.1 => is_hidden = false,
                c if is_hidden => self.out.push(c),
                // Colours without brackets take no room either.
                '\x1b' => {
                    self.out.push(c);
                    for c in rest.by_ref() {
                        self.out.push(c);
                        if c.is_ascii_alphabetic() || matches!(c, '\\' | '\x07') {
                            break;
                        }
                    }
                }
                '\x07' | '\r' => self.out.push(c),
                c => self.put_char(c),
            }
        }
    }
}

impl LinePicture {
    /// Begins a line; returns the bytes that show its prompt.
    pub fn begin(&mut self, prompt: &str, columns: usize) -> String {
        let (above, last) = match prompt.rfind('\n') {
            Some(at) => prompt.split_at(at + 1),
            None => ("", prompt),
        };
        let mut out: String = above.chars().filter(|c| ![HIDDEN.0, HIDDEN.1].contains(c)).collect();
        *self = LinePicture { columns, prompt: last.into(), ..LinePicture::default() };
        out.push_str(&self.draw_all());
        out
    }

    /// Returns the bytes that show the prompt alone, from the beginning of its line.
    fn draw_all(&mut self) -> String {
        let mut layout = Layout::new(Place::default(), self.columns);
        layout.put_prompt(&self.prompt);
        if layout.end.column == 0 && layout.ends_full() {
            layout.out.push_str("\r\n");
        }
        (self.text, self.cursor) = (Vec::new(), layout.end);
        layout.out
    }

    /// Returns where the text begins.
    fn start(&self) -> Place {
        let mut layout = Layout::new(Place::default(), self.columns);
        layout.put_prompt(&self.prompt);
        layout.end
    }

    fn place_of(&self, text: &[char]) -> Place {
        let mut layout = Layout::new(self.start(), self.columns);
        text.iter().for_each(|c| layout.put_char(*c));
        layout.end
    }

    /// Returns the bytes that show this text with the cursor at a place.
    pub fn update(&mut self, text: &[char], cursor: usize) -> String {
        let mut same = self.text.iter().zip(text).take_while(|(a, b)| a == b).count();
        if text.get(same) == Some(&'\n') {
            // Whether the line before it is full matters.
            same = same.saturating_sub(1);
        }
        let mut out = String::new();
        let changes = same < self.text.len() || same < text.len();
        let mut at = self.cursor;
        if changes {
            let begun = self.place_of(&text[..same]);
            move_cursor(&mut out, at, begun);
            let mut layout = Layout::new(begun, self.columns);
            text[same..].iter().for_each(|c| layout.put_char(*c));
            let wraps = layout.end.column == 0 && layout.ends_full();
            let old = self.place_of(&self.text);
            // On one row, what is written covers what was there.
            let covers = old.row == begun.row
                && layout.end.row == begun.row
                && old.column <= layout.end.column;
            if !covers && same < self.text.len() {
                out.push_str("\x1b[J");
            }
            out.push_str(&layout.out);
            if wraps {
                // The cursor is still behind the last column.
                out.push_str("\r\n");
            }
            at = layout.end;
            self.text = text.to_vec();
        }
        let to = self.place_of(&text[..cursor]);
        move_cursor(&mut out, at, to);
        self.cursor = to;
        out
    }

    /// Returns the bytes that show everything again, after something else was written or the size
    /// has changed.
    pub fn redraw(&mut self, columns: usize, is_moved: bool) -> String {
        let mut out = String::new();
        if !is_moved {
            // Where the prompt begins now follows from the new width.
            self.columns = columns;
            let text = self.text.clone();
            let row = self.cursor.row.min(self.place_of(&text).row);
            move_cursor(&mut out, Place { row, column: 1 }, Place::default());
            out.push_str("\r\x1b[J");
        }
        self.columns = columns;
        out.push_str(&self.draw_all());
        out
    }

    /// Returns the bytes that move behind the text, to the next line.
    pub fn finish(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        let mut out = String::new();
        let end = self.place_of(&text);
        move_cursor(&mut out, self.cursor, end);
        // The terminal adds the carriage return.
        out.push('\n');
        self.cursor = Place::default();
        out
    }

    /// Changes the prompt's last line, as a search does.
    pub fn set_prompt(&mut self, prompt: &str) -> String {
        let mut out = String::new();
        move_cursor(&mut out, self.cursor, Place::default());
        out.push_str("\r\x1b[J");
        self.prompt = prompt.into();
        out.push_str(&self.draw_all());
        out
    }
}

/// Appends the sequences that move the cursor.
fn move_cursor(out: &mut String, from: Place, to: Place) {
    use std::fmt::Write;
    let mut step = |n: usize, letter: char| {
        let _ = match n {
            0 => Ok(()),
            1 if letter == 'D' => out.write_char('\x08'),
            1 => write!(out, "\x1b[{letter}"),
            n => write!(out, "\x1b[{n}{letter}"),
        };
    };
    step(from.row.saturating_sub(to.row), 'A');
    step(to.row.saturating_sub(from.row), 'B');
    if to.column == 0 && from.column > 0 {
        out.push('\r');
    } else {
        step(from.column.saturating_sub(to.column), 'D');
        step(to.column.saturating_sub(from.column), 'C');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal of a few columns.
    struct Grid {
        columns: usize,
        cells: Vec<Vec<char>>,
        row: usize,
        column: usize,
    }

    impl Grid {
        fn new(columns: usize) -> Grid {
            Grid { columns, cells: vec![Vec::new()], row: 0, column: 0 }
        }

        fn put(&mut self, c: char) {
            let width = c.width().unwrap_or(0);
            if self.column + width > self.columns {
                (self.row, self.column) = (self.row + 1, 0);
            }
            while self.cells.len() <= self.row {
                self.cells.push(Vec::new());
            }
            let line = &mut self.cells[self.row];
            while line.len() < self.column + width {
                line.push(' ');
            }
            line[self.column] = c;
            if width == 2 {
                line[self.column + 1] = '\0';
            }
            self.column += width;
        }

        fn show(&mut self, bytes: &str) {
            let mut rest = bytes.chars();
            while let Some(c) = rest.next() {
                match c {
                    '\r' => self.column = 0,
                    '\n' => self.row += 1,
                    '\x08' => self.column = self.column.min(self.columns - 1) - 1,
                    '\x1b' => {
                        let sequence: String =
                            rest.by_ref().skip(1).take_while(|c| !c.is_alphabetic()).collect();
                        // The letter was taken, too; it follows from the length of the input.
                        let used = bytes.len() - rest.as_str().len();
                        let letter = bytes[..used].chars().next_back().unwrap();
                        let n: usize = sequence.parse().unwrap_or(1);
                        let here = self.column.min(self.columns - 1);
                        match letter {
                            'A' => self.row -= n,
                            'B' => self.row += n,
                            'C' => self.column = here + n,
                            'D' => self.column = here - n,
                            'J' => {
                                self.cells.truncate(self.row + 1);
                                if let Some(line) = self.cells.get_mut(self.row) {
                                    line.truncate(self.column);
                                }
                            }
                            'm' => {}
                            other => panic!("{other}"),
                        }
                    }
                    c => self.put(c),
                }
            }
        }

        fn lines(&self) -> Vec<String> {
            let text = |line: &Vec<char>| line.iter().filter(|c| **c != '\0').collect::<String>();
            self.cells.iter().map(|line| text(line).trim_end().to_owned()).collect()
        }
    }

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn typing_only_adds() {
        let mut p = LinePicture::default();
        assert_eq!(p.begin("$ ", 80), "$ ");
        assert_eq!(p.update(&chars("a"), 1), "a");
        assert_eq!(p.update(&chars("ab"), 2), "b");
        assert_eq!(p.update(&chars("ab"), 1), "\x08");
        assert_eq!(p.update(&chars("axb"), 2), "xb\x08");
        assert_eq!(p.update(&chars("ax"), 2), "\x1b[J");
        assert_eq!(p.finish(), "\n");
    }

    #[test]
    fn prompts_may_have_colours_and_lines() {
        let mut p = LinePicture::default();
        assert_eq!(p.begin("one\n\u{1}\x1b[1m\u{2}two$ ", 80), "one\n\x1b[1mtwo$ ");
        assert_eq!(p.update(&chars("ab"), 0), "ab\x1b[2D");
    }

    /// Every edit shows what a fresh picture of the result shows.
    #[test]
    fn pictures_are_those_of_the_text() {
        let texts = [
            "",
            "short",
            "exactly",
            "exactly8",
            "a line of many words",
            "wide 漢字 and 漢字漢字",
            "two\nlines",
            "fullline\nnext",
            "tab\tbed",
            "漢字漢字漢字漢字",
            "x",
        ];
        for columns in [3, 4, 7, 8, 10, 13, 40] {
            for prompt in ["", "$ ", "prompt$ "] {
                let mut p = LinePicture::default();
                let mut grid = Grid::new(columns);
                grid.show(&p.begin(prompt, columns));
                for text in texts.iter().chain(texts.iter().rev()) {
                    let text = chars(text);
                    for cursor in [text.len(), text.len() / 2, 0] {
                        grid.show(&p.update(&text, cursor));
                        let mut fresh = Grid::new(columns);
                        let mut other = LinePicture::default();
                        fresh.show(&other.begin(prompt, columns));
                        fresh.show(&other.update(&text, cursor));
                        let where_ = format!("{columns} {prompt:?} {text:?} {cursor}");
                        assert_eq!(
                            grid.lines().join("\n").trim_end(),
                            fresh.lines().join("\n").trim_end(),
                            "{where_}"
                        );
                        assert_eq!((grid.row, grid.column), (fresh.row, fresh.column), "{where_}");
                    }
                }
            }
        }
    }
}
