//! Characters in byte strings: UTF-8 where the whole string is valid, bytes otherwise (as
//! bash falls back when `mbstowcs` fails).

/// Returns the number of characters.
pub fn char_count(text: &[u8], utf8: bool) -> usize {
    if !utf8 || text.is_ascii() {
        return text.len();
    }
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().count(),
        // bash counts valid characters and each invalid byte.
        Err(_) => text.utf8_chunks().map(|c| c.valid().chars().count() + c.invalid().len()).sum(),
    }
}

/// Returns the byte offset of the character with this number, counted from 0; the text's length if
/// there are fewer characters.
pub(crate) fn byte_offset(text: &[u8], chars: usize, utf8: bool) -> usize {
    if !utf8 || text.is_ascii() {
        return chars.min(text.len());
    }
    let mut left = chars;
    let mut offset = 0;
    for chunk in text.utf8_chunks() {
        for (at, _) in chunk.valid().char_indices() {
            if left == 0 {
                return offset + at;
            }
            left -= 1;
        }
        offset += chunk.valid().len();
        for _ in chunk.invalid() {
            if left == 0 {
                return offset;
            }
            left -= 1;
            offset += 1;
        }
    }
    offset
}

/// Returns the length in bytes of the character at the start of the text, which is not empty.
pub(crate) fn first_width(text: &[u8], utf8: bool) -> usize {
    let width = match text.first() {
        Some(0xC2..=0xDF) if utf8 => 2,
        Some(0xE0..=0xEF) if utf8 => 3,
        Some(0xF0..=0xF4) if utf8 => 4,
        _ => return 1,
    };
    match text.get(..width) {
        Some(bytes) if std::str::from_utf8(bytes).is_ok() => width,
        _ => 1,
    }
}
