//! Filters a guest's output to a terminal.
//!
//! A terminal obeys the bytes that it shows: sequences move the cursor over earlier lines, set the
//! window's title, fill the clipboard, and make some terminals send input. So a guest's output is
//! shown as text, with colours and with the sequence that erases the rest of a line (`grep --color`
//! uses it after each match); every other control character becomes `?`, as in a listing of GNU
//! `ls`. Output to other descriptors is not touched, and `--raw` turns the filter off.
//!
//! # Invariants
//! - The filtered bytes contain no byte below 0x20 except backspace, tab, newline, carriage return
//!   and the escape characters of `ESC [ digits and ; and : m` and of `ESC [ K`; no DEL; no C1
//!   control, neither as a byte nor as U+0080 to U+009F.
//! - Sequences and characters that are cut by the end of a write are held until the next one.

/// The longest recognised sequence, and the replacement of a control character.
const LONGEST: usize = 64;
const SHOWN: u8 = b'?';
const ESCAPE: u8 = 0x1b;

/// A filter for a stream of output.
#[derive(Debug, Default)]
pub struct Filter {
    /// The beginning of an escape sequence or of a character.
    held: Vec<u8>,
}

impl Filter {
    /// Returns the visible part of the next bytes.
    pub fn filter_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(all.len());
        let mut rest = all.as_slice();
        while let Some(&first) = rest.first() {
            let taken = match first {
                ESCAPE => scan_sequence(rest),
                0x80.. => scan_character(rest),
                b'\n' | b'\t' | b'\r' | 0x08 | b' '..=b'~' => FilteredSequence::Good(1),
                _ => FilteredSequence::Bad,
            };
            let len = match taken {
                FilteredSequence::Good(n) => {
                    out.extend_from_slice(&rest[..n]);
                    n
                }
                FilteredSequence::Bad => {
                    out.push(SHOWN);
                    1
                }
                FilteredSequence::Cut => {
                    self.held = rest.to_vec();
                    break;
                }
            };
            rest = &rest[len..];
        }
        out
    }
}

/// A filtered stream to a terminal, which may take fewer bytes than it is offered.
#[derive(Debug, Default)]
pub struct FilteredStream {
    filter: Filter,
    /// The bytes that the terminal has not taken yet.
    left: Vec<u8>,
}

impl FilteredStream {
    /// The maximum number of bytes of one write, so that few have to be kept for later.
    const PART: usize = 4096;

