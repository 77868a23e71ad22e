//! Why an expansion failed. Texts are bash's own, without the `bash: line N: ` prefix.

use thiserror::Error;

/// A failed expansion. The shell prints it and decides how far to unwind.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}", String::from_utf8_lossy(.message))]
pub struct ExpandError {
    pub kind: ErrorKind,
    /// The message, e.g. `x: unbound variable`. Empty: it was printed already, or there is none.
    pub message: Vec<u8>,
}

impl ExpandError {
    /// An error of the given kind; the message's parts are joined.
    pub fn new(kind: ErrorKind, parts: &[&[u8]]) -> ExpandError {
        ExpandError { kind, message: parts.concat() }
    }

    /// An error that abandons the command ([`ErrorKind::Command`]).
    pub fn command(parts: &[&[u8]]) -> ExpandError {
        ExpandError::new(ErrorKind::Command, parts)
    }

    /// Whether arithmetic failed: bash then abandons the command even where a builtin or a
    /// compound command would have gone on.
    pub fn is_arithmetic(&self) -> bool {
        const MARK: &[u8] = b"(error token is";
        matches!(
            self.kind,
            ErrorKind::Command | ErrorKind::Line | ErrorKind::Abandon | ErrorKind::Number
        ) && self.message.windows(MARK.len()).any(|w| w == MARK)
    }

    /// The error of a value for an integer variable.
    #[must_use]
    pub fn in_value(mut self) -> ExpandError {
        if self.kind == ErrorKind::Command {
            self.kind = ErrorKind::Number;
        }
        self
    }

    /// Whether an element cannot exist; bash tells that without naming the builtin.
    pub fn is_bad_subscript(&self) -> bool {
        self.kind == ErrorKind::Command && self.message.ends_with(b"]: bad array subscript")
    }

    /// Whether an assignment went to what is no name.
    pub(crate) fn is_no_identifier(&self) -> bool {
        self.kind == ErrorKind::Command && self.message.ends_with(b"': not a valid identifier")
    }

    /// The error of an expansion within an expression: a failed `((` goes on with the next
    /// command, one that fails there does not.
    pub(crate) fn in_expansion(mut self) -> ExpandError {
        if self.kind == ErrorKind::Command {
            self.kind = ErrorKind::Expansion;
        }
        self
    }

    /// Whether bash tells that something cannot be as it does of a readonly variable: a shell with
    /// `set -e` ends with the status of the command before.
    pub fn is_refusal(&self) -> bool {
        let texts: [&[u8]; 4] = [
            b": bad array subscript",
            b": invalid indirect expansion",
            b": invalid variable name",
            b": readonly variable",
        ];
        texts.iter().any(|text| self.message.ends_with(text))
    }

    /// The error of a subscript: a failed `((` goes on, one that fails in a subscript does not.
    #[must_use]
    pub fn in_subscript(mut self) -> ExpandError {
        if matches!(self.kind, ErrorKind::Command | ErrorKind::Readonly) {
            self.kind = ErrorKind::Abandon;
        }
        self
    }

    /// The error of an arithmetic expansion: in POSIX mode a readonly variable ends the shell as
    /// others of expansions do.
    pub(crate) fn in_arithmetic(mut self) -> ExpandError {
        if self.kind == ErrorKind::Readonly {
            self.kind = ErrorKind::Expansion;
        }
        self
    }

    /// The error of what `${x=word}` was to assign.
    pub(crate) fn of_default(mut self) -> ExpandError {
        if self.kind == ErrorKind::Readonly || self.is_bad_subscript() {
            self.kind = ErrorKind::Default;
        }
        self
    }

    /// An error that abandons the command, in POSIX mode, too ([`ErrorKind::Line`]).
    pub fn line(parts: &[&[u8]]) -> ExpandError {
        ExpandError::new(ErrorKind::Line, parts)
    }

    /// A name in an expression is not set, with `set -u`.
    pub(crate) fn unbound(name: &[u8]) -> ExpandError {
        ExpandError::new(ErrorKind::Unbound, &[name, b": unbound variable"])
    }

    /// An error that ends a non-interactive shell ([`ErrorKind::Exit`]).
    pub fn exit(parts: &[&[u8]]) -> ExpandError {
        ExpandError::new(ErrorKind::Exit, parts)
    }
}

/// How far an error unwinds (bash: `DISCARD`, `FORCE_EOF`, exit of a non-interactive shell).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command fails with status 1; the script goes on with the next line (bad substitution
    /// in bash abandons the current top-level command, arithmetic errors too).
    Command,
    /// As [`ErrorKind::Command`], of an expansion within an expression.
    Expansion,
    /// As [`ErrorKind::Expansion`], of what `${x=word}` cannot assign: a script or subshell goes on
    /// with status 2.
    Default,
    /// Ends a non-interactive shell (`set -u`, `${x?}`), status 127 or 1 as bash gives.
    Exit,
    /// As [`ErrorKind::Exit`], of a name in an expression: a script ends where it stands, within
    /// the redirections in force there.
    Unbound,
    /// As [`ErrorKind::Command`], but in POSIX mode, too, where that ends the shell.
    Line,
    /// As [`ErrorKind::Command`], where `((`, `let` and `[[` would have gone on with status 1.
    Abandon,
    /// What an integer variable was to take is no number: as [`ErrorKind::Abandon`].
    Number,
    /// Assignment to a readonly variable.
    Readonly,
    /// A budget or size limit was hit: ends the script with a clear message.
    Limit,
    /// A command substitution ended the shell, or the shell was interrupted: pass on unchanged.
    Interrupted,
}
