//! `printf` (POSIX XCU, bash manual 4.2). The walk over the format is
//! [`box_text::printf::command`]; this file has the option `-v`, bash's messages, and the
//! conversions that need the shell: `%(...)T` and `%n`.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use box_text::escape::{EscapeDialect, EscapeWarning, printf_q};
use box_text::printf::command::{self, PrintfHooks, PrintfProblem, ProblemVerdict};

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{is_name, is_reference};
use crate::state::options::SetOpt;
use crate::state::vars::decimal_digits;

/// The size in bytes from which output is written before the format is used again.
const LARGE: usize = 1 << 16;

struct PrintfHost<'s, 'a> {
    shell: &'s mut Shell<'a>,
    /// The variable of `-v` receives the output.
    to_variable: bool,
    /// The number of bytes already written.
    written: usize,
}

impl PrintfHost<'_, '_> {
    fn write(&mut self, text: &[u8]) {
        self.shell.write_out(text);
        self.written += text.len();
    }
}

impl PrintfHooks for PrintfHost<'_, '_> {
    const ESCAPES: EscapeDialect = EscapeDialect::Format;
    const OWN: &'static [u8] = b"qQ(n";

    fn complain(&mut self, out: &mut Vec<u8>, problem: PrintfProblem<'_>) -> ProblemVerdict {
        let (parts, after): (&[&[u8]], ProblemVerdict) = match problem {
            // An empty text after a quote has the value 0.
            PrintfProblem::Number { text: b"'" | b"\"", .. } => return ProblemVerdict::Warned,
            PrintfProblem::Number { text, used, .. } if used < text.len() => {
                let kind: &[u8] = match text {
                    [b'0', b'x', ..] => b": invalid hex number",
                    [b'0', d, ..] if d.is_ascii_digit() => b": invalid octal number",
                    _ => b": invalid number",
                };
                (&[text, kind], ProblemVerdict::Failed)
            }
            PrintfProblem::Number { text, .. } => {
                (&[b"warning: ", text, b": Numerical result out of range"], ProblemVerdict::Warned)
            }
            PrintfProblem::Escape(EscapeWarning::MissingHexDigit) => {
                (&[b"missing hex digit for \\x"], ProblemVerdict::Warned)
            }
            PrintfProblem::Escape(EscapeWarning::MissingUnicodeDigit(c)) => {
                (&[b"missing unicode digit for \\", &[c]], ProblemVerdict::Warned)
            }
            PrintfProblem::Conversion { letter: Some(letter), .. } => {
                (&[b"`", &[letter], b"': invalid format character"], ProblemVerdict::Ends)
            }
            PrintfProblem::Conversion { text, letter: None } => {
                (&[b"`%", text, b"': missing format character"], ProblemVerdict::Ends)
            }
            PrintfProblem::Time(ref behind) => {
                let behind = behind.as_slice();
                let why = b"': invalid time format specification";
                (&[b"warning: `", behind, why], ProblemVerdict::Warned)
            }
            PrintfProblem::Width(_) => {
                self.shell.budget.note_hit("printf width too large");
                return ProblemVerdict::Warned;
            }
            PrintfProblem::Ignored(_) | PrintfProblem::Count { .. } | PrintfProblem::Excess(_) => {
                return ProblemVerdict::Warned;
            }
        };
        // Whole lines are written before the message, because bash's stream has line buffers.
        if !self.to_variable
            && let Some(end) = memchr::memrchr(b'\n', out)
        {
            let rest = out.split_off(end + 1);
            self.write(&std::mem::replace(out, rest));
        }
        self.shell.builtin_error(b"printf", parts);
        after
    }

    fn passed(&mut self, out: &mut Vec<u8>) -> ControlFlow<()> {
        if out.len() > LARGE && !self.to_variable {
            self.write(&std::mem::take(out));
        }
        ControlFlow::Continue(())
    }

    fn quoted(&self, text: &[u8]) -> Vec<u8> {
        printf_q(text)
    }

    fn has_doubles(&self) -> bool {
        self.shell.state.options.has_set(SetOpt::Posix)
    }

    /// Formats a time: -1 is the current time, -2 the start of the shell.
    fn time(&mut self, format: &[u8], seconds: Option<i64>) -> Vec<u8> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
        let time = match seconds {
            None | Some(-1) => now,
            Some(-2) => now - self.shell.state.seconds.elapsed(),
            Some(t) => t,
        };
        let format = if format.is_empty() { b"%X".as_slice() } else { format };
        let text = self.shell.strftime(format, time);
        // bash formats into 128 bytes; a longer result becomes empty.
        if text.len() < 128 { text } else { Vec::new() }
    }

    fn count(&mut self, out: &mut Vec<u8>, name: &[u8]) -> ProblemVerdict {
        if !is_name(name) {
            self.shell.builtin_error(b"printf", &[b"`", name, b"': not a valid identifier"]);
            return ProblemVerdict::Ends;
        }
        let count = Rc::new(decimal_digits((self.written + out.len()) as i64));
        if let Err(e) = self.shell.assign_reference(name, count) {
            // The status stays 0, as in bash.
            self.shell.print_error(&[&e.message()]);
        }
        ProblemVerdict::Warned
    }
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "v:")?;
    let var = p.last_value(b'v').cloned();
    if let Some(v) = var.as_ref().filter(|v| !is_reference(v)) {
        shell.builtin_error(call.name(), &[b"`", v, b"': not a valid identifier"]);
        return Ok(2);
    }
    let Some((format, args)) = p.operands.split_first() else {
        return Err(shell.print_usage(call.name()));
    };
    let mut host = PrintfHost { shell, to_variable: var.is_some(), written: 0 };
    let (mut out, failed) = command::run(&mut host, format, args);
    match var {
        None => shell.write_out(&out),
        Some(v) => {
            // A variable cannot contain NUL.
            if let Some(end) = memchr::memchr(0, &out) {
                out.truncate(end);
            }
            if let Err(e) = shell.assign_reference(&v, Rc::new(out)) {
                return shell.assignment_refused(call.name(), &e);
            }
        }
    }
    Ok(i32::from(failed))
}
