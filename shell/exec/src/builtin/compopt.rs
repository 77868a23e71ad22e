//! `compopt` (bash manual 8.7): shows or changes the options of specifications.

use super::BuiltinCall;
use super::complete::{report_missing, target_names};
use super::completion::BEHAVIOURS;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "+o:DEI")?;
    let names = target_names(&p);
    if names.is_empty() {
        shell.builtin_error(call.name(), &[b"not currently executing completion function"]);
        return Ok(1);
    }
    let changes: Vec<_> = p.options.iter().filter(|o| o.letter == b'o').collect();
    let mut status = 0;
    for name in names {
        let Some(mut spec) = shell.state.completions().get(&name).cloned() else {
            report_missing(shell, call, &name);
            status = 1;
            continue;
        };
        for o in &changes {
            let behaviour = o.value.as_ref().map_or(&b""[..], |v| v);
            spec.set(shell, call, behaviour, !o.plus)?;
        }
        if changes.is_empty() {
            let shown =
                |b: &&str| format!(" {}o {b}", if spec.has_behaviour(b) { '-' } else { '+' });
            let shown: String = BEHAVIOURS.iter().map(shown).collect();
            shell.write_out(&[b"compopt", shown.as_bytes(), b" ", &name, b"\n"].concat());
        }
        shell.state.completions_mut().insert(name, spec);
    }
    Ok(status)
}
