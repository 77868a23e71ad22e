//! `continue` (POSIX XCU).

use super::Call;
use super::break_::levels;
use crate::Shell;
use crate::shell::{Flow, Unwind};

pub(super) fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    match levels(shell, call) {
        Ok(n) => {
            shell.state.status = 0;
            Err(Unwind::Continue(n))
        }
        Err(r) => r,
    }
}
