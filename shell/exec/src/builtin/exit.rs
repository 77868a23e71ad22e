//! `exit` (POSIX XCU), and how builtins end the shell.

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::here::ExitTrap;
use crate::state::options::ShOpt;
use crate::state::traps;
use crate::state::traps::Trap;

/// Parses the status operand. If it is invalid, prints a message; the error says how the shell
/// continues.
pub(super) fn parse_status(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Result<i32, Unwind> {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    let Some(a) = args.first() else { return Ok(shell.state.status) };
    let Some(n) = parse_integer(a) else {
        shell.numeric_error(call.name(), a);
        return Ok(2);
    };
    if args.len() > 1 {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Err(shell.too_many_arguments());
    }
    Ok((n & 0xff) as i32)
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if shell.state.options.is_interactive() && !shell.state.ids.is_subshell() {
        shell.say_leaving();
        if !shell.may_leave() {
            return Ok(1);
        }
    }
    let s = match (shell.state.here.trap_status, call.args()) {
        // Without an operand, `exit` in the EXIT trap keeps the status from before the trap (POSIX
        // XCU exit).
        (Some(s), []) if shell.state.here.running.has(Trap::Exit) => s,
        _ => parse_status(shell, call)?,
    };
    Err(shell.exit_here(s))
}

impl Shell<'_> {
    /// Prints the line by which an interactive shell ends, for people who share a terminal with
    /// other shells.
    pub(crate) fn say_leaving(&mut self) {
        let is_login = self.state.options.has_shopt(ShOpt::LoginShell);
        self.write_err(if is_login { b"logout\n" } else { b"exit\n" });
    }

    /// Ends the shell from within commands: the EXIT trap sees the function's variables and the
    /// current redirections.
    pub(crate) fn exit_here(&mut self, status: i32) -> Unwind {
        let late = ExitTrap::Late { calls: self.state.calls.depth() };
        if self.state.here.running.has(Trap::Exit) || self.state.here.exit_trap == late {
            self.state.traps.set_exit_status(Some(status));
            return Unwind::Exit(status);
        }
        let status = self.run_exit_trap(status);
        self.sync_output();
        Unwind::Exit(status)
    }

    /// Ends the shell because of `set -e`. The EXIT trap runs within the function that failed, but
    /// sees its local variables only in a subshell.
    pub(crate) fn exit_on_error(&mut self, status: i32) -> Unwind {
        let plain =
            self.state.traps.get(traps::EXIT).is_none() || self.state.vars.scope_level() == 0;
        if plain || self.state.ids.is_subshell() {
            return self.exit_here(status);
        }
        let vars = self.state.vars.clone();
        while self.state.vars.scope_level() > 0 {
            self.pop_scope();
        }
        let unwind = self.exit_here(status);
        // The callers remove their scopes themselves.
        self.state.vars = vars;
        unwind
    }

    /// Ends the shell for a builtin. The shell ends with this status even within an EXIT trap,
    /// unlike after errors of expansions and assignments.
    pub(crate) fn ends_with(&mut self, status: i32) -> Unwind {
        self.state.traps.set_exit_status(Some(status));
        Unwind::Exit(status)
    }
}
