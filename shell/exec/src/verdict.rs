//! The consequences of a failed expansion or assignment: one table from the error and the shell's
//! mode.
//!
//! The error defines how far it reaches ([`ExpandError::reach`], by cause and place); this file
//! adds the shell's mode. Rows are tried from the top. Each row has a test in `verdict/tests.rs`,
//! and the behaviour of bash 5.2 for it is recorded in `shell/cli/tests/cases/verdicts.sh`. Syntax
//! errors have a table of their own, [`syntax`].

pub(crate) mod syntax;
#[cfg(test)]
mod tests;

use sh_expand::{ErrorReach, ExpandError};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::PipeStatus;
use crate::state::options::SetOpt;
use crate::state::traps::Trap;

/// The shell's properties that the table depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub posix: bool,
    /// Whether `set -e` is on and not ignored.
    pub exits_here: bool,
    pub interactive: bool,
    /// Whether this is `sh -c`, and not a subshell or its EXIT trap.
    pub command_string: bool,
}

impl Mode {
    /// Returns the status of a shell that an expansion or an assignment ended: 127 for `sh -c`.
    fn given_up(&self) -> i32 {
        if self.command_string { 127 } else { 1 }
    }
}

/// The consequence of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The unwinding that interrupted the expansion continues.
    PassOn,
    /// The shell ends at this point, as by `exit`.
    Leave(i32),
    /// The shell ends after the current command.
    GiveUp(i32),
    /// The shell ends at once.
    Exit(i32),
    /// The command is dropped.
    Discard(i32),
}

/// Returns the verdict of the table.
pub(crate) fn verdict(reach: ErrorReach, mode: &Mode) -> Verdict {
    match reach {
        ErrorReach::Interrupted => Verdict::PassOn,
        ErrorReach::Limit => Verdict::Exit(1),
        _ if mode.interactive => Verdict::Discard(1),
        _ if mode.exits_here => Verdict::Leave(1),
        ErrorReach::Exit => Verdict::GiveUp(mode.given_up()),
        // POSIX 2.8.1: an expansion error ends a non-interactive shell.
        ErrorReach::Command if mode.posix => Verdict::GiveUp(mode.given_up()),
        ErrorReach::Command | ErrorReach::Readonly => Verdict::Discard(1),
    }
}

/// The way in which a builtin reports a failed assignment and continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assigning {
    /// The shell unwinds as after any failed expansion; the message names no builtin.
    Unwind,
    /// The message names no builtin; a shell with `set -e` ends.
    Refused,
    /// The builtin fails; the message names it.
    Fail,
}

/// Returns the verdict for the assignments that builtins make (`read`, `printf -v`, `getopts`).
pub(crate) fn assigning(e: &ExpandError) -> Assigning {
    match e.reach() {
        ErrorReach::Exit | ErrorReach::Interrupted => Assigning::Unwind,
        ErrorReach::Readonly => Assigning::Refused,
        ErrorReach::Command if e.is_missing_element() => Assigning::Refused,
        ErrorReach::Command | ErrorReach::Limit => Assigning::Fail,
    }
}

impl Shell<'_> {
    pub(crate) fn mode(&self) -> Mode {
        let options = &self.state.options;
        let itself = !self.state.ids.is_subshell() && !self.state.here.running.has(Trap::Exit);
        Mode {
            posix: options.has_set(SetOpt::Posix),
            exits_here: self.exits_on_errors(),
            interactive: options.is_interactive(),
            command_string: options.is_command_string() && itself,
        }
    }

    /// Reports a failed expansion and returns the way in which execution unwinds.
    pub fn expansion_failed(&mut self, e: ExpandError) -> Unwind {
        self.report(b"", &e);
        self.unwind(&e)
    }

    /// Prints an error's message after a prefix, unless it was printed.
    pub(crate) fn report(&mut self, prefix: &[u8], e: &ExpandError) {
        let message = e.message();
        if !message.is_empty() {
            self.print_error(&[prefix, &message]);
        }
    }

    /// Returns the way in which execution unwinds after an error that was reported.
    pub(crate) fn unwind(&mut self, e: &ExpandError) -> Unwind {
        match verdict(e.reach(), &self.mode()) {
            Verdict::PassOn => self.leaving.interrupted.take().unwrap_or(Unwind::Exit(1)),
            Verdict::Leave(status) => self.exit_here(status),
            Verdict::Exit(status) => Unwind::Exit(status),
            Verdict::GiveUp(status) => Unwind::GiveUp(status),
            Verdict::Discard(status) => {
                self.state.pipe_status = PipeStatus::One(status);
                Unwind::Discard(status)
            }
        }
    }

    /// Reports an expression that failed in a command that evaluates it (`((`, `let`, the parts of
    /// `for ((`). That fails the command but not the code around it, unless an expansion in the
    /// expression failed. `prefix` names the command.
    pub(crate) fn expression_failed(&mut self, prefix: &[u8], e: ExpandError) -> Flow {
        match e.reach() {
            ErrorReach::Command => {
                self.print_error(&[prefix, &e.message()]);
                Ok(1)
            }
            ErrorReach::Readonly => {
                self.print_error(&[&e.message()]);
                self.refused()
            }
            _ => Err(self.expansion_failed(e)),
        }
    }

    /// Reports an assignment that the builtin `name` could not make and returns how execution
    /// continues.
    pub fn assignment_refused(&mut self, name: &[u8], e: &ExpandError) -> Flow {
        match assigning(e) {
            Assigning::Unwind => {
                self.report(b"", e);
                Err(self.unwind(e))
            }
            Assigning::Refused => {
                self.report(b"", e);
                self.refused()
            }
            Assigning::Fail => {
                self.report(&[name, b": "].concat(), e);
                Ok(1)
            }
        }
    }

    /// Returns the status of a shell that an expansion or an assignment ended: 127 for `sh -c`.
    pub(crate) fn status_given_up(&self) -> i32 {
        self.mode().given_up()
    }

    /// Returns the way in which execution unwinds after the message about a readonly variable: a
    /// shell with `set -e` ends, regardless of the command around it.
    pub(crate) fn refused(&self) -> Flow {
        if self.state.options.has_set(SetOpt::ErrExit) { Err(Unwind::Exit(1)) } else { Ok(1) }
    }
}
