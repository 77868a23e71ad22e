//! Bracket expressions: `[a-z]`, `[^\d_]`, `[[:alpha:]]`.

use super::escape::{bracketed_class, class_text, named_class, push_char};
use super::{PatternRewriter, PerlPatternError, Result};

/// A part of a bracket expression.
enum BracketAtom {
    Char(char),
    /// A class, in the syntax of `fancy-regex`.
    Class(String),
}

impl PatternRewriter {
    /// Rewrites a bracket expression, after its `[`.
    pub(super) fn rewrite_bracket(&mut self) -> Result<()> {
        if self.is_pcre() && self.find_class_end().is_some() {
            return Err(match self.peek_char(0) {
                Some(':') => PerlPatternError::ClassOutside,
                _ => PerlPatternError::CollatingElement,
            });
        }
        self.out.push('[');
        if self.skip_char('^') {
            self.out.push('^');
        }
        if self.skip_char(']') {
            // A `]` that comes first stands for itself; Oniguruma requires another one after it.
            if !self.is_pcre() && !self.chars[self.at..].contains(&']') {
                return Err(PerlPatternError::EmptyClass);
            }
            self.push_range(']')?;
        }
        loop {
            let c = self.next_char().ok_or(PerlPatternError::UnclosedClass)?;
            if c == ']' && !self.quoted {
                break;
            }
            match self.read_atom(c)? {
                Some(BracketAtom::Char(c)) => self.push_range(c)?,
                Some(BracketAtom::Class(class)) => {
                    self.out.push_str(&class);
                    self.check_behind_class()?;
                }
                None => {}
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// Returns whether a `-` follows that is not the last character.
    fn is_at_range(&self) -> bool {
        !self.quoted
            && self.peek_char(0) == Some('-')
            && self.peek_char(1).is_some_and(|c| c != ']')
    }

    /// Appends a character, or the range that begins with it.
    fn push_range(&mut self, low: char) -> Result<()> {
        push_char(&mut self.out, low);
        if !self.is_at_range() {
            return Ok(());
        }
        self.at += 1;
        let c = self.next_char().ok_or(PerlPatternError::UnclosedClass)?;
        match self.read_atom(c)? {
            Some(BracketAtom::Char(high)) if high < low => Err(PerlPatternError::RangeOrder),
            Some(BracketAtom::Char(high)) => {
                self.out.push('-');
                push_char(&mut self.out, high);
                Ok(())
            }
            Some(BracketAtom::Class(_)) => Err(PerlPatternError::RangeOfClass),
            // `\E`.
            None => {
                self.out.push_str("\\-");
                Ok(())
            }
        }
    }

    /// Checks for a `-` after a class, which is an error in PCRE2 and a character in Oniguruma.
    fn check_behind_class(&mut self) -> Result<()> {
        if self.is_at_range() {
            if self.is_pcre() {
                return Err(PerlPatternError::RangeOfClass);
            }
            self.at += 1;
            self.out.push_str("\\-");
        }
        Ok(())
    }

    /// Returns the atom that begins with a character; `None` for `\Q` and `\E`.
    fn read_atom(&mut self, c: char) -> Result<Option<BracketAtom>> {
        if self.quoted {
            if c == '\\' && self.skip_char('E') {
                self.quoted = false;
                return Ok(None);
            }
            return Ok(Some(BracketAtom::Char(c)));
        }
        match c {
            '\\' => self.read_bracket_escape(),
            '[' => Ok(Some(self.read_named_class()?.unwrap_or(BracketAtom::Char('[')))),
            _ => Ok(Some(BracketAtom::Char(c))),
        }
    }

    /// Returns the place of the `:]` that ends a class (for PCRE2, also `.]` or `=]`), whose `[`
    /// has just been read.
    fn find_class_end(&self) -> Option<usize> {
        let mark = self.peek_char(0)?;
        if mark != ':' && !(self.is_pcre() && matches!(mark, '.' | '=')) {
            return None;
        }
        let mut at = self.at + 1;
        while let (Some(c), Some(next)) = (self.chars.get(at), self.chars.get(at + 1)) {
            match (*c, *next) {
                ('\\', ']' | '\\') => at += 1,
                (c, ']') if c == mark => return Some(at),
                (']', _) => return None,
                ('[', n) if n == mark => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Reads `[:name:]` after its first bracket; `None` if it is not a class.
    fn read_named_class(&mut self) -> Result<Option<BracketAtom>> {
        let Some(end) = self.find_class_end() else { return Ok(None) };
        if self.peek_char(0) != Some(':') {
            return Err(PerlPatternError::CollatingElement);
        }
        let name: String = self.chars[self.at + 1..end].iter().collect();
        let (negated, name) = match name.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, name.as_str()),
        };
        let class = named_class(name, self.dialect).ok_or(PerlPatternError::ClassName)?;
        self.at = end + 2;
        Ok(Some(BracketAtom::Class(bracketed_class(class, negated))))
    }

    /// Reads an escape after its backslash.
    fn read_bracket_escape(&mut self) -> Result<Option<BracketAtom>> {
        let Some(c) = self.next_char() else {
            return Err(if self.is_pcre() {
                PerlPatternError::TrailingBackslash
            } else {
                PerlPatternError::UnclosedClass
            });
        };
        let pcre = self.is_pcre();
        let code = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'a' => '\x07',
            'e' => '\x1b',
            'b' => '\x08',
            '0'..='7' => self.read_octal(c, 3)?,
            'x' | 'o' | 'c' => self.read_code(c)?,
            'p' | 'P' if pcre || self.peek_char(0) == Some('{') => {
                return self.read_property(c == 'P').map(|p| Some(BracketAtom::Class(p)));
            }
            'Q' if pcre => {
                self.quoted = true;
                return Ok(None);
            }
            'E' if pcre => return Ok(None),
            'B' | 'R' | 'X' | 'A' | 'z' | 'Z' | 'G' | 'K' | 'k' | 'N' | 'C' if pcre => {
                return Err(PerlPatternError::EscapeInClass);
            }
            'F' | 'L' | 'U' | 'l' | 'u' if pcre => return Err(PerlPatternError::CaseEscape),
            _ => match class_text(c, self.dialect) {
                Some(class) if class.starts_with('^') => {
                    return Ok(Some(BracketAtom::Class(format!("[{class}]"))));
                }
                Some(class) => return Ok(Some(BracketAtom::Class(class.to_string()))),
                None if pcre && c.is_ascii_alphabetic() && c != 'g' => {
                    return Err(PerlPatternError::UnknownEscape);
                }
                None => c,
            },
        };
        Ok(Some(BracketAtom::Char(code)))
    }
}
