//! Splits input into items.

use std::io::{self, BufRead};

/// The rule by which items end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splitting {
    /// At blanks and newlines that no quote or backslash protects.
    Words,
    /// At newlines that no quote or backslash protects; leading blanks are dropped (`-I`).
    Lines,
    /// At each such byte; quotes and backslashes do not protect it.
    Byte(u8),
}

/// The reason why there are no more items.
#[derive(Debug)]
pub enum InputError {
    Io(io::Error),
    /// `single` or `double`.
    Quote(&'static str),
}

/// Reads items one after another.
pub struct ItemReader {
    reader: Box<dyn BufRead>,
    splitting: Splitting,
    eof: Option<Vec<u8>>,
    lines: u64,
    previous: u8,
    ended: bool,
    nul: bool,
    nul_warned: bool,
}

impl ItemReader {
    /// Creates a reader of an input's items, up to a line that is `eof`.
    pub fn new(reader: Box<dyn BufRead>, splitting: Splitting, eof: Option<Vec<u8>>) -> ItemReader {
        ItemReader {
            reader,
            splitting,
            eof,
            lines: 0,
            previous: b'\n',
            ended: false,
            nul: false,
            nul_warned: false,
        }
    }

    /// Returns the number of lines read so far; a line that ends in a blank counts as one with the
    /// next.
    pub fn lines_read(&self) -> u64 {
        self.lines
    }

    /// Returns whether the input has a NUL; true is returned only once.
    pub fn take_nul_warning(&mut self) -> bool {
        let warn = self.nul && !self.nul_warned;
        self.nul_warned |= warn;
        warn
    }

    /// Returns the next item.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, InputError> {
        if self.ended {
            return Ok(None);
        }
        let item = match self.splitting {
            Splitting::Byte(end) => self.read_delimited(end),
            Splitting::Words => self.read_protected(false),
            Splitting::Lines => self.read_protected(true),
        }?;
        match item {
            Some(item) if self.eof.as_ref() == Some(&item) => {
                self.ended = true;
                Ok(None)
            }
            Some(mut item) => {
                if let Some(at) = memchr::memchr(0, &item) {
                    self.nul = true;
                    item.truncate(at);
                }
                Ok(Some(item))
            }
            None => Ok(None),
        }
    }

    fn read_delimited(&mut self, end: u8) -> Result<Option<Vec<u8>>, InputError> {
        let mut item = Vec::new();
        let got = self.reader.read_until(end, &mut item).map_err(InputError::Io)?;
        if got == 0 {
            return Ok(None);
        }
        if item.last() == Some(&end) {
            item.pop();
        }
        self.lines += 1;
        Ok(Some(item))
    }

    /// Reads an item in which quotes and backslashes protect the bytes that would end it. With
    /// `whole_lines` only newlines end it.
    fn read_protected(&mut self, whole_lines: bool) -> Result<Option<Vec<u8>>, InputError> {
        let mut item = Vec::new();
        let mut state = ItemState::Before;
        // Quotes make an item even if they are empty.
        let mut begun = false;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(b) => b,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(InputError::Io(e)),
            };
            if buffer.is_empty() {
                self.ended = true;
                return match state {
                    ItemState::Quote(q) => Err(InputError::Quote(name(q))),
                    _ if begun => {
                        self.lines += 1;
                        Ok(Some(item))
                    }
                    _ => Ok(None),
                };
            }
            let mut used = 0;
            let mut done = false;
            while let Some(&c) = buffer.get(used) {
                // Runs of ordinary bytes are copied at once.
                if matches!(state, ItemState::Within) {
                    let rest = &buffer[used..];
                    let run = rest.iter().position(|&b| is_special(b)).unwrap_or(rest.len());
                    if run > 0 {
                        item.extend_from_slice(&rest[..run]);
                        self.previous = rest[run - 1];
                        used += run;
                        continue;
                    }
                }
                used += 1;
                let previous = std::mem::replace(&mut self.previous, c);
                match (state, c) {
                    (ItemState::Escape, _) => {
                        item.push(c);
                        begun = true;
                        state = ItemState::Within;
                    }
                    (ItemState::Quote(q), _) if c == q => state = ItemState::Within,
                    (ItemState::Quote(q), b'\n') => {
                        self.reader.consume(used);
                        return Err(InputError::Quote(name(q)));
                    }
                    (ItemState::Quote(_), _) => item.push(c),
                    (_, b'\n') => {
                        if !matches!(previous, b' ' | b'\t') {
                            self.lines += 1;
                        }
                        if begun {
                            done = true;
                            break;
                        }
                    }
                    (ItemState::Before, b' ' | b'\t' | b'\r' | 11 | 12) => {}
                    (ItemState::Within, b' ' | b'\t') if !whole_lines => {
                        done = true;
                        break;
                    }
                    (_, b'\\') => {
                        begun = true;
                        state = ItemState::Escape;
                    }
                    (_, b'"' | b'\'') => {
                        begun = true;
                        state = ItemState::Quote(c);
                    }
                    _ => {
                        begun = true;
                        state = ItemState::Within;
                        item.push(c);
                    }
                }
            }
            self.reader.consume(used);
            if done {
                return Ok(Some(item));
            }
        }
    }
}

#[derive(Clone, Copy)]
enum ItemState {
    Before,
    Within,
    Quote(u8),
    Escape,
}

/// Returns whether a byte may have a special meaning outside of quotes.
fn is_special(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\\' | b'"' | b'\'')
}

fn name(quote: u8) -> &'static str {
    if quote == b'"' { "double" } else { "single" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str, splitting: Splitting) -> Vec<String> {
        let reader = Box::new(io::Cursor::new(text.as_bytes().to_vec()));
        let mut items = ItemReader::new(reader, splitting, Some(b"_".to_vec()));
        let mut out = Vec::new();
        while let Some(item) = items.next().unwrap() {
            out.push(String::from_utf8(item).unwrap());
        }
        out
    }

    /// The expected values are the items that GNU xargs passes to printf '[%s]\n'.
    #[test]
    fn items_as_gnu_splits_them() {
        assert_eq!(
            items("a 'b c'\td\\ e\n\"\" f\n", Splitting::Words),
            ["a", "b c", "d e", "", "f"]
        );
        assert_eq!(items("  a b \n\n c\n", Splitting::Lines), ["a b ", "c"]);
        assert_eq!(items("a,,b\n", Splitting::Byte(b',')), ["a", "", "b\n"]);
        assert_eq!(items("a _ b", Splitting::Words), ["a"]);
    }
}
