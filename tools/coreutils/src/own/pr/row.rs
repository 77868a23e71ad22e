//! An output line: its cells with their numbers and separators, and spaces that become tabs.

use super::options::{Numbers, PrControl, PrOptions, Tab};

/// The bytes of an output line. Spaces are held back until text follows them, because they may become tabs.
struct OutputRow {
    bytes: Vec<u8>,
    column: usize,
    spaces: usize,
    tab: Option<Tab>,
}

impl OutputRow {
    fn put_char(&mut self, c: u8) {
        if self.tab.is_some() {
            if c == b' ' {
                self.spaces += 1;
                return;
            }
            self.settle_spaces();
        }
        match c {
            b'\x08' => self.column = self.column.saturating_sub(1),
            b' '..=b'~' => self.column += 1,
            _ => {}
        }
        self.bytes.push(c);
    }

    /// Writes the spaces that are held back.
    fn settle_spaces(&mut self) {
        let goal = self.column + std::mem::take(&mut self.spaces);
        if let Some((tab, stop)) = self.tab {
            // A single space stays a space.
            while goal - self.column > 1 && self.column + stop - self.column % stop <= goal {
                self.bytes.push(tab);
                self.column += stop - self.column % stop;
            }
        }
        self.bytes.resize(self.bytes.len() + goal - self.column, b' ');
        self.column = goal;
    }

    fn pad_to(&mut self, column: usize) {
        let distance = column.saturating_sub(self.column);
        if self.tab.is_some() {
            self.spaces = distance;
        } else {
            self.bytes.resize(self.bytes.len() + distance, b' ');
            self.column += distance;
        }
    }
}

/// The columns of a page, and the number of the next line.
pub(super) struct Rows<'o> {
    o: &'o PrOptions,
    width: usize,
    pub(super) number: i64,
}

