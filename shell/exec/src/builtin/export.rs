//! `export` (POSIX XCU).

use super::Call;
use super::declare::mark;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    mark(shell, call, |a| a.export = true)
}
