//! `pwd` (POSIX XCU, bash manual 4.1): the logical path unless `-P`.

use box_sys::path;

use super::BuiltinCall;
use super::cd::resolve_links;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "LPW")?;
    let mut physical = shell.state.options.has_set(SetOpt::Physical);
    for o in &p.options {
        physical = o.letter == b'P';
    }
    let dir = if physical { resolve_links(shell, shell.cwd()) } else { shell.cwd().to_path_buf() };
    shell.write_out(&[path::to_bytes(&dir), b"\n"].concat());
    Ok(0)
}
