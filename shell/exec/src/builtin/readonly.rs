//! `readonly` (POSIX XCU).

use super::BuiltinCall;
use super::declare::mark_variables;
use crate::Shell;
use crate::shell::Flow;
use sh_expand::Attributes;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    mark_variables(shell, call, Attributes::READONLY)
}
