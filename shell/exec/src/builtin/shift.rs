//! `shift` (POSIX XCU).

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::ShOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    let n = match args.first() {
        None => 1,
        Some(a) => match parse_integer(a) {
            Some(n) => n,
            None => {
                shell.numeric_error(call.name(), a);
                return Ok(1);
            }
        },
    };
    if args.len() > 1 {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Err(shell.too_many_arguments());
    }
    let len = shell.state.params.list().len();
    match usize::try_from(n) {
        Ok(n) if n <= len => {
            shell.state.params.shift(n);
            Ok(0)
        }
        _ => {
            let loud = n < 0 || shell.state.options.has_shopt(ShOpt::ShiftVerbose);
            if loud {
                let mut text = call.args().first().map(|a| a.to_vec()).unwrap_or_default();
                if !text.is_empty() {
                    text.extend_from_slice(b": ");
                }
                shell.builtin_error(call.name(), &[&text, b"shift count out of range"]);
            }
            Ok(1)
        }
    }
}
