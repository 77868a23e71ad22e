//! `s/pattern/replacement/flags` and `y/from/to/`.

use std::collections::HashMap;

use box_text::number::utf8_len;

use super::regex::parse_escape;
use super::{Result, SedParser};
use crate::script::{CaseChange, SedAction, SedPart, SedPattern, SedSubstitute, Translate};

impl SedParser<'_> {
    fn parse_delimiter(&mut self, unterminated: &str) -> Result<u8> {
        match self.take_byte() {
            Some(c) if c != b'\n' => {
                if c >= 0x80 && self.dialect.utf8 {
                    return self.error_here("delimiter character is not a single-byte character");
                }
                Ok(c)
            }
            Some(_) => {
                self.at += 1;
                self.error_here(unterminated)
            }
            None => self.error_here(unterminated),
        }
    }

    pub(super) fn parse_substitute(&mut self) -> Result<SedAction> {
        const UNTERMINATED: &str = "unterminated `s' command";
        let delimiter = self.parse_delimiter(UNTERMINATED)?;
        let Some(body) = self.read_delimited(delimiter, true) else {
            return self.error_here(UNTERMINATED);
        };
        let Some(replacement) = self.read_delimited(delimiter, false) else {
            return self.error_here(UNTERMINATED);
        };
        let parts = replacement_parts(&replacement, self.dialect.posix);
        let mut s = SedSubstitute {
            pattern: SedPattern::Last,
            groups: parts.iter().any(|p| matches!(p, SedPart::Group(n) if *n > 0)),
            cases: parts.iter().any(|p| matches!(p, SedPart::Case(_))),
            parts,
            global: false,
            number: 1,
            print: false,
            print_before_execute: false,
            execute: false,
            write: None,
        };
        let (icase, multiline) = self.parse_flags(&mut s)?;
        s.pattern = self.compile_pattern(&body, icase, multiline)?;
        if let SedPattern::Regex(re) = &s.pattern {
            let most = s.parts.iter().map(|p| if let SedPart::Group(n) = p { *n } else { 0 }).max();
            if let Some(n) = most.filter(|n| *n > re.group_count()) {
                return self.error_here(format!("invalid reference \\{n} on `s' command's RHS"));
            }
        }
        Ok(SedAction::Substitute(Box::new(s)))
    }

    /// Parses the flags up to the end of the command. Returns whether case is ignored (`I`), and
    /// whether `^` and `$` match at lines (`M`).
    fn parse_flags(&mut self, s: &mut SedSubstitute) -> Result<(bool, bool)> {
        let (mut icase, mut multiline, mut numbered) = (false, false, false);
        loop {
            let Some(c) = self.take_byte() else { return Ok((icase, multiline)) };
            match c {
                b'i' | b'I' | b'm' | b'M' | b'e' if self.dialect.posix => {
                    return self.error_here("unknown option to `s'");
                }
                b'i' | b'I' => icase = true,
                b'm' | b'M' => multiline = true,
                b'e' => {
                    self.no_sandbox()?;
                    s.execute = true;
                }
                b'p' => {
                    if s.print {
                        return self.error_here("multiple `p' options to `s' command");
                    }
                    s.print = true;
                    s.print_before_execute = !s.execute;
                }
                b'g' => {
                    if s.global {
                        return self.error_here("multiple `g' options to `s' command");
                    }
                    s.global = true;
                }
                b'w' => {
                    self.no_sandbox()?;
                    let name = self.file_name()?;
                    s.write = Some(self.output_id(&name));
                    return Ok((icase, multiline));
                }
                b'0'..=b'9' => {
                    if numbered {
                        return self.error_here("multiple number options to `s' command");
                    }
                    self.at -= 1;
                    let n = self.parse_number().unwrap_or(0);
                    if n == 0 {
                        return self.error_here("number option to `s' command may not be zero");
                    }
                    s.number = usize::try_from(n).unwrap_or(usize::MAX);
                    numbered = true;
                }
                b'}' | b'#' => {
                    self.at -= 1;
                    return Ok((icase, multiline));
                }
                b'\n' | b';' => return Ok((icase, multiline)),
                b'\r' if matches!(self.peek_byte(), None | Some(b'\n')) => {}
                c if c.is_ascii_whitespace() => {}
                _ => return self.error_here("unknown option to `s'"),
            }
        }
    }

    pub(super) fn parse_translate(&mut self) -> Result<SedAction> {
        const UNTERMINATED: &str = "unterminated `y' command";
        let delimiter = self.parse_delimiter(UNTERMINATED)?;
        let Some(from) = self.translate_side(delimiter) else {
            return self.error_here(UNTERMINATED);
        };
        let Some(to) = self.translate_side(delimiter) else { return self.error_here(UNTERMINATED) };
        let from = self.split_characters(&from);
        let to = self.split_characters(&to);
        if from.len() != to.len() {
            return self.error_here("strings for `y' command are different lengths");
        }
        let pairs = || from.iter().zip(&to);
        let table = if pairs().all(|(a, b)| a.len() == 1 && b.len() == 1) {
            let mut table = Box::new([0u8; 256]);
            (0..=255u8).for_each(|c| table[usize::from(c)] = c);
            // If a character occurs more than once, its first occurrence counts.
            pairs().rev().for_each(|(a, b)| table[usize::from(a[0])] = b[0]);
            Translate::Bytes(table)
        } else {
            let mut map = HashMap::new();
            pairs().rev().for_each(|(a, b)| {
                map.insert(a.clone(), b.clone());
            });
            Translate::Characters(map)
        };
        Ok(SedAction::Translate(Box::new(table)))
    }

    /// Parses one side of `y` and resolves its escapes.
    fn translate_side(&mut self, delimiter: u8) -> Option<Vec<u8>> {
        let raw = self.read_delimited(delimiter, false)?;
        let mut out = Vec::with_capacity(raw.len());
        let mut at = 0;
        while at < raw.len() {
            if raw[at] == b'\\' && at + 1 < raw.len() {
                let rest = &raw[at + 1..];
                match rest[0] {
                    b'n' => out.push(b'\n'),
                    b'\\' | b'\n' => out.push(rest[0]),
                    c if c == delimiter => out.push(c),
                    _ => match parse_escape(rest) {
                        Some((byte, len)) => {
                            out.push(byte);
                            at += 1 + len;
                            continue;
                        }
                        None => out.push(rest[0]),
                    },
                }
                at += 2;
                continue;
            }
            out.push(raw[at]);
            at += 1;
        }
        Some(out)
    }

    fn split_characters(&self, text: &[u8]) -> Vec<Vec<u8>> {
        let mut list = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let len = if self.dialect.utf8 { utf8_len(&text[at..]) } else { 1 };
            list.push(text[at..at + len].to_vec());
            at += len;
        }
        list
    }
}

