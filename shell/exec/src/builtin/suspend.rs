//! `suspend` (bash manual 7.2). It fails as if job control were off, because no process could
//! continue a stopped shell.

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "f")?;
    if !p.operands.is_empty() {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Err(shell.too_many_arguments());
    }
    shell.builtin_error(call.name(), &[b"cannot suspend: no job control"]);
    Ok(1)
}
