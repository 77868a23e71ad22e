//! The lexer's mode: how the text around `pos` changes the way that the lexer reads.
//!
//! Each kind of text is a [`TextContext`], and [`LexMode::mode_within`] is the one place that
//! defines its effect. [`CommandParser::lex_within`] lexes in a context and then restores the
//! previous mode, even after an error.

use super::CommandParser;

/// A kind of text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextContext {
    /// Double quotes.
    DoubleQuotes,
    /// `$(`
    Substitution,
    /// The commands of `$(`, which are not part of a surrounding here-document.
    Commands,
    /// `<(` or `>(`.
    ProcessSubstitution,
    /// The operand of `${...}` within double quotes.
    QuotedOperand,
    /// An expansion in arithmetic. `kept` says that the quotes that replace `$'...'` have a meaning
    /// there.
    Arithmetic { kept: bool },
    /// The parameter of `${` and its subscript. `literal` says that `$'` is text, as within double
    /// quotes in POSIX mode.
    Subject { literal: bool },
    /// The operator of `${` and its operands, with the same `literal`. `pattern` says that the
    /// operands are patterns, in which `$'` is always a quote.
    Operator { literal: bool, pattern: bool },
}

/// The combined effect of the contexts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LexMode {
    /// Whether the text is the body of a here-document.
    pub heredoc: bool,
    /// Whether the text is within an operand in the body of a here-document, where `$'` and `$"`
    /// are text.
    pub doc_operand: bool,
    /// Whether the text is not source code: `$'` and `$"` are text in its subscripts and
    /// arithmetic.
    pub run_time: bool,
    /// Whether the `$` at `pos` is in arithmetic.
    pub arith: bool,
    pub ansi: Ansi,
}

/// The meaning of `$'...'` at `pos`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ansi {
    /// Whether quotes that replace `$'...'` in arithmetic have a meaning, because it is not within
    /// double quotes.
    pub kept: bool,
    /// Whether `pos` is within double quotes in POSIX mode, where `$'` is text except in a pattern.
    pub posix_quoted: bool,
    /// Whether a `$'` at `pos` is text because of `posix_quoted`, or because it is in a subscript
    /// in a here-document.
    pub none: bool,
}

impl LexMode {
    /// Returns the mode within a text of this kind.
    #[must_use]
    pub fn mode_within(self, inside: TextContext) -> LexMode {
        let ansi = self.ansi;
        match inside {
            TextContext::DoubleQuotes => LexMode { ansi: Ansi { kept: false, ..ansi }, ..self },
            TextContext::Substitution => {
                LexMode { ansi: Ansi::default(), arith: false, run_time: false, ..self }
            }
            TextContext::Commands => LexMode { heredoc: false, ..self },
            TextContext::ProcessSubstitution => LexMode { ansi: Ansi::default(), ..self },
            TextContext::QuotedOperand => LexMode { doc_operand: self.heredoc, ..self },
            TextContext::Arithmetic { kept } => {
                LexMode { arith: true, ansi: Ansi { kept, ..ansi }, ..self }
            }
            TextContext::Subject { literal } => {
                let none = literal || self.heredoc;
                LexMode { ansi: Ansi { posix_quoted: literal, none, ..ansi }, ..self }
            }
            TextContext::Operator { literal, pattern } => {
                let none = literal && !pattern;
                LexMode { ansi: Ansi { posix_quoted: literal, none, ..ansi }, ..self }
            }
        }
    }
}

impl CommandParser<'_, '_> {
    /// Calls `f` to lex a text of this kind.
    #[inline]
    pub fn lex_within<T>(&mut self, inside: TextContext, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.st.mode;
        self.st.mode = outer.mode_within(inside);
        let result = f(self);
        self.st.mode = outer;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_substitution_begin_with_a_fresh_mode() {
        let mode = LexMode { heredoc: true, arith: true, ..LexMode::default() };
        let inner = mode.mode_within(TextContext::Substitution).mode_within(TextContext::Commands);
        assert!(!inner.heredoc && !inner.arith);
    }

    #[test]
    fn patterns_have_ansi_quotes_in_posix_mode() {
        let literal = LexMode::default().mode_within(TextContext::Subject { literal: true });
        assert!(literal.ansi.none && literal.ansi.posix_quoted);
        assert!(
            !literal.mode_within(TextContext::Operator { literal: true, pattern: true }).ansi.none
        );
        assert!(
            literal.mode_within(TextContext::Operator { literal: true, pattern: false }).ansi.none
        );
    }

    #[test]
    fn operands_in_here_documents_have_no_ansi_quotes() {
        let mode = LexMode { heredoc: true, ..LexMode::default() };
        assert!(mode.mode_within(TextContext::QuotedOperand).doc_operand);
        assert!(mode.mode_within(TextContext::Subject { literal: false }).ansi.none);
    }
}
