//! Finds secrets in responses, and replaces them by stars.
//!
//! Each secret is searched for verbatim, in base64 (both alphabets, at each of the three offsets
//! that it can have within a longer text), percent-encoded, with JSON escapes, and in hex. Each
//! byte is replaced by one star, so that lengths stay correct.
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
pub(crate) struct SecretForms(Vec<Zeroizing<Vec<u8>>>);

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
        if secret.is_empty() || self.0.iter().any(|f| f.as_slice() == secret) {
            return;
        }
        let mut all = vec![Zeroizing::new(secret.to_vec())];
        for letters in [&alphabet::STANDARD, &alphabet::URL_SAFE] {
            let engine = GeneralPurpose::new(letters, NO_PAD);
            all.extend((0..3).map(|offset| within_base64(&engine, secret, offset)));
        }
        for upper in [false, true] {
            all.push(hex_form(secret, upper));
            all.push(percent_form(secret, upper));
        }
        all.push(json_form(secret, false));
        all.push(json_form(secret, true));
        for form in all {
            if !self.0.contains(&form) {
                self.0.push(form);
            }
        }
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
            let folded = Zeroizing::new(f.to_ascii_lowercase());
            memmem::find(&name, &folded).is_some()
        })
    }

    fn find_secrets(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for form in &self.0 {
            let finder = memmem::Finder::new(form.as_slice());
            let mut at = 0;
            while let Some(offset) = finder.find(&bytes[at..]) {
                out.push((at + offset, at + offset + form.len()));
                at += offset + 1;
            }
        }
        out
    }

    /// Returns the number of final bytes that may be the beginning of a secret.
    fn begun_len(&self, bytes: &[u8]) -> usize {
        let longest = |form: &Zeroizing<Vec<u8>>| {
            let most = bytes.len().min(form.len().saturating_sub(1));
            (1..=most).rev().find(|n| bytes.ends_with(&form[..*n])).unwrap_or(0)
        };
        self.0.iter().map(longest).max().unwrap_or(0)
    }
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

/// Returns the secret with all but the unreserved characters of RFC 3986 encoded.
fn percent_form(secret: &[u8], upper: bool) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(String::with_capacity(secret.len() * 3));
    for b in secret {
        let _ = match (b, upper) {
            (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~', _) => {
                out.write_char(char::from(*b))
            }
            (_, true) => write!(out, "%{b:02X}"),
            (_, false) => write!(out, "%{b:02x}"),
        };
    }
    Zeroizing::new(out.as_bytes().to_vec())
}

/// Returns the secret as in a JSON string; some writers escape slashes.
fn json_form(secret: &[u8], slashes: bool) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(Vec::with_capacity(secret.len() * 2));
    for &b in secret {
        if matches!(b, b'"' | b'\\') || (slashes && b == b'/') {
            out.push(b'\\');
        }
        out.push(b);
    }
    out
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
