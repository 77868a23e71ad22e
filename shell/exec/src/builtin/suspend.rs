//! `suspend` (bash manual 7.2). A shell that leads its session fails as a login shell does in bash,
//! even with `-f`, because no process could continue it.

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "f")?;
    if !p.operands.is_empty() {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Err(shell.too_many_arguments());
    }
    if !shell.controls_jobs() {
        shell.builtin_error(call.name(), &[b"cannot suspend: no job control"]);
        return Ok(1);
    }
    if shell.leads_session() {
        shell.builtin_error(call.name(), &[b"cannot suspend a login shell"]);
        return Ok(1);
    }
    shell.sync_output();
    shell.suspend_shell();
    Ok(0)
}
