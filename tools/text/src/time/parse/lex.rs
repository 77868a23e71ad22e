//! Words, numbers and signs of a date string.

use super::words::{self, DateWord};

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DateToken {
    /// A number with the details of its spelling.
    Number(DateNumber),
    Word(DateWord),
    /// Any other character.
    Char(u8),
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DateNumber {
    pub signed: bool,
    pub negative: bool,
    /// The whole part, rounded down if there is a fraction.
    pub value: i64,
    pub nanos: u32,
    pub digits: usize,
    pub fraction: bool,
}

/// Returns all tokens; `None` if something cannot be a part of any date.
pub(super) fn split_tokens(text: &[u8], zone_names: &[String]) -> Option<Vec<DateToken>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        if c.is_ascii_whitespace() || c == 0x0b {
            at += 1;
            continue;
        }
        let signed = matches!(c, b'-' | b'+');
        if c.is_ascii_digit() || signed {
            let mut negative = false;
            if signed {
                negative = c == b'-';
                at += 1;
                while text.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if !text.get(at).is_some_and(u8::is_ascii_digit) {
                    // A sign before no number is skipped.
                    continue;
                }
            }
            let (number, next) = scan_number(text, at, signed, negative)?;
            out.push(DateToken::Number(number));
            at = next;
            continue;
        }
        if c.is_ascii_alphabetic() {
            let from = at;
            while text.get(at).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'.') {
                at += 1;
            }
            let word = String::from_utf8_lossy(&text[from..at]).to_ascii_uppercase();
            out.push(DateToken::Word(words::find_word(&word, zone_names)?));
            continue;
        }
        if c == b'(' {
            // This is a comment; comments nest.
            let mut depth = 0usize;
            loop {
                match text.get(at)? {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            continue;
        }
        out.push(DateToken::Char(c));
        at += 1;
    }
    Some(out)
}

fn scan_number(
    text: &[u8],
    from: usize,
    signed: bool,
    negative: bool,
) -> Option<(DateNumber, usize)> {
    let mut at = from;
    let mut value = 0i64;
    while let Some(d) = text.get(at).filter(|c| c.is_ascii_digit()) {
        value = value.checked_mul(10)?;
        let d = i64::from(d - b'0');
        value = if negative { value.checked_sub(d)? } else { value.checked_add(d)? };
        at += 1;
    }
    let digits = at - from;
    let mut nanos = 0u32;
    let dot = matches!(text.get(at), Some(b'.' | b','));
    let fraction = dot && text.get(at + 1).is_some_and(u8::is_ascii_digit);
    if fraction {
        at += 1;
        let start = at;
        let mut lost = false;
        while let Some(d) = text.get(at).filter(|c| c.is_ascii_digit()) {
            if at - start < 9 {
                nanos = nanos * 10 + u32::from(d - b'0');
            } else {
                lost |= *d != b'0';
            }
            at += 1;
        }
        for _ in (at - start)..9 {
            nanos *= 10;
        }
        if negative && (nanos > 0 || lost) {
            // This rounds toward minus infinity.
            let up = u32::from(lost);
            value = value.checked_sub(1)?;
            nanos = 1_000_000_000 - nanos - up;
        }
    }
    Some((DateNumber { signed, negative, value, nanos, digits, fraction }, at))
}
