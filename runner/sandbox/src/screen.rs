//! Filters what a full-screen program sends to the host's terminal.
//!
//! A program on a terminal of the session ([`crate::relay`]) needs more than the colours that
//! [`crate::terminal`] lets pass: it moves the cursor, erases, scrolls, and switches to the alternate
//! screen. What it must not do is act on anything but the picture. The bytes that pass are therefore
//! a list; everything else is dropped without a trace:
//!
//! - the title, the clipboard, links, and all other strings (OSC, DCS, APC, PM, SOS);
//! - requests that the terminal answers by typing (device attributes, status, window size, colours),
//!   because the answer would be typed into the next program of the host;
//! - resets and changes of the terminal's own settings.
//!
//! # Invariants
//! - The filtered bytes are printable text in UTF-8, the controls BEL, BS, TAB, LF, CR, SO and SI,
//!   and escape sequences of the lists below; no C1 control.
//! - At most [`LONGEST`] bytes are held back.
//! - [`ScreenFilter::end`] returns the sequences that undo the modes that are on.

const ESCAPE: u8 = 0x1b;
/// The longest sequence that passes.
const LONGEST: usize = 64;
/// The bytes of a string that are dropped at most; after that, text is shown again.
const LONGEST_STRING: usize = 64 << 10;

/// Final bytes of `ESC [ NUMBERS FINAL` that move, erase, scroll, colour, set margins and tabs.
const CSI_FINALS: &[u8] = b"@ABCDEFGHIJKLMPSTXZ`abdefgmrsu";
/// Modes of `ESC [ ? MODE h`: cursor keys, reverse video, wrapping, blinking and visible cursor,
/// alternate screens, mouse reports, pasted text in brackets, updates at once. Reports of the mouse
/// are input that the person at the terminal causes.
const MODES: &[u32] = &[1, 5, 7, 12, 25, 47, 1000, 1002, 1003, 1006, 1047, 1048, 1049, 2004, 2026];
/// Second bytes of two-byte sequences: saving and restoring the cursor, moving by lines, tabs,
/// kinds of the keypad.
const ESCAPE_FINALS: &[u8] = b"78DEMH=>";

enum State {
    Text,
    /// Within a string that is dropped, with the number of its bytes so far.
    String(usize),
}

/// A filter for the screen of one terminal.
pub struct ScreenFilter {
    state: State,
    held: Vec<u8>,
    /// Modes that are on, or off in the case of the cursor and wrapping.
    changed: Vec<u32>,
    has_keypad: bool,
}

impl Default for ScreenFilter {
    fn default() -> ScreenFilter {
        let (held, changed) = (Vec::new(), Vec::new());
        ScreenFilter { state: State::Text, held, changed, has_keypad: false }
    }
}

/// A scanned beginning of the bytes.
enum ScanResult {
    Pass(usize),
    Drop(usize),
    /// A string begins after this many bytes.
    String(usize),
    /// More bytes are needed.
    Cut,
}

/// Returns whether a mode is on when a terminal begins.
fn is_on_at_first(mode: u32) -> bool {
    matches!(mode, 7 | 25)
}

