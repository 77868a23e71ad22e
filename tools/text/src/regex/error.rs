//! The errors of patterns that do not compile, with GNU's messages (glibc `regerror(3)`).

/// A pattern that does not compile. `Display` is the text users know from `grep` and `sed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    #[error("Invalid regular expression")]
    Invalid,
    #[error("Invalid collation character")]
    Collation,
    #[error("Invalid character class name")]
    ClassName,
    /// An error of grep and sed: `[:space:]` without its outer brackets.
    #[error("character class syntax is [[:space:]], not [:space:]")]
    ClassSyntax,
    #[error("Trailing backslash")]
    TrailingBackslash,
    #[error("Invalid back reference")]
    BackReference,
    #[error("Unmatched [, [^, [:, [., or [=")]
    Bracket,
    #[error("Unmatched ( or \\(")]
    OpenParen,
    #[error("Unmatched ) or \\)")]
    CloseParen,
    #[error("Unmatched \\{{")]
    OpenBrace,
    #[error("Invalid content of \\{{\\}}")]
    BraceContent,
    #[error("Invalid range end")]
    RangeEnd,
    #[error("Invalid preceding regular expression")]
    Repetition,
    /// More than `RE_DUP_MAX` repetitions, nesting beyond 250 levels, or an automaton
    /// beyond the size limit.
    #[error("Regular expression too big")]
    TooBig,
}
