//! `return` (POSIX XCU).

use super::BuiltinCall;
use super::exit::parse_status;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::options::SetOpt;
use crate::state::traps::Trap;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let callable = shell.state.calls.can_return();
    let s = match (shell.state.here.trap_status, call.args()) {
        // Without an operand, `return` in a trap action returns the status from before the trap; in
        // the DEBUG action it returns the action's own.
        (Some(s), []) if !shell.state.here.running.has(Trap::Debug) => s,
        _ => parse_status(shell, call)?,
    };
    if !callable {
        shell.builtin_error(call.name(), &[b"can only `return' from a function or sourced script"]);
        let o = &shell.state.options;
        return if o.has_set(SetOpt::Posix) && !o.is_interactive() && !shell.state.here.condition {
            Err(shell.ends_with(2))
        } else {
            Ok(2)
        };
    }
    Err(Unwind::Return(s))
}
