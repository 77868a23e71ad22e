//! `set` (POSIX XCU, bash manual 4.3.1).

use std::rc::Rc;

use super::Call;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::options::{SET_OPTIONS, SetOpt, letter, set_option};

/// What an argument asks for.
enum Change {
    Put(SetOpt, bool),
    /// `-o` or `+o` without a name.
    List(bool),
}

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let args = call.args();
    if args.is_empty() {
        shell.print_all_set();
        return Ok(0);
    }
    // All letters are checked before any takes effect.
    let mut i = 0;
    let mut changes: Vec<Change> = Vec::new();
    let mut replace = false;
    while let Some(a) = args.get(i) {
        match a.as_slice() {
            b"--" => {
                replace = true;
                i += 1;
                break;
            }
            b"-" => {
                changes.push(Change::Put(SetOpt::XTrace, false));
                changes.push(Change::Put(SetOpt::Verbose, false));
                i += 1;
                break;
            }
            _ => {}
        }
        let Some((sign @ (b'-' | b'+'), letters)) = a.split_first() else { break };
        if letters.is_empty() {
            // A lone plus is passed over.
            i += 1;
            continue;
        }
        i += 1;
        let on = *sign == b'-';
        for c in letters {
            if *c == b'o' {
                match args.get(i) {
                    Some(name) if !(name.starts_with(b"-") || name.starts_with(b"+")) => {
                        let Some(o) = set_option(name) else {
                            shell.builtin_error(call.name(), &[name, b": invalid option name"]);
                            let options = &shell.state.options;
                            return match options.has(SetOpt::Posix) && !options.interactive {
                                true => Err(Unwind::Exit(2)),
                                false => Ok(2),
                            };
                        };
                        changes.push(Change::Put(o, on));
                        i += 1;
                    }
                    _ => changes.push(Change::List(on)),
                }
                continue;
            }
            match letter(*c) {
                Some(o) => changes.push(Change::Put(o, on)),
                None => {
                    let shown = [*sign, *c];
                    shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
                    return shell.usage(call.name());
                }
            }
        }
    }
    for change in changes {
        match change {
            Change::Put(option, on) => shell.state.options.put(option, on),
            Change::List(readable) => print_options(shell, readable),
        }
    }
    let rest = &args[i.min(args.len())..];
    if replace || !rest.is_empty() {
        shell.state.positional = Rc::new(rest.to_vec());
    }
    Ok(0)
}

/// `set -o` (a table) and `set +o` (commands).
pub(crate) fn print_options(shell: &mut Shell<'_>, table: bool) {
    let mut out = String::new();
    for (name, o) in SET_OPTIONS {
        let on = shell.state.options.has(*o);
        if table {
            out.push_str(&format!("{name:<15}\t{}\n", if on { "on" } else { "off" }));
        } else {
            out.push_str(&format!("set {}o {name}\n", if on { '-' } else { '+' }));
        }
    }
    shell.out(out.as_bytes());
}
