//! Finds secrets in responses, and replaces them by stars.
//!
//! Each secret is searched for verbatim, in base64 (both alphabets, at each of the three offsets
//! that it can have within a longer text, also broken into lines), and in hex. In these forms any
//! byte may be escaped as in JSON, JavaScript, URLs, forms or HTML, because writers differ in the
//! bytes that they escape. Each byte is replaced by one star, so that lengths stay correct.
//!
//! A server that has a secret can always send it in a form that cannot be foreseen: reversed, or
//! piece by piece. Scrubbing is meant for servers that echo or log, not for hostile ones; those
//! must never get a secret.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use memchr::memmem;
use std::fmt::Write as _;
use zeroize::{Zeroize, Zeroizing};

/// Minimum and maximum length of a secret in bytes. Shorter ones would occur by chance.
pub(crate) const MIN_SECRET: usize = 8;
pub(crate) const MAX_SECRET: usize = 4096;

/// All forms of all secrets.
#[derive(Default)]
pub(crate) struct SecretForms(Vec<SecretForm>);

/// A text that stands for a secret.
struct SecretForm {
    text: Zeroizing<Vec<u8>>,
    /// Whether the text may be broken into lines, as base64 may be.
    has_lines: bool,
}

impl std::fmt::Debug for SecretForms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Forms({})", self.0.len())
    }
}

impl SecretForms {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a secret to the search.
    pub(crate) fn add(&mut self, secret: &[u8]) {
        if secret.is_empty() || self.0.iter().any(|f| f.text.as_slice() == secret) {
            return;
        }
        let mut add = |text: Zeroizing<Vec<u8>>, has_lines| {
            if !self.0.iter().any(|f| *f.text == *text) {
                self.0.push(SecretForm { text, has_lines });
            }
        };
        add(Zeroizing::new(secret.to_vec()), false);
        for letters in [&alphabet::STANDARD, &alphabet::URL_SAFE] {
            let engine = GeneralPurpose::new(letters, NO_PAD);
            (0..3).for_each(|offset| add(within_base64(&engine, secret, offset), true));
        }
        add(hex_form(secret, false), false);
        add(hex_form(secret, true), false);
    }

    /// Returns the bytes with stars in place of secrets.
    pub(crate) fn scrub_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for (from, to) in self.find_secrets(bytes) {
            out[from..to].fill(b'*');
        }
        out
    }

    /// Returns whether the bytes contain a secret, ignoring case.
    pub(crate) fn in_name(&self, name: &[u8]) -> bool {
        let name = name.to_ascii_lowercase();
        self.0.iter().any(|f| {
            let folded = Zeroizing::new(f.text.to_ascii_lowercase());
            memmem::find(&name, &folded).is_some()
        })
    }

    fn find_secrets(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for form in &self.0 {
            for at in form.possible_starts(bytes) {
                if let FormMatch::Whole(end) = form.match_at(bytes, at) {
                    out.push((at, end));
                }
            }
        }
        out
    }

    /// Returns the number of final bytes that may be the beginning of a secret.
    fn begun_len(&self, bytes: &[u8]) -> usize {
        let longest = |form: &SecretForm| {
            let first = bytes.len().saturating_sub(form.text.len() * LONGEST_ESCAPE + 2);
            let starts = form.possible_starts(&bytes[first..]);
            let mut starts = starts.map(|at| first + at);
            starts.find(|at| matches!(form.match_at(bytes, *at), FormMatch::Begun))
        };
        self.0.iter().filter_map(longest).min().map_or(0, |at| bytes.len() - at)
    }
}

/// The maximum number of bytes that are expected to stand for one byte of a secret: an escape such
/// as `&quot;` or `\u003c`, and a line break before it.
const LONGEST_ESCAPE: usize = 10;
/// The number of base64 letters that must match before a line break at the end of the text is held
/// back. It is held back until more text shows whether the form continues. After fewer letters the
/// line break passes at once, because lines of other texts must not wait.
const LINE_LETTERS: usize = 4;

/// The result of comparing a form with a text, starting at one place.
#[derive(Debug, PartialEq, Eq)]
enum FormMatch {
    /// The whole form matches, and ends before this place.
    Whole(usize),
    /// All of the text matches, but the form may continue after it.
    Begun,
    Nothing,
}

