//! `alias` (POSIX XCU).

use std::rc::Rc;

use box_text::escape::alias_quote;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

fn print_alias(shell: &mut Shell<'_>, name: &[u8], value: &[u8], prefix: bool) {
    let mut line = Vec::new();
    if prefix {
        line.extend_from_slice(b"alias ");
        if name.starts_with(b"-") {
            line.extend_from_slice(b"-- ");
        }
    }
    line.extend_from_slice(name);
    line.push(b'=');
    line.extend_from_slice(&alias_quote(value));
    line.push(b'\n');
    shell.write_out(&line);
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "p")?;
    let prefix = !shell.state.options.has_set(SetOpt::Posix) || p.has_letter(b'p');
    if p.operands.is_empty() || p.has_letter(b'p') {
        for (name, value) in shell.state.aliases.clone().iter() {
            print_alias(shell, name, value, prefix);
        }
    }
    let mut status = 0;
    for a in p.operands {
        match memchr::memchr(b'=', a) {
            Some(at) if at > 0 => {
                let (name, value) = (&a[..at], &a[at + 1..]);
                if name.iter().any(|c| b" \t\n/$`'\"\\|&;()<>".contains(c)) {
                    shell.builtin_error(call.name(), &[b"`", name, b"': invalid alias name"]);
                    status = 1;
                    continue;
                }
                Rc::make_mut(&mut shell.state.aliases).insert(name.to_vec(), Rc::from(value));
            }
            _ => match shell.state.aliases.get(a.as_slice()).cloned() {
                Some(value) => print_alias(shell, a, &value, prefix),
                None => {
                    shell.builtin_error(call.name(), &[a, b": not found"]);
                    status = 1;
                }
            },
        }
    }
    Ok(status)
}
