//! `dirs` (bash manual 6.8.1), and the parts that it shares with `pushd` and `popd`.

use super::BuiltinCall;
use crate::Shell;
use crate::prompt::tilde_path;
use crate::shell::Flow;

impl Shell<'_> {
    /// Prints the whole stack on one line, as `pushd` and `popd` do.
    pub(super) fn show_dirs(&mut self) {
        let home = self.variable_text(b"HOME");
        let all = self.state.dirs.whole_stack();
        let shown: Vec<Vec<u8>> =
            all.iter().map(|d| tilde_path(d, home.as_ref().map(|h| h.as_slice()))).collect();
        let mut line = shown.join(&b' ');
        line.push(b'\n');
        self.write_out(&line);
    }
}

/// Reports a position outside of the stack, which has `len` entries, or that the stack is empty.
pub(super) fn out_of_range(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    place: &[u8],
    len: usize,
) {
    if len < 2 {
        shell.builtin_error(call.name(), &[b"directory stack empty"]);
    } else {
        shell.builtin_error(call.name(), &[place, b": directory stack index out of range"]);
    }
}

/// Parses `+N` and `-N` as an index from the top.
pub(super) fn index(arg: &[u8], len: usize) -> Option<Result<usize, ()>> {
    let (sign, digits) = arg.split_first()?;
    if !matches!(sign, b'+' | b'-') || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n: usize = std::str::from_utf8(digits).ok()?.parse().unwrap_or(usize::MAX);
    let at =
        if *sign == b'+' { Some(n) } else { len.checked_sub(1).and_then(|l| l.checked_sub(n)) };
    Some(at.filter(|i| *i < len).ok_or(()))
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let (mut clear, mut long, mut lines, mut numbered) = (false, false, false, false);
    let mut which = None;
    let all = shell.state.dirs.whole_stack();
    for a in call.args() {
        match index(a, all.len()) {
            Some(Ok(i)) => which = Some(i),
            Some(Err(())) => {
                out_of_range(shell, call, &a[1..], all.len());
                return Ok(1);
            }
            None if a.as_slice() == b"-" || a.starts_with(b"+") => {
                shell.builtin_error(call.name(), &[a, b": invalid number"]);
                return Err(shell.print_usage(call.name()));
            }
            None if a.starts_with(b"-") => {
                for c in &a[1..] {
                    match c {
                        b'c' => clear = true,
                        b'l' => long = true,
                        b'p' => lines = true,
                        b'v' => numbered = true,
                        b'-' => {}
                        _ => {
                            let _ = c;
                            shell.builtin_error(call.name(), &[a, b": invalid number"]);
                            return Err(shell.print_usage(call.name()));
                        }
                    }
                }
            }
            None => {
                shell.builtin_error(call.name(), &[a, b": invalid option"]);
                return Err(shell.print_usage(call.name()));
            }
        }
    }
    if clear {
        shell.state.dirs.below_mut().clear();
        return Ok(0);
    }
    let home = shell.variable_text(b"HOME");
    let show = |d: &[u8]| {
        if long { d.to_vec() } else { tilde_path(d, home.as_ref().map(|h| h.as_slice())) }
    };
    let mut out = Vec::new();
    for (i, d) in all.iter().enumerate() {
        if which.is_some_and(|w| w != i) {
            continue;
        }
        if numbered {
            out.extend_from_slice(format!("{i:2}  ").as_bytes());
        }
        out.extend_from_slice(&show(d));
        let last = i + 1 == all.len() || which.is_some();
        out.push(if numbered || lines || last { b'\n' } else { b' ' });
    }
    shell.write_out(&out);
    Ok(0)
}
