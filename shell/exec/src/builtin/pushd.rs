//! `pushd` (bash manual 6.8.1).

use box_sys::{error_text, path};
use sh_expand::Str;

use super::BuiltinCall;
use super::dirs::{index, out_of_range};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut args = call.args();
    let mut stay = false;
    while let Some(a) = args.first() {
        match a.as_slice() {
            b"-n" => stay = true,
            b"--" => {
                args = &args[1..];
                break;
            }
            _ => break,
        }
        args = &args[1..];
    }
    if args.len() > 1 {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Ok(1);
    }
    let done = match args.first() {
        None => exchange_top(shell, call, stay),
        Some(a) => {
            let len = shell.state.dirs.stack_below().len() + 1;
            match index(a, len) {
                Some(Ok(i)) => rotate_stack(shell, call, i, stay),
                Some(Err(())) => {
                    out_of_range(shell, call, a, len);
                    false
                }
                None if a.starts_with(b"-") && a.as_slice() != b"-" => {
                    shell.builtin_error(call.name(), &[a, b": invalid number"]);
                    return Err(shell.print_usage(call.name()));
                }
                None => push(shell, call, a, stay),
            }
        }
    };
    if !done {
        return Ok(1);
    }
    shell.show_dirs();
    Ok(0)
}

/// Performs `pushd` without operands: exchanges the top two directories. With `stay`, the working
/// directory does not change, nor does the top of the stack.
fn exchange_top(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, stay: bool) -> bool {
    let all = shell.state.dirs.whole_stack();
    let [top, second, ..] = all.as_slice() else {
        shell.builtin_error(call.name(), &[b"no other directory"]);
        return false;
    };
    if !stay && !go_to_dir(shell, call, second) {
        return false;
    }
    shell.state.dirs.below_mut()[0].clone_from(top);
    true
}

/// Performs `pushd +N`: rotates the stack until that entry is its top.
fn rotate_stack(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, index: usize, stay: bool) -> bool {
    let mut all = shell.state.dirs.whole_stack();
    all.rotate_left(index);
    if !stay && !go_to_dir(shell, call, &all[0]) {
        return false;
    }
    *shell.state.dirs.below_mut() = all.split_off(1);
    true
}

/// Performs `pushd dir`.
fn push(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, dir: &Str, stay: bool) -> bool {
    let mut below = shell.state.dirs.cwd_bytes().to_vec();
    if stay {
        below = path::to_bytes(&shell.absolute_path(dir)).to_vec();
    } else {
        let target = match dir.as_slice() {
            b"-" => shell.variable_text(b"OLDPWD").unwrap_or_default(),
            _ => dir.clone(),
        };
        if !go_to_dir(shell, call, &target) {
            return false;
        }
    }
    shell.state.dirs.below_mut().insert(0, below);
    true
}

/// Changes to a directory of the stack. Returns whether that worked and prints a message if not.
pub(super) fn go_to_dir(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, dir: &[u8]) -> bool {
    match shell.change_dir(dir, false) {
        Ok(()) => true,
        Err(e) => {
            let text = error_text(&e);
            shell.builtin_error(call.name(), &[dir, b": ", text.as_bytes()]);
            false
        }
    }
}
