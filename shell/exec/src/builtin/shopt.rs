//! `shopt` (bash manual 4.3.2).

use std::rc::Rc;

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{SET_OPTIONS, SHOPT_OPTIONS, ShOpt, set_option, shopt_option};

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "opqsu") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let (set, unset, quiet) = (p.has(b's'), p.has(b'u'), p.has(b'q'));
    if set && unset {
        shell.builtin_error(call.name(), &[b"cannot set and unset shell options simultaneously"]);
        return Ok(1);
    }
    let of_set = p.has(b'o');
    let line = |name: &str, on: bool| {
        if p.has(b'p') {
            match of_set {
                true => format!("set {}o {name}\n", if on { '-' } else { '+' }),
                false => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
            }
        } else {
            format!("{name:<15}\t{}\n", if on { "on" } else { "off" })
        }
    };
    if p.operands.is_empty() {
        let all: Vec<(&str, bool)> = if of_set {
            SET_OPTIONS.iter().map(|(n, o)| (*n, shell.state.options.has(*o))).collect()
        } else {
            SHOPT_OPTIONS.iter().map(|(n, o)| (*n, shell.state.options.shopt(*o))).collect()
        };
        let mut out = String::new();
        for (name, on) in all {
            if set && !on || unset && on {
                continue;
            }
            out.push_str(&line(name, on));
        }
        if !quiet {
            shell.out(out.as_bytes());
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in p.operands {
        let text = String::from_utf8_lossy(name).into_owned();
        let on = if of_set {
            set_option(name).map(|o| shell.state.options.has(o))
        } else {
            shopt_option(name).map(|o| shell.state.options.shopt(o))
        };
        let Some(on) = on else {
            let kind: &[u8] =
                if of_set { b": invalid option name" } else { b": invalid shell option name" };
            shell.builtin_error(call.name(), &[name, kind]);
            // Of such an option that is to be set bash keeps no status.
            status |= i32::from(!(of_set && (set || unset)));
            continue;
        };
        if set || unset {
            if of_set {
                if let Some(o) = set_option(name) {
                    shell.state.options.put(o, set);
                }
            } else if let Some(o) = shopt_option(name) {
                shell.state.options.put_shopt(o, set);
                if o == ShOpt::ExtDebug && set && shell.state.call_args.is_empty() {
                    let positional = shell.state.positional.clone();
                    Rc::make_mut(&mut shell.state.call_args).push(positional);
                }
            }
            continue;
        }
        if !on {
            status = 1;
        }
        if !quiet {
            shell.out(line(&text, on).as_bytes());
        }
    }
    Ok(status)
}
