//! `--transform`: applies sed's `s` command to the names of members and the targets of links.

use box_text::regex::{Captures, Regex, RegexOptions, RegexSyntax};

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    Member,
    HardLink,
    Symlink,
}

/// The kinds of names that an expression changes.
#[derive(Clone, Copy, Debug)]
struct NameKinds {
    member: bool,
    hard_link: bool,
    symlink: bool,
}

impl Default for NameKinds {
    fn default() -> NameKinds {
        NameKinds { member: true, hard_link: true, symlink: true }
    }
}

impl NameKinds {
    fn has_kind(self, kind: NameKind) -> bool {
        match kind {
            NameKind::Member => self.member,
            NameKind::HardLink => self.hard_link,
            NameKind::Symlink => self.symlink,
        }
    }

    /// Applies a flag. A lower-case letter includes names of a kind, and an upper-case letter
    /// excludes them. Returns false if there is no such flag.
    fn set_flag(&mut self, flag: u8) -> bool {
        let kind = match flag.to_ascii_lowercase() {
            b'r' => &mut self.member,
            b'h' => &mut self.hard_link,
            b's' => &mut self.symlink,
            _ => return false,
        };
        *kind = flag.is_ascii_lowercase();
        true
    }
}

/// All expressions in their order.
#[derive(Default)]
pub struct NameTransforms {
    list: Vec<NameTransform>,
    /// The setting of `flags=` for the following expressions.
    kinds: NameKinds,
}

/// One expression `s/REGEX/REPLACEMENT/FLAGS`.
struct NameTransform {
    regex: Regex,
    replacement: Vec<TransformPart>,
    is_global: bool,
    /// The number of the first match that is replaced, from 1.
    first: usize,
    kinds: NameKinds,
}

/// A part of a replacement.
#[derive(Clone, Debug)]
enum TransformPart {
    Text(Vec<u8>),
    Group(usize),
    Case(TransformCase),
}

/// A change of case within a replacement, as in sed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransformCase {
    Upper,
    Lower,
    /// Only the next character becomes upper case.
    UpperOne,
    /// Only the next character becomes lower case.
    LowerOne,
    End,
}

impl NameTransforms {
    /// Adds the expressions of one option, which are separated by semicolons. The error is the
    /// message.
    pub fn add_expressions(&mut self, text: &[u8]) -> Result<(), String> {
        let mut rest = text;
        while !rest.is_empty() {
            rest = match rest.strip_prefix(b"flags=") {
                Some(flags) => self.set_kinds(flags)?,
                None => self.add_expression(rest)?,
            };
        }
        Ok(())
    }

    /// Parses the flags after `flags=`; returns the text after them.
    fn set_kinds<'t>(&mut self, text: &'t [u8]) -> Result<&'t [u8], String> {
        let (flags, rest) = split_at_semicolon(text);
        self.kinds = NameKinds { member: false, hard_link: false, symlink: false };
        match flags.iter().find(|f| !self.kinds.set_flag(**f)) {
            Some(other) => Err(unknown_flag(*other)),
            None => Ok(rest),
        }
    }

    /// Parses one expression; returns the text after it.
    fn add_expression<'t>(&mut self, text: &'t [u8]) -> Result<&'t [u8], String> {
        let bad = || "Invalid transform expression".to_string();
        let [b's', delimiter, rest @ ..] = text else { return Err(bad()) };
        let (pattern, rest) = split_part(rest, *delimiter).ok_or_else(bad)?;
        let (replacement, rest) = split_part(rest, *delimiter).ok_or_else(bad)?;
        let (flags, rest) = split_at_semicolon(rest);
        let mut options = RegexOptions::new(RegexSyntax::Bre);
        let (mut is_global, mut first, mut kinds) = (false, 0_usize, self.kinds);
        for &flag in flags {
            match flag {
                b'g' => is_global = true,
                b'i' => options.icase = true,
                b'x' => options.syntax = RegexSyntax::Ere,
                b'0'..=b'9' => {
                    first = first.saturating_mul(10).saturating_add(usize::from(flag - b'0'));
                }
                _ if kinds.set_flag(flag) => {}
                _ => return Err(unknown_flag(flag)),
            }
        }
        let regex = Regex::new(&pattern, &options).map_err(|e| format!("{}: {e}", bad()))?;
        let replacement = parse_replacement(&replacement);
        let groups = regex.group_count();
        let too_high =
            replacement.iter().any(|part| matches!(part, TransformPart::Group(n) if *n > groups));
        if too_high {
            return Err("Invalid transform replacement: back reference out of range".into());
        }
        self.list.push(NameTransform { regex, replacement, is_global, first: first.max(1), kinds });
        Ok(rest)
    }

    /// Applies all expressions for the kind of a name; returns the new name.
    pub fn apply_to(&self, name: &[u8], kind: NameKind) -> Vec<u8> {
        let chosen = self.list.iter().filter(|t| t.kinds.has_kind(kind));
        chosen.fold(name.to_vec(), |name, t| t.apply_to(&name))
    }
}

fn unknown_flag(flag: u8) -> String {
    format!("Unknown flag in transform expression: {}", char::from(flag))
}

fn split_at_semicolon(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|c| *c == b';') {
        Some(i) => (&text[..i], &text[i + 1..]),
        None => (text, &[]),
    }
}

