//! `enable` (bash manual 4.2); loadable builtins do not exist here.

use super::{BuiltinCall, TABLE, find_builtin};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "adnpsf:")?;
    if p.has_letter(b'f') || p.has_letter(b'd') {
        shell.builtin_error(call.name(), &[b"dynamic loading not available"]);
        return Ok(1);
    }
    if p.operands.is_empty() || p.has_letter(b'p') {
        let mut out = Vec::new();
        for b in TABLE {
            let disabled = shell.state.commands.is_disabled(b.name);
            if p.has_letter(b's') && !b.special
                || !p.has_letter(b'a') && disabled != p.has_letter(b'n')
            {
                continue;
            }
            let word = if disabled { "enable -n" } else { "enable" };
            out.extend_from_slice(format!("{word} {}\n", b.name).as_bytes());
        }
        shell.write_out(&out);
        return Ok(0);
    }
    let mut status = 0;
    for name in p.operands {
        let Some(b) = find_builtin(name) else {
            shell.builtin_error(call.name(), &[name, b": not a shell builtin"]);
            status = 1;
            continue;
        };
        shell.state.commands.enable_builtin(b.name, !p.has_letter(b'n'));
    }
    Ok(status)
}
