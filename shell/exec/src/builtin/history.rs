//! `history` (bash manual 9.2). A non-interactive shell keeps no history unless `set -o history` is
//! on; entries stored by `history -s` can be listed.

use box_sys::error_text;

use super::opts::parse_integer;
use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::history::expand::expand_line;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "acd:npsrw")?;
    if p.has_letter(b'c') {
        shell.history.clear();
    }
    if let Some(d) = p.last_value(b'd') {
        return delete_entries(shell, call, d);
    }
    if p.has_letter(b's') {
        let line = p.operands.iter().map(|a| a.as_slice()).collect::<Vec<_>>().join(&b' ');
        shell.history.push(line);
        return Ok(0);
    }
    if p.has_letter(b'p') {
        return show_expanded(shell, call, &p);
    }
    if [b'a', b'n', b'r', b'w'].iter().any(|letter| p.has_letter(*letter)) {
        return use_file(shell, call, &p);
    }
    if p.options.is_empty() {
        let count = match p.operands.first() {
            None => shell.history.len(),
            Some(a) => match parse_integer(a) {
                Some(n) => usize::try_from(n).unwrap_or(0),
                None => {
                    shell.numeric_error(call.name(), a);
                    return Ok(1);
                }
            },
        };
        let skip = shell.history.len().saturating_sub(count);
        let mut out = Vec::new();
        for (i, line) in shell.history.iter().enumerate().skip(skip) {
            out.extend_from_slice(format!("{:5}  ", i + 1).as_bytes());
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        shell.write_out(&out);
    }
    Ok(0)
}

/// Performs `-d OFFSET`, where a negative offset counts from the end, and `-d FIRST-LAST`.
fn delete_entries(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, text: &[u8]) -> Flow {
    let count = shell.history.len() as i64;
    let place = |text: &[u8]| {
        let n = parse_integer(text)?;
        let at = if n < 0 { count + n } else { n - 1 };
        usize::try_from(at).ok().filter(|at| (*at as i64) < count)
    };
    let range = match text.iter().skip(1).position(|c| *c == b'-') {
        Some(at) => place(&text[..=at]).zip(place(&text[at + 2..])),
        None => place(text).map(|at| (at, at)),
    };
    match range.filter(|(from, to)| from <= to) {
        Some((from, to)) => {
            (from..=to).for_each(|_| shell.history.remove(from));
            Ok(0)
        }
        None => {
            shell.builtin_error(call.name(), &[text, b": history position out of range"]);
            Ok(1)
        }
    }
}

/// Performs `-p`: shows the result of history expansion on the operands.
fn show_expanded(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, p: &BuiltinArguments<'_>) -> Flow {
    for a in p.operands {
        match expand_line(a, &shell.history) {
            Ok(found) => shell.write_out(&[&found.text[..], b"\n"].concat()),
            Err(_) => {
                shell.builtin_error(call.name(), &[a, b": history expansion failed"]);
                return Ok(1);
            }
        }
    }
    Ok(0)
}

/// Performs `-a`, `-n`, `-r` and `-w` with the file of the operand, or of HISTFILE.
fn use_file(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, p: &BuiltinArguments<'_>) -> Flow {
    let name = match p.operands.first() {
        Some(name) => Some(name.clone()),
        None => shell.variable_text(b"HISTFILE").filter(|name| !name.is_empty()),
    };
    let Some(name) = name else { return Ok(1) };
    let file = shell.absolute_path(&name);
    if p.has_letter(b'r') || p.has_letter(b'n') {
        return Ok(i32::from(!shell.append_history_file(&file)));
    }
    match shell.write_history_file(&file, p.has_letter(b'w')) {
        Ok(()) => Ok(0),
        Err(e) => {
            shell.builtin_error(call.name(), &[&name, b": ", error_text(&e).as_bytes()]);
            Ok(1)
        }
    }
}
