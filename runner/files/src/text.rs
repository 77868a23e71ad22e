//! Text in bytes: encodings, byte order marks, line ends.

use wasibox_protocol::files::{FilesError, TextEncoding};

/// The number of bytes at a file's beginning that determine its kind.
pub const HEAD: usize = 8192;

/// Returns the byte order mark of an encoding.
fn byte_order_mark(encoding: TextEncoding) -> &'static [u8] {
    match encoding {
        TextEncoding::Utf8 => b"\xef\xbb\xbf",
        TextEncoding::Utf16Le => b"\xff\xfe",
        TextEncoding::Utf16Be => b"\xfe\xff",
        TextEncoding::Latin1 => b"",
    }
}

/// Returns the length of the byte order mark at the start of the text.
pub fn mark_len(head: &[u8], encoding: TextEncoding) -> usize {
    let mark = byte_order_mark(encoding);
    if head.starts_with(mark) { mark.len() } else { 0 }
}

/// Guesses the encoding of a text from its first bytes; returns `None` for binary data.
pub fn guess_encoding(head: &[u8]) -> Option<TextEncoding> {
    let marked = [TextEncoding::Utf16Le, TextEncoding::Utf16Be].into_iter();
    if let Some(encoding) = marked.into_iter().find(|e| head.starts_with(byte_order_mark(*e))) {
        return Some(encoding);
    }
    let head = &head[..head.len().min(HEAD)];
    if head.contains(&0) {
        return None;
    }
    // Text has few control characters. Bytes that are not UTF-8 may still be text of another
    // alphabet.
    let controls = head
        .iter()
        .filter(|b| **b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08))
        .count();
    let limit = head.len() / 16;
    (controls <= limit.max(usize::from(head.len() > 3))).then_some(TextEncoding::Utf8)
}

/// A converter from bytes that arrive in parts to UTF-8.
pub struct TextDecoder {
    encoding: TextEncoding,
    /// The beginning of a character that continues in the next part.
    rest: Vec<u8>,
    /// The number of bytes that are invalid in the encoding.
    pub invalid: u64,
}

impl TextDecoder {
    /// Creates a decoder for the beginning of a text.
    pub fn new(encoding: TextEncoding) -> TextDecoder {
        TextDecoder { encoding, rest: Vec::new(), invalid: 0 }
    }

    /// Decodes a part to `out`; `last` marks the last part.
    pub fn add_part(&mut self, part: &[u8], last: bool, out: &mut String) {
        let joined;
        let bytes = if self.rest.is_empty() {
            part
        } else {
            joined = [&self.rest[..], part].concat();
            self.rest.clear();
            &joined[..]
        };
        match self.encoding {
            TextEncoding::Latin1 => out.extend(bytes.iter().map(|b| char::from(*b))),
            TextEncoding::Utf8 => self.decode_utf8(bytes, last, out),
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => self.decode_utf16(bytes, last, out),
        }
    }

