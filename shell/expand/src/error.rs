//! The error of a failed expansion: a cause with its data.
//!
//! The text, bash's own without the `bash: line N: ` prefix, is made in [`ExpandError::message`]
//! only, and no code decides by it. The consequences have two parts: [`ExpandError::reach`] returns
//! how far the error reaches, by its cause, and `verdict.rs` of the executor adds the shell's mode.

use thiserror::Error;

/// A failed expansion or assignment.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}", String::from_utf8_lossy(&self.message()))]
pub struct ExpandError {
    /// The cause of the error.
    pub cause: Box<ExpandCause>,
}

/// The cause of an error. Names and texts are in the form that messages show.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpandCause {
    /// An assignment to a readonly variable.
    Readonly(Vec<u8>),
    /// `unset` of a readonly variable.
    ReadonlyKept(Vec<u8>),
    /// A name without a value under `set -u`.
    Unbound(Vec<u8>),
    /// `${parameter?reason}`
    Missing {
        parameter: Vec<u8>,
        reason: Vec<u8>,
    },
    /// An element that cannot exist; without a subscript the message names the array alone.
    BadSubscript {
        name: Vec<u8>,
        subscript: Option<Vec<u8>>,
    },
    /// A text that should be a name.
    NotAnIdentifier(Vec<u8>),
    /// A text that a nameref cannot refer to.
    NotAReference(Vec<u8>),
    /// A nameref to its own name.
    SelfReference(Vec<u8>),
    /// Namerefs that form a cycle.
    CircularReference(Vec<u8>),
    /// An array that cannot become a nameref.
    ArrayAsReference(Vec<u8>),
    /// An array whose kind cannot change.
    Conversion {
        name: Vec<u8>,
        from_assoc: bool,
    },
    /// `declare +a` of an array.
    Destruction(Vec<u8>),
    /// `a[1]=(...)`
    ListToMember(Vec<u8>),
    NotAnArray(Vec<u8>),
    NotIndexed(Vec<u8>),
    /// `${1=word}`
    NotAssignable(Vec<u8>),
    /// The target of `${!x}` is not a name.
    InvalidName(Vec<u8>),
    /// `${!x}` where `x` has no target.
    InvalidIndirect(Vec<u8>),
    /// `${...}` that is not a valid expansion.
    BadSubstitution(Vec<u8>),
    /// `${x@o}` with an unknown operator `o`, of a parameter that is set.
    UnknownTransform(Vec<u8>),
    /// A subscript that does not parse.
    Syntax(Vec<u8>),
    /// A redirection to several words, or to none.
    Ambiguous(Vec<u8>),
    /// No path matches, with `failglob`.
    NoMatch(Vec<u8>),
    /// `${x:1:-9}`
    NegativeLength(Vec<u8>),
    /// An expression that cannot be evaluated.
    Arithmetic {
        expression: Vec<u8>,
        reason: String,
        token: Vec<u8>,
    },
    /// An error in the offset or length of `${parameter:offset:length}`.
    InRange {
        parameter: Vec<u8>,
        cause: Box<ExpandCause>,
    },
    /// A process substitution that the system does not start.
    ProcessSubstitution(String),
    /// The budget for expansions is used up.
    TooLarge,
    /// Braces that make more words than allowed.
    TooManyWords(usize),
    /// Expansions that refer to each other without end.
    TooDeep,
    /// The message has already been printed, or bash has none; the only information left is how far
    /// the error reaches.
    AlreadyPrinted(ErrorReach),
    /// A command substitution ended the shell, or the shell was interrupted; callers return this
    /// unchanged.
    Interrupted,
}

/// The extent of an error's consequences (POSIX XCU 2.8.1; bash manual 3.5.3, 4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorReach {
    /// The command is dropped with status 1.
    Command,
    /// Assignment to a readonly variable: as [`ErrorReach::Command`], but builtins and `for`
    /// continue.
    Readonly,
    /// Ends a non-interactive shell (`set -u`, `${x?}`).
    Exit,
    /// A budget or size limit was hit: ends the script with a clear message.
    Limit,
    /// A command substitution ended the shell, or the shell was interrupted; callers return this
    /// unchanged.
    Interrupted,
}

impl From<ExpandCause> for ExpandError {
    fn from(cause: ExpandCause) -> ExpandError {
        ExpandError { cause: Box::new(cause) }
    }
}

impl ExpandError {
    /// Returns an error whose message was printed.
    pub fn already_printed(reach: ErrorReach) -> ExpandError {
        ExpandCause::AlreadyPrinted(reach).into()
    }

    /// Returns the error `name: readonly variable`.
    pub fn readonly_variable(name: &[u8]) -> ExpandError {
        ExpandCause::Readonly(name.to_vec()).into()
    }

    /// Returns the error that a quoted text is `not a valid identifier`.
    pub fn not_an_identifier(text: &[u8]) -> ExpandError {
        ExpandCause::NotAnIdentifier(text.to_vec()).into()
    }

    /// Returns the error `name[subscript]: bad array subscript`.
    pub fn bad_subscript(name: &[u8], subscript: &[u8]) -> ExpandError {
        ExpandCause::BadSubscript { name: name.to_vec(), subscript: Some(subscript.to_vec()) }
            .into()
    }

    /// Returns the error `name: bad array subscript`.
    pub(crate) fn impossible_element(name: &[u8]) -> ExpandError {
        ExpandCause::BadSubscript { name: name.to_vec(), subscript: None }.into()
    }

