//! A field: text that records which of its characters are quoted. The last phase, quote removal,
//! discards that.

use std::rc::Rc;

use box_text::glob;

use crate::value::Str;

/// The result of splitting attributed text.
#[derive(Clone, Debug)]
pub(crate) enum SplitField {
    /// A quoted text as a whole, shared with the other owners of the value.
    Shared(Str),
    /// Text with the places where quoting alternately begins and ends. The text begins unquoted.
    Built { text: Vec<u8>, toggles: Vec<usize> },
}

impl SplitField {
    /// Returns a field of text. `toggles` are ascending places within the text, the first of which
    /// begins a quoted part.
    pub(crate) fn from_text(text: Vec<u8>, toggles: Vec<usize>) -> SplitField {
        SplitField::Built { text, toggles }
    }

    /// Removes the quotes (POSIX XCU 2.6.7) and returns the text alone.
    pub(crate) fn strip_quotes(self) -> Str {
        match self {
            SplitField::Shared(text) => text,
            SplitField::Built { text, .. } => Rc::new(text),
        }
    }

    /// Returns the field's pattern for pathname expansion, if it holds an active pattern character.
    pub(crate) fn active_pattern(&self, extglob: bool) -> Option<Vec<u8>> {
        let SplitField::Built { text, .. } = self else { return None };
        if !text.iter().any(|b| matches!(b, b'*' | b'?' | b'[' | b'(')) {
            return None;
        }
        let pattern = self.escaped_pattern();
        glob::has_magic(&pattern, extglob).then_some(pattern)
    }

    /// Returns the field as a pattern for [`glob`], with a backslash before each quoted character.
    pub(crate) fn escaped_pattern(&self) -> Vec<u8> {
        let length = match self {
            SplitField::Shared(text) => text.len(),
            SplitField::Built { text, .. } => text.len(),
        };
        let mut out = Vec::with_capacity(length + 8);
        // A backslash from an expansion does not quote a character that is already quoted.
        let mut open = false;
        self.for_each_stretch(|text, quoted| {
            if quoted {
                if open && !text.is_empty() {
                    out.push(b'\\');
                    open = false;
                }
                glob::escape_into(text, &mut out);
            } else if !text.is_empty() {
                out.extend_from_slice(text);
                open = text.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
            }
        });
        out
    }

    /// Returns the first character, if that is not quoted.
    pub(crate) fn first_unquoted(&self) -> Option<u8> {
        let mut first = None;
        self.for_each_stretch(|text, quoted| {
            first = first.or(text.first().map(|byte| (*byte, quoted)));
        });
        first.filter(|(_, quoted)| !quoted).map(|(byte, _)| byte)
    }

    /// Calls `f` for each stretch of text, and passes whether it is quoted.
    pub(crate) fn for_each_stretch(&self, mut f: impl FnMut(&[u8], bool)) {
        let (text, toggles) = match self {
            SplitField::Shared(text) => return f(text, true),
            SplitField::Built { text, toggles } => (text, toggles),
        };
        let mut from = 0;
        let mut quoted = false;
        for &at in toggles {
            f(&text[from..at], quoted);
            from = at;
            quoted = !quoted;
        }
        f(&text[from..], quoted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_characters_match_themselves() {
        // a*"*"
        let field = SplitField::from_text(b"a**".to_vec(), vec![2]);
        assert_eq!(field.escaped_pattern(), b"a*\\*");
        assert_eq!(field.active_pattern(false), Some(b"a*\\*".to_vec()));
        assert_eq!(field.strip_quotes().as_slice(), b"a**");
    }

    #[test]
    fn quoted_patterns_are_none() {
        assert_eq!(SplitField::from_text(b"**".to_vec(), vec![0]).active_pattern(false), None);
        assert_eq!(SplitField::Shared(Rc::new(b"*".to_vec())).active_pattern(false), None);
    }

    #[test]
    fn an_expanded_backslash_quotes_no_quoted_text() {
        // $backslash'*'
        let field = SplitField::from_text(b"\\*".to_vec(), vec![1]);
        assert_eq!(field.escaped_pattern(), b"\\\\\\*");
    }
}
