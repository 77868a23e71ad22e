//! `popd` (bash manual 6.8.1).

use super::BuiltinCall;
use super::dirs::index;
use super::pushd::go_to_dir;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut stay = false;
    let mut which = None;
    let all = shell.state.dirs.whole_stack();
    for a in call.args() {
        match index(a, all.len()) {
            _ if a.as_slice() == b"-n" => stay = true,
            _ if a.as_slice() == b"--" => {}
            Some(Ok(i)) => which = Some(i),
            Some(Err(())) if all.len() > 1 => {
                shell.builtin_error(call.name(), &[a, b": directory stack index out of range"]);
                return Ok(1);
            }
            Some(Err(())) => {}
            None => {
                let what: &[u8] =
                    if a.starts_with(b"-") { b": invalid number" } else { b": invalid argument" };
                shell.builtin_error(call.name(), &[a, what]);
                return Err(shell.print_usage(call.name()));
            }
        }
    }
    if all.len() < 2 {
        shell.builtin_error(call.name(), &[b"directory stack empty"]);
        return Ok(1);
    }
    match which.unwrap_or(0) {
        0 => {
            if !stay && !go_to_dir(shell, call, &all[1]) {
                return Ok(1);
            }
            shell.state.dirs.below_mut().remove(0);
        }
        i => {
            shell.state.dirs.below_mut().remove(i - 1);
        }
    }
    shell.show_dirs();
    Ok(0)
}
