//! `break` (POSIX XCU).

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::options::SetOpt;

/// Parses the number of levels to leave; reports an invalid one before it returns the error.
pub(super) fn parse_levels(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Result<u32, Unwind> {
    let mut args = call.args();
    if args.first().is_some_and(|a| a.as_slice() == b"--") {
        args = &args[1..];
    }
    if shell.state.here.loops == 0 {
        // POSIX leaves `break` outside of a loop unspecified, and in POSIX mode bash prints
        // nothing.
        if !shell.state.options.has_set(SetOpt::Posix) {
            let message: &[u8] = b"only meaningful in a `for', `while', or `until' loop";
            shell.builtin_error(call.name(), &[message]);
        }
        return Err(Unwind::Builtin(0));
    }
    let Some(a) = args.first() else { return Ok(1) };
    let Some(n) = parse_integer(a) else {
        shell.numeric_error(call.name(), a);
        return Err(Unwind::Exit(128));
    };
    if args.len() > 1 {
        shell.builtin_error(call.name(), &[b"too many arguments"]);
        return Err(shell.too_many_arguments());
    }
    if n <= 0 {
        shell.builtin_error(call.name(), &[a, b": loop count out of range"]);
        // bash leaves all loops.
        shell.state.status = 1;
        return Err(Unwind::Break(shell.state.here.loops));
    }
    Ok(u32::try_from(n).unwrap_or(u32::MAX).min(shell.state.here.loops))
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let n = parse_levels(shell, call)?;
    shell.state.status = 0;
    Err(Unwind::Break(n))
}