impl SecretForm {
    /// Returns the places at which the form's first byte may be, escaped or not.
    fn possible_starts<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        let first = self.text.first().copied().unwrap_or_default();
        let fits = move |b: u8| {
            b == first || matches!(b, b'%' | b'\\' | b'&') || (first == b' ' && b == b'+')
        };
        bytes.iter().enumerate().filter(move |(_, b)| fits(**b)).map(|(at, _)| at)
    }

    fn match_at(&self, bytes: &[u8], at: usize) -> FormMatch {
        // A byte such as '%' may stand for itself or begin an escape, so there may be two ways to
        // continue.
        let mut ways = vec![(0, at)];
        let mut has_begun = false;
        // The number of steps is limited, because a text may have many such bytes.
        for _ in 0..self.text.len() * 4 + 16 {
            let Some((matched, mut at)) = ways.pop() else { break };
            let Some(want) = self.text.get(matched) else { return FormMatch::Whole(at) };
            if self.has_lines && matched > 0 {
                at += line_break_len(&bytes[at..]);
                if at == bytes.len() && matched < LINE_LETTERS && bytes.ends_with(b"\n") {
                    continue;
                }
            }
            let rest = &bytes[at..];
            has_begun |= rest.is_empty();
            has_begun |= self.has_lines && matched >= LINE_LETTERS && begins_line_break(rest);
            if let Some(escape) = read_escape(rest) {
                match escape {
                    Escape::Cut => has_begun = true,
                    Escape::Byte(byte, len) if byte == *want => ways.push((matched + 1, at + len)),
                    Escape::Byte(..) => {}
                }
            }
            let is_itself = |b: &u8| b == want || (*want == b' ' && *b == b'+');
            if rest.first().is_some_and(is_itself) {
                ways.push((matched + 1, at + 1));
            }
        }
        if has_begun { FormMatch::Begun } else { FormMatch::Nothing }
    }
}

/// An escaped byte at the beginning of a text.
enum Escape {
    /// The byte, and the length of its escape.
    Byte(u8, usize),
    /// The text ends within it.
    Cut,
}

/// Reads an escape of JSON, JavaScript, URLs or HTML.
fn read_escape(bytes: &[u8]) -> Option<Escape> {
    let hex = |from: usize, len: usize| match bytes.get(from..from + len) {
        None => Some(Escape::Cut),
        Some(digits) => {
            let text = std::str::from_utf8(digits).ok()?;
            let value = u32::from_str_radix(text, 16).ok()?;
            Some(Escape::Byte(u8::try_from(value).ok()?, from + len))
        }
    };
    match bytes {
        [b'%' | b'\\' | b'&'] => Some(Escape::Cut),
        [b'%', ..] => hex(1, 2),
        [b'\\', b'u', ..] => hex(2, 4),
        [b'\\', b'x', ..] => hex(2, 2),
        [b'\\', byte @ (b'"' | b'\\' | b'/' | b'\'' | b'`'), ..] => Some(Escape::Byte(*byte, 2)),
        [b'&', ..] => read_entity(bytes),
        _ => None,
    }
}

/// Reads a character reference of HTML.
fn read_entity(bytes: &[u8]) -> Option<Escape> {
    const LONGEST: usize = 8;
    let part = &bytes[..bytes.len().min(LONGEST)];
    let Some(end) = part.iter().position(|b| *b == b';') else {
        return (bytes.len() < LONGEST).then_some(Escape::Cut);
    };
    let name = std::str::from_utf8(&part[1..end]).ok()?;
    let byte = match name {
        "amp" => b'&',
        "lt" => b'<',
        "gt" => b'>',
        "quot" => b'"',
        "apos" => b'\'',
        "plus" => b'+',
        _ => {
            let number = name.strip_prefix('#')?;
            match number.strip_prefix(['x', 'X']) {
                Some(hex) => u8::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            }
        }
    };
    Some(Escape::Byte(byte, end + 1))
}

/// Line breaks, as they are and escaped.
const LINE_BREAKS: [&[u8]; 6] = [b"\r\n", b"\n", b"\\r\\n", b"\\n", b"%0D%0A", b"%0A"];

/// Returns the length of one line break at the beginning of a text.
fn line_break_len(bytes: &[u8]) -> usize {
    LINE_BREAKS.into_iter().find(|b| bytes.starts_with(b)).map_or(0, <[u8]>::len)
}

/// Returns whether the text ends within a line break.
fn begins_line_break(bytes: &[u8]) -> bool {
    LINE_BREAKS.into_iter().any(|b| b.len() > bytes.len() && b.starts_with(bytes))
}

