//! `exit`, `logout`, `return` (POSIX XCU).

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::options::{SetOpt, ShOpt};

/// The status operand; the error is the flow after a message.
fn status(shell: &mut Shell<'_>, call: &Call<'_>) -> Result<i32, Unwind> {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    let Some(a) = args.first() else { return Ok(shell.state.status) };
    let Some(n) = integer(a) else {
        shell.numeric_error(call.name(), a);
        return Ok(2);
    };
    if args.len() > 1 {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Err(shell.too_many_arguments());
    }
    Ok((n & 0xff) as i32)
}

pub fn exit(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let s = match (shell.state.trap_status, call.args()) {
        // Likewise for `exit` in the EXIT trap (POSIX XCU exit).
        (Some(s), []) if shell.state.in_exit_trap => s,
        _ => status(shell, call)?,
    };
    let late = shell.state.late_exit_trap == Some(shell.state.frames.len());
    if shell.state.in_exit_trap || late {
        return Err(Unwind::Exit(s));
    }
    // The action sees the function's variables and the redirections in force here.
    let s = shell.run_exit_trap(s);
    shell.sync_output();
    Err(Unwind::Exit(s))
}

pub fn logout(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if !shell.state.options.shopt(ShOpt::LoginShell) {
        shell.builtin_error(call.name(), &[b"not login shell: use `exit'"]);
        return Ok(1);
    }
    exit(shell, call)
}

pub fn return_(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let callable =
        shell.state.frames.iter().any(|f| f.is_function || f.name.as_slice() == b"source");
    let s = match (shell.state.trap_status, call.args()) {
        // Without operand, `return` in a trap action means the status before the trap.
        (Some(s), []) => s,
        _ => status(shell, call)?,
    };
    if !callable {
        shell.builtin_error(call.name(), &[b"can only `return' from a function or sourced script"]);
        let o = &shell.state.options;
        return match o.has(SetOpt::Posix) && !o.interactive && shell.state.errexit_ignored == 0 {
            true => Err(Unwind::Exit(2)),
            false => Ok(2),
        };
    }
    Err(Unwind::Return(s))
}
