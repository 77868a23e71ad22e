//! `wait` (POSIX XCU, bash manual 7.2).

use std::rc::Rc;
use std::time::Duration;

use super::Call;
use super::opts::integer;
use crate::Shell;
use crate::shell::Flow;
use crate::state::assign::{is_reference, split_reference};
use crate::state::vars::decimal;

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "fnp:") {
        Ok(p) => p,
        Err(r) => return r,
    };
    shell.sync_output();
    if shell.state.jobs.foreign {
        shell.state.jobs = Rc::default();
    }
    let var = p.value(b'p').cloned();
    if let Some(v) = &var {
        let (base, _) = split_reference(v);
        if !is_reference(v) {
            shell.builtin_error(call.name(), &[b"`", v, b"': not a valid identifier"]);
            return Ok(1);
        }
        if shell.state.vars.get(base).is_some_and(|v| v.attrs.readonly) {
            shell.builtin_error(call.name(), &[base, b": cannot unset: readonly variable"]);
            return Ok(1);
        }
        shell.state.vars.unset(v, false);
    }
    let set_pid = |shell: &mut Shell<'_>, pid: u32| {
        if let Some(v) = &var {
            let _ = shell.assign_reference(v, Rc::new(decimal(i64::from(pid))));
        }
    };
    if p.has(b'n') {
        return wait_any(shell, call, p.operands, set_pid);
    }
    if p.operands.is_empty() {
        let ids: Vec<u32> = shell.state.jobs.list.iter().map(|j| j.id).collect();
        for id in ids {
            if let Err(signal) = shell.wait_job_or_signal(id) {
                return Ok(interrupted(signal));
            }
            shell.run_pending_traps()?;
        }
        return Ok(0);
    }
    let mut status = 0;
    for a in p.operands {
        if a.starts_with(b"%") {
            status = match shell.state.jobs.by_spec(a) {
                Ok(id) => {
                    let pid = shell.state.jobs.find(id).map_or(0, |j| j.last_pid());
                    match shell.wait_job_or_signal(id) {
                        Ok(s) => {
                            set_pid(shell, pid);
                            s
                        }
                        Err(signal) => return Ok(interrupted(signal)),
                    }
                }
                Err(e) => {
                    shell.builtin_error(call.name(), &[a, b": ", e.as_bytes()]);
                    127
                }
            };
            continue;
        }
        let Some(pid) = integer(a).and_then(|n| u32::try_from(n).ok()) else {
            shell.builtin_error(call.name(), &[b"`", a, b"': not a pid or valid job spec"]);
            status = 1;
            continue;
        };
        status = match wait_pid(shell, call, pid) {
            Ok(s) => s,
            Err(signal) => return Ok(interrupted(signal)),
        };
        if status != 127 {
            set_pid(shell, pid);
        }
        shell.run_pending_traps()?;
    }
    Ok(status)
}

/// The status of a `wait` that a signal ended; the trap runs after it (POSIX XCU 2.11).
fn interrupted(signal: u8) -> i32 {
    128 + i32::from(signal)
}

/// The status of a process; the error is the signal with a trap that came first.
fn wait_pid(shell: &mut Shell<'_>, call: &Call<'_>, pid: u32) -> Result<i32, u8> {
    if let Some(job) = shell.state.jobs.by_pid(pid) {
        let id = job.id;
        let status = shell.wait_job_or_signal(id)?;
        return Ok(shell.state.jobs.ended_status(pid).unwrap_or(status));
    }
    if let Some(status) = shell.state.jobs.ended_status(pid) {
        return Ok(status);
    }
    loop {
        match shell.sys.wait_or_signal(pid) {
            // A process substitution: a child that is on no list.
            Ok(Some(s)) => {
                let status = i32::from(s.shell_status());
                Rc::make_mut(&mut shell.state.jobs).remember(pid, status);
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
        &[b"pid ", &decimal(i64::from(pid)), b" is not a child of this shell"],
    );
    Ok(127)
}

fn wait_any(
    shell: &mut Shell<'_>,
    call: &Call<'_>,
    operands: &[sh_expand::Str],
    set_pid: impl Fn(&mut Shell<'_>, u32),
) -> Flow {
    let mut ids = Vec::new();
    for a in operands {
        let by_pid = integer(a)
            .and_then(|n| u32::try_from(n).ok())
            .and_then(|pid| shell.state.jobs.by_pid(pid).map(|j| j.id));
        match by_pid.or_else(|| shell.state.jobs.by_spec(a).ok().filter(|_| a.starts_with(b"%"))) {
            Some(id) => ids.push(id),
            None => {
                shell.builtin_error(call.name(), &[a, b": no such job"]);
            }
        }
    }
    if operands.is_empty() {
        ids.extend(shell.state.jobs.list.iter().map(|j| j.id));
    }
    if ids.is_empty() {
        return Ok(127);
    }
    // Jobs whose output we carry must be read, else they may never end.
    if let Some(id) = ids
        .iter()
        .copied()
        .find(|id| shell.state.jobs.find(*id).is_some_and(|j| !j.pumps.is_empty()))
    {
        let pid = shell.state.jobs.find(id).map_or(0, |j| j.last_pid());
        let s = shell.wait_job(id);
        set_pid(shell, pid);
        return Ok(s);
    }
    let mut pause = Duration::from_micros(100);
    loop {
        shell.reap();
        for id in &ids {
            if shell.state.jobs.find(*id).is_some_and(|j| j.is_done()) {
                let pid = shell.state.jobs.find(*id).map_or(0, |j| j.last_pid());
                let s = shell.wait_job(*id);
                set_pid(shell, pid);
                return Ok(s);
            }
        }
        if let Some(signal) = shell.waiting_signal() {
            return Ok(interrupted(signal));
        }
        box_sys::events::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
