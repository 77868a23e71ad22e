//! Sets of characters: bracket expressions, `.`, `\w`, `\s`.
//!
//! Named classes follow glibc's C.UTF-8 locale: POSIX definitions in ASCII, Unicode properties
//! beyond it (`alpha` holds non-ASCII digits, `space` no no-break spaces).

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
};

/// A set of characters (UTF-8) or of bytes (C locale).
#[derive(Clone, Debug)]
pub(super) enum CharSet {
    Unicode(ClassUnicode),
    Bytes(ClassBytes),
}

impl CharSet {
    pub(super) fn empty(utf8: bool) -> CharSet {
        if utf8 {
            CharSet::Unicode(ClassUnicode::empty())
        } else {
            CharSet::Bytes(ClassBytes::empty())
        }
    }

    /// Returns the set of all characters.
    pub(super) fn any(utf8: bool) -> CharSet {
        let mut set = CharSet::empty(utf8);
        set.negate();
        set
    }

    /// Adds a range of code points, or without UTF-8 of bytes, up to 255.
    pub(super) fn push(&mut self, first: u32, last: u32) {
        match self {
            CharSet::Unicode(class) => {
                // Surrogates are not characters, so they are removed from a range that contains
                // them.
                let up = |c: u32| if (0xD800..0xE000).contains(&c) { 0xE000 } else { c };
                let down = |c: u32| if (0xD800..0xE000).contains(&c) { 0xD7FF } else { c };
                if let (Some(a), Some(b)) = (char::from_u32(up(first)), char::from_u32(down(last)))
                    && a <= b
                {
                    class.push(ClassUnicodeRange::new(a, b));
                }
            }
            CharSet::Bytes(class) => {
                if let Ok(a) = u8::try_from(first) {
                    let b = u8::try_from(last).unwrap_or(u8::MAX);
                    class.push(ClassBytesRange::new(a, b));
                }
            }
        }
    }

    pub(super) fn union_with(&mut self, other: &CharSet) {
        match (self, other) {
            (CharSet::Unicode(a), CharSet::Unicode(b)) => a.union(b),
            (CharSet::Bytes(a), CharSet::Bytes(b)) => a.union(b),
            // Both sides of a pattern are built with the same options.
            _ => {}
        }
    }

    pub(super) fn negate(&mut self) {
        match self {
            CharSet::Unicode(c) => c.negate(),
            CharSet::Bytes(c) => c.negate(),
        }
    }

    /// Adds the other case of every letter.
    pub(super) fn fold_case(&mut self) {
        match self {
            CharSet::Unicode(c) => {
                // Fails only without Unicode tables, which are compiled in.
                let _ = c.try_case_fold_simple();
            }
            CharSet::Bytes(c) => c.case_fold_simple(),
        }
    }

    /// Removes a byte, which is a line terminator.
    pub(super) fn remove_byte(&mut self, byte: u8) {
        match self {
            CharSet::Unicode(c) => {
                let ch = char::from(byte);
                c.difference(&ClassUnicode::new([ClassUnicodeRange::new(ch, ch)]));
            }
            CharSet::Bytes(c) => {
                c.difference(&ClassBytes::new([ClassBytesRange::new(byte, byte)]));
            }
        }
    }

    /// Returns the ranges of code points or bytes, sorted.
    pub(super) fn ranges(&self) -> Vec<(u32, u32)> {
        match self {
            CharSet::Unicode(c) => {
                c.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()
            }
            CharSet::Bytes(c) => {
                c.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()
            }
        }
    }

    /// Returns whether any character is in both sets.
    pub(super) fn intersects(&self, other: &CharSet) -> bool {
        match (self, other) {
            (CharSet::Unicode(a), CharSet::Unicode(b)) => {
                let mut both = a.clone();
                both.intersect(b);
                !both.ranges().is_empty()
            }
            (CharSet::Bytes(a), CharSet::Bytes(b)) => {
                let mut both = a.clone();
                both.intersect(b);
                !both.ranges().is_empty()
            }
            _ => true,
        }
    }

    /// Returns an estimate of automaton states.
    pub(super) fn weight(&self) -> u64 {
        match self {
            CharSet::Unicode(c) if !c.is_ascii() => 3 + c.ranges().len() as u64,
            _ => 1,
        }
    }

