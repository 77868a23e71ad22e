//! `shopt` (bash manual 4.3.2).

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::{
    SET_OPTIONS, SHOPT_OPTIONS, SetOpt, ShOpt, ShellOptions, set_option, shopt_option,
};

/// An option that has a name: one of `shopt`, or one of `set -o`.
#[derive(Clone, Copy)]
enum NamedOption {
    Set(SetOpt),
    Shopt(ShOpt),
}

impl NamedOption {
    fn find(name: &[u8], of_set: bool) -> Option<NamedOption> {
        if of_set {
            set_option(name).map(NamedOption::Set)
        } else {
            shopt_option(name).map(NamedOption::Shopt)
        }
    }

    /// Returns all options with their names.
    fn all_options(of_set: bool) -> Vec<(&'static str, NamedOption)> {
        if of_set {
            SET_OPTIONS.iter().map(|(n, o)| (*n, NamedOption::Set(*o))).collect()
        } else {
            SHOPT_OPTIONS.iter().map(|(n, o)| (*n, NamedOption::Shopt(*o))).collect()
        }
    }

    fn is_on(self, options: &ShellOptions) -> bool {
        match self {
            NamedOption::Set(o) => options.has_set(o),
            NamedOption::Shopt(o) => options.has_shopt(o),
        }
    }

    fn switch_option(self, shell: &mut Shell<'_>, on: bool) {
        match self {
            NamedOption::Set(o) => shell.state.options.switch_set(o, on),
            NamedOption::Shopt(o) => {
                shell.state.options.put_shopt(o, on);
                if o == ShOpt::ExtDebug && on {
                    shell.state.calls.begin_debugging(shell.state.params.list());
                }
            }
        }
    }

    /// Formats the option and its state, in a table or as a command.
    fn format_line(self, name: &str, on: bool, as_command: bool) -> String {
        match self {
            _ if !as_command => format!("{name:<15}\t{}\n", if on { "on" } else { "off" }),
            NamedOption::Set(_) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
            NamedOption::Shopt(_) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
        }
    }
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "opqsu")?;
    let (set, unset, of_set) = (p.has_letter(b's'), p.has_letter(b'u'), p.has_letter(b'o'));
    if set && unset {
        shell.builtin_error(call.name(), &[b"cannot set and unset shell options simultaneously"]);
        return Ok(1);
    }
    let mut status = 0;
    let mut out = String::new();
    if p.operands.is_empty() {
        for (name, option) in NamedOption::all_options(of_set) {
            let on = option.is_on(&shell.state.options);
            if !(set && !on || unset && on) {
                out.push_str(&option.format_line(name, on, p.has_letter(b'p')));
            }
        }
    }
    for name in p.operands {
        let Some(option) = NamedOption::find(name, of_set) else {
            let kind: &[u8] =
                if of_set { b": invalid option name" } else { b": invalid shell option name" };
            shell.builtin_error(call.name(), &[name, kind]);
            // Bash does not count an invalid name as a failure if it changes an option of `set`.
            status |= i32::from(!(of_set && (set || unset)));
            continue;
        };
        if set || unset {
            option.switch_option(shell, set);
            continue;
        }
        let on = option.is_on(&shell.state.options);
        status |= i32::from(!on);
        out.push_str(&option.format_line(&String::from_utf8_lossy(name), on, p.has_letter(b'p')));
    }
    if !p.has_letter(b'q') {
        shell.write_out(out.as_bytes());
    }
    Ok(status)
}
