//! `continue` (POSIX XCU).

use super::BuiltinCall;
use super::break_::parse_levels;
use crate::Shell;
use crate::shell::{Flow, Unwind};

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let n = parse_levels(shell, call)?;
    shell.state.status = 0;
    Err(Unwind::Continue(n))
}
