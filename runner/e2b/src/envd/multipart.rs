//! Forms with files (RFC 7578), read as they come: one part after another, never a whole one in
//! memory.

use crate::fault::Fault;
use std::io::{Error, ErrorKind, Read, Result};

/// The longest boundary (RFC 2046, section 5.1.1), and the longest head of a part.
const BOUNDARY: usize = 70;
const HEAD: usize = 16 << 10;
/// The size of one read.
const PIECE: usize = 64 << 10;

/// Returns the boundary that a content type names.
///
/// # Errors
/// If it names none, or one that is too long.
pub fn boundary_of(content_type: &str) -> std::result::Result<String, Fault> {
    let parameters = content_type.split(';').skip(1);
    let boundary = parameters.filter_map(|p| p.trim().split_once('=')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("boundary").then(|| value.trim_matches('"').to_owned())
    });
    boundary
        .filter(|boundary| (1..=BOUNDARY).contains(&boundary.len()))
        .ok_or_else(|| Fault::invalid("the form's boundary is missing or too long"))
}

/// The head of a part.
pub struct PartHead {
    pub name: String,
    pub file_name: Option<String>,
}

/// A reader of a form's parts.
pub struct FormReader<R> {
    from: R,
    buffer: Vec<u8>,
    /// The line break, the dashes and the boundary, which end a part.
    delimiter: Vec<u8>,
    /// Whether a part is being read whose end was not found yet.
    in_part: bool,
    is_over: bool,
}

impl<R: Read> FormReader<R> {
    /// Reads a form with that boundary.
    pub fn new(from: R, boundary: &str) -> FormReader<R> {
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        // The first boundary may be the beginning of the body.
        FormReader { from, buffer: b"\r\n".to_vec(), delimiter, in_part: true, is_over: false }
    }

    /// Reads more bytes; returns false at the end.
    fn fill(&mut self) -> Result<bool> {
        let at = self.buffer.len();
        self.buffer.resize(at + PIECE, 0);
        let read = loop {
            match self.from.read(&mut self.buffer[at..]) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(at + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }

    /// Skips to the next part and returns its head; `None` after the last part.
    ///
    /// # Errors
    /// If the form is malformed, or the body ends within it.
    pub fn next_part(&mut self) -> std::result::Result<Option<PartHead>, Fault> {
        if self.in_part {
            self.skip_part()?;
        }
        if self.is_over {
            return Ok(None);
        }
        let wrong = |e: Error| Fault::invalid(format!("error reading form: {e}"));
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head: Vec<u8> = self.buffer.drain(..end + 4).collect();
                break head;
            }
            if self.buffer.len() > HEAD {
                return Err(Fault::invalid("the head of a part is too long"));
            }
            if !self.fill().map_err(wrong)? {
                return Err(Fault::invalid("the form ends within a part's head"));
            }
        };
        self.in_part = true;
        Ok(Some(parse_head(&String::from_utf8_lossy(&head))?))
    }

    /// Reads the rest of the present part, and the delimiter after it.
    ///
    /// # Errors
    /// If the body ends before.
    pub fn skip_part(&mut self) -> std::result::Result<(), Fault> {
        let copied = std::io::copy(&mut self.part_reader(), &mut std::io::sink());
        copied.map(drop).map_err(|e| Fault::invalid(format!("error reading form: {e}")))
    }

    /// Returns a reader of the present part.
    pub fn part_reader(&mut self) -> PartReader<'_, R> {
        PartReader(self)
    }

    /// Takes the end of the delimiter's line, which shows whether another part follows.
    fn finish_part(&mut self) -> Result<()> {
        self.in_part = false;
        loop {
            if self.buffer.starts_with(b"--") {
                self.is_over = true;
                return Ok(());
            }
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let is_blank = self.buffer[..end].iter().all(|b| matches!(b, b' ' | b'\t'));
                if !is_blank {
                    return Err(Error::new(ErrorKind::InvalidData, "a malformed boundary"));
                }
                self.buffer.drain(..end + 2);
                return Ok(());
            }
            if self.buffer.len() > HEAD || !self.fill()? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// A reader of one part's bytes.
pub struct PartReader<'a, R>(&'a mut FormReader<R>);

