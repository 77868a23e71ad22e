//! `local` (bash manual 4.2).

use super::BuiltinCall;
use super::declare::{DeclareScope, declare_operands};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if shell.state.vars.function_level().is_none() {
        shell.builtin_error(call.name(), &[b"can only be used in a function"]);
        return Ok(1);
    }
    declare_operands(shell, call, DeclareScope::Local)
}
