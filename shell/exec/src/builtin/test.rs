//! `test` and `[` (POSIX XCU, bash manual 6.4). The grammar is [`box_applet::condition`]; this file
//! has bash's messages and the operators that depend on the shell. `[[ ]]` has the same operators.

use std::cmp::Ordering;

use box_applet::condition::{self, ConditionHost, ConditionProblem, FileComparison};
use box_sys::meta;

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::io::DescriptorTarget;
use crate::shell::{Flow, Unwind};

/// The reason why there is no result.
enum Stop {
    Problem(ConditionProblem),
    Unwind(Unwind),
}

impl From<ConditionProblem> for Stop {
    fn from(problem: ConditionProblem) -> Stop {
        Stop::Problem(problem)
    }
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut args = call.args();
    if call.name() == b"[" {
        match args.split_last() {
            Some((last, rest)) if last.as_slice() == b"]" => args = rest,
            _ => {
                shell.builtin_error(call.name(), &[b"missing `]'"]);
                return Ok(2);
            }
        }
    }
    match condition::is_true(&mut Builtin(shell), args) {
        Ok(truth) => Ok(i32::from(!truth)),
        Err(Stop::Problem(problem)) => {
            let [before, word, behind] = message(&problem);
            shell.builtin_error(call.name(), &[before, word, behind]);
            Ok(2)
        }
        Err(Stop::Unwind(unwind)) => Err(unwind),
    }
}

/// Returns the message about a problem.
fn message(problem: &ConditionProblem) -> [&[u8]; 3] {
    match problem {
        ConditionProblem::NotUnary { operator, .. } => {
            [b"", operator, b": unary operator expected"]
        }
        ConditionProblem::NotBinary(operator) => [b"", operator, b": binary operator expected"],
        ConditionProblem::Missing(_) => [b"argument expected", b"", b""],
        ConditionProblem::Unclosed(None) => [b"`)' expected", b"", b""],
        ConditionProblem::Unclosed(Some(found)) => [b"`)' expected, found ", found, b""],
        ConditionProblem::Extra(word) if word.starts_with(b"-") => {
            [b"syntax error: `", word, b"' unexpected"]
        }
        ConditionProblem::Extra(_) => [b"too many arguments", b"", b""],
        ConditionProblem::Integer(text) => [b"", text, b": integer expression expected"],
        ConditionProblem::Deep => [b"expression too deeply nested", b"", b""],
    }
}

struct Builtin<'s, 'a>(&'s mut Shell<'a>);

impl ConditionHost for Builtin<'_, '_> {
    type Error = Stop;
    const UNARY: &'static [u8] = b"abcdefghknoprstuvwxzGLNORS";

    fn unary(&mut self, letter: u8, operand: &[u8]) -> Result<bool, Stop> {
        match letter {
            b'v' | b'R' => match self.0.variable_test(letter, operand, false) {
                Ok(truth) => Ok(truth),
                Err(e) => Err(Stop::Unwind(self.0.expansion_failed(e))),
            },
            _ => Ok(unary(self.0, letter, operand)),
        }
    }

    /// Evaluates `-t` without a number, which refers to standard output, as in early shells.
    fn alone(&mut self, letter: u8, next: &[u8]) -> Option<bool> {
        (letter == b't' && parse_integer(next).is_none()).then(|| self.0.fd_is_terminal(1))
    }

    fn compare(&mut self, left: &[u8], right: &[u8]) -> Result<Ordering, Stop> {
        let number =
            |t: &[u8]| parse_integer(t).ok_or_else(|| ConditionProblem::Integer(t.to_vec()));
        Ok(number(left)?.cmp(&number(right)?))
    }

    fn files(&mut self, operator: FileComparison, left: &[u8], right: &[u8]) -> bool {
        files(self.0, operator, left, right)
    }
}

/// Evaluates a unary operator on a string, an option, a descriptor or a file.
pub(crate) fn unary(shell: &mut Shell<'_>, letter: u8, operand: &[u8]) -> bool {
    match letter {
        b'n' => return !operand.is_empty(),
        b'z' => return operand.is_empty(),
        b'o' => {
            let option = crate::state::options::set_option(operand);
            return option.is_some_and(|o| shell.state.options.has_set(o));
        }
        b't' => {
            let fd = parse_integer(operand).and_then(|n| u32::try_from(n).ok());
            return fd.is_some_and(|n| shell.fd_is_terminal(n));
        }
        _ => {}
    }
    shell.about_to_look();
    if let Some(desc) = shell.open_virtual(operand) {
        match (letter, desc) {
            (b'e' | b'a' | b'r' | b'w', desc) => return desc.is_some(),
            (_, None) => return false,
            (b'p', Some(DescriptorTarget::File(f))) => return !f.is_seekable() && !f.is_terminal(),
            (b'p', Some(_)) => return true,
            _ => {}
        }
    }
    let stat = stat(shell, operand, !matches!(letter, b'h' | b'L'));
    stat.and_then(|s| condition::file_holds(letter, &s)).unwrap_or(false)
}

/// Evaluates `-nt`, `-ot`, `-ef`.
pub(crate) fn files(
    shell: &mut Shell<'_>,
    operator: FileComparison,
    left: &[u8],
    right: &[u8],
) -> bool {
    shell.about_to_look();
    let (left, right) = (stat(shell, left, true), stat(shell, right, true));
    condition::files_hold(operator, left.as_ref(), right.as_ref())
}

/// Returns a file's status. An empty name is not a file.
fn stat(shell: &Shell<'_>, name: &[u8], follow: bool) -> Option<box_sys::Stat> {
    if name.is_empty() { None } else { meta::stat(&shell.absolute_path(name), follow).ok() }
}
