//! `fg` (POSIX XCU).

use std::rc::Rc;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::SetOpt;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if !need_job_control(shell, call) {
        return Ok(1);
    }
    let Some(id) = find_job(shell, call) else { return Ok(1) };
    if let Some(text) = shell.state.jobs.find(id).map(|j| j.text().to_vec()) {
        shell.write_out(&[text.as_slice(), b"\n"].concat());
        shell.sync_output();
    }
    if shell.controls_jobs() {
        return shell.continue_in_foreground(id);
    }
    Ok(shell.wait_job(id))
}

/// Returns whether `set -m` is on and prints a message if it is not.
pub(super) fn need_job_control(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> bool {
    if shell.state.options.has_set(SetOpt::Monitor) {
        return true;
    }
    shell.builtin_error(call.name(), &[b"no job control"]);
    false
}

/// Returns the job that the operand names, or the current one.
fn find_job(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Option<u32> {
    let spec = call.args().first().cloned().unwrap_or_else(|| Rc::new(b"%%".to_vec()));
    find_job_of(shell, call, &spec)
}

/// Returns the job that a specification names, and prints a message if there is none.
pub(super) fn find_job_of(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    spec: &[u8],
) -> Option<u32> {
    match shell.state.jobs.by_spec(spec) {
        Ok(job) => Some(job.id()),
        Err(e) => {
            let shown: &[u8] = if call.args().is_empty() { b"current" } else { spec };
            shell.builtin_error(call.name(), &[shown, b": ", e.as_bytes()]);
            None
        }
    }
}
