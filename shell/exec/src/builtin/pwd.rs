//! `pwd` (POSIX XCU, bash manual 4.1): the logical path unless `-P`.

use box_sys::path;

use super::BuiltinCall;
use super::cd::real;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.options(call, "LPW")?;
    let mut physical = shell.state.options.has(SetOpt::Physical);
    for o in &p.options {
        physical = o.letter == b'P';
    }
    let dir = if physical { real(shell, shell.cwd()) } else { shell.cwd().to_path_buf() };
    shell.out(&[path::to_bytes(&dir), b"\n"].concat());
    Ok(0)
}
