//! `complete` (bash manual 8.7): stores completion specifications and lists them. No line editor
//! uses them.

use super::completion::{CompletionSpec, SPEC_OPTIONS};
use super::{BuiltinArguments, BuiltinCall};
use crate::Shell;
use crate::shell::Flow;

/// The names under which the specifications of the options `-D`, `-E` and `-I` are stored. They
/// belong to no command, and no command has such a name.
const SPECIAL: [(u8, &[u8]); 3] = [(b'D', b"-D"), (b'E', b"-E"), (b'I', b"-I")];

/// Returns the names that a call applies to.
pub(super) fn target_names(p: &BuiltinArguments<'_>) -> Vec<Vec<u8>> {
    match SPECIAL.iter().find(|(letter, _)| p.has_letter(*letter)) {
        Some((_, name)) => vec![name.to_vec()],
        None => p.operands.iter().map(|name| name.to_vec()).collect(),
    }
}

/// Reports that there is no specification of a name.
pub(super) fn report_missing(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, name: &[u8]) {
    shell.builtin_error(call.name(), &[name, b": no completion specification"]);
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, &["prDEI", SPEC_OPTIONS].concat())?;
    let names = target_names(&p);
    let mut status = 0;
    if p.has_letter(b'r') {
        if names.is_empty() {
            shell.state.completions_mut().clear();
        }
        for name in names {
            if shell.state.completions_mut().remove(&name).is_none() {
                report_missing(shell, call, &name);
                status = 1;
            }
        }
        return Ok(status);
    }
    if p.has_letter(b'p') || p.options.is_empty() && names.is_empty() {
        let specs = shell.state.completions();
        let all: Vec<Vec<u8>> =
            if names.is_empty() { specs.keys().cloned().collect() } else { names };
        for name in all {
            match shell.state.completions().get(&name).map(|spec| spec.command_line(&name)) {
                Some(line) => shell.write_out(&line),
                None => {
                    report_missing(shell, call, &name);
                    status = 1;
                }
            }
        }
        return Ok(status);
    }
    let spec = CompletionSpec::from_options(shell, call, &p)?;
    if names.is_empty() {
        return Err(shell.print_usage(call.name()));
    }
    for name in names {
        shell.state.completions_mut().insert(name, spec.clone());
    }
    Ok(0)
}
