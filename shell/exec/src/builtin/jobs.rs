//! `jobs` (POSIX XCU, bash manual 7.2).

use std::rc::Rc;

use box_sys::signal;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::jobs::{Job, JobState};

/// Returns the line that `jobs` prints.
fn job_line(shell: &Shell<'_>, job: &Job, long: bool) -> Vec<u8> {
    let mark = if shell.state.jobs.current_job() == Some(job.id()) {
        '+'
    } else if shell.state.jobs.previous_job() == Some(job.id()) {
        '-'
    } else {
        ' '
    };
    let state = match job.state() {
        JobState::Running => "Running".to_string(),
        JobState::Stopped(signal::TSTP) => "Stopped".to_string(),
        JobState::Stopped(number) if long => signal::describe(number),
        JobState::Stopped(_) => "Stopped".to_string(),
        JobState::Done { signal: Some(number), .. } => signal::describe(number),
        JobState::Done { status: 0, .. } => "Done".to_string(),
        JobState::Done { status, .. } => format!("Exit {status}"),
    };
    let head = if long {
        format!("[{}]{mark} {:>5} ", job.id(), job.leader())
    } else {
        format!("[{}]{mark}  ", job.id())
    };
    let mut out = format!("{head}{state:<24}").into_bytes();
    let mut stages = job.stages();
    match stages.next().filter(|_| long) {
        None => out.extend_from_slice(job.text()),
        // A line for each process.
        Some((_, first)) => {
            out.extend_from_slice(first);
            for (pid, text) in stages {
                out.extend_from_slice(format!("\n     {pid:>5} {:<22}| ", "").as_bytes());
                out.extend_from_slice(text);
            }
        }
    }
    if job.state() == JobState::Running {
        out.extend_from_slice(b" &");
    }
    out.push(b'\n');
    out
}

impl Shell<'_> {
    /// Returns the line about a job that the shell prints by itself.
    pub(crate) fn job_notice(&self, job: &Job) -> Vec<u8> {
        job_line(self, job, false)
    }
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    if call.args().first().is_some_and(|a| a.as_slice() == b"-x") {
        return run_with_ids(shell, call.args().get(1..).unwrap_or_default());
    }
    let p = shell.parse_builtin_options(call, "lnprsx")?;
    shell.reap_children();
    let jobs = shell.state.jobs.clone();
    let mut status = 0;
    let mut wanted = Vec::new();
    for spec in p.operands {
        match jobs.by_spec(spec) {
            Ok(job) => wanted.push(job.id()),
            Err(e) => {
                shell.builtin_error(call.name(), &[spec, b": ", e.as_bytes()]);
                status = 1;
            }
        }
    }
    let (mut done, mut shown) = (Vec::new(), Vec::new());
    for job in jobs.list() {
        if !p.operands.is_empty() && !wanted.contains(&job.id())
            || p.has_letter(b'r') && job.state() != JobState::Running
            || p.has_letter(b's') && !job.is_stopped()
            || p.has_letter(b'n') && job.is_noticed()
        {
            continue;
        }
        if p.has_letter(b'p') {
            shell.write_out(format!("{}\n", job.leader()).as_bytes());
        } else {
            let text = job_line(shell, job, p.has_letter(b'l'));
            shell.write_out(&text);
            shown.push(job.id());
        }
        if job.is_done() {
            done.push(job.id());
        }
    }
    if !jobs.is_foreign() {
        shown.into_iter().for_each(|id| shell.state.jobs.set_noticed(id));
        for id in done {
            shell.state.jobs.remove(id);
        }
    }
    Ok(status)
}

/// Performs `jobs -x command [argument]...`: job specifications become process numbers.
fn run_with_ids(shell: &mut Shell<'_>, words: &[sh_expand::Str]) -> Flow {
    let jobs = shell.state.jobs.clone();
    let leader = |w: &sh_expand::Str| {
        let job = jobs.by_spec(w).ok().filter(|_| w.starts_with(b"%"))?;
        Some(Rc::new(job.leader().to_string().into_bytes()))
    };
    let words: Vec<_> = words.iter().map(|w| leader(w).unwrap_or_else(|| w.clone())).collect();
    if words.is_empty() {
        return Ok(0);
    }
    super::command::run_without_functions(shell, &words)
}