    fn decode_utf8(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            out.push_str(chunk.valid());
            let invalid = chunk.invalid();
            let unfinished = !last
                && chunks.peek().is_none()
                && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if unfinished {
                self.rest = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.invalid += invalid.len() as u64;
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    fn decode_utf16(&mut self, bytes: &[u8], last: bool, out: &mut String) {
        let units = |b: &[u8]| match self.encoding {
            TextEncoding::Utf16Be => u16::from_be_bytes([b[0], b[1]]),
            _ => u16::from_le_bytes([b[0], b[1]]),
        };
        let mut even = bytes.len() & !1;
        // A surrogate pair that continues in the next part.
        if !last && even >= 2 && (0xD800..0xDC00).contains(&units(&bytes[even - 2..])) {
            even -= 2;
        }
        let mut invalid = 0;
        for c in char::decode_utf16(bytes[..even].chunks_exact(2).map(units)) {
            out.push(c.unwrap_or_else(|_| {
                invalid += 2;
                char::REPLACEMENT_CHARACTER
            }));
        }
        self.invalid += invalid;
        if !last {
            self.rest = bytes[even..].to_vec();
        } else if even < bytes.len() {
            self.invalid += 1;
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// A text for editing, with the facts needed to write it back.
pub struct EditableText {
    /// UTF-8, except that invalid bytes of a UTF-8 file are kept.
    pub bytes: Vec<u8>,
    encoding: TextEncoding,
    marked: bool,
}

impl EditableText {
    /// Decodes the text of a whole file.
    pub fn from_file(
        file: Vec<u8>,
        asked: Option<TextEncoding>,
        path: &str,
    ) -> Result<EditableText, FilesError> {
        let head = &file[..file.len().min(HEAD)];
        let Some(encoding) = asked.or_else(|| guess_encoding(head)) else {
            return Err(FilesError::Binary {
                path: path.to_owned(),
                mime: crate::mime::mime_type(path, head, false),
                size: file.len() as u64,
            });
        };
        let skip = mark_len(head, encoding);
        let marked = skip > 0;
        if encoding == TextEncoding::Utf8 {
            let mut bytes = file;
            bytes.drain(..skip);
            return Ok(EditableText { bytes, encoding, marked });
        }
        let (mut decoder, mut out) = (TextDecoder::new(encoding), String::new());
        decoder.add_part(&file[skip..], true, &mut out);
        let text = EditableText { bytes: out.into_bytes(), encoding, marked };
        // A text that would not be written back unchanged must not be edited.
        let back = text.encode_text()?;
        if let Some(at) = (0..back.len().max(file.len())).find(|i| back.get(*i) != file.get(*i)) {
            let encoding = encoding.name().to_owned();
            return Err(FilesError::Encoding {
                path: path.to_owned(),
                encoding,
                offset: at as u64,
            });
        }
        Ok(text)
    }

    /// Returns the file's bytes.
    pub fn encode_text(&self) -> Result<Vec<u8>, FilesError> {
        let mark = if self.marked { byte_order_mark(self.encoding) } else { b"" };
        encode(&self.bytes, self.encoding, mark)
    }
}

/// Encodes a text as a file's bytes.
pub fn encode(text: &[u8], encoding: TextEncoding, mark: &[u8]) -> Result<Vec<u8>, FilesError> {
    let mut out = mark.to_vec();
    if encoding == TextEncoding::Utf8 {
        out.extend_from_slice(text);
        return Ok(out);
    }
    let text = String::from_utf8_lossy(text);
    match encoding {
        TextEncoding::Latin1 => {
            for c in text.chars() {
                let byte = u8::try_from(u32::from(c));
                out.push(byte.map_err(|_| FilesError::Unencodable { character: c })?);
            }
        }
        TextEncoding::Utf16Be => text.encode_utf16().for_each(|u| out.extend(u.to_be_bytes())),
        _ => text.encode_utf16().for_each(|u| out.extend(u.to_le_bytes())),
    }
    Ok(out)
}

/// Returns the byte order mark for a new file: only UTF-16 gets one, because it is not recognised
/// without.
pub fn new_mark(encoding: TextEncoding) -> &'static [u8] {
    match encoding {
        TextEncoding::Utf16Le | TextEncoding::Utf16Be => byte_order_mark(encoding),
        _ => b"",
    }
}

/// Returns whether every line end is CR LF.
pub fn is_crlf(text: &[u8]) -> bool {
    let mut any = false;
    for at in memchr::memchr_iter(b'\n', text) {
        if at == 0 || text[at - 1] != b'\r' {
            return false;
        }
        any = true;
    }
    any
}

/// Returns the text with CR LF at the end of each line.
pub fn to_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 16);
    for (i, b) in text.iter().enumerate() {
        if *b == b'\n' && (i == 0 || text[i - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(*b);
    }
    out
}

/// The starts of a text's lines, in four bytes each.
pub struct LineIndex<'a> {
    text: &'a [u8],
    starts: Vec<u32>,
}

impl<'a> LineIndex<'a> {
    /// Indexes a text of less than 4 GiB.
    pub fn new(text: &'a [u8]) -> LineIndex<'a> {
        let mut starts = Vec::new();
        if !text.is_empty() {
            starts.push(0);
            starts.extend(memchr::memchr_iter(b'\n', text).map(|i| i as u32 + 1));
            if text.ends_with(b"\n") {
                starts.pop();
            }
        }
        LineIndex { text, starts }
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the start of a line, or the text's end for an index beyond the last line.
    pub fn start(&self, i: usize) -> usize {
        self.starts.get(i).map_or(self.text.len(), |s| *s as usize)
    }

    /// Returns a line with its line end.
    pub fn get(&self, i: usize) -> &'a [u8] {
        &self.text[self.start(i)..self.start(i + 1)]
    }

    /// Returns the lines `from..to`.
    pub fn range(&self, from: usize, to: usize) -> Vec<&'a [u8]> {
        (from..to.min(self.len())).map(|i| self.get(i)).collect()
    }

    /// Returns the index of the line that contains a position.
    pub fn at(&self, position: usize) -> usize {
        self.starts.partition_point(|s| *s as usize <= position).saturating_sub(1)
    }
}

/// Returns a line without its line end.
pub fn line_without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Formats lines with their numbers, as `cat -n` does, each at most `width` bytes long.
pub fn number_lines(lines: &[&[u8]], first: u64, width: usize) -> String {
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let line = String::from_utf8_lossy(line_without_end(line));
        let (line, more) = cut_text(&line, width);
        let dots = if more { "…" } else { "" };
        out.push_str(&format!("{:>6}\t{line}{dots}\n", first + i as u64));
    }
    out
}

/// Returns at most `width` bytes of a text, and whether it was cut.
pub fn cut_text(text: &str, width: usize) -> (&str, bool) {
    if text.len() <= width {
        return (text, false);
    }
    let end = (0..=width).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    (&text[..end], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: TextEncoding, parts: &[&[u8]]) -> (String, u64) {
        let (mut d, mut out) = (TextDecoder::new(encoding), String::new());
        for (i, part) in parts.iter().enumerate() {
            d.add_part(part, i + 1 == parts.len(), &mut out);
        }
        (out, d.invalid)
    }

    #[test]
    fn characters_may_lie_in_two_parts() {
        let euro = "a€b".as_bytes();
        for at in 0..=euro.len() {
            let parts = [&euro[..at], &euro[at..]];
            assert_eq!(decoded(TextEncoding::Utf8, &parts), ("a€b".to_owned(), 0));
        }
        let wide: Vec<u8> = "x😀".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for at in 0..=wide.len() {
            let parts = [&wide[..at], &wide[at..]];
            assert_eq!(decoded(TextEncoding::Utf16Le, &parts), ("x😀".to_owned(), 0));
        }
    }

    #[test]
    fn what_is_no_text_is_counted() {
        assert_eq!(
            decoded(TextEncoding::Utf8, &[b"a\xffb\xe2\x82"]),
            ("a\u{fffd}b\u{fffd}".into(), 3)
        );
        assert_eq!(decoded(TextEncoding::Utf16Be, &[b"\xd8\0\0a\0"]).1, 3);
        assert_eq!(decoded(TextEncoding::Latin1, &[b"\xe9\x80"]), ("é\u{80}".into(), 0));
    }

    #[test]
    fn kinds_are_guessed() {
        assert_eq!(guess_encoding(b"hello\n"), Some(TextEncoding::Utf8));
        assert_eq!(guess_encoding(b""), Some(TextEncoding::Utf8));
        assert_eq!(guess_encoding(b"caf\xe9\n"), Some(TextEncoding::Utf8));
        assert_eq!(guess_encoding(b"\xff\xfeh\0i\0"), Some(TextEncoding::Utf16Le));
        assert_eq!(guess_encoding(b"a\0b"), None);
        assert_eq!(guess_encoding(b"\x01\x02\x03\x04\x05"), None);
    }

    #[test]
    fn a_text_is_written_back_as_it_was() {
        for file in [&b"\xef\xbb\xbfa\r\n"[..], b"\xff\xfea\0\n\0", b"\xfe\xff\0a", b"a\xffb"] {
            assert_eq!(
                EditableText::from_file(file.to_vec(), None, "f").unwrap().encode_text().unwrap(),
                file
            );
        }
        // Half a surrogate pair.
        assert!(EditableText::from_file(b"\xff\xfe\0\xd8".to_vec(), None, "f").is_err());
    }
}