impl ScreenFilter {
    /// Returns what may be shown of the next bytes.
    pub fn filter_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(all.len());
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            if let State::String(len) = self.state {
                let taken = match rest {
                    [ESCAPE] => {
                        self.held = rest.to_vec();
                        break;
                    }
                    [ESCAPE, b'\\', ..] => (2, true),
                    // Any other escape ends the string and begins something new.
                    [ESCAPE, ..] => (0, true),
                    [0x07 | 0x18 | 0x1a, ..] => (1, true),
                    _ => (1, len >= LONGEST_STRING),
                };
                self.state = if taken.1 { State::Text } else { State::String(len + 1) };
                rest = &rest[taken.0..];
                continue;
            }
            match self.scan(rest) {
                ScanResult::Pass(n) => {
                    out.extend_from_slice(&rest[..n]);
                    rest = &rest[n..];
                }
                ScanResult::Drop(n) => rest = &rest[n..],
                ScanResult::String(n) => {
                    self.state = State::String(0);
                    rest = &rest[n..];
                }
                ScanResult::Cut => {
                    self.held = rest.to_vec();
                    break;
                }
            }
        }
        out
    }

    fn scan(&mut self, bytes: &[u8]) -> ScanResult {
        match bytes[0] {
            ESCAPE => self.scan_sequence(bytes),
            0x80.. => scan_character(bytes),
            0x07..=0x0a | b'\r' | 0x0e | 0x0f => ScanResult::Pass(1),
            b' '..=b'~' => {
                let n = bytes.iter().take_while(|b| matches!(b, b' '..=b'~')).count();
                ScanResult::Pass(n)
            }
            _ => ScanResult::Drop(1),
        }
    }

    fn scan_sequence(&mut self, bytes: &[u8]) -> ScanResult {
        let Some(second) = bytes.get(1) else { return ScanResult::Cut };
        match second {
            b'[' => self.scan_csi(bytes),
            b']' | b'P' | b'_' | b'^' | b'X' | b'k' => ScanResult::String(2),
            b'(' | b')' => match bytes.get(2) {
                None => ScanResult::Cut,
                Some(b'0' | b'A' | b'B') => ScanResult::Pass(3),
                Some(_) => ScanResult::Drop(3),
            },
            b if ESCAPE_FINALS.contains(b) => {
                match b {
                    b'=' => self.has_keypad = true,
                    b'>' => self.has_keypad = false,
                    _ => {}
                }
                ScanResult::Pass(2)
            }
            // Another escape, or the beginning of text.
            &ESCAPE => ScanResult::Drop(1),
            0x20..=0x2f => match bytes.get(2) {
                None => ScanResult::Cut,
                Some(_) => ScanResult::Drop(3),
            },
            _ => ScanResult::Drop(2),
        }
    }

    /// Scans `ESC [`, parameters (0x30 to 0x3f), intermediate bytes (0x20 to 0x2f), a final byte.
    fn scan_csi(&mut self, bytes: &[u8]) -> ScanResult {
        let parameters = bytes[2..].iter().take_while(|b| matches!(b, 0x30..=0x3f)).count();
        let middle =
            bytes[2 + parameters..].iter().take_while(|b| matches!(b, 0x20..=0x2f)).count();
        let at = 2 + parameters + middle;
        if at > LONGEST {
            // As many bytes as are held if the sequence comes byte by byte. The rest is text.
            return ScanResult::Drop(LONGEST + 1);
        }
        let (parameters, middle) = (&bytes[2..2 + parameters], &bytes[2 + parameters..at]);
        let Some(&end) = bytes.get(at) else { return ScanResult::Cut };
        if !(0x40..=0x7e).contains(&end) {
            // A control character within a sequence ends it here.
            return ScanResult::Drop(at);
        }
        let all = ScanResult::Pass(at + 1);
        let are_numbers = parameters.iter().all(|b| matches!(b, b'0'..=b'9' | b';' | b':'));
        let passes = match (parameters.first(), middle, end) {
            // The cursor's shape.
            (_, b" ", b'q') => are_numbers,
            (Some(b'?'), b"", b'h' | b'l') => {
                return self.scan_modes(&parameters[1..], end, at + 1);
            }
            // Insert mode.
            (_, b"", b'h' | b'l') => parameters == b"4",
            (_, b"", end) => are_numbers && CSI_FINALS.contains(&end),
            _ => false,
        };
        if passes { all } else { ScanResult::Drop(at + 1) }
    }

    fn scan_modes(&mut self, list: &[u8], end: u8, len: usize) -> ScanResult {
        let modes: Option<Vec<u32>> =
            list.split(|b| *b == b';').map(|n| std::str::from_utf8(n).ok()?.parse().ok()).collect();
        let Some(modes) = modes.filter(|all| all.iter().all(|m| MODES.contains(m))) else {
            return ScanResult::Drop(len);
        };
        for mode in modes {
            self.changed.retain(|m| *m != mode);
            if (end == b'h') != is_on_at_first(mode) {
                self.changed.push(mode);
            }
        }
        ScanResult::Pass(len)
    }

    /// Returns the bytes that undo what the programs have left: modes, colours, margins, the
    /// character set, the keypad.
    pub fn end(&mut self) -> Vec<u8> {
        let mut out = b"\x1b[0m\x1b(B\x0f".to_vec();
        if std::mem::take(&mut self.has_keypad) {
            out.extend_from_slice(b"\x1b>");
        }
        for mode in std::mem::take(&mut self.changed) {
            let end = if is_on_at_first(mode) { 'h' } else { 'l' };
            out.extend_from_slice(format!("\x1b[?{mode}{end}").as_bytes());
        }
        out
    }
}

