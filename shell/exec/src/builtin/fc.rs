//! `fc` (POSIX XCU): lists the history, and runs its commands again. There is no editor to call.

use sh_expand::Str;

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::run::{SourceText, TextKind};
use crate::shell::{Flow, Unwind};

/// The request of a call.
struct FcRequest<'c> {
    /// `-l`: lists commands.
    lists: bool,
    /// Whether numbers are shown; `-n` turns them off.
    numbers: bool,
    /// `-r`: reverses the order.
    reverses: bool,
    /// `-s`: runs a command again.
    runs: bool,
    operands: &'c [Str],
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let request = parse_request(shell, call)?;
    if request.runs {
        return run_again(shell, call, request.operands);
    }
    if shell.history.is_empty() {
        return Ok(0);
    }
    if !request.lists {
        shell
            .builtin_error(call.name(), &[b"there is no editor here; `fc -s' runs commands again"]);
        return Ok(1);
    }
    list_history(shell, call, &request)
}

/// Parses the options. A dash with a digit after it is a place in the history, not an option.
fn parse_request<'c>(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'c>,
) -> Result<FcRequest<'c>, Unwind> {
    let mut args = call.args();
    let mut request =
        FcRequest { lists: false, numbers: true, reverses: false, runs: false, operands: args };
    while let [arg, rest @ ..] = args
        && let [b'-', letter, ..] = arg.as_slice()
        && !letter.is_ascii_digit()
    {
        args = rest;
        if arg.as_slice() == b"--" {
            break;
        }
        for (at, letter) in arg.iter().enumerate().skip(1) {
            match letter {
                b'l' => request.lists = true,
                b'n' => request.numbers = false,
                b'r' => request.reverses = true,
                b's' => request.runs = true,
                b'e' => {
                    // The name of the editor; `-e -` means the same as `-s`.
                    let attached = arg.get(at + 1..).filter(|v| !v.is_empty());
                    let Some(name) = attached.or_else(|| args.first().map(|a| a.as_slice())) else {
                        let message = b": option requires an argument";
                        shell.builtin_error(call.name(), &[b"-e", message]);
                        return Err(shell.print_usage(call.name()));
                    };
                    request.runs |= name == b"-";
                    args = &args[usize::from(attached.is_none())..];
                    break;
                }
                other => {
                    shell.builtin_error(call.name(), &[&[b'-', *other], b": invalid option"]);
                    return Err(shell.print_usage(call.name()));
                }
            }
        }
    }
    Ok(FcRequest { operands: args, ..request })
}

/// Performs `fc -l [first [last]]`.
fn list_history(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, request: &FcRequest<'_>) -> Flow {
    let last = shell.history.len().saturating_sub(1);
    let first = match request.operands.first() {
        Some(o) => find_entry(shell, o),
        None => Some(last.saturating_sub(15)),
    };
    let end = match request.operands.get(1) {
        Some(o) => find_entry(shell, o),
        None => Some(last),
    };
    let (Some(first), Some(end)) = (first, end) else {
        shell.builtin_error(call.name(), &[b"no command found"]);
        return Ok(1);
    };
    let mut chosen: Vec<usize> = (first.min(end)..=first.max(end)).collect();
    if request.reverses != (first > end) {
        chosen.reverse();
    }
    let mut out = Vec::new();
    for n in chosen {
        if request.numbers {
            out.extend_from_slice((n + 1).to_string().as_bytes());
        }
        out.extend_from_slice(b"\t ");
        out.extend_from_slice(shell.history.get(n).map_or(b"", |l| l.as_slice()));
        out.push(b'\n');
    }
    shell.write_out(&out);
    Ok(0)
}

/// Returns the entry that an operand means: its number, a number counted back from the end, or the
/// beginning of its text.
fn find_entry(shell: &Shell<'_>, operand: &[u8]) -> Option<usize> {
    let count = shell.history.len();
    match parse_integer(operand) {
        Some(n) if n > 0 => usize::try_from(n - 1).ok().map(|n| n.min(count.saturating_sub(1))),
        Some(n) => {
            let back = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX).max(1);
            Some(count.saturating_sub(back))
        }
        None => shell.history.iter().rposition(|l| l.starts_with(operand)),
    }
}

/// Performs `fc -s [pat=rep]... [command]`.
fn run_again(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, operands: &[Str]) -> Flow {
    let mut changes = Vec::new();
    let mut rest = operands;
    while let Some((first, more)) = rest.split_first()
        && let Some(at) = first.iter().position(|c| *c == b'=')
    {
        changes.push((first[..at].to_vec(), first[at + 1..].to_vec()));
        rest = more;
    }
    let found = match rest.first() {
        Some(o) => find_entry(shell, o),
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
    shell.write_err(&[line.as_slice(), b"\n"].concat());
    let at = shell.state.line;
    shell.run_text(SourceText { text: &line, line: at, kind: TextKind::Commands })
}
