//! `bind` (bash manual 4.2).

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

/// Accepts every call, because there is no line editing but scripts written for interactive shells
/// call `bind` anyway.
pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if !shell.state.options.is_interactive() {
        shell.builtin_error(call.name(), &[b"warning: line editing not enabled"]);
    }
    shell.parse_builtin_options(call, "lvpsVPSXf:q:m:u:r:x:")?;
    Ok(0)
}
