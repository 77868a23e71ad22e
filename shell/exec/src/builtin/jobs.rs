//! `jobs`, `fg`, `bg`, `disown` (POSIX XCU, bash manual 7.2), and reaping.

use std::rc::Rc;

use box_sys::Pid;

use super::Call;
use crate::Shell;
use crate::shell::Flow;
use crate::state::jobs::Job;
use crate::state::options::SetOpt;

impl Shell<'_> {
    /// Collects children that ended, without waiting.
    pub(crate) fn reap(&mut self) {
        if self.state.jobs.foreign {
            return;
        }
        let running: Vec<Pid> = self
            .state
            .jobs
            .list
            .iter()
            .filter(|j| j.pumps.is_empty())
            .flat_map(|j| j.processes.iter())
            .filter(|p| p.status.is_none())
            .map(|p| p.pid)
            .collect();
        for pid in running {
            if let Ok(Some(s)) = self.sys.try_wait(pid) {
                let status = i32::from(s.shell_status());
                Rc::make_mut(&mut self.state.jobs).set_status(pid, status);
                self.child_ended();
            }
        }
    }

    /// Waits for a job as `wait` does; the error is the signal with a trap that came first.
    pub(crate) fn wait_job_or_signal(&mut self, id: u32) -> Result<i32, u8> {
        self.sync_output();
        let job = self.state.jobs.find(id);
        // Output that we carry must be read to its end, whatever comes.
        if box_sys::events::dispositions().0 == 0 || job.is_none_or(|j| !j.pumps.is_empty()) {
            return Ok(self.wait_job(id));
        }
        let pids: Vec<Pid> = job
            .map(|j| j.processes.iter().filter(|p| p.status.is_none()).map(|p| p.pid).collect())
            .unwrap_or_default();
        for pid in pids {
            let status = loop {
                match self.sys.wait_or_signal(pid) {
                    Ok(Some(s)) => break i32::from(s.shell_status()),
                    Ok(None) => {
                        if let Some(signal) = self.waiting_signal() {
                            return Err(signal);
                        }
                        // Not for this shell: it is kept for the one around.
                    }
                    Err(_) => break 127,
                }
            };
            Rc::make_mut(&mut self.state.jobs).set_status(pid, status);
            self.child_ended();
        }
        Ok(self.wait_job(id))
    }

    /// Waits for all processes of a job and takes it off the list; its status.
    pub(crate) fn wait_job(&mut self, id: u32) -> i32 {
        self.sync_output();
        let Some(job) = self.state.jobs.find(id) else { return 127 };
        let pumps = job.pumps.clone();
        let pids: Vec<Pid> =
            job.processes.iter().filter(|p| p.status.is_none()).map(|p| p.pid).collect();
        for p in pumps {
            self.drain(&p.read, &p.into);
        }
        for pid in pids {
            let status = match self.sys.wait(pid) {
                Ok(s) => i32::from(s.shell_status()),
                Err(_) => 127,
            };
            Rc::make_mut(&mut self.state.jobs).set_status(pid, status);
            self.child_ended();
        }
        let status = self.state.jobs.find(id).and_then(Job::status).unwrap_or(127);
        Rc::make_mut(&mut self.state.jobs).remove(id);
        status
    }

    /// Output of background jobs into a capture buffer is complete only when they ended.
    pub(crate) fn drain_captured_jobs(&mut self) {
        if self.state.jobs.foreign || self.state.jobs.list.iter().all(|j| j.pumps.is_empty()) {
            return;
        }
        let jobs = Rc::make_mut(&mut self.state.jobs);
        let pumps: Vec<_> =
            jobs.list.iter_mut().flat_map(|j| std::mem::take(&mut j.pumps)).collect();
        for p in pumps {
            self.drain(&p.read, &p.into);
        }
    }
}

/// The line `jobs` prints.
fn line(shell: &Shell<'_>, job: &Job, long: bool) -> Vec<u8> {
    let mark = if shell.state.jobs.current == Some(job.id) {
        '+'
    } else if shell.state.jobs.previous == Some(job.id) {
        '-'
    } else {
        ' '
    };
    let state = match job.status() {
        None => "Running".to_string(),
        Some(0) => "Done".to_string(),
        Some(s @ 129..=192) => match s {
            143 => "Terminated".to_string(),
            137 => "Killed".to_string(),
            130 => "Interrupt".to_string(),
            _ => format!("Exit {s}"),
        },
        Some(s) => format!("Exit {s}"),
    };
    let pid = if long { format!("{} ", job.leader()) } else { String::new() };
    let mut out = format!("[{}]{mark}  {pid}{state:<24}", job.id).into_bytes();
    out.extend_from_slice(&job.text);
    if !job.is_done() {
        out.extend_from_slice(b" &");
    }
    out.push(b'\n');
    out
}

