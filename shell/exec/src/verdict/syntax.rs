//! What happens after a text that does not parse: one table from the error, the text's place and the shell's mode.

use sh_syntax::error::{ErrorKind, SyntaxError};

use super::Mode;
use crate::shell::Unwind;

/// What bash tells actions of a syntax error by, before it becomes status 2.
pub(crate) const BAD_SYNTAX: i32 = 257;

/// Where the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The script's own commands, from a file or of `-c`.
    Script,
    /// Commands that come from standard input.
    Stdin,
    /// Of `eval`, `.`, a substitution or the EXIT trap.
    Text,
    /// Of another trap, and not within one of those.
    Action,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterSyntax {
    /// The line is dropped, and the next one read.
    GoOn(i32),
    /// The shell ends where it stands, as by `exit`.
    Leave(i32),
    /// The shell ends; whether the EXIT trap is shown that it was for a syntax error.
    Exit { status: i32, shown: bool },
    /// Commands around it are left.
    Unwind(Unwind),
    /// The text ends; what a RETURN trap sees as `$?`, and whether a POSIX shell ends with it.
    End { status: i32, seen: i32, ends: bool },
}

/// The table.
pub(crate) fn syntax_verdict(e: &SyntaxError, place: Place, mode: &Mode) -> AfterSyntax {
    use ErrorKind as Kind;
    let own = matches!(place, Place::Script | Place::Stdin);
    let main = mode.command_string && !mode.subshell;
    match (e.kind, place) {
        (Kind::Array, _) if mode.interactive && place == Place::Stdin => AfterSyntax::GoOn(1),
        (_, Place::Stdin) if mode.interactive => AfterSyntax::GoOn(2),
        (Kind::Array, Place::Stdin) if mode.exits_here => end(e, own, mode),
        (Kind::Array, _) if mode.exits_here => AfterSyntax::Unwind(Unwind::Exit(2)),
        (Kind::Array, _) if mode.posix => {
            AfterSyntax::Unwind(Unwind::Exit(if main { 127 } else { 1 }))
        }
        (Kind::Array, _) if mode.subshell => AfterSyntax::Unwind(Unwind::Discard(1)),
        (Kind::Array, _) => AfterSyntax::GoOn(1),
        (_, Place::Stdin) => end(e, own, mode),
        (_, Place::Text | Place::Action) if mode.exits_here => AfterSyntax::Leave(2),
        (Kind::Substitution | Kind::Nested, _) if main && !mode.exits_here => {
            AfterSyntax::Unwind(Unwind::Exit(127))
        }
        (Kind::Substitution, Place::Text | Place::Action) if mode.subshell => {
            AfterSyntax::Unwind(Unwind::Abandon(mode.failure()))
        }
        (Kind::Substitution, Place::Text | Place::Action) => {
            AfterSyntax::Exit { status: mode.failure(), shown: false }
        }
        (Kind::Nested, Place::Action) => AfterSyntax::Exit { status: 2, shown: false },
        (Kind::Nested, Place::Text) => AfterSyntax::Exit { status: 1, shown: true },
        _ => end(e, own, mode),
    }
}

/// The text ends. `own`: it is the script itself, which ends with the status of the command before in some cases.
fn end(e: &SyntaxError, own: bool, mode: &Mode) -> AfterSyntax {
    use ErrorKind as Kind;
    let unless_failed = if mode.status == 0 { 2 } else { mode.status };
    let status = match e.kind {
        _ if mode.errexit => 2,
        Kind::Substitution => mode.failure(),
        Kind::Conditional if own => mode.status,
        Kind::Unclosed if own => unless_failed,
        _ => 2,
    };
    let seen = match e.kind {
        Kind::Conditional => mode.status,
        Kind::Unclosed => unless_failed,
        _ => BAD_SYNTAX,
    };
    let goes_on = matches!(e.kind, Kind::Unclosed | Kind::Conditional) || e.is_in_arith_for();
    AfterSyntax::End { status, seen, ends: !goes_on }
}
