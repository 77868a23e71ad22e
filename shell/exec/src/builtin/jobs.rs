//! `jobs` (POSIX XCU, bash manual 7.2).

use std::rc::Rc;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::jobs::Job;

/// Returns the line that `jobs` prints.
fn job_line(shell: &Shell<'_>, job: &Job, long: bool) -> Vec<u8> {
    let mark = if shell.state.jobs.current_job() == Some(job.id()) {
        '+'
    } else if shell.state.jobs.previous_job() == Some(job.id()) {
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
    let mut out = format!("[{}]{mark}  {pid}{state:<24}", job.id()).into_bytes();
    out.extend_from_slice(job.text());
    if !job.is_done() {
        out.extend_from_slice(b" &");
    }
    out.push(b'\n');
    out
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
    let mut done = Vec::new();
    for job in jobs.list() {
        if !p.operands.is_empty() && !wanted.contains(&job.id())
            || p.has_letter(b'r') && job.is_done()
            || p.has_letter(b's')
        {
            continue;
        }
        if p.has_letter(b'p') {
            shell.write_out(format!("{}\n", job.leader()).as_bytes());
        } else {
            let text = job_line(shell, job, p.has_letter(b'l'));
            shell.write_out(&text);
        }
        if job.is_done() {
            done.push(job.id());
        }
    }
    if !jobs.is_foreign() {
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
