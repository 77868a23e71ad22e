//! `let` (bash manual 4.2).

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::here::CommandContext;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    if args.is_empty() {
        shell.builtin_error(call.name(), &[b"expression expected"]);
        return Ok(1);
    }
    let mut last = 0;
    for a in args {
        match shell.run_within(CommandContext::Expression(b"let: "), |shell| {
            sh_expand::arith::eval_text(shell, a)
        }) {
            Ok(n) => last = n,
            Err(e) => return shell.expression_failed(b"let: ", e),
        }
    }
    Ok(i32::from(last == 0))
}