pub fn jobs(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if call.args().first().is_some_and(|a| a.as_slice() == b"-x") {
        return run_with_ids(shell, call.args().get(1..).unwrap_or_default());
    }
    let p = match shell.options(call, "lnprsx") {
        Ok(p) => p,
        Err(r) => return r,
    };
    shell.reap();
    let jobs = shell.state.jobs.clone();
    let mut status = 0;
    let mut wanted = Vec::new();
    for spec in p.operands {
        match jobs.by_spec(spec) {
            Ok(id) => wanted.push(id),
            Err(e) => {
                shell.builtin_error(call.name(), &[spec, b": ", e.as_bytes()]);
                status = 1;
            }
        }
    }
    let mut done = Vec::new();
    for job in &jobs.list {
        if !p.operands.is_empty() && !wanted.contains(&job.id)
            || p.has(b'r') && job.is_done()
            || p.has(b's')
        {
            continue;
        }
        if p.has(b'p') {
            shell.out(format!("{}\n", job.leader()).as_bytes());
        } else {
            let text = line(shell, job, p.has(b'l'));
            shell.out(&text);
        }
        if job.is_done() {
            done.push(job.id);
        }
    }
    if !jobs.foreign {
        for id in done {
            Rc::make_mut(&mut shell.state.jobs).remove(id);
        }
    }
    Ok(status)
}

/// `jobs -x command [argument]...`: job specifications become process numbers.
fn run_with_ids(shell: &mut Shell<'_>, words: &[sh_expand::Str]) -> Flow {
    let jobs = shell.state.jobs.clone();
    let leader = |w: &sh_expand::Str| {
        let id = if w.starts_with(b"%") { jobs.by_spec(w).ok()? } else { return None };
        jobs.find(id).map(|j| Rc::new(j.leader().to_string().into_bytes()))
    };
    let words: Vec<_> = words.iter().map(|w| leader(w).unwrap_or_else(|| w.clone())).collect();
    if words.is_empty() {
        return Ok(0);
    }
    super::command::run(shell, &words)
}

fn need_job_control(shell: &mut Shell<'_>, call: &Call<'_>) -> bool {
    if shell.state.options.has(SetOpt::Monitor) {
        return true;
    }
    shell.builtin_error(call.name(), &[b"no job control"]);
    false
}

fn find(shell: &mut Shell<'_>, call: &Call<'_>) -> Option<u32> {
    let spec = call.args().first().cloned().unwrap_or_else(|| Rc::new(b"%%".to_vec()));
    match shell.state.jobs.by_spec(&spec) {
        Ok(id) => Some(id),
        Err(e) => {
            let shown: &[u8] = if call.args().is_empty() { b"current" } else { &spec };
            shell.builtin_error(call.name(), &[shown, b": ", e.as_bytes()]);
            None
        }
    }
}

pub fn fg(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if !need_job_control(shell, call) {
        return Ok(1);
    }
    let Some(id) = find(shell, call) else { return Ok(1) };
    if let Some(text) = shell.state.jobs.find(id).map(|j| j.text.clone()) {
        shell.out(&[text.as_slice(), b"\n"].concat());
    }
    Ok(shell.wait_job(id))
}

pub fn bg(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    if !need_job_control(shell, call) {
        return Ok(1);
    }
    match find(shell, call) {
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

pub fn disown(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "ahr") {
        Ok(p) => p,
        Err(r) => return r,
    };
    let mut ids = Vec::new();
    let mut status = 0;
    if p.operands.is_empty() {
        match (p.has(b'a') || p.has(b'r'), shell.state.jobs.current) {
            (true, _) => ids.extend(shell.state.jobs.list.iter().map(|j| j.id)),
            (false, Some(id)) => ids.push(id),
            (false, None) => {
                shell.builtin_error(call.name(), &[b"current: no such job"]);
                return Ok(1);
            }
        }
    }
    for spec in p.operands {
        let by_pid = super::opts::integer(spec)
            .and_then(|n| u32::try_from(n).ok())
            .and_then(|pid| shell.state.jobs.by_pid(pid).map(|j| j.id));
        match by_pid
            .or_else(|| shell.state.jobs.by_spec(spec).ok().filter(|_| spec.starts_with(b"%")))
        {
            Some(id) => ids.push(id),
            None => {
                shell.builtin_error(call.name(), &[spec, b": no such job"]);
                status = 1;
            }
        }
    }
    let jobs = Rc::make_mut(&mut shell.state.jobs);
    for id in ids {
        if p.has(b'h') {
            if let Some(j) = jobs.find_mut(id) {
                j.no_hup = true;
            }
        } else {
            jobs.remove(id);
        }
    }
    Ok(status)
}
