//! `disown` (bash manual 7.2). `-h` has no effect, because no job receives a HUP when the shell
//! ends.

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "ahr")?;
    let mut ids = Vec::new();
    let mut status = 0;
    if p.operands.is_empty() {
        match (p.has_letter(b'a') || p.has_letter(b'r'), shell.state.jobs.current_job()) {
            (true, _) => {
                let only_running = p.has_letter(b'r');
                let jobs = shell.state.jobs.list().iter();
                let chosen = jobs.filter(|j| !only_running || j.running_pid().is_some());
                ids.extend(chosen.map(|j| j.id()));
            }
            (false, Some(id)) => ids.push(id),
            (false, None) => {
                shell.builtin_error(call.name(), &[b"current: no such job"]);
                return Ok(1);
            }
        }
    }
    for spec in p.operands {
        match shell.state.jobs.find_by_operand(spec) {
            Some(job) => ids.push(job.id()),
            None => {
                shell.builtin_error(call.name(), &[spec, b": no such job"]);
                status = 1;
            }
        }
    }
    if !p.has_letter(b'h') {
        ids.into_iter().for_each(|id| shell.state.jobs.remove(id));
    }
    Ok(status)
}
