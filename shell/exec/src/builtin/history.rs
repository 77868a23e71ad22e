//! `history` (bash manual 9.2). A non-interactive shell keeps no history unless `set -o history` is
//! on; entries stored by `history -s` can be listed.

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "acd:npsrw")?;
    if p.has_letter(b'c') {
        shell.history.clear();
    }
    if let Some(d) = p.last_value(b'd') {
        let at = parse_integer(d).and_then(|n| usize::try_from(n - 1).ok());
        match at.filter(|i| *i < shell.history.len()) {
            Some(i) => {
                shell.history.remove(i);
            }
            None => {
                let d = d.clone();
                shell.builtin_error(call.name(), &[&d, b": history position out of range"]);
                return Ok(1);
            }
        }
    }
    if p.has_letter(b's') {
        let line = p.operands.iter().map(|a| a.as_slice()).collect::<Vec<_>>().join(&b' ');
        shell.history.push(line);
        return Ok(0);
    }
    if p.has_letter(b'p') {
        for a in p.operands {
            shell.write_out(&[a.as_slice(), b"\n"].concat());
        }
        return Ok(0);
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
