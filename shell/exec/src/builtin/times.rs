//! `times` (POSIX XCU).

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

/// Prints the CPU times of the shell and of its children (POSIX XCU times).
pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    shell.parse_builtin_options(call, "")?;
    let t = box_sys::events::cpu_times();
    let show = |d: std::time::Duration| {
        format!("{}m{}.{:03}s", d.as_secs() / 60, d.as_secs() % 60, d.subsec_millis())
    };
    let text = format!(
        "{} {}\n{} {}\n",
        show(t.user),
        show(t.system),
        show(t.children_user),
        show(t.children_system)
    );
    shell.write_out(text.as_bytes());
    Ok(0)
}