/// A scrubber of a stream. Bytes that may be the beginning of a secret are held back until more
/// arrive.
#[derive(Debug, Default)]
pub(crate) struct Scrubber {
    held: Zeroizing<Vec<u8>>,
    /// The number of held bytes that belong to the end of a secret that was already found.
    starred: usize,
}

impl Scrubber {
    pub(crate) fn push(&mut self, forms: &SecretForms, bytes: &[u8]) -> Vec<u8> {
        if forms.is_empty() {
            return bytes.to_vec();
        }
        self.held.extend_from_slice(bytes);
        self.give_scrubbed(forms, false)
    }

    pub(crate) fn finish_stream(&mut self, forms: &SecretForms) -> Vec<u8> {
        self.give_scrubbed(forms, true)
    }

    fn give_scrubbed(&mut self, forms: &SecretForms, all: bool) -> Vec<u8> {
        let keep = if all { 0 } else { forms.begun_len(&self.held) };
        let cut = self.held.len() - keep;
        let mut out = self.held.to_vec();
        out[..self.starred].fill(b'*');
        let mut beyond = self.starred.saturating_sub(cut);
        for (from, to) in forms.find_secrets(&self.held) {
            out[from..to].fill(b'*');
            if from < cut && to > cut {
                beyond = beyond.max(to - cut);
            }
        }
        out[cut..].zeroize();
        out.truncate(cut);
        let rest = Zeroizing::new(self.held[cut..].to_vec());
        self.held.zeroize();
        self.held.extend_from_slice(&rest);
        self.starred = beyond;
        out
    }
}

/// Returns the base64 letters that depend only on the secret, if it follows `offset` bytes (modulo
/// 3).
fn within_base64(engine: &GeneralPurpose, secret: &[u8], offset: usize) -> Zeroizing<Vec<u8>> {
    let mut padded = Zeroizing::new(vec![0; offset]);
    padded.extend_from_slice(secret);
    let text = Zeroizing::new(engine.encode(padded.as_slice()));
    let from = [0, 2, 3][offset % 3];
    let to = text.len() - usize::from(!padded.len().is_multiple_of(3));
    Zeroizing::new(text.as_bytes()[from..to].to_vec())
}

