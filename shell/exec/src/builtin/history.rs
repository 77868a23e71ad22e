//! `history` and `fc`. A non-interactive shell keeps no history unless `set -o history` is on;
//! what `history -s` stores can be listed.

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::run::{Text, TextKind};
use crate::shell::Flow;

pub fn history(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "acd:npsrw") {
        Ok(p) => p,
        Err(r) => return r,
    };
    if p.has(b'c') {
        shell.history.clear();
    }
    if let Some(d) = p.value(b'd') {
        let at = integer(d).and_then(|n| usize::try_from(n - 1).ok());
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
    if p.has(b's') {
        let line = p.operands.iter().map(|a| a.as_slice()).collect::<Vec<_>>().join(&b' ');
        shell.history.push(line);
        return Ok(0);
    }
    if p.has(b'p') {
        for a in p.operands {
            shell.out(&[a.as_slice(), b"\n"].concat());
        }
        return Ok(0);
    }
    if p.options.is_empty() {
        let count = match p.operands.first() {
            None => shell.history.len(),
            Some(a) => match integer(a) {
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
        shell.out(&out);
    }
    Ok(0)
}

/// What a call of `fc` asks for.
#[derive(Default)]
struct Fc {
    list: bool,
    numbers: bool,
    reverse: bool,
    again: bool,
}

pub fn fc(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let mut fc = Fc { numbers: true, ..Fc::default() };
    let args = call.args();
    let mut i = 0;
    // A dash and a digit is a place in the history, not an option.
    while let Some(arg) =
        args.get(i).filter(|a| a.len() > 1 && a[0] == b'-' && !a[1].is_ascii_digit())
    {
        i += 1;
        if arg.as_slice() == b"--" {
            break;
        }
        for (at, letter) in arg.iter().enumerate().skip(1) {
            match letter {
                b'l' => fc.list = true,
                b'n' => fc.numbers = false,
                b'r' => fc.reverse = true,
                b's' => fc.again = true,
                b'e' => {
                    // The editor's name: `-` means what `-s` does.
                    let attached = arg.get(at + 1..).filter(|v| !v.is_empty());
                    let Some(name) = attached.or_else(|| args.get(i).map(|a| a.as_slice())) else {
                        let message = b": option requires an argument";
                        shell.builtin_error(call.name(), &[b"-e", message]);
                        return shell.usage(call.name());
                    };
                    fc.again |= name == b"-";
                    i += usize::from(attached.is_none());
                    break;
                }
                other => {
                    let option = [b'-', *other];
                    shell.builtin_error(call.name(), &[&option, b": invalid option"]);
                    return shell.usage(call.name());
                }
            }
        }
    }
    let operands = args.get(i..).unwrap_or_default();
    if fc.again {
        return again(shell, call, operands);
    }
    if shell.history.is_empty() {
        return Ok(0);
    }
    if !fc.list {
        shell
            .builtin_error(call.name(), &[b"there is no editor here; `fc -s' runs commands again"]);
        return Ok(1);
    }
    let last = shell.history.len() - 1;
    let first = match operands.first() {
        Some(o) => place(shell, o),
        None => Some(last.saturating_sub(15)),
    };
    let end = match operands.get(1) {
        Some(o) => place(shell, o),
        None => Some(last),
    };
    let (Some(first), Some(end)) = (first, end) else {
        shell.builtin_error(call.name(), &[b"no command found"]);
        return Ok(1);
    };
    let mut chosen: Vec<usize> = (first.min(end)..=first.max(end)).collect();
    if fc.reverse != (first > end) {
        chosen.reverse();
    }
    let mut out = Vec::new();
    for n in chosen {
        if fc.numbers {
            out.extend_from_slice((n + 1).to_string().as_bytes());
        }
        out.extend_from_slice(b"\t ");
        out.extend_from_slice(shell.history.get(n).map_or(b"", |l| l.as_slice()));
        out.push(b'\n');
    }
    shell.out(&out);
    Ok(0)
}

/// The entry that an operand means: its number, a number back from the end, or how it begins.
fn place(shell: &Shell<'_>, operand: &[u8]) -> Option<usize> {
    let count = shell.history.len();
    match integer(operand) {
        Some(n) if n > 0 => usize::try_from(n - 1).ok().map(|n| n.min(count.saturating_sub(1))),
        Some(n) => {
            let back = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX).max(1);
            Some(count.saturating_sub(back))
        }
        None => shell.history.iter().rposition(|l| l.starts_with(operand)),
    }
}

/// `fc -s [pat=rep]... [command]`
fn again(shell: &mut Shell<'_>, call: &Call<'_>, operands: &[sh_expand::Str]) -> Flow {
    let mut changes = Vec::new();
    let mut rest = operands;
    while let Some((first, more)) = rest.split_first()
        && let Some(at) = first.iter().position(|c| *c == b'=')
    {
        changes.push((first[..at].to_vec(), first[at + 1..].to_vec()));
        rest = more;
    }
    let found = match rest.first() {
        Some(o) => place(shell, o),
        None => shell.history.len().checked_sub(1),
    };
    let Some(mut line) = found.and_then(|n| shell.history.get(n)).cloned() else {
        shell.builtin_error(call.name(), &[b"no command found"]);
        return Ok(1);
    };
    for (from, to) in changes.iter().filter(|(from, _)| !from.is_empty()) {
        let mut changed = Vec::new();
        let mut at = 0;
        for hit in memchr::memmem::find_iter(&line, from) {
            changed.extend_from_slice(&line[at..hit]);
            changed.extend_from_slice(to);
            at = hit + from.len();
        }
        changed.extend_from_slice(&line[at..]);
        line = changed;
    }
    shell.err(&[line.as_slice(), b"\n"].concat());
    let at = shell.state.line;
    shell.run_text(Text { text: &line, line: at, kind: TextKind::Commands })
}