/// Parses a part of an expression up to the delimiter; returns the part and the text after it. A
/// backslash before a delimiter within the part is removed. Returns `None` if the delimiter is
/// missing.
fn split_part(text: &[u8], delimiter: u8) -> Option<(Vec<u8>, &[u8])> {
    let mut part = Vec::new();
    let mut i = 0;
    while let Some(&c) = text.get(i) {
        i += 1;
        match c {
            b'\\' => {
                let next = *text.get(i)?;
                i += 1;
                if next != delimiter {
                    part.push(b'\\');
                }
                part.push(next);
            }
            _ if c == delimiter => return Some((part, &text[i..])),
            _ => part.push(c),
        }
    }
    None
}

fn parse_replacement(text: &[u8]) -> Vec<TransformPart> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(c) = bytes.next() {
        let part = match c {
            b'&' => TransformPart::Group(0),
            b'\\' => match bytes.next() {
                Some(d @ b'0'..=b'9') => TransformPart::Group(usize::from(d - b'0')),
                Some(b'U') => TransformPart::Case(TransformCase::Upper),
                Some(b'L') => TransformPart::Case(TransformCase::Lower),
                Some(b'u') => TransformPart::Case(TransformCase::UpperOne),
                Some(b'l') => TransformPart::Case(TransformCase::LowerOne),
                Some(b'E') => TransformPart::Case(TransformCase::End),
                other => {
                    literal.extend(match other {
                        Some(b'n') => Some(b'\n'),
                        Some(b't') => Some(b'\t'),
                        other => other,
                    });
                    continue;
                }
            },
            other => {
                literal.push(other);
                continue;
            }
        };
        if !literal.is_empty() {
            parts.push(TransformPart::Text(std::mem::take(&mut literal)));
        }
        parts.push(part);
    }
    if !literal.is_empty() {
        parts.push(TransformPart::Text(literal));
    }
    parts
}

impl NameTransform {
    fn apply_to(&self, name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let (mut at, mut count) = (0, 0);
        let mut captures = Captures::default();
        while at <= name.len() && self.regex.captures_at(name, at, &mut captures) {
            let Some((from, to)) = captures.get(0) else { break };
            out.extend_from_slice(&name[at..from]);
            count += 1;
            if count >= self.first {
                self.push_replacement(name, &captures, &mut out);
            } else {
                out.extend_from_slice(&name[from..to]);
            }
            at = to;
            if count >= self.first && !self.is_global {
                break;
            }
            if from == to {
                let Some(&c) = name.get(to) else { return out };
                out.push(c);
                at = to + 1;
            }
        }
        out.extend_from_slice(name.get(at..).unwrap_or_default());
        out
    }

    fn push_replacement(&self, name: &[u8], captures: &Captures, out: &mut Vec<u8>) {
        let (mut all, mut next) = (TransformCase::End, None);
        for part in &self.replacement {
            let text = match part {
                TransformPart::Text(text) => &text[..],
                TransformPart::Group(n) => captures.get(*n).map_or(&b""[..], |(a, b)| &name[a..b]),
                TransformPart::Case(
                    change @ (TransformCase::UpperOne | TransformCase::LowerOne),
                ) => {
                    next = Some(*change);
                    continue;
                }
                TransformPart::Case(change) => {
                    all = *change;
                    continue;
                }
            };
            for &c in text {
                out.push(match next.take().unwrap_or(all) {
                    TransformCase::Upper | TransformCase::UpperOne => c.to_ascii_uppercase(),
                    TransformCase::Lower | TransformCase::LowerOne => c.to_ascii_lowercase(),
                    TransformCase::End => c,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transformed(expressions: &str, name: &str) -> String {
        let mut all = NameTransforms::default();
        all.add_expressions(expressions.as_bytes()).expect("valid");
        String::from_utf8(all.apply_to(name.as_bytes(), NameKind::Member)).expect("UTF-8")
    }

    /// Expected values: `tar --show-transformed-names --transform` of GNU tar 1.34.
    #[test]
    fn flags_and_several_expressions() {
        assert_eq!(transformed("s,^,prefix/,;s/\\(x\\)y/[\\1]/g", "xyxy"), "prefix/[x][x]");
        assert_eq!(transformed("s/a/X/2", "aaa"), "aXa");
        assert_eq!(transformed("s/a/X/2g", "aaa"), "aXX");
        assert_eq!(transformed("s/A/X/i", "aaa"), "Xaa");
        assert_eq!(transformed("s/(a+)b/<\\1>/x", "aab"), "<aa>");
        assert_eq!(transformed("s/.*/\\U&/", "abc"), "ABC");
        assert_eq!(transformed("s/\\(.\\)\\(.*\\)/\\u\\1\\L\\2/", "aBC"), "Abc");
        assert_eq!(transformed("flags=R;s/a/X/", "a"), "a");
        assert_eq!(transformed("s|a\\|b|X|", "a|b"), "X");
    }

    #[test]
    fn mistakes() {
        for bad in ["y/a/b/", "s/a/", "s/a/b/q", "s/(/b/x", "s", "s/a/\\1/"] {
            assert!(NameTransforms::default().add_expressions(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
