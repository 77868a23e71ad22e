//! Options of builtins: single letters, clustered, ended by `--` or the first operand.

use std::rc::Rc;

use sh_expand::Str;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Unwind;

/// Parsed options and the operands after them.
pub struct BuiltinArguments<'c> {
    /// The letters in order; `plus` if given with `+`.
    pub options: Vec<BuiltinOption>,
    pub operands: &'c [Str],
    /// Index of the first operand in `argv`.
    pub first: usize,
}

/// One option.
pub struct BuiltinOption {
    pub letter: u8,
    pub value: Option<Str>,
    pub plus: bool,
}

impl BuiltinArguments<'_> {
    /// Returns whether a letter was given, and not with `+`.
    pub fn has_letter(&self, letter: u8) -> bool {
        self.options.iter().any(|o| o.letter == letter && !o.plus)
    }

    /// Returns the last value given for a letter.
    pub fn last_value(&self, letter: u8) -> Option<&Str> {
        self.options.iter().rev().find(|o| o.letter == letter).and_then(|o| o.value.as_ref())
    }
}

impl Shell<'_> {
    /// Parses the options of a builtin. `spec` lists the letters, with a colon after those that
    /// take a value; a leading `+` allows options such as `+x`. After an error, prints a message
    /// and returns how the shell continues.
    pub(crate) fn parse_builtin_options<'c>(
        &mut self,
        call: &BuiltinCall<'c>,
        spec: &str,
    ) -> Result<BuiltinArguments<'c>, Unwind> {
        let args = call.args();
        let (plus_allowed, spec) = match spec.strip_prefix('+') {
            Some(s) => (true, s.as_bytes()),
            None => (false, spec.as_bytes()),
        };
        let mut options = Vec::new();
        let mut i = 0;
        while let Some(arg) = args.get(i) {
            let plus = plus_allowed && arg.first() == Some(&b'+');
            if (arg.first() != Some(&b'-') && !plus) || arg.len() < 2 {
                break;
            }
            if arg.as_slice() == b"--" {
                i += 1;
                break;
            }
            if arg.as_slice() == b"--help" {
                return Err(Unwind::Builtin(self.print_help(call.name())));
            }
            i += 1;
            let mut at = 1;
            while at < arg.len() {
                let letter = arg[at];
                at += 1;
                let place = spec.iter().position(|c| *c == letter && *c != b':');
                let Some(place) = place else {
                    let sign = [arg[0], letter];
                    self.builtin_error(call.name(), &[&sign, b": invalid option"]);
                    return Err(self.print_usage(call.name()));
                };
                let mut value = None;
                if spec.get(place + 1) == Some(&b':') {
                    if at < arg.len() {
                        value = Some(Rc::new(arg[at..].to_vec()));
                    } else if let Some(next) = args.get(i) {
                        value = Some(next.clone());
                        i += 1;
                    } else {
                        let shown = [b'-', letter];
                        self.builtin_error(
                            call.name(),
                            &[&shown, b": option requires an argument"],
                        );
                        return Err(self.print_usage(call.name()));
                    }
                    at = arg.len();
                }
                options.push(BuiltinOption { letter, value, plus });
            }
        }
        Ok(BuiltinArguments { options, operands: args.get(i..).unwrap_or_default(), first: i + 1 })
    }

    /// Returns the way in which bash continues after "too many arguments" of `break`, `exit`,
    /// `return` or `shift`: a script abandons the command, a shell with `-c` exits.
    pub(crate) fn too_many_arguments(&mut self) -> Unwind {
        if self.state.options.is_command_string() { Unwind::Exit(1) } else { Unwind::Discard(1) }
    }

    /// Reports an operand that is not a number.
    pub(crate) fn numeric_error(&mut self, name: &[u8], operand: &[u8]) {
        self.builtin_error(name, &[operand, b": numeric argument required"]);
    }
}

/// Parses a decimal integer as builtins do, with an optional sign and blanks around it.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    let t = text.trim_ascii_start();
    let blanks = t.iter().rev().take_while(|c| matches!(c, b' ' | b'\t')).count();
    let t = &t[..t.len() - blanks];
    let digits = t.strip_prefix(b"-").or_else(|| t.strip_prefix(b"+")).unwrap_or(t);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(t).ok()?.trim_start_matches('+').parse().ok()
}
