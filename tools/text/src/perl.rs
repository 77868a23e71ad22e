//! Patterns in Perl syntax, as PCRE2 (`grep -P`) and Oniguruma (jq) read them, rewritten for the
//! crate `fancy-regex`. That agrees with both in groups and repetitions, but not in bracket
//! expressions and escapes: it nests brackets, has the operators `&&`, `--` and `~~`, has other
//! classes, and refuses letters that have no meaning.
//!
//! | part | file |
//! |---|---|
//! | the walk through a pattern, escapes outside of brackets | this one |
//! | bracket expressions | `perl/bracket.rs` |
//! | characters by number, properties | `perl/escape.rs` |
//! | errors, with the texts of both libraries | `perl/error.rs` |
//!
//! Absent: features that `fancy-regex` lacks (verbs, subroutines, callouts) are not rewritten, and
//! fail there.

mod bracket;
mod error;
mod escape;

pub use error::PerlPatternError;

/// The library whose syntax a pattern has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerlDialect {
    /// PCRE2 without its option UCP: classes are ASCII.
    Pcre2,
    /// Oniguruma with its syntax `Perl_NT`: classes are Unicode.
    Oniguruma,
}

/// Returns the pattern in the syntax of `fancy-regex`.
///
/// ```
/// use box_text::perl::{PerlDialect, rewrite_pattern};
///
/// let text = rewrite_pattern(r"[a&&b]\d", PerlDialect::Pcre2);
/// assert_eq!(text.as_deref(), Ok(r"[a\&\&b][0-9]"));
/// ```
pub fn rewrite_pattern(pattern: &str, dialect: PerlDialect) -> Result<String, PerlPatternError> {
    let mut rewriter = PatternRewriter {
        chars: pattern.chars().collect(),
        at: 0,
        out: String::with_capacity(pattern.len() + 16),
        dialect,
        quoted: false,
        extended: false,
    };
    rewriter.rewrite_all()?;
    Ok(rewriter.out)
}

/// The state of a walk through a pattern.
struct PatternRewriter {
    chars: Vec<char>,
    at: usize,
    out: String,
    dialect: PerlDialect,
    /// Whether the position is between `\Q` and `\E`.
    quoted: bool,
    /// Whether `(?x)` was read, so that there are comments, which end with their lines.
    extended: bool,
}

type Result<T, E = PerlPatternError> = std::result::Result<T, E>;

impl PatternRewriter {
    fn peek_char(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.peek_char(0)?;
        self.at += 1;
        Some(c)
    }

    fn skip_char(&mut self, wanted: char) -> bool {
        let found = self.peek_char(0) == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn is_pcre(&self) -> bool {
        self.dialect == PerlDialect::Pcre2
    }

    fn rewrite_all(&mut self) -> Result<()> {
        while let Some(c) = self.next_char() {
            match c {
                '\\' if self.quoted && self.peek_char(0) != Some('E') => {
                    escape::push_char(&mut self.out, c);
                }
                '\\' => self.rewrite_escape()?,
                _ if self.quoted => escape::push_char(&mut self.out, c),
                '[' => self.rewrite_bracket()?,
                '(' => self.begin_group(),
                '#' if self.extended => self.copy_until('\n'),
                // In neither library is `{,n}` a repetition.
                '{' if self.peek_char(0) == Some(',') => self.out.push_str("\\{"),
                _ => self.out.push(c),
            }
        }
        Ok(())
    }

    /// Copies the beginning of a group, or a whole comment, and reads the flags of a group.
    fn begin_group(&mut self) {
        self.out.push('(');
        if self.peek_char(0) != Some('?') {
            return;
        }
        if self.peek_char(1) == Some('#') {
            return self.copy_until(')');
        }
        let flags = self.chars[self.at + 1..].iter().take_while(|c| c.is_ascii_lowercase());
        self.extended |= flags.into_iter().any(|c| *c == 'x');
    }

    fn copy_until(&mut self, end: char) {
        while let Some(c) = self.next_char() {
            self.out.push(c);
            if c == end {
                break;
            }
        }
    }

    /// Rewrites an escape outside of brackets, after its backslash.
    fn rewrite_escape(&mut self) -> Result<()> {
        let Some(c) = self.next_char() else { return Err(PerlPatternError::TrailingBackslash) };
        match c {
            'Q' => self.quoted = true,
            'E' => self.quoted = false,
            'p' | 'P' if self.is_pcre() || self.peek_char(0) == Some('{') => {
                let property = self.read_property(c == 'P')?;
                self.out.push_str(&property);
            }
            'x' | 'o' | 'c' => {
                let code = self.read_code(c)?;
                escape::push_char(&mut self.out, code);
            }
            '0' => {
                let code = self.read_octal('0', 3)?;
                escape::push_char(&mut self.out, code);
            }
            'R' => self.out.push_str(r"(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])"),
            'N' => self.out.push_str(r"[^\n]"),
            _ => match escape::class_text(c, self.dialect) {
                Some(class) if class.len() > 2 => {
                    self.out.push('[');
                    self.out.push_str(class);
                    self.out.push(']');
                }
                Some(class) => self.out.push_str(class),
                None if self.is_pcre() && "FLUlu".contains(c) => {
                    return Err(PerlPatternError::CaseEscape);
                }
                // In Oniguruma, other letters stand for themselves.
                None if !self.is_pcre() && c.is_ascii_alphabetic() && !KEPT.contains(c) => {
                    self.out.push(c);
                }
                None => self.out.extend(['\\', c]),
            },
        }
        Ok(())
    }
}

/// Letters that mean the same to Oniguruma and to `fancy-regex` outside of brackets.
const KEPT: &str = "AbBGkKzZtnrfaeX";

#[cfg(test)]
mod tests;
