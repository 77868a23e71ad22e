//! `false` (POSIX XCU).

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(_: &mut Shell<'_>, _: &BuiltinCall<'_>) -> Flow {
    Ok(1)
}