impl<R: Read> Read for PartReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let form = &mut *self.0;
        if !form.in_part || out.is_empty() {
            return Ok(0);
        }
        loop {
            let found = find(&form.buffer, &form.delimiter);
            // A possible beginning of the delimiter is not passed on yet.
            let sure =
                found.unwrap_or((form.buffer.len() + 1).saturating_sub(form.delimiter.len()));
            if sure > 0 {
                let n = sure.min(out.len());
                out[..n].copy_from_slice(&form.buffer[..n]);
                form.buffer.drain(..n);
                return Ok(n);
            }
            if found == Some(0) {
                form.buffer.drain(..form.delimiter.len());
                form.finish_part()?;
                return Ok(0);
            }
            if !form.fill()? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

fn parse_head(head: &str) -> std::result::Result<PartHead, Fault> {
    let disposition = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    });
    let disposition =
        disposition.ok_or_else(|| Fault::invalid("a part has no Content-Disposition"))?;
    let name = parameter(disposition, "name").unwrap_or_default();
    Ok(PartHead { name, file_name: parameter(disposition, "filename") })
}

/// Returns a parameter's value, in quotes or without. Browsers write quotes in it as `%22`.
fn parameter(text: &str, wanted: &str) -> Option<String> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find(';')? + 1..];
        let (name, value) = rest.split_once('=')?;
        let is_it = name.trim().eq_ignore_ascii_case(wanted);
        let value = value.trim_start();
        let (found, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (quoted[..end].replace("%22", "\""), &quoted[end + 1..])
            }
            None => {
                let end = value.find(';').unwrap_or(value.len());
                (value[..end].trim().to_owned(), &value[end..])
            }
        };
        if is_it {
            return Some(found);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives `step` bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> Result<usize> {
            let n = self.1.min(self.0.len()).min(out.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    const FORM: &[u8] = b"--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"/a;b.txt\"\r\n\
        Content-Type: text/plain\r\n\r\nhello\r\n--X\r\n\r\n--XX\r\nContent-Disposition: form-data; name=other\r\n\r\n\r\n--XX--\r\n";

    #[test]
    fn parts_are_read_in_any_pieces() {
        for step in [1, 2, 3, 7, 1000] {
            let mut form = FormReader::new(Slow(FORM, step), "XX");
            let part = form.next_part().unwrap().unwrap();
            assert_eq!((&*part.name, part.file_name.as_deref()), ("file", Some("/a;b.txt")));
            let mut text = String::new();
            form.part_reader().read_to_string(&mut text).unwrap();
            assert_eq!(text, "hello\r\n--X\r\n", "{step}");
            let part = form.next_part().unwrap().unwrap();
            assert_eq!((&*part.name, part.file_name), ("other", None));
            assert!(form.next_part().unwrap().is_none() && form.next_part().unwrap().is_none());
        }
    }

    #[test]
    fn incomplete_forms_are_refused() {
        for cut in [0, 3, 10, 60, 100, 130, FORM.len() - 5] {
            let mut form = FormReader::new(Slow(&FORM[..cut], 9), "XX");
            let mut read = || -> std::result::Result<(), Fault> {
                while form.next_part()?.is_some() {}
                Ok(())
            };
            assert!(read().is_err(), "{cut}");
        }
        let long = format!("--XX\r\n{}", "a".repeat(100_000));
        assert!(FormReader::new(long.as_bytes(), "XX").next_part().is_err());
    }

    #[test]
    fn boundaries_are_parameters() {
        assert_eq!(boundary_of("multipart/form-data; boundary=\"a b\"").unwrap(), "a b");
        assert_eq!(boundary_of("multipart/form-data;Boundary=ab").unwrap(), "ab");
        assert!(boundary_of("multipart/form-data").is_err());
        assert!(boundary_of(&format!("multipart/form-data; boundary={}", "x".repeat(71))).is_err());
    }
}
