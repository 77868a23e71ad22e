//! Bracket expressions (POSIX XBD 9.3.5): `[abc] [!a-z] [[:digit:]_] [[=a=]] [[.hyphen.]]`.

use super::{char_at, fold_case};

/// A compiled bracket expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bracket {
    negated: bool,
    /// The ASCII characters that match (after folding if case is ignored), as bits.
    ascii: [u64; 2],
    /// Inclusive ranges of code points above ASCII.
    ranges: Vec<(u32, u32)>,
    classes: Vec<BracketClass>,
    ignore_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BracketClass {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

impl BracketClass {
    fn by_name(name: &[u8]) -> Option<BracketClass> {
        Some(match name {
            b"alnum" => BracketClass::Alnum,
            b"alpha" => BracketClass::Alpha,
            b"ascii" => BracketClass::Ascii,
            b"blank" => BracketClass::Blank,
            b"cntrl" => BracketClass::Cntrl,
            b"digit" => BracketClass::Digit,
            b"graph" => BracketClass::Graph,
            b"lower" => BracketClass::Lower,
            b"print" => BracketClass::Print,
            b"punct" => BracketClass::Punct,
            b"space" => BracketClass::Space,
            b"upper" => BracketClass::Upper,
            b"word" => BracketClass::Word,
            b"xdigit" => BracketClass::Xdigit,
            _ => return None,
        })
    }

    fn has(self, code: u32) -> bool {
        let Some(c) = char::from_u32(code) else { return false };
        match self {
            BracketClass::Alnum => c.is_alphanumeric(),
            BracketClass::Alpha => c.is_alphabetic(),
            BracketClass::Ascii => c.is_ascii(),
            BracketClass::Blank => {
                c == ' ' || c == '\t' || (!c.is_ascii() && c.is_whitespace() && !is_line_break(c))
            }
            BracketClass::Cntrl => c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'),
            BracketClass::Digit => c.is_ascii_digit(),
            BracketClass::Graph => is_graphic(c),
            BracketClass::Lower => c.is_lowercase(),
            BracketClass::Print => {
                c == ' '
                    || is_graphic(c)
                    || (!c.is_ascii() && c.is_whitespace() && !is_line_break(c))
            }
            BracketClass::Punct => {
                if c.is_ascii() {
                    c.is_ascii_punctuation()
                } else {
                    is_graphic(c) && !c.is_alphanumeric()
                }
            }
            BracketClass::Space => c.is_whitespace() && c != '\u{85}' && c != '\u{a0}',
            BracketClass::Upper => c.is_uppercase(),
            BracketClass::Word => c.is_alphanumeric() || c == '_',
            BracketClass::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_graphic(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_graphic() } else { !c.is_control() && !c.is_whitespace() }
}

impl Bracket {
    fn empty(negated: bool, ignore_case: bool) -> Bracket {
        Bracket { negated, ascii: [0; 2], ranges: Vec::new(), classes: Vec::new(), ignore_case }
    }

    /// Returns a bracket expression that no character matches.
    pub(super) fn nothing() -> Bracket {
        Bracket::empty(false, false)
    }

    fn add_range(&mut self, first: u32, last: u32) {
        if first > last {
            return;
        }
        let mut code = first;
        while code <= last && code < 0x80 {
            self.ascii[(code >> 6) as usize] |= 1 << (code & 63);
            if self.ignore_case {
                let c = code as u8;
                let other = u32::from(if c.is_ascii_lowercase() {
                    c.to_ascii_uppercase()
                } else {
                    c.to_ascii_lowercase()
                });
                self.ascii[(other >> 6) as usize] |= 1 << (other & 63);
            }
            code += 1;
        }
        if last >= 0x80 {
            self.ranges.push((first.max(0x80), last));
        }
    }

    fn add_class(&mut self, class: BracketClass) {
        for code in 0..0x80 {
            if class.has(code) {
                self.add_range(code, code);
            }
        }
        self.classes.push(class);
    }

    /// Returns whether the expression matches this character.
    pub(super) fn matches(&self, code: u32) -> bool {
        let found = if code < 0x80 {
            self.ascii[(code >> 6) as usize] & (1 << (code & 63)) != 0
        } else {
            self.has_wide(code) || (self.ignore_case && self.has_folded(code))
        };
        found != self.negated
    }

    fn has_wide(&self, code: u32) -> bool {
        self.ranges.iter().any(|&(a, b)| a <= code && code <= b)
            || self.classes.iter().any(|c| c.has(code))
    }

    fn has_folded(&self, code: u32) -> bool {
        let in_range = |code: u32| self.ranges.iter().any(|&(a, b)| a <= code && code <= b);
        if in_range(fold_case(code)) {
            return true;
        }
        let upper =
            char::from_u32(code).and_then(|c| c.to_uppercase().next()).map_or(code, u32::from);
        in_range(upper)
    }
}

/// A bracket expression longer than this is text, so that many unclosed ones are not quadratic.
const MAX_LENGTH: usize = 4096;

/// Parses the bracket expression that opens at `at` (the `[`). Returns it with the position after
/// its `]`, or `None` if it has no end, so that `[` is an ordinary character.
pub(super) fn parse(
    text: &[u8],
    at: usize,
    options: super::GlobOptions,
) -> Option<(Bracket, usize)> {
    let text = &text[..text.len().min(at + MAX_LENGTH)];
    let mut i = at + 1;
    let negated = matches!(text.get(i), Some(b'!' | b'^'));
    if negated {
        i += 1;
    }
    let mut bracket = Bracket::empty(negated, options.ignore_case);
    let mut first = true;
    loop {
        let byte = *text.get(i)?;
        if byte == b']' && !first {
            return Some((bracket, i + 1));
        }
        first = false;
        if byte == b'['
            && text.get(i + 1) == Some(&b':')
            && let Some((name, end)) = split_delimited(text, i + 2, b':')
        {
            if let Some(class) = BracketClass::by_name(name) {
                // In bash `[[:upper:]]` and `[[:lower:]]` keep their meaning when case is ignored.
                bracket.add_class_exact(class);
            }
            i = end;
            continue;
        }
        if byte == b'['
            && text.get(i + 1) == Some(&b'=')
            && let Some((name, end)) = split_delimited(text, i + 2, b'=')
        {
            if let Some(code) = single_char(name, options.utf8) {
                bracket.add_range(code, code);
            }
            i = end;
            continue;
        }
        let (start, next) = parse_element(text, i, options)?;
        i = next;
        let is_range = text.get(i) == Some(&b'-') && text.get(i + 1).is_some_and(|&b| b != b']');
        if is_range {
            let (end, next) = parse_element(text, i + 1, options)?;
            i = next;
            if let (Some(start), Some(end)) = (start, end) {
                bracket.add_range(start, end);
            }
        } else if let Some(start) = start {
            bracket.add_range(start, start);
        }
    }
}

/// Returns whether the unclosed expression that opens at `at` ends, with the text, after a
/// backslash, or after the dash of a range without an end.
pub(super) fn breaks_off(text: &[u8], at: usize, options: super::GlobOptions) -> bool {
    let mut i = at + 1;
    if matches!(text.get(i), Some(b'!' | b'^')) {
        i += 1;
    }
    if text.len() - at > MAX_LENGTH {
        return false;
    }
    while i < text.len() {
        if options.escape && text[i..] == *b"\\" {
            return true;
        }
        let Some((_, next)) = parse_element(text, i, options) else { return false };
        i = next;
        if text.get(i) == Some(&b'-') {
            if i + 1 == text.len() {
                return true;
            }
            match parse_element(text, i + 1, options) {
                Some((_, next)) => i = next,
                None => return options.escape && text.ends_with(b"\\"),
            }
        }
    }
    false
}

impl Bracket {
    fn add_class_exact(&mut self, class: BracketClass) {
        let ignore_case = std::mem::replace(&mut self.ignore_case, false);
        self.add_class(class);
        self.ignore_case = ignore_case;
    }
}

/// Parses one end of a range: a character, `\c`, or `[.name.]`; the code is `None` for an unknown
/// name.
fn parse_element(
    text: &[u8],
    at: usize,
    options: super::GlobOptions,
) -> Option<(Option<u32>, usize)> {
    if text.get(at) == Some(&b'[')
        && text.get(at + 1) == Some(&b'.')
        && let Some((name, end)) = split_delimited(text, at + 2, b'.')
    {
        return Some((collating_char(name, options.utf8), end));
    }
    let at = if options.escape && text.get(at) == Some(&b'\\') { at + 1 } else { at };
    let (code, width) = char_at(text, at, options.utf8)?;
    Some((Some(code), at + width))
}

/// Returns the text up to `delimiter` and `]`, with the position after both.
fn split_delimited(text: &[u8], start: usize, delimiter: u8) -> Option<(&[u8], usize)> {
    let rest = text.get(start..)?;
    // Names are short, and a longer search would take quadratic time for unclosed brackets.
    let rest = &rest[..rest.len().min(64)];
    let length = rest.windows(2).position(|pair| pair == [delimiter, b']'])?;
    Some((&rest[..length], start + length + 2))
}

fn single_char(name: &[u8], utf8: bool) -> Option<u32> {
    match char_at(name, 0, utf8) {
        Some((code, width)) if width == name.len() => Some(code),
        _ => None,
    }
}

/// Returns the character of a POSIX name (XBD 6.1, portable character set).
fn collating_char(name: &[u8], utf8: bool) -> Option<u32> {
    if let Some(code) = single_char(name, utf8) {
        return Some(code);
    }
    NAMES.iter().find(|(n, _)| n.as_bytes() == name).map(|&(_, c)| u32::from(c))
}

const NAMES: &[(&str, u8)] = &[
    ("NUL", 0),
    ("alert", 7),
    ("backspace", 8),
    ("tab", 9),
    ("newline", 10),
    ("vertical-tab", 11),
    ("form-feed", 12),
    ("carriage-return", 13),
    ("space", b' '),
    ("exclamation-mark", b'!'),
    ("quotation-mark", b'"'),
    ("number-sign", b'#'),
    ("dollar-sign", b'$'),
    ("percent-sign", b'%'),
    ("ampersand", b'&'),
    ("apostrophe", b'\''),
    ("left-parenthesis", b'('),
    ("right-parenthesis", b')'),
    ("asterisk", b'*'),
    ("plus-sign", b'+'),
    ("comma", b','),
    ("hyphen", b'-'),
    ("hyphen-minus", b'-'),
    ("minus", b'-'),
    ("dash", b'-'),
    ("period", b'.'),
    ("full-stop", b'.'),
    ("slash", b'/'),
    ("solidus", b'/'),
    ("zero", b'0'),
    ("one", b'1'),
    ("two", b'2'),
    ("three", b'3'),
    ("four", b'4'),
    ("five", b'5'),
    ("six", b'6'),
    ("seven", b'7'),
    ("eight", b'8'),
    ("nine", b'9'),
    ("colon", b':'),
    ("semicolon", b';'),
    ("less-than-sign", b'<'),
    ("equals-sign", b'='),
    ("greater-than-sign", b'>'),
    ("question-mark", b'?'),
    ("commercial-at", b'@'),
    ("left-square-bracket", b'['),
    ("backslash", b'\\'),
    ("reverse-solidus", b'\\'),
    ("right-square-bracket", b']'),
    ("circumflex", b'^'),
    ("circumflex-accent", b'^'),
    ("underscore", b'_'),
    ("low-line", b'_'),
    ("grave-accent", b'`'),
    ("left-brace", b'{'),
    ("left-curly-bracket", b'{'),
    ("vertical-line", b'|'),
    ("right-brace", b'}'),
    ("right-curly-bracket", b'}'),
    ("tilde", b'~'),
    ("DEL", 127),
];