    /// Returns the error for a name that is not set, with `set -u`.
    pub(crate) fn unbound_variable(name: &[u8]) -> ExpandError {
        ExpandCause::Unbound(name.to_vec()).into()
    }

    /// Returns the reach of the error.
    pub fn reach(&self) -> ErrorReach {
        match *self.cause {
            ExpandCause::Interrupted => ErrorReach::Interrupted,
            ExpandCause::TooLarge | ExpandCause::TooManyWords(_) | ExpandCause::TooDeep => {
                ErrorReach::Limit
            }
            ExpandCause::Unbound(_)
            | ExpandCause::Missing { .. }
            | ExpandCause::UnknownTransform(_) => ErrorReach::Exit,
            ExpandCause::Readonly(_) | ExpandCause::ReadonlyKept(_) => ErrorReach::Readonly,
            ExpandCause::AlreadyPrinted(reach) => reach,
            _ => ErrorReach::Command,
        }
    }

    /// Returns the message, for example `x: unbound variable`; empty if it was printed already or
    /// there is none.
    pub fn message(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.cause.write(&mut out);
        out
    }

    /// Returns whether the error is about an element that cannot exist, names its subscript, and
    /// does not end the shell.
    pub fn is_missing_element(&self) -> bool {
        matches!(*self.cause, ExpandCause::BadSubscript { subscript: Some(_), .. })
            && self.reach() == ErrorReach::Command
    }
}

impl ExpandCause {
    /// Writes bash's text.
    fn write(&self, out: &mut Vec<u8>) {
        let mut put = |parts: &[&[u8]]| parts.iter().for_each(|p| out.extend_from_slice(p));
        if let Some((name, what)) = self.name_and_reason() {
            return put(&[name, b": ", what.as_bytes()]);
        }
        match self {
            ExpandCause::Missing { parameter, reason } => put(&[parameter, b": ", reason]),
            ExpandCause::BadSubscript { name, subscript } => {
                let subscript = subscript.as_deref().unwrap_or_default();
                put(&[name, b"[", subscript, b"]: bad array subscript"]);
            }
            ExpandCause::NotAnIdentifier(text) => put(&[b"`", text, b"': not a valid identifier"]),
            ExpandCause::NotAReference(text) => {
                put(&[b"`", text, b"': invalid variable name for name reference"]);
            }
            ExpandCause::CircularReference(name) => {
                put(&[b"warning: ", name, b": circular name reference"]);
            }
            ExpandCause::NotAssignable(name) => put(&[b"$", name, b": cannot assign in this way"]),
            ExpandCause::Syntax(message) => put(&[message]),
            ExpandCause::NoMatch(pattern) => put(&[b"no match: ", pattern]),
            ExpandCause::Arithmetic { expression, reason, token } => {
                put(&[expression, b": ", reason.as_bytes(), b" (error token is \"", token, b"\")"]);
            }
            ExpandCause::InRange { parameter, cause } => {
                put(&[parameter, b": "]);
                cause.write(out);
            }
            ExpandCause::ProcessSubstitution(reason) => {
                put(&[b"process substitution: ", reason.as_bytes()]);
            }
            ExpandCause::TooLarge => put(&[b"limit reached: expansion too large"]),
            ExpandCause::TooManyWords(count) => put(&[
                b"brace expansion: failed to allocate memory for ",
                count.to_string().as_bytes(),
                b" elements",
            ]),
            ExpandCause::TooDeep => put(&[b"maximum nesting level exceeded"]),
            _ => {}
        }
    }

    /// Returns the two parts of messages that consist of a name and a reason.
    fn name_and_reason(&self) -> Option<(&[u8], &'static str)> {
        Some(match self {
            ExpandCause::Readonly(name) => (name, "readonly variable"),
            ExpandCause::ReadonlyKept(name) => (name, "cannot unset: readonly variable"),
            ExpandCause::Unbound(name) => (name, "unbound variable"),
            ExpandCause::BadSubscript { name, subscript: None } => (name, "bad array subscript"),
            ExpandCause::SelfReference(name) => {
                (name, "nameref variable self references not allowed")
            }
            ExpandCause::ArrayAsReference(name) => (name, "reference variable cannot be an array"),
            ExpandCause::Conversion { name, from_assoc: true } => {
                (name, "cannot convert associative to indexed array")
            }
            ExpandCause::Conversion { name, from_assoc: false } => {
                (name, "cannot convert indexed to associative array")
            }
            ExpandCause::Destruction(name) => (name, "cannot destroy array variables in this way"),
            ExpandCause::ListToMember(place) => (place, "cannot assign list to array member"),
            ExpandCause::NotAnArray(name) => (name, "not an array variable"),
            ExpandCause::NotIndexed(name) => (name, "not an indexed array"),
            ExpandCause::InvalidName(name) => (name, "invalid variable name"),
            ExpandCause::InvalidIndirect(name) => (name, "invalid indirect expansion"),
            ExpandCause::BadSubstitution(text) | ExpandCause::UnknownTransform(text) => {
                (text, "bad substitution")
            }
            ExpandCause::Ambiguous(text) => (text, "ambiguous redirect"),
            ExpandCause::NegativeLength(text) => (text, "substring expression < 0"),
            _ => return None,
        })
    }
}
