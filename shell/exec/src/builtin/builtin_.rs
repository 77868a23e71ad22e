//! `builtin` (bash manual 4.2).

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "")?;
    let Some(name) = p.operands.first() else { return Ok(0) };
    match shell.enabled_builtin(name) {
        Some(b) => {
            let inner = BuiltinCall { argv: p.operands, operands: &[] };
            (b.run)(shell, &inner)
        }
        None => {
            shell.builtin_error(call.name(), &[name, b": not a shell builtin"]);
            Ok(1)
        }
    }
}
