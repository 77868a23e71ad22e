//! What the locale variables say about text: characters are UTF-8, or bytes.

use box_applet::Env;

/// Whether characters are UTF-8 sequences (`LC_ALL`, `LC_CTYPE`, `LANG`; POSIX XBD 8.2). The
/// image's own locale is `C.UTF-8`, so only an explicit `C` or `POSIX` says no.
pub(crate) fn utf8(env: &Env) -> bool {
    let value = [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"]
        .iter()
        .find_map(|name| env.get(name).filter(|v| !v.is_empty()));
    !matches!(value, Some(b"C" | b"POSIX"))
}

/// Columns a character takes on a terminal.
pub(crate) fn width(c: char) -> usize {
    unicode_width::UnicodeWidthChar::width(c).unwrap_or(0)
}

/// Columns a text takes; invalid bytes take one each.
pub(crate) fn text_width(text: &[u8]) -> usize {
    if text.iter().all(|b| (0x20..0x7f).contains(b)) {
        return text.len();
    }
    let mut total = 0;
    for chunk in text.utf8_chunks() {
        total += chunk.valid().chars().map(width).sum::<usize>() + chunk.invalid().len();
    }
    total
}
