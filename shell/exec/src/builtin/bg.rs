//! `bg` (POSIX XCU).

use std::rc::Rc;

use box_sys::signal;

use super::BuiltinCall;
use super::fg::{find_job_of, need_job_control};
use crate::Shell;
use crate::shell::Flow;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if !need_job_control(shell, call) {
        return Ok(1);
    }
    let current = [Rc::new(b"%%".to_vec())];
    let specs = if call.args().is_empty() { &current[..] } else { call.args() };
    let mut status = 0;
    for spec in specs {
        match find_job_of(shell, call, spec) {
            Some(id) => continue_job(shell, call, id),
            None => status = 1,
        }
    }
    Ok(status)
}

fn continue_job(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, id: u32) {
    shell.reap_children();
    let jobs = &shell.state.jobs;
    let mark = match (jobs.current_job() == Some(id), jobs.previous_job() == Some(id)) {
        (true, _) => "+",
        (false, true) => "-",
        (false, false) => " ",
    };
    match jobs.find(id) {
        Some(job) if job.is_stopped() => {
            let head = format!("[{id}]{mark} ");
            let line = [head.as_bytes(), job.text(), b" &\n"].concat();
            shell.write_out(&line);
            shell.signal_job(id, signal::CONT);
        }
        _ => {
            let number = id.to_string();
            let parts: [&[u8]; 3] = [b"job ", number.as_bytes(), b" already in background"];
            shell.builtin_error(call.name(), &parts);
        }
    }
}
