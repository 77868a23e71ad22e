//! `-P` with subroutine calls: `(?R)`, `(?1)`, `(?&name)`, by our own backtracking machine.
//!
//! `fancy-regex` parses such patterns, but unrolls the calls when it compiles them, 19 levels deep,
//! which takes memory that is exponential in the levels if a group calls itself twice. So this
//! module turns the syntax tree into a program in which a call is a step.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the calls in PCRE's spelling become those of the parser |
//! | `program` | the tree becomes steps |
//! | `machine` | the steps are run |
//!
//! Stack and steps of a search are bounded; a search that reaches a bound gives up, as in PCRE.

mod machine;
mod program;

use fancy_regex::Expr;

use self::program::PatternProgram;

/// A compiled pattern with calls.
pub struct RecursivePattern {
    program: PatternProgram,
    utf8: bool,
}

/// The error of a search that took too many steps or too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("exceeded the limits of backtracking")]
pub struct MatchLimitHit;

impl RecursivePattern {
    /// Compiles a pattern in the parser's spelling; `None` if it has no calls. The error is the
    /// text to report.
    pub fn new(
        pattern: &str,
        ignore_case: bool,
        utf8: bool,
    ) -> Option<Result<RecursivePattern, String>> {
        if !pattern.contains(r"\g<") {
            return None;
        }
        let flags = if ignore_case { "(?mi)" } else { "(?m)" };
        let tree = match Expr::parse_tree(&format!("{flags}{pattern}")) {
            Ok(tree) if !tree.contains_subroutines => return None,
            Ok(tree) => tree,
            Err(e) => return Some(Err(super::perl::describe_error(&e))),
        };
        Some(program::compile_program(&tree.expr).map(|program| RecursivePattern { program, utf8 }))
    }

    /// Returns the first match at or after `at`.
    pub fn find(&self, text: &[u8], at: usize) -> Result<Option<(usize, usize)>, MatchLimitHit> {
        machine::find_match(&self.program, text, at, self.utf8)
    }
}

/// Rewrites PCRE's calls as the parser spells them: `(?R)`, `(?1)`, `(?-1)`, `(?&name)` and
/// `(?P>name)` become `\g<...>`.
pub fn respell_calls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut bracket = false;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let two: usize = rest.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&rest[..two]);
            rest = &rest[two..];
            continue;
        }
        if !bracket && let Some((target, after)) = parse_call(rest) {
            out.push_str(&format!(r"\g<{target}>"));
            rest = after;
            continue;
        }
        match c {
            '[' => bracket = true,
            ']' => bracket = false,
            _ => {}
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Parses a call at the beginning of `text`; returns its target and the text after it.
fn parse_call(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("(?")?;
    let (word, after) = inner.split_once(')')?;
    let is_name = |n: &str| {
        n.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && n.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let digits = word.trim_start_matches(['+', '-']);
    let is_number = word.len() - digits.len() <= 1
        && !digits.is_empty()
        && digits.bytes().all(|c| c.is_ascii_digit());
    let named = word.strip_prefix('&').or_else(|| word.strip_prefix("P>"));
    match named {
        Some(name) => is_name(name).then_some((name, after)),
        None if word == "R" => Some(("0", after)),
        None => is_number.then_some((word, after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<String> {
        let spelled = respell_calls(pattern);
        let compiled = RecursivePattern::new(&spelled, false, true).unwrap().unwrap();
        let (from, to) = compiled.find(text.as_bytes(), 0).unwrap()?;
        Some(text[from..to].to_string())
    }

    #[test]
    fn calls_are_respelled_outside_of_brackets() {
        assert_eq!(respell_calls(r"a(?R)|(?&x)(?P>y)(?-1)"), r"a\g<0>|\g<x>\g<y>\g<-1>");
        assert_eq!(respell_calls(r"[(?R)]\(?R(?i)(?:a)(?=b)"), r"[(?R)]\(?R(?i)(?:a)(?=b)");
    }

    #[test]
    fn brackets_of_any_depth() {
        let deep = format!("x{}{}y", "(".repeat(200), ")".repeat(200));
        let balanced = r"\((?:[^()]++|(?R))*\)";
        assert_eq!(found(balanced, &deep).map(|m| m.len()), Some(400));
        assert_eq!(found(balanced, "(a(b)c"), Some("(b)".to_string()));
        assert_eq!(found(r"^(\((?1)*\))$", "(()(()))"), Some("(()(()))".to_string()));
        assert_eq!(found(r"^(\((?1)*\))$", "(()"), None);
    }

    #[test]
    fn groups_that_call_each_other() {
        let json = r#"(?(DEFINE)(?<v>\d+|"[^"]*"|(?&a)|(?&o))(?<a>\[(?:(?&v)(?:,(?&v))*)?\])(?<o>\{(?:(?&p)(?:,(?&p))*)?\})(?<p>"[^"]*":(?&v)))^(?&v)$"#;
        assert!(found(json, r#"{"a":[1,[2,"x"]],"b":{}}"#).is_some());
        assert!(found(json, r#"{"a":[1,[2,"x"],"b":{}}"#).is_none());
    }

    #[test]
    fn a_palindrome_needs_the_match_of_a_group() {
        let palindrome = r"^((.)(?1)\2|.?)$";
        assert_eq!(found(palindrome, "abcba"), Some("abcba".to_string()));
        assert_eq!(found(palindrome, "abcbx"), None);
    }

    #[test]
    fn a_call_without_end_gives_up() {
        let endless = RecursivePattern::new(r"(a|\g<1>b)", false, true).unwrap().unwrap();
        assert_eq!(endless.find(b"b", 0), Err(MatchLimitHit));
    }
}