fn hex_form(secret: &[u8], upper: bool) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(String::with_capacity(secret.len() * 2));
    for b in secret {
        let _ = if upper { write!(out, "{b:02X}") } else { write!(out, "{b:02x}") };
    }
    Zeroizing::new(out.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"sk-te\"st/\\123+xyz=";

    fn forms() -> SecretForms {
        let mut forms = SecretForms::default();
        forms.add(SECRET);
        forms
    }

    /// Returns texts that contain the secret in every form, with something before and after it.
    fn texts() -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        for before in ["", "a", "ab", "abc"] {
            let whole = [before.as_bytes(), SECRET, b"tail"].concat();
            out.push(whole.clone());
            out.push(base64::prelude::BASE64_STANDARD.encode(&whole).into_bytes());
            out.push(base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(&whole).into_bytes());
            out.push([before.as_bytes(), &hex_form(SECRET, true)].concat());
            out.push([&hex_form(SECRET, false), before.as_bytes()].concat());
        }
        let url: String = url::form_urlencoded::byte_serialize(SECRET).collect::<Vec<_>>().concat();
        out.push(url.into_bytes());
        out.push(serde_json::to_vec(std::str::from_utf8(SECRET).unwrap()).unwrap());
        out
    }

    /// The secret is found in all forms in which writers of JSON, URLs, forms and HTML escape it.
    #[test]
    fn escapes_are_seen_through() {
        let secret = "a<b>&'\"+/ c%25=~!*(z)";
        let mut forms = SecretForms::default();
        forms.add(secret.as_bytes());
        for text in [
            // json.dumps of CPython, Go's encoding/json, System.Text.Json of .NET
            r#"a<b>&'\"+/ c%25=~!*(z)"#,
            r#"a\u003cb\u003e\u0026'\"+/ c%25=~!*(z)"#,
            r#"a\u003Cb\u003E\u0026\u0027\u0022\u002B/ c%25=~!*(z)"#,
            r#"a<b>&'\"+\/ c%25=~!*(z)"#,
            // encodeURIComponent, urllib.parse.quote, quote_plus, and the first in lower case
            "a%3Cb%3E%26'%22%2B%2F%20c%2525%3D~!*(z)",
            "a%3Cb%3E%26%27%22%2B/%20c%2525%3D~%21%2A%28z%29",
            "a%3Cb%3E%26%27%22%2B%2F+c%2525%3D~%21%2A%28z%29",
            "a%3cb%3e%26'%22%2b%2f%20c%2525%3d~!*(z)",
            // html.escape of CPython
            "a&lt;b&gt;&amp;&#x27;&quot;+/ c%25=~!*(z)",
        ] {
            let stars = forms.scrub_bytes(text.as_bytes());
            assert_eq!(stars, vec![b'*'; text.len()], "{text}");
            for cut in 0..=text.len() {
                let mut s = Scrubber::default();
                let mut out = s.push(&forms, &text.as_bytes()[..cut]);
                out.extend(s.push(&forms, &text.as_bytes()[cut..]));
                out.extend(s.finish_stream(&forms));
                assert_eq!(out, stars, "{text} cut at {cut}");
            }
        }
    }

    /// Lines as MIME (76 letters) and PEM (64) have them.
    #[test]
    fn base64_in_lines_is_found() {
        let secret = [b'k'; 100].iter().zip(0u8..).map(|(k, n)| k ^ (n % 7)).collect::<Vec<u8>>();
        let mut forms = SecretForms::default();
        forms.add(&secret);
        for (before, width) in [(0, 76), (10, 64), (49, 76), (50, 64), (51, 76)] {
            let whole = [vec![b'.'; before], secret.clone(), b"after".to_vec()].concat();
            let text = base64::prelude::BASE64_STANDARD.encode(whole).into_bytes();
            for end in ["\n", "\r\n", "\\n"] {
                let lines: Vec<&[u8]> = text.chunks(width).collect();
                let lines = lines.join(end.as_bytes());
                let scrubbed = forms.scrub_bytes(&lines);
                let stars = scrubbed.iter().filter(|b| **b == b'*').count();
                assert!(stars >= 130 && scrubbed.len() == lines.len(), "{before} {width} {end:?}");
            }
        }
        // Lines of other texts are not held back.
        let mut s = Scrubber::default();
        assert_eq!(s.push(&forms, b"data: a\n\n"), b"data: a\n\n");
    }

    /// Checks that the length is unchanged, and that there is a star for each byte of the secret.
    fn clean(text: &[u8], scrubbed: &[u8]) -> bool {
        let stars = scrubbed.iter().filter(|b| **b == b'*').count();
        text.len() == scrubbed.len() && stars >= SECRET.len()
    }

    #[test]
    fn every_form_is_found_whole_and_cut_anywhere() {
        let forms = forms();
        for text in texts() {
            let whole = forms.scrub_bytes(&text);
            assert!(clean(&text, &whole), "{}", String::from_utf8_lossy(&whole));
            for cut in 0..=text.len() {
                let mut s = Scrubber::default();
                let mut out = s.push(&forms, &text[..cut]);
                out.extend(s.push(&forms, &text[cut..]));
                out.extend(s.finish_stream(&forms));
                assert_eq!(out, whole, "cut at {cut}");
            }
            let mut s = Scrubber::default();
            let mut out: Vec<u8> =
                text.iter().flat_map(|b| s.push(&forms, std::slice::from_ref(b))).collect();
            out.extend(s.finish_stream(&forms));
            assert_eq!(out, whole, "byte by byte");
        }
    }

    #[test]
    fn other_bytes_pass_at_once() {
        let forms = forms();
        let mut s = Scrubber::default();
        assert_eq!(s.push(&forms, b"data: event\n\n"), b"data: event\n\n");
        assert_eq!(s.push(&forms, b"ends like sk-te"), b"ends like ");
        assert_eq!(s.push(&forms, b"a"), b"sk-tea");
        assert_eq!(s.finish_stream(&forms), b"");
    }

    /// Secrets that overlap themselves and each other.
    #[test]
    fn overlapping_secrets() {
        let mut forms = SecretForms::default();
        forms.add(b"abababab");
        forms.add(b"babXYZ12");
        for cut in 0..=13 {
            let text = b"abababababXYZ12!";
            let mut s = Scrubber::default();
            let mut out = s.push(&forms, &text[..cut]);
            out.extend(s.push(&forms, &text[cut..]));
            out.extend(s.finish_stream(&forms));
            assert_eq!(out, b"***************!", "cut at {cut}");
        }
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", forms()).find("sk-"), None);
    }
}
