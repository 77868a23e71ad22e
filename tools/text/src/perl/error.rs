//! The errors of patterns.

use thiserror::Error;

use super::PerlDialect;

/// A mistake in a pattern. `Display` writes the message of PCRE2.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PerlPatternError {
    #[error("missing terminating ] for character class")]
    EmptyClass,
    #[error("missing terminating ] for character class")]
    UnclosedClass,
    #[error("range out of order in character class")]
    RangeOrder,
    #[error("invalid range in character class")]
    RangeOfClass,
    #[error("unknown POSIX class name")]
    ClassName,
    #[error("POSIX named classes are supported only within a class")]
    ClassOutside,
    #[error("POSIX collating elements are not supported")]
    CollatingElement,
    #[error("escape sequence is invalid in character class")]
    EscapeInClass,
    #[error("unrecognized character follows \\")]
    UnknownEscape,
    #[error("PCRE2 does not support \\F, \\L, \\l, \\N{{name}}, \\U, or \\u")]
    CaseEscape,
    #[error("\\ at end of pattern")]
    TrailingBackslash,
    #[error("character code point value in \\x{{}} or \\o{{}} is too large")]
    LargeCode,
    #[error("non-octal character in \\o{{}} (closing brace missing?)")]
    OctalDigit,
    #[error("non-hex character in \\x{{}} (closing brace missing?)")]
    HexDigit,
    #[error("malformed \\P or \\p sequence")]
    Property,
    /// Bytes given by number that are not a character.
    #[error("UTF-8 error")]
    BrokenText,
}

impl PerlPatternError {
    /// Returns the message of a library.
    pub fn text(self, dialect: PerlDialect) -> String {
        if dialect == PerlDialect::Pcre2 {
            return self.to_string();
        }
        let text = match self {
            PerlPatternError::EmptyClass => "empty char-class",
            PerlPatternError::UnclosedClass => "premature end of char-class",
            PerlPatternError::RangeOrder => "empty range in char class",
            PerlPatternError::RangeOfClass => "char-class value at end of range",
            PerlPatternError::ClassName => "invalid POSIX bracket type",
            PerlPatternError::TrailingBackslash => "end pattern at escape",
            PerlPatternError::LargeCode
            | PerlPatternError::OctalDigit
            | PerlPatternError::HexDigit => "too long wide-char value",
            PerlPatternError::BrokenText => "too short multibyte code string",
            PerlPatternError::Property => "invalid character property name",
            other => return other.to_string(),
        };
        text.to_string()
    }
}
