//! The expressions of Perl that `rename` knows: `s/OLD/NEW/FLAGS` and `y/FROM/TO/` (also `tr`),
//! several of them separated by `;`.

use box_text::perl::{PerlDialect, rewrite_pattern};
use fancy_regex::{Captures, Regex, RegexBuilder};

/// A parsed expression, which changes names.
pub(super) struct Expression {
    steps: Vec<Step>,
}

enum Step {
    Substitute {
        old: Regex,
        new: Vec<Part>,
        all: bool,
    },
    /// Characters and their replacements.
    Transliterate(Vec<(char, char)>),
}

/// A part of a replacement.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Group(usize),
    Case(Case),
}

/// The change of letters that follow.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    Upper,
    Lower,
    UpperOne,
    LowerOne,
    End,
}

/// Returns whether an operand is an expression: `s`, `y` or `tr` and a delimiter that occurs twice
/// more, so that `s.txt` is none.
pub(super) fn looks_like_expression(word: &[u8]) -> bool {
    let rest = word.strip_prefix(b"tr").or(word.strip_prefix(b"s")).or(word.strip_prefix(b"y"));
    let Some(&[delimiter, ..]) = rest else { return false };
    let is_delimiter = matches!(delimiter, b'/' | b'|' | b'#' | b',' | b'!' | b'@' | b':' | b'%');
    let times = rest.unwrap_or_default().iter().filter(|c| **c == delimiter).count();
    is_delimiter && times >= 3
}

impl Expression {
    /// Parses an expression; `Err` is a message.
    pub(super) fn parse(word: &[u8]) -> Result<Expression, String> {
        let text = std::str::from_utf8(word).map_err(|_| "an expression must be UTF-8 text")?;
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (step, left) = parse_step(rest)?;
            steps.push(step);
            let left = left.trim_start();
            rest = match left.strip_prefix(';') {
                Some(next) => next.trim_start(),
                None if left.is_empty() => left,
                None => return Err(format!("cannot run Perl code: '{left}'")),
            };
        }
        Ok(Expression { steps })
    }

    /// Returns the new name; `None` if the old one is not UTF-8.
    pub(super) fn apply(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut name = std::str::from_utf8(name).ok()?.to_string();
        for step in &self.steps {
            name = match step {
                Step::Substitute { old, new, all } => {
                    let limit = usize::from(!*all);
                    old.replacen(&name, limit, |c: &Captures<'_, str>| expand(new, c)).into_owned()
                }
                Step::Transliterate(pairs) => {
                    let to = |c| pairs.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to);
                    name.chars().map(to).collect()
                }
            };
        }
        Some(name.into_bytes())
    }
}

/// Parses one command; returns it with the rest of the text.
fn parse_step(text: &str) -> Result<(Step, &str), String> {
    let transliterates = text.starts_with("tr") || text.starts_with('y');
    let skipped = if text.starts_with("tr") { 2 } else { 1 };
    let unknown = || format!("cannot run Perl code: '{text}'; s/OLD/NEW/ and y/A/B/ are known");
    if !transliterates && !text.starts_with('s') {
        return Err(unknown());
    }
    let mut chars = text[skipped..].char_indices();
    let Some((_, delimiter)) = chars.next() else { return Err(unknown()) };
    if delimiter.is_alphanumeric() || delimiter.is_whitespace() || "({[<".contains(delimiter) {
        return Err(unknown());
    }
    let mut fields = [String::new(), String::new()];
    let (mut field, mut escaped, mut end) = (0, false, None);
    for (at, c) in chars {
        if !escaped && c == delimiter {
            field += 1;
            if field == 2 {
                end = Some(skipped + at + c.len_utf8());
                break;
            }
            continue;
        }
        let out = &mut fields[field];
        if escaped && c == delimiter {
            out.pop();
        }
        out.push(c);
        escaped = !escaped && c == '\\';
    }
    let Some(end) = end else { return Err(format!("unterminated expression '{text}'")) };
    let rest = &text[end..];
    let count = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (flags, rest) = rest.split_at(count);
    let [old, new] = fields;
    let step = if transliterates {
        if !flags.is_empty() {
            return Err(format!("unknown flags '{flags}' of y"));
        }
        make_transliteration(&old, &new)?
    } else {
        make_substitution(&old, &new, flags)?
    };
    Ok((step, rest))
}

fn make_substitution(old: &str, new: &str, flags: &str) -> Result<Step, String> {
    if let Some(flag) = flags.chars().find(|c| !"gix".contains(*c)) {
        return Err(format!("unknown flag '{flag}' of s; Perl code is not run"));
    }
    let lead = match (flags.contains('i'), flags.contains('x')) {
        (true, true) => "(?ix)",
        (true, false) => "(?i)",
        (false, true) => "(?x)",
        (false, false) => "",
    };
    let rewritten = rewrite_pattern(old, PerlDialect::Pcre2)
        .map_err(|e| format!("bad pattern '{old}': {e}"))?;
    let regex = RegexBuilder::new(&format!("{lead}{rewritten}"))
        .backtrack_limit(1_000_000)
        .build()
        .map_err(|e| format!("bad pattern '{old}': {e}"))?;
    Ok(Step::Substitute { old: regex, new: parse_replacement(new)?, all: flags.contains('g') })
}