/// Scans a character that is not ASCII.
fn scan_character(bytes: &[u8]) -> ScanResult {
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) if e.valid_up_to() == 0 && e.error_len().is_none() => return ScanResult::Cut,
        Err(e) => std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default(),
    };
    match valid.chars().next() {
        Some(c) if !c.is_control() => ScanResult::Pass(c.len_utf8()),
        Some(c) => ScanResult::Drop(c.len_utf8()),
        None => ScanResult::Drop(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(text: &[u8]) -> Vec<u8> {
        let whole = ScreenFilter::default().filter_bytes(text);
        // The output does not depend on how the input is cut.
        let mut filter = ScreenFilter::default();
        let pieces: Vec<u8> = text.iter().flat_map(|b| filter.filter_bytes(&[*b])).collect();
        assert_eq!(whole, pieces, "{}", text.escape_ascii());
        whole
    }

    #[test]
    fn full_screen_programs_pass() {
        for good in [
            "one\ttwo\r\nthree\x08\x07\n",
            "\x1b[?1049h\x1b[H\x1b[2J\x1b[3;4Hx\x1b[K\x1b[1;31mred\x1b[0m\x1b[?25l\x1b[?25h\x1b[?1049l",
            "\x1b7\x1b[5;20r\x1bM\x1bD\x1b8\x1b(0lqk\x1b(B\x0e\x0f\x1b=\x1b>",
            "\x1b[?2004h\x1b[2 q\x1b[4h\x1b[4l\x1b[?1;1000;1006h",
            "grün 漢字 🎉\n",
        ] {
            assert_eq!(passed(good.as_bytes()), good.as_bytes());
        }
    }

    #[test]
    fn nothing_answers_titles_or_copies() {
        for (bad, shown) in [
            (b"a\x1b]0;title\x07b".as_slice(), b"ab".as_slice()),
            (b"a\x1b]52;c;aGk=\x1b\\b", b"ab"),
            (b"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", b"alink"),
            (b"a\x1bP$q\"p\x1b\\b", b"ab"),
            (b"a\x1b_G\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d\x1bktitle\x1b\\e", b"abcde"),
            (b"a\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[18t\x1b[21tb", b"ab"),
            (b"a\x1b[?1$p\x1b[x\x1b[>q\x1b[?u\x1b[>4;1m\x1b[=1ub", b"ab"),
            (b"a\x1b[i\x1b[5i\x1b[?1004h\x1b[?3h\x1b[?1;3h\x1b[!pb", b"ab"),
            (b"a\x1bc\x1bZ\x1b#8\x1b%G\x05b", b"ab"),
            (b"a\x9b2J\xc2\x9b2J\x9d0;x\x07", b"a2J2J0;x\x07"),
            (b"a\x1b]0;x\x1b[2Jb", b"a\x1b[2Jb"),
            (b"a\x1b[3\x1b[1mb", b"a\x1b[1mb"),
            (b"a\x1b\x1b[1mb\0\x7f", b"a\x1b[1mb"),
            (b"\xff\xc3(", b"("),
        ] {
            assert_eq!(passed(bad), shown, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn long_sequences_and_strings_end() {
        let long = [b"\x1b[".as_slice(), &[b'1'; 100], b"mx"].concat();
        assert!(!passed(&long).contains(&ESCAPE));
        let mut filter = ScreenFilter::default();
        filter.filter_bytes(b"\x1b[");
        for _ in 0..1000 {
            filter.filter_bytes(b"1");
            assert!(filter.held.len() <= LONGEST + 3);
        }
        let mut filter = ScreenFilter::default();
        filter.filter_bytes(b"\x1b]0;");
        filter.filter_bytes(&vec![b'x'; LONGEST_STRING + 10]);
        assert_eq!(filter.filter_bytes(b"seen"), b"seen");
    }

    #[test]
    fn the_end_undoes_what_is_left() {
        let mut filter = ScreenFilter::default();
        filter.filter_bytes(b"\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1000l\x1b=");
        assert_eq!(filter.end(), b"\x1b[0m\x1b(B\x0f\x1b>\x1b[?1049l\x1b[?25h");
        assert_eq!(filter.end(), b"\x1b[0m\x1b(B\x0f");
    }
}