impl<'o> Rows<'o> {
    pub(super) fn new(o: &'o PrOptions, width: usize) -> Rows<'o> {
        let number = o.numbers.as_ref().and_then(|n| n.first).unwrap_or(1);
        Rows { o, width, number }
    }

    /// Returns the start of a column; `None` if lines have their own lengths.
    fn column_start(&self, column: usize) -> Option<usize> {
        if column == 0 {
            return Some(self.o.margin);
        }
        if !self.o.truncate {
            return None;
        }
        let numbers = match &self.o.numbers {
            Some(n) if self.o.parallel => n.width(),
            _ => 0,
        };
        let separator = self.o.separator.as_ref().map_or(0, Vec::len);
        Some(self.o.margin + numbers + column * (self.width + separator))
    }

    /// Pads up to a column and separates it from the previous one.
    fn begin_column(&self, ink: &mut OutputRow, column: usize) {
        let separator = self.o.separator.as_deref().unwrap_or(b"");
        if let Some(start) = self.column_start(column) {
            ink.pad_to(if column == 0 { start } else { start - separator.len() });
        }
        if column == 0 {
            if self.o.separator.is_some() {
                ink.settle_spaces();
            }
            return;
        }
        for c in separator {
            if *c == b' ' {
                ink.spaces += 1;
            } else {
                ink.settle_spaces();
                ink.bytes.push(*c);
                ink.column += 1;
            }
        }
        ink.settle_spaces();
    }

    /// Appends the columns of one line, some of which may be missing at the end. A missing cell
    /// belongs to a file that has no line here: if the line has text before it, it is aligned like
    /// an empty cell.
    pub(super) fn put_line(&mut self, cells: &[Option<&[u8]>], numbers: &[i64], out: &mut Vec<u8>) {
        let tab = self.o.output_tab;
        let mut ink = OutputRow { bytes: std::mem::take(out), column: 0, spaces: 0, tab };
        for (column, cell) in cells.iter().enumerate() {
            if !self.o.truncate && cell.is_some() && cells[..column].iter().all(Option::is_none) {
                // Files that have no line here only get separators.
                ink.spaces = 0;
            }
            self.begin_column(&mut ink, column);
            let numbered = !self.o.parallel || column == 0;
            let mut taken = 0;
            if let Some(n) = self.o.numbers.as_ref().filter(|_| numbered) {
                put_number(n, numbers[column], self.o.columns > 1, &mut ink);
                if self.o.truncate && !self.o.parallel {
                    taken = n.width();
                }
            }
            if let Some(text) = cell {
                self.put_text(text, taken, &mut ink);
            }
        }
        *out = ink.bytes;
        out.push(b'\n');
    }

    /// Appends the text of a cell, some columns of which are already used. As in GNU pr, these
    /// count from the second character on.
    fn put_text(&self, text: &[u8], taken: usize, ink: &mut OutputRow) {
        let mut at = 0;
        for (i, &c) in text.iter().enumerate() {
            if i == 1 {
                at += taken;
            }
            let before = at;
            let (tab, stop) = self.o.input_tab.unwrap_or((b'\t', 8));
            let octal =
                |out: &mut OutputRow| format!("\\{c:03o}").bytes().for_each(|b| out.put_char(b));
            let printable = matches!(c, b' '..=b'~');
            if c == tab || c == b'\t' {
                let stop = if c == tab { stop } else { 8 };
                let width = stop - at % stop;
                at += width;
                if self.o.truncate && at > self.width {
                    return;
                }
                if self.o.input_tab.is_some() {
                    (0..width).for_each(|_| ink.put_char(b' '));
                } else {
                    ink.put_char(c);
                }
                continue;
            }
            let width = match self.o.control {
                _ if printable => 1,
                PrControl::Octal => 4,
                PrControl::Hat => {
                    if c < 0x80 {
                        2
                    } else {
                        4
                    }
                }
                PrControl::Raw => 0,
            };
            at += width;
            if c == b'\x08' && width == 0 {
                at = at.saturating_sub(1);
                if before == 0 {
                    continue;
                }
            }
            if self.o.truncate && at > self.width {
                return;
            }
            match width {
                2 => {
                    ink.put_char(b'^');
                    ink.put_char(c ^ 0x40);
                }
                4 => octal(ink),
                _ => ink.put_char(c),
            }
        }
    }
}

fn put_number(n: &Numbers, value: i64, columns: bool, ink: &mut OutputRow) {
    let text = format!("{value:>width$}", width = n.digits);
    // Only the last digits are shown if there are too many.
    text[text.len() - n.digits..].bytes().for_each(|c| ink.put_char(c));
    match n.separator {
        b'\t' if columns => (n.digits..n.width()).for_each(|_| ink.put_char(b' ')),
        b'\t' => {
            ink.put_char(b'\t');
            let stop = ink.tab.map_or(8, |t| t.1);
            ink.column += stop - ink.column % stop;
        }
        c => ink.put_char(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::pr::options::{SPEC, modern_options};

    fn row(args: &[&str], cells: &[Option<&[u8]>]) -> String {
        let args: Vec<Vec<u8>> = args.iter().map(|a| a.as_bytes().to_vec()).collect();
        let parsed = SPEC.parse(&modern_options(&args).unwrap()).unwrap();
        let o = PrOptions::from_options(&parsed, cells.len()).unwrap();
        let mut out = Vec::new();
        let width = o.column_width().unwrap();
        Rows::new(&o, width).put_line(cells, &vec![7; cells.len()], &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned_by_tabs() {
        let cells: &[Option<&[u8]>] = &[Some(b"a"), Some(b"b")];
        assert_eq!(row(&["-2"], cells), "a\t\t\t\t    b\n");
        assert_eq!(row(&["-2", "-w20"], cells), "a\t  b\n");
        assert_eq!(row(&["-2", "-s,"], cells), "a,b\n");
        assert_eq!(row(&["-m", "-w20", "-S:"], &[None, Some(b"b")]), "\t :b\n");
        assert_eq!(row(&["-m", "-n:2", "-w20"], cells), " 7:a\t    b\n");
    }

    #[test]
    fn text_is_cut_and_shown() {
        assert_eq!(row(&["-W5"], &[Some(b"abcdefg")]), "abcde\n");
        assert_eq!(row(&["-e4", "-c"], &[Some(b"a\tb\x07\xff")]), "a   b^G\\377\n");
        assert_eq!(row(&["-i", "-o9"], &[Some(b"x")]), "\t x\n");
    }
}
