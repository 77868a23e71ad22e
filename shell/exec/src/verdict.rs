//! What happens after a failed expansion or assignment: one table from the error and the shell's mode.
//!
//! The error says how far it reaches ([`ExpandError::reach`], by cause and place); here the shell's mode is added.
//! Rows are tried from the top. Each has a test in `verdict/tests.rs`; what bash 5.2 does in each is recorded in
//! `shell/cli/tests/cases/verdicts.sh`. Syntax errors have a table of their own, [`syntax`].

pub(crate) mod syntax;
#[cfg(test)]
mod tests;

use sh_expand::{Cause, ExpandError, Reach};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::PipeStatus;
use crate::state::options::SetOpt;
use crate::state::traps::Trap;

/// What the table asks of the shell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    pub posix: bool,
    /// `set -e`, whether or not it is ignored here.
    pub errexit: bool,
    /// `set -e` where it is not ignored.
    pub exits_here: bool,
    pub interactive: bool,
    /// `sh -c`
    pub command_string: bool,
    /// The action of an EXIT trap runs.
    pub exit_trap: bool,
    pub subshell: bool,
    /// `$?`
    pub status: i32,
}

impl Mode {
    /// The status that some errors leave: that of the command before, if it is a failure.
    fn failure(&self) -> i32 {
        if self.status == 0 { 1 } else { self.status }
    }

    /// The status of a shell that an expansion or an assignment ended: that of `-c` is 127.
    fn given_up(&self) -> i32 {
        if self.command_string && !self.subshell && !self.exit_trap { 127 } else { 1 }
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// What interrupted the expansion goes on.
    PassOn,
    /// The shell ends where it stands, as by `exit`.
    Leave(i32),
    /// The shell ends behind what is under way.
    GiveUp(i32),
    /// The shell ends at once.
    Exit(i32),
    /// The command that the script has there is dropped, out of `eval` and the like; PIPESTATUS as well unless there
    /// was a failure before.
    Abandon(i32, Before),
    /// The command at the prompt is dropped.
    Prompt,
    /// The command is dropped.
    Discard(i32),
}

/// What becomes of PIPESTATUS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Replaced,
    KeptIfFailed,
}

/// The table.
pub(crate) fn verdict(e: &ExpandError, mode: &Mode) -> Verdict {
    let refusal = is_refusal(&e.cause);
    // The text of `-c` is no more than one command to such errors.
    let string = mode.command_string && !mode.subshell;
    match e.reach() {
        Reach::Interrupted => Verdict::PassOn,
        Reach::Limit => Verdict::Exit(1),
        Reach::Abandon if refusal && mode.errexit => Verdict::Leave(mode.failure()),
        Reach::Abandon if string => Verdict::GiveUp(1),
        Reach::Abandon => Verdict::Abandon(1, Before::Replaced),
        Reach::Number if mode.command_string => Verdict::GiveUp(1),
        Reach::Number => Verdict::Abandon(mode.failure(), Before::KeptIfFailed),
        Reach::Unbound if !mode.command_string && !mode.interactive && !mode.exit_trap => {
            Verdict::Leave(1)
        }
        Reach::Exit | Reach::Unbound if mode.interactive => Verdict::Prompt,
        // The message itself ends the shell: `${x?$(exit 7)}` has status 7.
        Reach::Exit | Reach::Unbound if mode.errexit => match *e.cause {
            Cause::Unbound { .. } => Verdict::Leave(1),
            _ => Verdict::Leave(mode.failure()),
        },
        Reach::Exit | Reach::Unbound => Verdict::GiveUp(mode.given_up()),
        Reach::Command | Reach::Expansion | Reach::Default if mode.posix && mode.interactive => {
            Verdict::Prompt
        }
        reach if mode.errexit && !survives_errexit(&e.cause) => {
            let told = refusal || reach == Reach::Readonly;
            Verdict::Leave(if told { mode.failure() } else { 1 })
        }
        // POSIX 2.8.1: an expansion error ends a non-interactive shell.
        Reach::Command | Reach::Expansion | Reach::Default if mode.posix => {
            Verdict::GiveUp(mode.given_up())
        }
        Reach::Default if !string => Verdict::Discard(2),
        Reach::Command | Reach::Expansion | Reach::Default | Reach::Line | Reach::Readonly => {
            Verdict::Discard(1)
        }
    }
}

/// What bash tells as it does of a readonly variable: a shell with `set -e` ends with the status of the command before.
fn is_refusal(cause: &Cause) -> bool {
    match cause {
        Cause::BadSubscript { .. } => true,
        Cause::InvalidIndirect(_) | Cause::InvalidName(_) => true,
        Cause::Readonly(_) | Cause::ReadonlyKept(_) => true,
        Cause::InRange { cause, .. } => is_refusal(cause),
        _ => false,
    }
}

/// With `set -e` bash gives the script up, except for an arithmetic error and a reference that cannot be what is
/// assigned.
fn survives_errexit(cause: &Cause) -> bool {
    is_arithmetic(cause) || matches!(cause, Cause::NegativeLength(_) | Cause::NotAnIdentifier(_))
}

/// Whether an expression could not be evaluated.
pub(crate) fn is_arithmetic(cause: &Cause) -> bool {
    match cause {
        Cause::Arithmetic { .. } => true,
        Cause::InRange { cause, .. } => is_arithmetic(cause),
        _ => false,
    }
}