    /// Returns the set's ASCII members, for texts that are ASCII.
    pub(super) fn to_ascii_hir(&self) -> Hir {
        let class = match self {
            CharSet::Unicode(c) => {
                ClassBytes::new(c.iter().filter(|r| r.start().is_ascii()).map(|r| {
                    ClassBytesRange::new(
                        r.start() as u8,
                        if r.end().is_ascii() { r.end() as u8 } else { 127 },
                    )
                }))
            }
            CharSet::Bytes(c) => c.clone(),
        };
        Hir::class(Class::Bytes(class))
    }

    pub(super) fn to_hir(&self) -> Hir {
        Hir::class(match self {
            CharSet::Unicode(c) => Class::Unicode(c.clone()),
            CharSet::Bytes(c) => Class::Bytes(c.clone()),
        })
    }

    /// Returns the class of this POSIX name; `None` for an unknown name.
    pub(super) fn posix_class(name: &[u8], utf8: bool) -> Option<CharSet> {
        let ascii: &[(u8, u8)] = match name {
            b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
            b"digit" => &[(b'0', b'9')],
            b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
            b"upper" => &[(b'A', b'Z')],
            b"lower" => &[(b'a', b'z')],
            b"space" => &[(b'\t', b'\r'), (b' ', b' ')],
            b"blank" => &[(b'\t', b'\t'), (b' ', b' ')],
            b"punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
            b"print" => &[(b' ', b'~')],
            b"graph" => &[(b'!', b'~')],
            b"cntrl" => &[(0, 31), (127, 127)],
            b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
            _ => return None,
        };
        let mut set = CharSet::empty(utf8);
        ascii.iter().for_each(|&(a, b)| set.push(u32::from(a), u32::from(b)));
        let beyond = match name {
            b"alpha" | b"alnum" => r"[[\p{Alphabetic}\p{Nd}]--\p{ASCII}]",
            b"upper" => r"[\p{Uppercase}--\p{ASCII}]",
            b"lower" => r"[\p{Lowercase}--\p{ASCII}]",
            b"space" => r"[\p{White_Space}--[\p{ASCII}\x{85}\x{A0}\x{2007}\x{202F}]]",
            b"blank" => r"[\p{Zs}--[\p{ASCII}\x{A0}\x{2007}\x{202F}]]",
            b"punct" => r"[[\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}]--[\p{Alphabetic}\p{Nd}\p{ASCII}]]",
            b"print" => r"[[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}]--\p{ASCII}]",
            b"graph" => r"[[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}]--\p{ASCII}]",
            b"cntrl" => r"[[\p{Cc}\p{Zl}\p{Zp}]--\p{ASCII}]",
            _ => "",
        };
        if utf8 && !beyond.is_empty() {
            set.union_with(&CharSet::unicode_property(beyond));
        }
        Some(set)
    }

    /// `\w`: `[[:alnum:]_]`.
    pub(super) fn word_class(utf8: bool) -> CharSet {
        let mut set = CharSet::posix_class(b"alnum", utf8).unwrap_or_else(|| CharSet::empty(utf8));
        set.push(u32::from(b'_'), u32::from(b'_'));
        set
    }

    /// `\s`: `[[:space:]]`.
    pub(super) fn space_class(utf8: bool) -> CharSet {
        CharSet::posix_class(b"space", utf8).unwrap_or_else(|| CharSet::empty(utf8))
    }

    /// Returns a class in the notation of the `regex` crate.
    fn unicode_property(text: &str) -> CharSet {
        let class = regex_syntax::parse(text).ok().and_then(|hir| match hir.into_kind() {
            HirKind::Class(Class::Unicode(c)) => Some(c),
            _ => None,
        });
        CharSet::Unicode(class.unwrap_or_else(ClassUnicode::empty))
    }
}

/// Returns the character at the start of `text` and its length; `None` for bytes that are not
/// a UTF-8 character (and at the end).
pub(super) fn decode_char(text: &[u8]) -> Option<(u32, usize)> {
    let first = *text.first()?;
    let width = match first {
        0..=0x7F => return Some((u32::from(first), 1)),
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let s = std::str::from_utf8(text.get(..width)?).ok()?;
    s.chars().next().map(|c| (u32::from(c), width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_class_is_known_to_the_tables() {
        for name in [
            &b"alpha"[..],
            b"alnum",
            b"upper",
            b"lower",
            b"space",
            b"blank",
            b"punct",
            b"print",
            b"graph",
            b"cntrl",
        ] {
            let ranges = CharSet::posix_class(name, true).unwrap().ranges();
            assert!(ranges.last().unwrap().1 > 127, "{}", String::from_utf8_lossy(name));
        }
    }
}
