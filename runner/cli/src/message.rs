//! The runner's own messages.
//!
//! They contain names from images, guests and the file system, so control characters are shown as
//! escapes. Standard error may be full because its reader is stuck (a pipe, a stopped terminal): a
//! message is abandoned after [`WRITE_TIMEOUT`], and so are those after it.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The time that writing a message may take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Writes `runner: TEXT` to standard error, or `wasibox: TEXT`, see [`crate::installed::name`].
pub fn say_message(text: &str) {
    write(format!("{}: {}\n", crate::installed::name(), escape_text(text)));
}

/// Writes a line of fixed text to standard error, without a prefix.
pub fn print_hint(text: &str) {
    write(format!("{text}\n"));
}

/// Writes fixed text to standard error unchanged, without a newline.
pub fn print_part(text: &str) {
    write(text.to_owned());
}

fn write(line: String) {
    if GIVEN_UP.load(Ordering::Relaxed) {
        return;
    }
    // Another thread writes, because a full pipe may block it. Checking first does not help,
    // because the pipe may fill up between check and write, and non-blocking mode would apply to
    // all processes that share the pipe.
    let (done, end) = channel();
    let writer = std::thread::Builder::new().spawn(move || {
        let _ = std::io::stderr().write_all(line.as_bytes());
        let _ = done.send(());
    });
    if writer.is_err() || end.recv_timeout(WRITE_TIMEOUT).is_err() {
        GIVEN_UP.store(true, Ordering::Relaxed);
    }
}

/// Returns untrusted text with escapes for control characters and for those that change the
/// direction of the text around them.
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

/// Returns JSON for standard output: on a terminal, control characters that JSON allows unescaped
/// are escaped.
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
