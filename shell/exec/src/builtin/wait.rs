//! `wait` (POSIX XCU, bash manual 7.2).

use std::rc::Rc;
use std::time::Duration;

use box_sys::Pid;
use sh_expand::{Attributes, Str};

use super::BuiltinCall;
use super::opts::parse_integer;
use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::assign::{is_reference, split_reference};
use crate::state::jobs::{Job, Jobs};
use crate::state::vars::decimal_digits;

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let p = shell.parse_builtin_options(call, "fnp:")?;
    shell.sync_output();
    if shell.state.jobs.is_foreign() {
        shell.state.jobs = Jobs::default();
    }
    let variable = p.last_value(b'p').cloned();
    if let Some(v) = &variable {
        let (base, _) = split_reference(v);
        if !is_reference(v) {
            shell.builtin_error(call.name(), &[b"`", v, b"': not a valid identifier"]);
            return Ok(1);
        }
        if shell.state.vars.get(base).is_some_and(|v| v.attrs.intersects(Attributes::READONLY)) {
            shell.builtin_error(call.name(), &[base, b": cannot unset: readonly variable"]);
            return Ok(1);
        }
        shell.state.vars.unset_var(v, false);
    }
    let waited = if p.has_letter(b'n') {
        wait_any(shell, call, p.operands)?
    } else if p.operands.is_empty() {
        wait_all(shell)?
    } else {
        let mut last = WaitResult::with_status(0);
        for operand in p.operands {
            let waited = wait_operand(shell, call, operand);
            last = WaitResult { pid: waited.pid.or(last.pid), ..waited };
            if last.is_interrupted {
                break;
            }
            shell.run_pending_traps()?;
        }
        last
    };
    if waited.is_interrupted && shell.is_about_to_end() {
        // The EXIT trap sees the status of the command before.
        shell.run_pending_traps()?;
    }
    if let (Some(v), Some(pid)) = (&variable, waited.pid) {
        let _ = shell.assign_reference(v, Rc::new(decimal_digits(i64::from(pid))));
    }
    Ok(waited.status)
}

/// The result of waiting.
struct WaitResult {
    status: i32,
    /// The process that the status belongs to, for `-p`.
    pid: Option<Pid>,
    /// Whether a signal with a trap ended the wait; the trap runs after the wait (POSIX XCU 2.11).
    is_interrupted: bool,
}

impl WaitResult {
    fn with_status(status: i32) -> WaitResult {
        WaitResult { status, pid: None, is_interrupted: false }
    }

    fn by_signal(signal: u8) -> WaitResult {
        WaitResult { status: 128 + i32::from(signal), pid: None, is_interrupted: true }
    }

    /// Converts the result of waiting for a process: its status, or the signal that arrived first.
    fn from_result(pid: Pid, result: Result<i32, u8>) -> WaitResult {
        match result {
            Ok(status) => WaitResult { status, pid: Some(pid), is_interrupted: false },
            Err(signal) => WaitResult::by_signal(signal),
        }
    }
}

/// Performs `wait` for all jobs.
fn wait_all(shell: &mut Shell<'_>) -> Result<WaitResult, Unwind> {
    let ids: Vec<u32> = shell.state.jobs.list().iter().map(Job::id).collect();
    for id in ids {
        if let Err(signal) = shell.wait_job_or_signal(id) {
            return Ok(WaitResult::by_signal(signal));
        }
        shell.run_pending_traps()?;
    }
    Ok(WaitResult::with_status(0))
}

/// Performs `wait %job` or `wait pid`.
fn wait_operand(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, operand: &[u8]) -> WaitResult {
    if operand.starts_with(b"%") {
        let job = shell.state.jobs.by_spec(operand).map(|job| (job.id(), job.last_pid()));
        return match job {
            Ok((id, pid)) => WaitResult::from_result(pid, shell.wait_job_or_signal(id)),
            Err(e) => {
                shell.builtin_error(call.name(), &[operand, b": ", e.as_bytes()]);
                WaitResult::with_status(127)
            }
        };
    }
    let Some(pid) = parse_integer(operand).and_then(|n| u32::try_from(n).ok()) else {
        shell.builtin_error(call.name(), &[b"`", operand, b"': not a pid or valid job spec"]);
        return WaitResult::with_status(1);
    };
    match wait_pid(shell, call, pid) {
        Ok(127) => WaitResult::with_status(127),
        result => WaitResult::from_result(pid, result),
    }
}

/// Waits for a process and returns its status. If a signal with a trap arrives first, the error is
/// that signal.
fn wait_pid(shell: &mut Shell<'_>, call: &BuiltinCall<'_>, pid: Pid) -> Result<i32, u8> {
    if let Some(job) = shell.state.jobs.by_pid(pid) {
        let id = job.id();
        let status = shell.wait_job_or_signal(id)?;
        return Ok(shell.state.jobs.ended_status(pid).unwrap_or(status));
    }
    if let Some(status) = shell.state.jobs.ended_status(pid) {
        return Ok(status);
    }
    loop {
        match shell.sys.wait_or_signal(pid) {
            // This is a process substitution, a child that is not on any list.
            Ok(Some(s)) => {
                let status = i32::from(s.shell_status());
                shell.state.jobs.remember_status(pid, status);
                shell.child_ended();
                return Ok(status);
            }
            Ok(None) => {
                if let Some(signal) = shell.waiting_signal() {
                    return Err(signal);
                }
            }
            Err(_) => break,
        }
    }
    shell.builtin_error(
        call.name(),
        &[b"pid ", &decimal_digits(i64::from(pid)), b" is not a child of this shell"],
    );
    Ok(127)
}

/// Performs `wait -n` for the first of some jobs, or of all.
fn wait_any(
    shell: &mut Shell<'_>,
    call: &BuiltinCall<'_>,
    operands: &[Str],
) -> Result<WaitResult, Unwind> {
    let mut ids = Vec::new();
    for a in operands {
        match shell.state.jobs.find_by_operand(a).map(Job::id) {
            Some(id) => ids.push(id),
            None => shell.builtin_error(call.name(), &[a, b": no such job"]),
        }
    }
    if operands.is_empty() {
        ids.extend(shell.state.jobs.list().iter().map(Job::id));
    }
    if ids.is_empty() {
        return Ok(WaitResult::with_status(127));
    }
    let find = |shell: &Shell<'_>, wanted: fn(&Job) -> bool| {
        let mut jobs = ids.iter().filter_map(|id| shell.state.jobs.find(*id));
        jobs.find(|j| wanted(j)).map(|j| (j.id(), j.last_pid()))
    };
    // Jobs whose output this shell carries must be read, because they might never end otherwise.
    if let Some((id, pid)) = find(shell, |j| !j.pumps().is_empty()) {
        return Ok(WaitResult::from_result(pid, Ok(shell.wait_job(id))));
    }
    let mut pause = Duration::from_micros(100);
    loop {
        shell.reap_children();
        if let Some((id, pid)) = find(shell, Job::is_done) {
            return Ok(WaitResult::from_result(pid, Ok(shell.wait_job(id))));
        }
        if let Some(signal) = shell.waiting_signal() {
            return Ok(WaitResult::by_signal(signal));
        }
        box_sys::events::sleep_for(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
