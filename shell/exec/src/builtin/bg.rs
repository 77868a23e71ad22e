//! `bg` (POSIX XCU). Every job is already running, because no job is ever stopped here.

use super::BuiltinCall;
use super::fg::{find_job, need_job_control};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if !need_job_control(shell, call) {
        return Ok(1);
    }
    match find_job(shell, call) {
        Some(id) => {
            shell.builtin_error(
                call.name(),
                &[b"job ", id.to_string().as_bytes(), b" already in background"],
            );
            Ok(0)
        }
        None => Ok(1),
    }
}
