//! The value of a cell's last expression, within bounds.
//!
//! Text that is too long is reduced to its beginning and end, with a line between them that says
//! how much is left out. JSON that is too long is left out whole, because a part of it would be a
//! different value.

/// The maximum number of bytes of the text that an interpreter writes. Longer text is cut there,
/// and ends with `...`.
const MAX_TEXT: usize = 64 << 10;

/// The value of a cell's last expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellValue {
    /// As `repr` or `util.inspect` writes it.
    pub text: Option<String>,
    /// As JSON, if it is plain data.
    pub json: Option<String>,
    /// The minimum length of the value in bytes, if the value is not complete.
    pub bytes: Option<u64>,
}

impl CellValue {
    /// Creates a value from the interpreter's answer.
    pub fn new(text: Option<String>, json: Option<String>) -> CellValue {
        let is_cut = |t: &&String| t.len() >= MAX_TEXT - 6 && t.ends_with("...");
        let cut = text.as_ref().filter(|t| json.is_none() && is_cut(t));
        let bytes = cut.map(|t| t.len() as u64);
        CellValue { text, json, bytes }
    }

    /// Shortens text and JSON to at most `most` bytes each.
    #[must_use]
    pub fn bounded(self, most: u64) -> CellValue {
        let len = |s: &Option<String>| s.as_ref().map_or(0, |s| s.len() as u64);
        let longest = len(&self.text).max(len(&self.json));
        if longest <= most {
            return self;
        }
        CellValue {
            text: self.text.map(|t| shorten_text(t.as_bytes(), most).0),
            json: self.json.filter(|j| j.len() as u64 <= most),
            bytes: self.bytes.or(Some(longest)),
        }
    }
}

/// Returns the text and whether it is cut: of more than `most` bytes only the beginning and the
/// end.
pub fn shorten_text(bytes: &[u8], most: u64) -> (String, bool) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if bytes.len() <= most {
        return (String::from_utf8_lossy(bytes).into_owned(), false);
    }
    let head = most * 3 / 4;
    // No character is cut.
    let is_inner = |at: &usize| bytes.get(*at).is_some_and(|b| b & 0xc0 == 0x80);
    let begin = (head.saturating_sub(3)..=head).rev().find(|at| !is_inner(at)).unwrap_or(head);
    let end = bytes.len() - (most - head);
    let end = (end..(end + 4).min(bytes.len())).find(|at| !is_inner(at)).unwrap_or(end);
    let (a, b) = (&bytes[..begin], &bytes[end..]);
    let note = format!("\n[... {} bytes left out ...]\n", end - begin);
    (String::from_utf8_lossy(a).into_owned() + &note + &String::from_utf8_lossy(b), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_has_its_beginning_and_end() {
        assert_eq!(shorten_text(b"abc", 3), ("abc".into(), false));
        let (text, cut) = shorten_text(b"0123456789", 4);
        assert_eq!((text.as_str(), cut), ("012\n[... 6 bytes left out ...]\n9", true));
        let (text, _) = shorten_text("ä".repeat(100).as_bytes(), 41);
        assert!(!text.contains('\u{fffd}'), "{text}");
    }

    #[test]
    fn a_value_that_is_too_long_is_marked() {
        let plain = |text: &str, json: &str| CellValue::new(Some(text.into()), Some(json.into()));
        let short = plain("[1]", "[1]");
        assert_eq!(short.clone().bounded(3), short);
        let cut = plain("[1, 2, 3]", "[1,2,3]").bounded(8);
        assert_eq!((cut.json.as_deref(), cut.bytes), (Some("[1,2,3]"), Some(9)));
        assert_eq!(cut.text.unwrap(), "[1, 2,\n[... 1 bytes left out ...]\n3]");
        let cut = plain("[1, 2, 3]", "[1,2,3]").bounded(4);
        assert_eq!((cut.json, cut.bytes), (None, Some(9)));
        // The recorded length stays when the value is cut again.
        let again = CellValue::new(Some("abcdefgh".into()), None).bounded(4).bounded(0);
        assert_eq!(again.bytes, Some(8));
        // Text that the interpreter has cut.
        let long = "x".repeat(MAX_TEXT - 3) + "...";
        assert_eq!(CellValue::new(Some(long.clone()), None).bytes, Some(MAX_TEXT as u64));
        assert_eq!(CellValue::new(Some(long), Some("1".into())).bytes, None);
    }
}