/// Parses the replacement, a string of Perl in double quotes.
fn parse_replacement(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut chars = text.chars().peekable();
    let mut literal = String::new();
    while let Some(c) = chars.next() {
        let part = match (c, chars.peek().copied()) {
            ('\\', Some(next)) => {
                chars.next();
                match next {
                    'U' => Part::Case(Case::Upper),
                    'L' => Part::Case(Case::Lower),
                    'u' => Part::Case(Case::UpperOne),
                    'l' => Part::Case(Case::LowerOne),
                    'E' => Part::Case(Case::End),
                    '1'..='9' => Part::Group(next.to_digit(10).unwrap_or(0) as usize),
                    't' => Part::Text("\t".to_string()),
                    'n' => Part::Text("\n".to_string()),
                    other => Part::Text(other.to_string()),
                }
            }
            ('$', Some('&')) => {
                chars.next();
                Part::Group(0)
            }
            ('$', Some('0'..='9' | '{')) => {
                let braced = chars.next_if_eq(&'{').is_some();
                let mut digits = String::new();
                while let Some(d) = chars.next_if(char::is_ascii_digit) {
                    digits.push(d);
                }
                let closed = !braced || chars.next_if_eq(&'}').is_some();
                match digits.parse() {
                    Ok(n) if closed => Part::Group(n),
                    _ => return Err("variables of Perl other than $1 are unknown".to_string()),
                }
            }
            ('$' | '@', Some(next)) if next.is_alphabetic() || next == '_' => {
                return Err("variables of Perl other than $1 are unknown".to_string());
            }
            _ => Part::Text(c.to_string()),
        };
        match part {
            Part::Text(text) => literal.push_str(&text),
            other => {
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(other);
            }
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Ok(parts)
}

/// Returns the text of a replacement for one match.
fn expand(parts: &[Part], captures: &Captures<'_, str>) -> String {
    let mut out = String::new();
    let (mut all, mut one) = (None, None);
    for part in parts {
        let text = match part {
            Part::Case(Case::End) => {
                all = None;
                continue;
            }
            Part::Case(case @ (Case::Upper | Case::Lower)) => {
                all = Some(*case);
                continue;
            }
            Part::Case(case) => {
                one = Some(*case);
                continue;
            }
            Part::Text(text) => text.as_str(),
            Part::Group(n) => captures.get(*n).map_or("", |m| m.as_str()),
        };
        let text = match all {
            Some(Case::Upper) => text.to_uppercase(),
            Some(_) => text.to_lowercase(),
            None => text.to_string(),
        };
        let mut chars = text.chars();
        match (one, chars.next()) {
            (Some(case), Some(first)) => {
                if case == Case::UpperOne {
                    out.extend(first.to_uppercase());
                } else {
                    out.extend(first.to_lowercase());
                }
                one = None;
                out.push_str(chars.as_str());
            }
            _ => out.push_str(&text),
        }
    }
    out
}

/// Makes the pairs of `y`; the last character of the replacement stands for all that lack one.
fn make_transliteration(from: &str, to: &str) -> Result<Step, String> {
    let from = expand_ranges(from)?;
    let to = if to.is_empty() { from.clone() } else { expand_ranges(to)? };
    let last = to.last().copied().ok_or("empty replacement of y")?;
    let mut pairs: Vec<(char, char)> = Vec::new();
    for (n, c) in from.into_iter().enumerate() {
        if !pairs.iter().any(|(known, _)| *known == c) {
            pairs.push((c, to.get(n).copied().unwrap_or(last)));
        }
    }
    Ok(Step::Transliterate(pairs))
}

/// Returns the characters of a list with ranges, of which there may be many.
fn expand_ranges(list: &str) -> Result<Vec<char>, String> {
    const MOST: usize = 4096;
    let chars: Vec<char> = list.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == '\\' && at + 1 < chars.len() {
            at += 1;
            out.push(chars[at]);
        } else if at + 2 < chars.len() && chars[at + 1] == '-' {
            if chars[at] > chars[at + 2] {
                return Err(format!("bad range '{}-{}' of y", chars[at], chars[at + 2]));
            }
            out.extend((chars[at]..=chars[at + 2]).take(MOST));
            at += 2;
        } else {
            out.push(chars[at]);
        }
        at += 1;
        if out.len() > MOST {
            return Err("a list of y is too long".to_string());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(expression: &str, name: &str) -> String {
        let parsed = Expression::parse(expression.as_bytes()).expect("an expression");
        String::from_utf8(parsed.apply(name.as_bytes()).expect("text")).expect("text")
    }

    /// The expected values are those of Perl 5.36.
    #[test]
    fn expressions() {
        for (expression, name, expected) in [
            ("s/a/b/", "aa.txt", "ba.txt"),
            ("s/a/b/g", "aa.txt", "bb.txt"),
            ("s/A/b/gi", "aa.txt", "bb.txt"),
            ("s/(\\d+)/<$1>/", "x12y", "x<12>y"),
            ("s/(a)(b)?/[$2$1]/", "ac", "[a]c"),
            ("s|/|_|g", "a/b/c", "a_b_c"),
            ("s/\\.jpe?g$/.png/", "a.jpeg", "a.png"),
            ("s/(\\w+)/\\U$1\\E!/", "abc d", "ABC! d"),
            ("s/(\\w+)/\\u$1/g", "abc def", "Abc Def"),
            ("y/a-c/A-C/", "abcd", "ABCd"),
            ("tr/a-z//", "abc", "abc"),
            ("s/a/b/; s/b/c/", "ab", "cb"),
            ("s/.*?b/x/", "abab", "xab"),
            ("s/a\\/b/x/", "a/b", "x"),
        ] {
            assert_eq!(apply(expression, name), expected, "{expression}");
        }
    }

    #[test]
    fn code_is_refused() {
        for text in ["s/a/b/e", "s/a/b", "s/a/$x/", "s/a/b/; unlink", "y/b-a/x/", "s/(/x/"] {
            assert!(Expression::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(!looks_like_expression(b"s.txt"));
        assert!(looks_like_expression(b"s,a,b,"));
    }
}