    /// Writes the rest of earlier bytes, then a part of `bytes`; returns the length of the part.
    pub fn put<E>(
        &mut self,
        bytes: &[u8],
        write: impl Fn(&[u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.flush(&write)?;
        let part = &bytes[..bytes.len().min(FilteredStream::PART)];
        self.left = self.filter.filter_bytes(part);
        // The part always counts as written. The next call reports an error.
        let _ = self.flush(&write);
        Ok(part.len())
    }

    /// Writes the rest of earlier bytes.
    pub fn flush<E>(&mut self, write: &impl Fn(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        while !self.left.is_empty() {
            let n = write(&self.left)?;
            self.left.drain(..n);
        }
        Ok(())
    }
}

enum FilteredSequence {
    /// This many bytes may be shown.
    Good(usize),
    /// The first byte may not be shown.
    Bad,
    /// More bytes are needed to decide.
    Cut,
}

/// Scans an escape sequence.
fn scan_sequence(bytes: &[u8]) -> FilteredSequence {
    match bytes.get(1) {
        None => return FilteredSequence::Cut,
        Some(b'[') => {}
        Some(_) => return FilteredSequence::Bad,
    }
    let is_parameter = |b: &&u8| matches!(**b, b'0'..=b'9' | b';' | b':');
    let parameters = bytes[2..].iter().take_while(is_parameter).count();
    if parameters > LONGEST {
        return FilteredSequence::Bad;
    }
    match bytes.get(2 + parameters) {
        None => FilteredSequence::Cut,
        Some(b'm') => FilteredSequence::Good(3 + parameters),
        Some(b'K') if parameters == 0 => FilteredSequence::Good(3),
        Some(_) => FilteredSequence::Bad,
    }
}

/// Scans a character that is not ASCII.
fn scan_character(bytes: &[u8]) -> FilteredSequence {
    let head = &bytes[..bytes.len().min(4)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) if e.valid_up_to() > 0 => {
            std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default()
        }
        Err(e) => {
            return if e.error_len().is_none() {
                FilteredSequence::Cut
            } else {
                FilteredSequence::Bad
            };
        }
    };
    match text.chars().next() {
        Some(c) if !c.is_control() => FilteredSequence::Good(c.len_utf8()),
        // U+0080 to U+009F: both bytes are replaced, the second one as a stray.
        _ => FilteredSequence::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(text: &[u8]) -> Vec<u8> {
        let whole = Filter::default().filter_bytes(text);
        // The output does not depend on how the input is cut.
        let mut filter = Filter::default();
        let pieces: Vec<u8> = text.iter().flat_map(|b| filter.filter_bytes(&[*b])).collect();
        assert_eq!(whole, pieces);
        whole
    }

    #[test]
    fn what_a_terminal_does_not_take_at_once_comes_later() {
        let (mut shown, room, out) = (
            FilteredStream::default(),
            std::cell::Cell::new(3),
            std::cell::RefCell::new(Vec::new()),
        );
        let write = |bytes: &[u8]| match bytes.len().min(room.get()) {
            0 => Err(()),
            n => {
                room.set(room.get() - n);
                out.borrow_mut().extend_from_slice(&bytes[..n]);
                Ok(n)
            }
        };
        assert_eq!(shown.put(b"ab\x07cd", write), Ok(5));
        assert_eq!(*out.borrow(), b"ab?");
        assert_eq!(shown.put(b"ef", write), Err(()));
        room.set(100);
        assert_eq!(shown.put(b"ef", write), Ok(2));
        assert_eq!(*out.borrow(), b"ab?cdef");
        assert_eq!(shown.put(&[b'x'; 9000], write), Ok(4096));
        room.set(9000);
        assert_eq!(shown.flush(&write), Ok(()));
        assert_eq!(out.borrow().len(), 7 + 4096);
    }

    #[test]
    fn text_and_colours_pass() {
        for good in [
            "one\ttwo\r\nthree\x08\n",
            "\x1b[1;31mred\x1b[0m \x1b[38:2:1:2:3m \x1b[m",
            "\x1b[01;31m\x1b[Kmatch\x1b[m\x1b[K",
            "grün 漢字 🎉\n",
        ] {
            assert_eq!(passed(good.as_bytes()), good.as_bytes());
        }
    }

    #[test]
    fn commands_to_the_terminal_become_text() {
        for (bad, shown) in [
            (b"\x1b]0;title\x07".as_slice(), b"?]0;title?".as_slice()),
            (b"\x1b[2J\x1b[1;1H\x1b[1K", b"?[2J?[1;1H?[1K"),
            (b"\x1b]52;c;aGk=\x1b\\", b"?]52;c;aGk=?\\"),
            (b"\x1b[>4;1m\x1b[?25l", b"?[>4;1m?[?25l"),
            (b"\x1bc\x0e\x7f\0", b"?c???"),
            (b"\x9b2J \xc2\x9b2J", b"?2J ??2J"),
            (b"\xff\xc3(", b"??("),
            (b"\x1b\x1b[1m", b"?\x1b[1m"),
        ] {
            assert_eq!(passed(bad), shown, "{}", bad.escape_ascii());
        }
        let long = [b"\x1b[".as_slice(), &[b'1'; 100], b"m"].concat();
        assert!(passed(&long).starts_with(b"?[111"));
    }

    #[test]
    fn what_is_held_stays_short() {
        let mut filter = Filter::default();
        filter.filter_bytes(b"\x1b[");
        for _ in 0..1000 {
            filter.filter_bytes(b"1");
            assert!(filter.held.len() <= LONGEST + 2);
        }
    }
}
