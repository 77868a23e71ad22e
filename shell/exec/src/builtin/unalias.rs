//! `unalias` (POSIX XCU).

use std::rc::Rc;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "a")?;
    if p.has_letter(b'a') {
        shell.state.aliases = Rc::default();
        return Ok(0);
    }
    if p.operands.is_empty() {
        return Err(shell.print_usage(call.name()));
    }
    let mut status = 0;
    for a in p.operands {
        if Rc::make_mut(&mut shell.state.aliases).remove(a.as_slice()).is_none() {
            shell.builtin_error(call.name(), &[a, b": not found"]);
            status = 1;
        }
    }
    Ok(status)
}
