//! `sub`, `gsub`, `gensub`.

use box_text::number::utf8_len;
use box_text::regex::{Captures, Regex};

use super::{AwkMachine, Result};
use crate::code::AssignableTarget;
use crate::text::AwkText;
use crate::value::AwkValue;

/// A part of a replacement.
enum ReplacementPart {
    Text(Vec<u8>),
    /// The number of a group: 0 for `&`, 1 to 9 for `\1` to `\9` in `gensub`.
    Group(usize),
}

/// Parses the replacement of `sub` and `gsub`: `&` stands for the match, `\&` for an ampersand;
/// backslashes that are not before `&` stay (gawk manual 9.1.4.1).
fn simple_parts(text: &[u8]) -> Vec<ReplacementPart> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let slashes = text[at..].iter().take_while(|c| **c == b'\\').count();
        at += slashes;
        if text.get(at) != Some(&b'&') {
            plain.extend(std::iter::repeat_n(b'\\', slashes));
            let next = text[at..].iter().position(|c| matches!(c, b'\\' | b'&'));
            let end = next.map_or(text.len(), |n| at + n);
            plain.extend_from_slice(&text[at..end]);
            at = end;
            continue;
        }
        // Before `&`, each pair of backslashes becomes one; a single one that is left makes the `&`
        // an ordinary character.
        plain.extend(std::iter::repeat_n(b'\\', slashes / 2));
        at += 1;
        if slashes % 2 == 1 {
            plain.push(b'&');
        } else {
            parts.push(ReplacementPart::Text(std::mem::take(&mut plain)));
            parts.push(ReplacementPart::Group(0));
        }
    }
    parts.push(ReplacementPart::Text(plain));
    parts
}

/// Parses the replacement of `gensub`, which also has `\0` to `\9`; a backslash before any other
/// character is dropped.
fn general_parts(text: &[u8]) -> Vec<ReplacementPart> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            [b'\\', d @ b'0'..=b'9', ..] => {
                parts.push(ReplacementPart::Text(std::mem::take(&mut plain)));
                parts.push(ReplacementPart::Group(usize::from(d - b'0')));
                at += 2;
            }
            [b'\\', c, ..] => {
                if !matches!(c, b'&' | b'\\') {
                    plain.push(b'\\');
                }
                plain.push(*c);
                at += 2;
            }
            [b'&', ..] => {
                parts.push(ReplacementPart::Text(std::mem::take(&mut plain)));
                parts.push(ReplacementPart::Group(0));
                at += 1;
            }
            _ => {
                plain.push(text[at]);
                at += 1;
            }
        }
    }
    parts.push(ReplacementPart::Text(plain));
    parts
}

/// The matches that are replaced.
#[derive(Clone, Copy, PartialEq)]
enum SubstScope {
    All,
    /// Only the match of this number, counted from 1.
    Only(usize),
}

/// Replaces matches and returns their number; unless that is 0, `out` has the result.
fn replace_matches(
    re: &Regex,
    text: &[u8],
    parts: &[ReplacementPart],
    which: SubstScope,
    out: &mut Vec<u8>,
) -> usize {
    let needs_groups = parts.iter().any(|p| matches!(p, ReplacementPart::Group(n) if *n > 0));
    let mut groups = Captures::default();
    let (mut pos, mut copied, mut seen, mut done) = (0, 0, 0, 0);
    let mut last_end = None;
    while pos <= text.len() {
        let found = if needs_groups {
            re.captures_at(text, pos, &mut groups).then(|| groups.get(0)).flatten()
        } else {
            re.find_at(text, pos)
        };
        let Some((s, e)) = found else { break };
        // An empty match right after another match does not count.
        if s == e && last_end == Some(s) {
            pos = s + utf8_len(&text[s..]).max(1);
            last_end = None;
            continue;
        }
        seen += 1;
        last_end = Some(e);
        if which == SubstScope::All || which == SubstScope::Only(seen) {
            out.extend_from_slice(&text[copied..s]);
            for part in parts {
                match part {
                    ReplacementPart::Text(t) => out.extend_from_slice(t),
                    ReplacementPart::Group(0) => out.extend_from_slice(&text[s..e]),
                    ReplacementPart::Group(n) => {
                        if let Some((a, b)) = groups.get(*n) {
                            out.extend_from_slice(&text[a..b]);
                        }
                    }
                }
            }
            copied = e;
            done += 1;
            if which != SubstScope::All {
                break;
            }
        }
        pos = if s == e { e + utf8_len(&text[e.min(text.len())..]).max(1) } else { e };
        if s == e {
            last_end = None;
        }
    }
    if done > 0 {
        out.extend_from_slice(&text[copied..]);
    }
    done
}

impl AwkMachine<'_, '_> {
    /// Runs `sub` (or `gsub` if `global`) on a target, and pushes the count.
    pub(super) fn call_substitute(&mut self, global: bool, t: AssignableTarget) -> Result<()> {
        let address = self.pop_address(t)?;
        let old = self.load_target(t, &address)?;
        if let Some(new) = self.replaced_text(global, &old) {
            self.store_target(t, address, AwkValue::Str(new))?;
        }
        Ok(())
    }

    /// Runs `sub` or `gsub` where the result cannot be stored.
    pub(super) fn substitute_value(&mut self, global: bool) {
        let value = self.pop();
        self.replaced_text(global, &value);
    }

    /// Pops the replacement, takes the stored pattern and pushes the count. Returns the new text
    /// unless the count is 0.
    fn replaced_text(&mut self, global: bool, old: &AwkValue) -> Option<AwkText> {
        let replacement = self.pop_text();
        let re = self.patterns.pop()?;
        let which = if global { SubstScope::All } else { SubstScope::Only(1) };
        let text = old.text(&self.convfmt);
        let mut out = Vec::new();
        let count = replace_matches(&re, &text, &simple_parts(&replacement), which, &mut out);
        self.stack.push(AwkValue::Num(count as f64));
        (count > 0).then(|| AwkText::from_vec(out))
    }

    /// Runs `gensub(re, replacement, how, text)`.
    pub(super) fn call_gensub(&mut self) -> Result<()> {
        let text = self.pop_text();
        let how = self.pop();
        let replacement = self.pop_text();
        let Some(re) = self.patterns.pop() else { return Ok(()) };
        let word = how.text(&self.convfmt);
        let which = if matches!(word.first(), Some(b'g' | b'G')) {
            SubstScope::All
        } else {
            let n = how.num();
            if n < 1.0 {
                let shown = String::from_utf8_lossy(&word).into_owned();
                self.print_warning(&format!("gensub: third argument `{shown}' treated as 1"));
            }
            SubstScope::Only(n.max(1.0) as usize)
        };
        let mut out = Vec::new();
        let count = replace_matches(&re, &text, &general_parts(&replacement), which, &mut out);
        let result = if count > 0 { AwkText::from_vec(out) } else { text };
        self.stack.push(AwkValue::Str(result));
        Ok(())
    }
}
