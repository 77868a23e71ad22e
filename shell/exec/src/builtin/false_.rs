//! `false` (POSIX XCU).

use super::Call;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(_: &mut Shell<'_>, _: &Call<'_>) -> Flow {
    Ok(1)
}
