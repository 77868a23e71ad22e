//! Widths of characters and texts on a terminal.

/// Returns the number of columns that a character takes on a terminal.
pub(crate) fn char_width(c: char) -> usize {
    unicode_width::UnicodeWidthChar::width(c).unwrap_or(0)
}

/// Returns the number of columns that a text takes; each invalid byte takes one.
pub(crate) fn text_width(text: &[u8]) -> usize {
    if text.iter().all(|b| (0x20..0x7f).contains(b)) {
        return text.len();
    }
    let mut total = 0;
    for chunk in text.utf8_chunks() {
        total += chunk.valid().chars().map(char_width).sum::<usize>() + chunk.invalid().len();
    }
    total
}
