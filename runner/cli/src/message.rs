//! What the runner itself says.
//!
//! Names in it come from images, guests and file names, so control characters are shown as
//! escapes. Standard error may be full with nobody reading it (a pipe, a stopped terminal): a
//! message is given up after [`PATIENCE`], and so are those after it.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(1);

static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Writes `runner: TEXT` to standard error, or `wasibox: TEXT`, see [`crate::installed::name`].
pub fn say_message(text: &str) {
    write(format!("{}: {}\n", crate::installed::name(), escape_text(text)));
}

/// Writes a line to standard error that is our own words only.
pub fn print_hint(text: &str) {
    write(format!("{text}\n"));
}

/// Writes our own words to standard error as they are, without a newline.
pub fn print_part(text: &str) {
    write(text.to_owned());
}

fn write(line: String) {
    if GIVEN_UP.load(Ordering::Relaxed) {
        return;
    }
    // Another thread, which a full pipe may keep: whether it is full can change between asking
    // and writing, and not to block is a mode that all who share the pipe would get.
    let (done, end) = channel();
    let writer = std::thread::Builder::new().spawn(move || {
        let _ = std::io::stderr().write_all(line.as_bytes());
        let _ = done.send(());
    });
    if writer.is_err() || end.recv_timeout(PATIENCE).is_err() {
        GIVEN_UP.store(true, Ordering::Relaxed);
    }
}

/// Text of others with its control characters as escapes, and those that turn the direction of
/// what is beside them.
pub fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// JSON as standard output may have it: for a terminal, without the controls that JSON allows as
/// they are.
pub fn json_shown(json: String) -> String {
    let is_bad = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    if !std::io::stdout().is_terminal() || !json.contains(is_bad) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_bad(c) {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown() {
        assert_eq!(escape_text("grün\t'a b'"), "grün\\t'a b'");
        assert_eq!(escape_text("\x1b[2J\r\n\u{9b}\x7f"), "\\u{1b}[2J\\r\\n\\u{9b}\\u{7f}");
        assert_eq!(escape_text("a\u{202e}b"), "a\\u{202e}b");
    }
}
