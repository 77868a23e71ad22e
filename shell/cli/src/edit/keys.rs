//! Keys, as terminals send them (xterm's control sequences; `terminfo(5)`).

/// A key, or a text that was pasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    /// A control character, by its letter: `A` is Ctrl-A.
    Control(char),
    /// A character after Escape, or with Alt.
    Meta(char),
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    Delete,
    WordLeft,
    WordRight,
    Backspace,
    Tab,
    BackTab,
    Enter,
    Paste(String),
    /// A sequence without a meaning here.
    Unknown,
}

/// The result of decoding the bytes so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyInput {
    Key(Key),
    /// More bytes are needed.
    More,
    /// A lone Escape, unless more bytes follow at once.
    Escape,
}

const PASTE_END: &[u8] = b"\x1b[201~";

/// Decodes the bytes of one key.
pub fn decode_key(bytes: &[u8]) -> KeyInput {
    use KeyInput::More;
    let key = match bytes {
        [] => return More,
        [0x1b] => return KeyInput::Escape,
        [0x1b, b'[', rest @ ..] => return decode_sequence(rest),
        [0x1b, b'O', rest @ ..] => match rest {
            [] => return More,
            [letter, ..] => cursor_key(*letter, false),
        },
        [0x1b, 0x7f | 8] => Key::Meta('\x7f'),
        [0x1b, rest @ ..] => match decode_char(rest) {
            Some(Some(c)) => Key::Meta(c),
            Some(None) => Key::Unknown,
            None => return More,
        },
        [b'\r' | b'\n', ..] => Key::Enter,
        [b'\t', ..] => Key::Tab,
        [0x7f | 8, ..] => Key::Backspace,
        [c @ 0..=0x1f, ..] => Key::Control(char::from(c + 0x40)),
        rest => match decode_char(rest) {
            Some(Some(c)) => Key::Char(c),
            Some(None) => Key::Unknown,
            None => return More,
        },
    };
    KeyInput::Key(key)
}

/// Decodes a character in UTF-8: `None` if bytes are missing, `Some(None)` if it is none.
fn decode_char(bytes: &[u8]) -> Option<Option<char>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map(Some),
        Err(e) if e.error_len().is_none() => None,
        Err(_) => Some(None),
    }
}

/// Decodes a control sequence after `ESC [`.
fn decode_sequence(bytes: &[u8]) -> KeyInput {
    let Some(end) = bytes.iter().position(|b| (0x40..=0x7e).contains(b)) else {
        return if bytes.len() > 32 { KeyInput::Key(Key::Unknown) } else { KeyInput::More };
    };
    let parameters = &bytes[..end];
    // The second number names the modifiers: 3 is Alt, 5 Ctrl.
    let is_modified = parameters.ends_with(b";5") || parameters.ends_with(b";3");
    let key = match (bytes[end], parameters) {
        (b'~', b"200") => return decode_paste(&bytes[end + 1..]),
        (b'~', b"1" | b"7") => Key::Home,
        (b'~', b"4" | b"8") => Key::End,
        (b'~', b"3") => Key::Delete,
        (b'Z', _) => Key::BackTab,
        (letter, _) => cursor_key(letter, is_modified),
    };
    KeyInput::Key(key)
}

/// Decodes a pasted text, which terminals put between brackets. Its carriage returns are line ends,
/// and other control characters have no meaning in a command.
fn decode_paste(bytes: &[u8]) -> KeyInput {
    let Some(at) = bytes.windows(PASTE_END.len()).position(|w| w == PASTE_END) else {
        return KeyInput::More;
    };
    let text = String::from_utf8_lossy(&bytes[..at]).replace("\r\n", "\n").replace('\r', "\n");
    let kept = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    KeyInput::Key(Key::Paste(kept.collect()))
}

fn cursor_key(letter: u8, is_modified: bool) -> Key {
    match (letter, is_modified) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'H', _) => Key::Home,
        (b'F', _) => Key::End,
        _ => Key::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded() {
        let is = |bytes: &[u8], key: Key| assert_eq!(decode_key(bytes), KeyInput::Key(key));
        is(b"a", Key::Char('a'));
        is("ü".as_bytes(), Key::Char('ü'));
        is(b"\xff", Key::Unknown);
        is(b"\x01", Key::Control('A'));
        is(b"\x1f", Key::Control('_'));
        is(b"\x7f", Key::Backspace);
        is(b"\r", Key::Enter);
        is(b"\x1bf", Key::Meta('f'));
        is(b"\x1b[A", Key::Up);
        is(b"\x1bOD", Key::Left);
        is(b"\x1b[1;5C", Key::WordRight);
        is(b"\x1b[3~", Key::Delete);
        is(b"\x1b[99~", Key::Unknown);
        is(b"\x1b[200~a\rb\x07\x1b[201~", Key::Paste("a\nb".into()));
        for part in [&b"\x1b["[..], b"\x1bO", b"\x1b[1;", b"\xc3", b"\x1b[200~abc"] {
            assert_eq!(decode_key(part), KeyInput::More, "{}", part.escape_ascii());
        }
        assert_eq!(decode_key(b"\x1b"), KeyInput::Escape);
    }
}
