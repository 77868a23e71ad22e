//! `shopt` (bash manual 4.3.2).

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{
    Options, SET_OPTIONS, SHOPT_OPTIONS, SetOpt, ShOpt, set_option, shopt_option,
};

/// An option by name: of `shopt`, or with `-o` of `set`.
#[derive(Clone, Copy)]
enum Named {
    Set(SetOpt),
    Shopt(ShOpt),
}

impl Named {
    fn find(name: &[u8], of_set: bool) -> Option<Named> {
        match of_set {
            true => set_option(name).map(Named::Set),
            false => shopt_option(name).map(Named::Shopt),
        }
    }

    /// All with their names.
    fn all(of_set: bool) -> Vec<(&'static str, Named)> {
        match of_set {
            true => SET_OPTIONS.iter().map(|(n, o)| (*n, Named::Set(*o))).collect(),
            false => SHOPT_OPTIONS.iter().map(|(n, o)| (*n, Named::Shopt(*o))).collect(),
        }
    }

    fn is_on(self, options: &Options) -> bool {
        match self {
            Named::Set(o) => options.has(o),
            Named::Shopt(o) => options.shopt(o),
        }
    }

    fn put(self, shell: &mut Shell<'_>, on: bool) {
        match self {
            Named::Set(o) => shell.state.options.put(o, on),
            Named::Shopt(o) => {
                shell.state.options.put_shopt(o, on);
                if o == ShOpt::ExtDebug && on {
                    shell.state.calls.begin_debugging(shell.state.params.list());
                }
            }
        }
    }

    /// The option and whether it is on, in a table or as a command.
    fn line(self, name: &str, on: bool, as_command: bool) -> String {
        match self {
            _ if !as_command => format!("{name:<15}\t{}\n", if on { "on" } else { "off" }),
            Named::Set(_) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
            Named::Shopt(_) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
        }
    }
}

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = shell.options(call, "opqsu")?;
    let (set, unset, of_set) = (p.has(b's'), p.has(b'u'), p.has(b'o'));
    if set && unset {
        shell.builtin_error(call.name(), &[b"cannot set and unset shell options simultaneously"]);
        return Ok(1);
    }
    let mut status = 0;
    let mut out = String::new();
    if p.operands.is_empty() {
        for (name, option) in Named::all(of_set) {
            let on = option.is_on(&shell.state.options);
            if !(set && !on || unset && on) {
                out.push_str(&option.line(name, on, p.has(b'p')));
            }
        }
    }
    for name in p.operands {
        let Some(option) = Named::find(name, of_set) else {
            let kind: &[u8] =
                if of_set { b": invalid option name" } else { b": invalid shell option name" };
            shell.builtin_error(call.name(), &[name, kind]);
            // Of such an option that is to be set bash keeps no status.
            status |= i32::from(!(of_set && (set || unset)));
            continue;
        };
        if set || unset {
            option.put(shell, set);
            continue;
        }
        let on = option.is_on(&shell.state.options);
        status |= i32::from(!on);
        out.push_str(&option.line(&String::from_utf8_lossy(name), on, p.has(b'p')));
    }
    if !p.has(b'q') {
        shell.out(out.as_bytes());
    }
    Ok(status)
}
