//! `set` (POSIX XCU, bash manual 4.3.1).

use std::rc::Rc;

use sh_expand::Str;

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{SET_OPTIONS, SetOpt, letter, set_option};

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let args = call.args();
    if args.is_empty() {
        shell.print_all_set();
        return Ok(0);
    }
    if let Some(shown) = unknown_letter(args) {
        shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
        return shell.usage(call.name());
    }
    let options = &shell.state.options;
    let strict = options.has(SetOpt::Posix) && !options.interactive;
    let ends = strict && !shell.state.here.condition;
    let mut i = 0;
    let mut replace = false;
    while let Some(a) = args.get(i) {
        let Some((sign @ (b'-' | b'+'), letters)) = a.split_first() else { break };
        i += 1;
        match a.as_slice() {
            b"--" => {
                replace = true;
                break;
            }
            b"-" => {
                shell.state.options.put(SetOpt::XTrace, false);
                shell.state.options.put(SetOpt::Verbose, false);
                break;
            }
            // A lone plus is passed over.
            _ => {}
        }
        let on = *sign == b'-';
        for c in letters {
            match (*c, letter(*c)) {
                (b'o', _) => match args.get(i).filter(|name| names_option(name)) {
                    Some(name) => {
                        let Some(option) = set_option(name) else {
                            shell.builtin_error(call.name(), &[name, b": invalid option name"]);
                            return if ends { Err(shell.ends_with(2)) } else { Ok(2) };
                        };
                        shell.state.options.put(option, on);
                        i += 1;
                    }
                    None => print_options(shell, on),
                },
                // That bash is interactive may be said in a bundle only.
                (b'i', _) => {}
                (_, Some(option)) => shell.state.options.put(option, on),
                (_, None) => {
                    let shown = [*sign, *c];
                    shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
                    return shell.usage(call.name()).map(|_| 1);
                }
            }
        }
    }
    let rest = &args[i.min(args.len())..];
    if replace || !rest.is_empty() {
        shell.state.positional = Rc::new(rest.to_vec());
        shell.state.positional_set = true;
    }
    Ok(0)
}

/// Whether an argument behind `-o` is its name.
fn names_option(text: &[u8]) -> bool {
    !matches!(text.first(), None | Some(b'-' | b'+'))
}

/// The first letter that is no option, with its sign: they are checked before any takes effect,
/// except what follows an `o` in the same argument, which could be a name.
fn unknown_letter(args: &[Str]) -> Option<[u8; 2]> {
    let mut args = args.iter().peekable();
    while let Some(a) = args.next() {
        let (sign @ (b'-' | b'+'), letters) = a.split_first()? else { return None };
        if matches!(a.as_slice(), b"-" | b"--") {
            return None;
        }
        for (at, c) in letters.iter().enumerate() {
            if *c == b'o' {
                if at + 1 == letters.len() {
                    args.next_if(|name| names_option(name));
                }
                break;
            }
            if letter(*c).is_none() {
                return Some([*sign, *c]);
            }
        }
    }
    None
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
