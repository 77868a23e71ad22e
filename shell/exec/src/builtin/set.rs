//! `set` (POSIX XCU, bash manual 4.3.1).

use sh_expand::Str;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::options::{SET_OPTIONS, SetOpt, option_from_letter, set_option};

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let args = call.args();
    if args.is_empty() {
        shell.print_all_set();
        return Ok(0);
    }
    if let Some(shown) = unknown_letter(args) {
        shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
        return Err(shell.print_usage(call.name()));
    }
    let options = &shell.state.options;
    let is_script = options.has_set(SetOpt::Posix) && !options.is_interactive();
    let ends = is_script && !shell.state.here.condition;
    let mut args = SetArguments { rest: args, replaces: false };
    while let Some((sign, letters)) = args.next_options(shell) {
        let on = sign == b'-';
        for c in letters {
            match (*c, option_from_letter(*c)) {
                (b'o', _) => match args.option_name() {
                    Some(name) => match set_option(name) {
                        Some(option) => {
                            shell.state.options.switch_set(option, on);
                            if option == SetOpt::History && on {
                                shell.begin_history();
                            }
                        }
                        None => {
                            shell.builtin_error(call.name(), &[name, b": invalid option name"]);
                            return if ends { Err(shell.ends_with(2)) } else { Ok(2) };
                        }
                    },
                    None => print_options(shell, on),
                },
                // The letter for an interactive bash is allowed only among other letters.
                (b'i', _) => {}
                (_, Some(option)) => shell.state.options.switch_set(option, on),
                (_, None) => {
                    let shown = [sign, *c];
                    shell.builtin_error(call.name(), &[&shown, b": invalid option"]);
                    return match shell.print_usage(call.name()) {
                        Unwind::Builtin(_) => Ok(1),
                        ends => Err(ends),
                    };
                }
            }
        }
    }
    if args.replaces || !args.rest.is_empty() {
        shell.state.params.replace(args.rest.to_vec());
    }
    Ok(0)
}

/// The remaining arguments.
struct SetArguments<'c> {
    rest: &'c [Str],
    /// `--`: the remaining arguments, even if there are none, become the positional parameters.
    replaces: bool,
}

impl<'c> SetArguments<'c> {
    /// Returns the next group of letters with its sign, if there is one. `-` and `--` end the
    /// options.
    fn next_options(&mut self, shell: &mut Shell<'_>) -> Option<(u8, &'c [u8])> {
        let (first, rest) = self.rest.split_first()?;
        let (sign @ (b'-' | b'+'), letters) = first.split_first()? else { return None };
        self.rest = rest;
        match first.as_slice() {
            b"--" => {
                self.replaces = true;
                None
            }
            b"-" => {
                shell.state.options.switch_set(SetOpt::XTrace, false);
                shell.state.options.switch_set(SetOpt::Verbose, false);
                None
            }
            // A lone plus is ignored.
            _ => Some((*sign, letters)),
        }
    }

    /// Returns the name after `-o`.
    fn option_name(&mut self) -> Option<&'c [u8]> {
        let (name, rest) = self.rest.split_first().filter(|(name, _)| names_option(name))?;
        self.rest = rest;
        Some(name)
    }
}

/// Returns whether an argument after `-o` is its name.
fn names_option(text: &[u8]) -> bool {
    !matches!(text.first(), None | Some(b'-' | b'+'))
}

/// Returns the first letter that is not an option, with its sign. Letters are checked before any of
/// them takes effect, except those after an `o` in the same argument, which could be a name.
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
            if option_from_letter(*c).is_none() {
                return Some([*sign, *c]);
            }
        }
    }
    None
}

/// Prints the options for `set -o` (a table) and `set +o` (commands).
pub(crate) fn print_options(shell: &mut Shell<'_>, table: bool) {
    let mut out = String::new();
    for (name, o) in SET_OPTIONS {
        let on = shell.state.options.has_set(*o);
        if table {
            out.push_str(&format!("{name:<15}\t{}\n", if on { "on" } else { "off" }));
        } else {
            out.push_str(&format!("set {}o {name}\n", if on { '-' } else { '+' }));
        }
    }
    shell.write_out(out.as_bytes());
}

impl Shell<'_> {
    /// Gives the variables that bound the history their defaults (bash manual 5.2).
    pub fn begin_history(&mut self) {
        let size = match self.variable_text(b"HISTSIZE") {
            Some(size) => size,
            None => {
                self.set_quietly(b"HISTSIZE", b"500");
                Str::new(b"500".to_vec())
            }
        };
        if self.variable_text(b"HISTFILESIZE").is_none() {
            self.set_quietly(b"HISTFILESIZE", &size);
        }
    }
}
