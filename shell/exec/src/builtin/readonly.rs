//! `readonly` (POSIX XCU).

use super::Call;
use super::declare::mark;
use crate::Shell;
use crate::shell::Flow;
use sh_expand::Attributes;

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    mark(shell, call, Attributes::READONLY)
}
