//! `trap` (POSIX XCU).

use std::rc::Rc;

use box_text::escape::alias_quote;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;
use crate::state::traps;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "lp")?;
    if p.has_letter(b'l') {
        let argv = [Rc::new(b"kill".to_vec()), Rc::new(b"-l".to_vec())];
        return super::kill::run(shell, &BuiltinCall { argv: &argv, operands: &[] });
    }
    if p.operands.is_empty() || p.has_letter(b'p') {
        return show_traps(shell, call, p.operands, p.has_letter(b'p'));
    }
    let (action, conditions) = match p.operands {
        // A lone operand, or a number as the first one: resets to the default.
        [one] if traps::parse(one).is_some() || one.as_slice() == b"-" => {
            if one.as_slice() == b"-" {
                return Err(shell.print_usage(call.name()));
            }
            (None, p.operands)
        }
        [_] => return Err(shell.print_usage(call.name())),
        [first, rest @ ..] => match first.as_slice() {
            b"-" => (None, rest),
            t if !t.is_empty() && t.iter().all(u8::is_ascii_digit) => (None, p.operands),
            _ => (Some(first.clone()), rest),
        },
        [] => return Ok(0),
    };
    let mut status = 0;
    for c in conditions {
        match traps::parse(c) {
            Some(n) if shell.signals.is_fixed(n) => {}
            Some(n) => {
                shell.state.traps.set(n, action.clone());
            }
            None => {
                shell.builtin_error(call.name(), &[c, b": invalid signal specification"]);
                status = 1;
            }
        }
    }
    shell.sync_signals();
    Ok(status)
}

fn show_traps(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    names: &[sh_expand::Str],
    all: bool,
) -> Flow {
    let mut wanted = Vec::new();
    let mut status = 0;
    for n in names {
        match traps::parse(n) {
            Some(c) => wanted.push(c),
            None => {
                shell.builtin_error(call.name(), &[n, b": invalid signal specification"]);
                status = 1;
            }
        }
    }
    let posix = shell.state.options.has_set(SetOpt::Posix);
    let mut out = Vec::new();
    let mut listed: Vec<(u8, Option<&[u8]>)> = Vec::new();
    if posix && all {
        // With -p, POSIX mode also shows the conditions without an action.
        let set = |c| shell.state.traps.listed_traps().find(|(set, _)| *set == c).map(|(_, t)| t);
        listed.extend(traps::all_conditions().map(|c| (c, set(c).map(|t| t.as_slice()))));
    } else {
        listed.extend(shell.state.traps.listed_traps().map(|(c, t)| (c, Some(t.as_slice()))));
    }
    for (c, action) in listed {
        if names.is_empty() || wanted.contains(&c) {
            out.extend_from_slice(b"trap -- ");
            match action {
                Some(action) => out.extend_from_slice(&alias_quote(action)),
                None => out.push(b'-'),
            }
            out.push(b' ');
            let name = traps::name(c);
            // POSIX mode shows names without `SIG`, as POSIX writes them.
            let short = name.strip_prefix("SIG").filter(|_| posix);
            out.extend_from_slice(short.unwrap_or(&name).as_bytes());
            out.push(b'\n');
        }
    }
    shell.write_out(&out);
    Ok(status)
}