/// How a builtin tells that it could not assign, and goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assigning {
    /// As any expansion; the message names no builtin.
    Unwind,
    /// The message names no builtin; a shell with `set -e` ends.
    Refused,
    /// The command is dropped; the message names the builtin.
    Drop,
    /// The builtin fails; the message names it.
    Fail,
}

/// The same for the assignments that builtins make (`read`, `printf -v`, `getopts`).
pub(crate) fn assigning(e: &ExpandError) -> Assigning {
    match e.reach() {
        Reach::Abandon | Reach::Exit | Reach::Unbound | Reach::Expansion | Reach::Default => {
            Assigning::Unwind
        }
        Reach::Interrupted => Assigning::Unwind,
        Reach::Readonly => Assigning::Refused,
        Reach::Number => Assigning::Drop,
        Reach::Command if e.is_missing_element() => Assigning::Refused,
        Reach::Command | Reach::Line | Reach::Limit => Assigning::Fail,
    }
}

impl Shell<'_> {
    pub(crate) fn mode(&self) -> Mode {
        let options = &self.state.options;
        Mode {
            posix: options.has(SetOpt::Posix),
            errexit: options.has(SetOpt::ErrExit),
            exits_here: self.exits_on_errors(),
            interactive: options.is_interactive(),
            command_string: options.is_command_string(),
            exit_trap: self.state.here.running.has(Trap::Exit),
            subshell: self.state.ids.is_subshell(),
            status: self.state.status,
        }
    }

    /// Reports a failed expansion and says how execution goes on.
    pub fn expansion_failed(&mut self, e: ExpandError) -> Unwind {
        self.tell(b"", &e);
        self.unwind(&e)
    }

    /// Prints an error's message behind a prefix, unless it was printed.
    pub(crate) fn tell(&mut self, prefix: &[u8], e: &ExpandError) {
        let message = e.message();
        if !message.is_empty() {
            self.error(&[prefix, &message]);
        }
    }

    /// How execution goes on after an error that was reported.
    pub(crate) fn unwind(&mut self, e: &ExpandError) -> Unwind {
        match verdict(e, &self.mode()) {
            Verdict::PassOn => self.leaving.interrupted.take().unwrap_or(Unwind::Exit(1)),
            Verdict::Leave(status) => self.exit_here(status),
            Verdict::Exit(status) => Unwind::Exit(status),
            Verdict::GiveUp(status) => Unwind::GiveUp(status),
            Verdict::Prompt => Unwind::Discard(1),
            Verdict::Abandon(status, before) => {
                if before == Before::Replaced || self.state.status == 0 {
                    self.state.pipe_status = PipeStatus::One(1);
                }
                Unwind::Abandon(status)
            }
            Verdict::Discard(status) => {
                self.state.pipe_status = PipeStatus::One(status);
                Unwind::Discard(status)
            }
        }
    }

    /// Reports an expression that failed in a command that evaluates it (`((`, `let`, the parts of `for ((`): that
    /// fails the command, and not what is around it, unless an expansion in it failed. `prefix` names the command.
    pub(crate) fn expression_failed(&mut self, prefix: &[u8], e: ExpandError) -> Flow {
        match e.reach() {
            Reach::Command => {
                self.error(&[prefix, &e.message()]);
                Ok(1)
            }
            Reach::Readonly => {
                self.error(&[&e.message()]);
                self.refused()
            }
            _ => Err(self.expansion_failed(e)),
        }
    }

    /// Reports an assignment that the builtin `name` could not make.
    pub fn assignment_error(&mut self, name: &[u8], e: &ExpandError) {
        match assigning(e) {
            Assigning::Unwind | Assigning::Refused => self.tell(b"", e),
            Assigning::Drop | Assigning::Fail => self.tell(&[name, b": "].concat(), e),
        }
    }

    /// How a builtin ends after that.
    pub fn after_assignment_error(&mut self, e: &ExpandError) -> Flow {
        match assigning(e) {
            Assigning::Unwind | Assigning::Drop => Err(self.unwind(e)),
            Assigning::Refused => self.refused(),
            Assigning::Fail => Ok(1),
        }
    }

    /// The status of a shell that an expansion or an assignment ended: that of `-c` is 127.
    pub(crate) fn status_given_up(&self) -> i32 {
        self.mode().given_up()
    }

    /// The status that some errors leave: that of the command before, if it is a failure.
    pub(crate) fn status_after_failure(&self) -> i32 {
        self.mode().failure()
    }

    /// Back to the script, which goes on with a failure: the one before, if there was one.
    pub(crate) fn abandoned(&mut self) -> Unwind {
        self.note_failure();
        Unwind::Abandon(self.status_after_failure())
    }

    /// PIPESTATUS behind that: as it was, if there was a failure before.
    pub(crate) fn note_failure(&mut self) {
        if self.state.status == 0 {
            self.state.pipe_status = PipeStatus::One(1);
        }
    }

    /// After the message that a variable is readonly: a shell with `set -e` ends, whatever the
    /// command around it.
    pub(crate) fn refused(&self) -> Flow {
        match self.state.options.has(SetOpt::ErrExit) {
            true => Err(Unwind::Exit(self.status_after_failure())),
            false => Ok(1),
        }
    }
}