/// Parses a replacement into its parts.
fn replacement_parts(text: &[u8], posix: bool) -> Vec<SedPart> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    let push = |parts: &mut Vec<SedPart>, plain: &mut Vec<u8>, part: SedPart| {
        if !plain.is_empty() {
            parts.push(SedPart::Text(std::mem::take(plain)));
        }
        parts.push(part);
    };
    while at < text.len() {
        let c = text[at];
        if c == b'&' {
            push(&mut parts, &mut plain, SedPart::Group(0));
            at += 1;
            continue;
        }
        if c != b'\\' || at + 1 >= text.len() {
            plain.push(c);
            at += 1;
            continue;
        }
        let rest = &text[at + 1..];
        at += 2;
        let case = match rest[0] {
            b'U' => Some(CaseChange::Upper),
            b'L' => Some(CaseChange::Lower),
            b'E' => Some(CaseChange::Off),
            b'u' => Some(CaseChange::UpperOne),
            b'l' => Some(CaseChange::LowerOne),
            _ => None,
        };
        match rest[0] {
            d @ b'0'..=b'9' => push(&mut parts, &mut plain, SedPart::Group(usize::from(d - b'0'))),
            b'n' => plain.push(b'\n'),
            _ if case.is_some() && !posix => {
                if let Some(case) = case {
                    push(&mut parts, &mut plain, SedPart::Case(case));
                }
            }
            other => match parse_escape(rest) {
                Some((byte, len)) => {
                    plain.push(byte);
                    at += len - 1;
                }
                None => plain.push(other),
            },
        }
    }
    if !plain.is_empty() {
        parts.push(SedPart::Text(plain));
    }
    parts
}
