//! `getopts` (POSIX XCU).

use std::rc::Rc;

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::GetOpts;
use crate::state::vars::decimal;

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    } else if let Some(a) = args.first().filter(|a| a.len() > 1 && a.starts_with(b"-")) {
        let shown = [b'-', a[1]];
        shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
        return shell.usage(call.name());
    }
    let [spec, name, rest @ ..] = args else { return shell.usage(call.name()) };
    let (spec, name) = (spec.clone(), name.clone());
    let words =
        if rest.is_empty() { shell.state.positional.clone() } else { Rc::new(rest.to_vec()) };
    let (silent, letters) = match spec.strip_prefix(b":") {
        Some(s) => (true, s),
        None => (false, spec.as_slice()),
    };
    let loud = !silent && shell.var(b"OPTERR").is_none_or(|v| v.as_slice() != b"0");
    let GetOpts { mut index, mut offset } = shell.state.getopts;
    if index > words.len() {
        index = words.len();
        offset = 0;
    }
    let mut result = b"?".to_vec();
    let mut optarg: Option<Vec<u8>> = None;
    let mut status = 0;
    if offset == 0 {
        match words.get(index) {
            Some(w) if w.as_slice() == b"--" => {
                index += 1;
                status = 1;
            }
            Some(w) if w.len() > 1 && w.starts_with(b"-") => offset = 1,
            _ => status = 1,
        }
    }
    if status == 0 {
        let word = words.get(index).cloned().unwrap_or_default();
        let letter = word.get(offset).copied().unwrap_or(b'?');
        offset += 1;
        if offset >= word.len() {
            index += 1;
            offset = 0;
        }
        let at = letters.iter().position(|c| *c == letter).filter(|_| letter != b':');
        match at {
            None => {
                if silent {
                    optarg = Some(vec![letter]);
                } else if loud {
                    let text = [
                        shell.state.arg0.as_slice(),
                        b": illegal option -- ".as_slice(),
                        &[letter],
                        b"\n",
                    ]
                    .concat();
                    shell.err(&text);
                }
            }
            Some(at) if letters.get(at + 1) == Some(&b':') => {
                if offset > 0 {
                    optarg = Some(word[offset..].to_vec());
                    index += 1;
                    offset = 0;
                    result = vec![letter];
                } else if let Some(next) = words.get(index) {
                    optarg = Some(next.to_vec());
                    index += 1;
                    result = vec![letter];
                } else if silent {
                    result = b":".to_vec();
                    optarg = Some(vec![letter]);
                } else if loud {
                    let text = [
                        shell.state.arg0.as_slice(),
                        b": option requires an argument -- ".as_slice(),
                        &[letter],
                        b"\n",
                    ]
                    .concat();
                    shell.err(&text);
                }
            }
            Some(_) => result = vec![letter],
        }
    }
    // Setting OPTIND restarts a word, so the progress is stored after it.
    let optind = decimal(index as i64 + 1);
    let r1 = shell.assign_scalar_to(b"OPTIND", None, false, Rc::new(optind));
    shell.state.getopts = GetOpts { index, offset };
    match optarg {
        Some(a) => shell.set_quietly(b"OPTARG", &a),
        None => shell.state.vars.unset(b"OPTARG", true),
    }
    if !crate::state::assign::is_name(&name) {
        shell.builtin_error(call.name(), &[b"`", &name, b"': not a valid identifier"]);
        return Ok(1);
    }
    if let Err(e) = r1 {
        // Its status does not say so.
        shell.assignment_error(call.name(), &e);
        shell.after_assignment_error(&e)?;
    }
    let r2 = shell.assign_scalar_to(&name, None, false, Rc::new(result));
    if let Err(e) = r2 {
        shell.assignment_error(call.name(), &e);
        let readonly = e.reach() == sh_expand::Reach::Readonly;
        return shell.after_assignment_error(&e).map(|failed| match (readonly, status) {
            (true, 0) => 2,
            (true, end) => end,
            (false, _) => failed,
        });
    }
    Ok(status)
}
