//! `caller` (bash manual 4.2).

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let frames = shell.state.calls.clone();
    let frames = frames.frames();
    let depth = frames.len();
    if depth == 0 {
        return Ok(1);
    }
    let p = shell.parse_builtin_options(call, "")?;
    let n = match p.operands.first() {
        None => None,
        Some(a) => match parse_integer(a) {
            Some(n) if n >= 0 => Some(n as usize),
            _ => {
                shell.builtin_error(call.name(), &[a, b": invalid number"]);
                return Err(shell.print_usage(call.name()));
            }
        },
    };
    if !frames.iter().any(|f| f.is_function || f.name.as_slice() == b"source") {
        if !frames.is_empty() && p.operands.is_empty() {
            shell.write_out(b"0 NULL\n");
            return Ok(0);
        }
        return Ok(1);
    }
    let level = n.unwrap_or(0);
    let Some(at) = depth.checked_sub(1 + level) else { return Ok(1) };
    let Some(frame) = frames.get(at) else { return Ok(1) };
    let line = frame.call_line.to_string();
    let caller = at.checked_sub(1).and_then(|i| frames.get(i));
    match (n, caller) {
        (None, Some(c)) => {
            let text = [line.as_bytes(), b" ", &c.source, b"\n"].concat();
            shell.write_out(&text);
        }
        (None, None) => shell.write_out(&[line.as_bytes(), b" NULL\n"].concat()),
        (Some(_), Some(c)) => {
            let text = [line.as_bytes(), b" ", &c.name, b" ", &c.source, b"\n"].concat();
            shell.write_out(&text);
        }
        (Some(_), None) => return Ok(1),
    }
    Ok(0)
}
