//! `unalias` (POSIX XCU).

use std::rc::Rc;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.options(call, "a")?;
    if p.has(b'a') {
        shell.state.aliases = Rc::default();
        return Ok(0);
    }
    if p.operands.is_empty() {
        return Err(shell.usage(call.name()));
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
