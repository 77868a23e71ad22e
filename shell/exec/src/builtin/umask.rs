//! `umask` (POSIX XCU): octal and symbolic modes.

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

fn symbolic_mask(mask: u16) -> String {
    let allowed = !mask & 0o777;
    let part = |shift: u16| {
        let bits = allowed >> shift & 7;
        let mut s = String::new();
        for (bit, c) in [(4, 'r'), (2, 'w'), (1, 'x')] {
            if bits & bit != 0 {
                s.push(c);
            }
        }
        s
    };
    format!("u={},g={},o={}", part(6), part(3), part(0))
}

/// Applies a symbolic mode to a mask; `None` if the mode is invalid.
fn apply_mode(mask: u16, text: &[u8]) -> Option<u16> {
    let mut allowed = !mask & 0o777;
    for clause in text.split(|c| *c == b',') {
        let mut at = 0;
        let mut who = 0u16;
        while let Some(c) = clause.get(at) {
            who |= match c {
                b'u' => 0o700,
                b'g' => 0o070,
                b'o' => 0o007,
                b'a' => 0o777,
                _ => break,
            };
            at += 1;
        }
        if who == 0 {
            who = 0o777;
        }
        clause.get(at)?;
        while let Some(op) = clause.get(at).filter(|c| matches!(c, b'+' | b'-' | b'=')) {
            at += 1;
            let mut bits = 0u16;
            while let Some(c) = clause.get(at) {
                bits |= match c {
                    b'r' => 0o444,
                    b'w' => 0o222,
                    b'x' | b'X' => 0o111,
                    b's' | b't' => 0,
                    b'u' => (allowed >> 6 & 7) * 0o111,
                    b'g' => (allowed >> 3 & 7) * 0o111,
                    b'o' => (allowed & 7) * 0o111,
                    _ => break,
                };
                at += 1;
            }
            match op {
                b'+' => allowed |= bits & who,
                b'-' => allowed &= !(bits & who),
                _ => allowed = allowed & !who | bits & who,
            }
        }
        if at != clause.len() {
            return None;
        }
    }
    Some(!allowed & 0o777)
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "pS")?;
    let Some(mode) = p.operands.first() else {
        let mask = shell.state.umask;
        let text = if p.has_letter(b'S') { symbolic_mask(mask) } else { format!("{mask:04o}") };
        let prefix = match (p.has_letter(b'p'), p.has_letter(b'S')) {
            (true, true) => "umask -S ",
            (true, false) => "umask ",
            _ => "",
        };
        shell.write_out(format!("{prefix}{text}\n").as_bytes());
        return Ok(0);
    };
    if mode.first().is_some_and(u8::is_ascii_digit) {
        let n = std::str::from_utf8(mode).ok().and_then(|m| u16::from_str_radix(m, 8).ok());
        match n.filter(|n| *n <= 0o7777) {
            Some(n) => shell.state.umask = n & 0o777,
            None => {
                shell.builtin_error(call.name(), &[mode, b": octal number out of range"]);
                return Ok(1);
            }
        }
    } else {
        match apply_mode(shell.state.umask, mode) {
            Some(m) => shell.state.umask = m,
            None => {
                let c =
                    mode.iter().find(|c| !b"ugoarwxXst+-=,".contains(c)).copied().unwrap_or(b' ');
                shell.builtin_error(
                    call.name(),
                    &[b"`", &[c], b"': invalid symbolic mode operator"],
                );
                return Ok(1);
            }
        }
        if p.has_letter(b'S') {
            let text = symbolic_mask(shell.state.umask);
            shell.write_out(format!("{text}\n").as_bytes());
        }
    }
    Ok(0)
}
