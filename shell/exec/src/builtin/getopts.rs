//! `getopts` (POSIX XCU).

use std::rc::Rc;

use sh_expand::{ErrorReach, Str};

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::GetOpts;
use crate::state::assign::is_name;
use crate::state::vars::decimal_digits;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    } else if let Some(a) = args.first().filter(|a| a.len() > 1 && a.starts_with(b"-")) {
        let shown = [b'-', a[1]];
        shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
        return Err(shell.print_usage(call.name()));
    }
    let [spec, name, rest @ ..] = args else { return Err(shell.print_usage(call.name())) };
    let words = match rest {
        [] => shell.state.params.list().clone(),
        rest => rest.to_vec().into(),
    };
    let step = next(shell.state.getopts, spec, &words);
    let silent = spec.starts_with(b":");
    if let Some((what, letter)) = step.complaint
        && !silent
        && shell.variable_text(b"OPTERR").is_none_or(|v| v.as_slice() != b"0")
    {
        let arg0 = shell.state.params.arg0().clone();
        shell.write_err(&[arg0.as_slice(), what.as_bytes(), &[letter], b"\n"].concat());
    }
    assign_results(shell, call, name, step)
}

/// The result of one call.
struct GetoptsStep {
    progress: GetOpts,
    /// The value for the variable.
    found: u8,
    /// The value of `OPTARG`.
    argument: Option<Vec<u8>>,
    /// The error about a letter.
    complaint: Option<(&'static str, u8)>,
    /// Whether there are no more options.
    is_end: bool,
}

/// Advances by one option.
fn next(progress: GetOpts, spec: &[u8], words: &[Str]) -> GetoptsStep {
    let GetOpts { mut index, mut offset } = progress;
    if index > words.len() {
        (index, offset) = (words.len(), 0);
    }
    let mut step =
        GetoptsStep { progress, found: b'?', argument: None, complaint: None, is_end: false };
    if offset == 0 {
        match words.get(index) {
            Some(w) if w.as_slice() == b"--" => {
                index += 1;
                step.is_end = true;
            }
            Some(w) if w.len() > 1 && w.starts_with(b"-") => offset = 1,
            _ => step.is_end = true,
        }
    }
    if step.is_end {
        return GetoptsStep { progress: GetOpts { index, offset }, ..step };
    }
    let (silent, letters) = match spec.strip_prefix(b":") {
        Some(letters) => (true, letters),
        None => (false, spec),
    };
    let word = words.get(index).cloned().unwrap_or_default();
    let letter = word.get(offset).copied().unwrap_or(b'?');
    offset += 1;
    if offset >= word.len() {
        (index, offset) = (index + 1, 0);
    }
    match letters.iter().position(|c| *c == letter).filter(|_| letter != b':') {
        None => {
            step.complaint = Some((": illegal option -- ", letter));
            step.argument = silent.then(|| vec![letter]);
        }
        Some(at) if letters.get(at + 1) == Some(&b':') => {
            if offset > 0 {
                step.argument = Some(word[offset..].to_vec());
                (index, offset) = (index + 1, 0);
                step.found = letter;
            } else if let Some(next) = words.get(index) {
                step.argument = Some(next.to_vec());
                index += 1;
                step.found = letter;
            } else {
                step.complaint = Some((": option requires an argument -- ", letter));
                if silent {
                    step.found = b':';
                    step.argument = Some(vec![letter]);
                }
            }
        }
        Some(_) => step.found = letter,
    }
    GetoptsStep { progress: GetOpts { index, offset }, ..step }
}

/// Assigns `OPTIND`, `OPTARG` and the variable.
fn assign_results(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    name: &[u8],
    step: GetoptsStep,
) -> Flow {
    let status = i32::from(step.is_end);
    let optind = Rc::new(decimal_digits(step.progress.index as i64 + 1));
    let numbered = shell.assign_scalar_to(b"OPTIND", None, false, optind);
    // Setting OPTIND discards the progress within a word, so the progress is stored afterwards.
    shell.state.getopts = step.progress;
    match step.argument {
        Some(a) => shell.set_quietly(b"OPTARG", &a),
        None => shell.state.vars.unset_var(b"OPTARG", true),
    }
    if !is_name(name) {
        shell.builtin_error(call.name(), &[b"`", name, b"': not a valid identifier"]);
        return Ok(1);
    }
    if let Err(e) = numbered {
        // A refused assignment does not affect the status.
        shell.assignment_refused(call.name(), &e)?;
    }
    match shell.assign_scalar_to(name, None, false, Rc::new(vec![step.found])) {
        Ok(()) => Ok(status),
        Err(e) => {
            let readonly = e.reach() == ErrorReach::Readonly;
            shell.assignment_refused(call.name(), &e).map(|failed| match (readonly, status) {
                (true, 0) => 2,
                (true, end) => end,
                (false, _) => failed,
            })
        }
    }
}
