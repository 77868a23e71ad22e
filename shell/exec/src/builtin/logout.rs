//! `logout` (bash manual 4.2).

use super::{BuiltinCall, exit};
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::ShOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if !shell.state.options.has_shopt(ShOpt::LoginShell) {
        shell.builtin_error(call.name(), &[b"not login shell: use `exit'"]);
        return Ok(1);
    }
    exit::run(shell, call)
}
