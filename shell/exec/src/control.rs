//! Job control (POSIX XCU 2.11, bash manual 7): an interactive shell on a terminal.
//!
//! Each job is a process group of its own. The shell lends the terminal to the group of the job in
//! the foreground and takes it back when the job ends or stops. Only the shell itself does so: in
//! its subshells `set -m` is off, and what they start stays in the subshell's group. That is why a
//! subshell in the foreground, or the last stage of a pipeline, is a process here, although without
//! job control it is a copy of the state: a stopped job must not stop the shell.
//!
//! # Deliberately absent
//! Notices at once (`set -b`): they come before the next prompt. Loops and functions whose command
//! is stopped cannot be continued, as in bash: the command continues, the loop has ended.

use std::fs::File;
use std::rc::Rc;

use box_sys::terminal::{self, AttributesMoment, Termios};
use box_sys::{NewGroup, Pid, events, signal};

use crate::Shell;
use crate::io::DescriptorTarget;
use crate::shell::{Flow, Unwind};
use crate::state::jobs::{JobState, NewJob};
use crate::state::options::SetOpt;
use crate::walk::JobText;

/// The terminal of a shell with job control.
#[derive(Debug)]
pub(crate) struct JobTerminal {
    /// A descriptor that redirections do not change.
    file: Rc<File>,
    /// The shell's group.
    own: Pid,
    /// The group that had the terminal when the shell began.
    before: Pid,
    leads_session: bool,
    /// The terminal's modes while the shell has it.
    modes: Option<Termios>,
}

/// The end of a job in the foreground.
pub(crate) struct ForegroundEnd {
    state: JobState,
    /// The statuses of its processes.
    pub statuses: Vec<i32>,
}

impl JobTerminal {
    /// Makes a group the foreground one. The shell may be in the background then, so that the
    /// signal for writers in the background is ignored meanwhile.
    fn lend(&self, group: Pid) {
        let (caught, ignored) = events::signal_dispositions();
        events::catch_signals(caught, ignored | events::signal_bit(signal::TTOU));
        // A failure means that the job or the terminal is gone.
        let _ = terminal::set_foreground_group(&self.file, group);
        events::catch_signals(caught, ignored);
    }

    /// Takes the terminal back. After a job that ended by itself its modes stay, as in bash: `stty`
    /// is such a job.
    fn take_back(&mut self, keeps_modes: bool) {
        self.lend(self.own);
        if keeps_modes {
            self.modes = terminal::attributes(&self.file).ok();
        } else if let Some(modes) = &self.modes {
            let _ = terminal::set_attributes(&self.file, modes, AttributesMoment::Drained);
        }
    }
}

impl Shell<'_> {
    /// Begins job control, if the shell's terminal controls its session.
    pub fn begin_job_control(&mut self) {
        let Some(DescriptorTarget::File(f)) = self.state.fds.get(2) else { return };
        let Ok(file) = self.sys.dup(f.file()) else { return };
        let file = Rc::new(file);
        let Ok(before) = terminal::foreground_group(&file) else { return };
        let Ok(membership) = terminal::own_membership(&file) else { return };
        let own = self.sys.pid();
        if membership.group != own && terminal::lead_group(&file).is_err() {
            return;
        }
        let leads_session = membership.session == own;
        let mut found = JobTerminal { file, own, before, leads_session, modes: None };
        found.take_back(true);
        self.terminal = Some(Box::new(found));
        self.state.options.switch_set(SetOpt::Monitor, true);
    }

    /// Returns whether jobs of this shell have groups and the terminal.
    pub(crate) fn controls_jobs(&self) -> bool {
        self.terminal.is_some() && self.state.options.has_set(SetOpt::Monitor)
    }

    /// Returns whether the shell leads the session of its terminal, so that nobody could continue it
    /// if it stopped.
    pub(crate) fn leads_session(&self) -> bool {
        self.terminal.as_ref().is_none_or(|t| t.leads_session)
    }

    /// Returns a descriptor of the shell's terminal.
    pub fn terminal_file(&self) -> Option<Rc<File>> {
        self.terminal.as_ref().map(|t| t.file.clone())
    }

    /// Makes the next child the leader of a job in the foreground.
    pub(crate) fn begin_foreground_job(&mut self) {
        if self.controls_jobs() {
            self.children.group = NewGroup::Foreground;
        }
    }

    /// Waits for the processes of a new job in the foreground. `text` is its text if it stops.
    pub(crate) fn wait_foreground(
        &mut self,
        pids: Vec<Pid>,
        text: impl FnOnce() -> JobText,
    ) -> ForegroundEnd {
        self.children.group = NewGroup::Inherit;
        let id = self.state.jobs.add(NewJob { pids, leads_group: true, ..NewJob::default() });
        self.wait_foreground_job(id, text)
    }

    fn wait_foreground_job(&mut self, id: u32, text: impl FnOnce() -> JobText) -> ForegroundEnd {
        self.sync_output();
        while let Some(pid) = self.state.jobs.find(id).and_then(|j| j.running_pid()) {
            match self.sys.wait_change(pid) {
                Ok(Some(change)) => self.note_change(pid, change),
                // The shell acts on its own signals when it has the terminal again.
                Ok(None) => self.collect_signals(),
                Err(_) => self.state.jobs.set_status(pid, 127),
            }
        }
        let Some(job) = self.state.jobs.find_mut(id) else {
            return ForegroundEnd {
                state: JobState::Done { status: 127, signal: None },
                statuses: vec![127],
            };
        };
        let (mut state, mut statuses) = (job.state(), job.statuses());
        if job.is_done() && job.is_interrupted() {
            let status = 128 + i32::from(signal::INT);
            state = JobState::Done { status, signal: Some(signal::INT) };
            statuses.pop();
            statuses.push(status);
        }
        if let Some(t) = &mut self.terminal {
            if let JobState::Stopped(_) = state {
                job.modes = terminal::attributes(&t.file).ok();
            }
            t.take_back(matches!(state, JobState::Done { signal: None, .. }));
        }
        if let JobState::Stopped(_) = state {
            job.set_text(text);
            self.show_notice(id);
        } else {
            self.state.jobs.remove(id);
        }
        ForegroundEnd { state, statuses }
    }

    /// Acts on the end of a job in the foreground, whose status is `status`: a job that a signal has
    /// ended is reported, and Ctrl-C gives up the commands around the job, as if the shell had
    /// received it, too. A job that has stopped ends the loops around it.
    pub(crate) fn finish_foreground(&mut self, end: &ForegroundEnd, status: i32) -> Flow {
        match end.state {
            JobState::Done { signal: Some(signal::INT), .. } => {
                if self.state.traps.get(signal::INT).is_none() {
                    self.signals.interrupt_command();
                    return Err(Unwind::Discard(status));
                }
                self.write_err(b"\n");
            }
            JobState::Done { signal: Some(signal::PIPE) | None, .. } | JobState::Running => {}
            JobState::Done { signal: Some(number), .. } => {
                self.write_err(format!("{}\n", signal::describe(number)).as_bytes());
            }
            JobState::Stopped(_) if self.state.here.loops > 0 => {
                self.state.status = status;
                return Err(Unwind::Break(self.state.here.loops));
            }
            JobState::Stopped(_) => {}
        }
        Ok(status)
    }

    /// Brings a job into the foreground, and waits for it.
    pub(crate) fn continue_in_foreground(&mut self, id: u32) -> Flow {
        let Some(job) = self.state.jobs.find_mut(id) else { return Ok(1) };
        let (group, modes, was_stopped) = (job.group(), job.modes.take(), job.is_stopped());
        if let (Some(t), Some(group)) = (&self.terminal, group) {
            if let Some(modes) = &modes {
                let _ = terminal::set_attributes(&t.file, modes, AttributesMoment::Drained);
            }
            t.lend(group);
        }
        if was_stopped {
            self.signal_job(id, signal::CONT);
        }
        // It has its text already.
        let end = self.wait_foreground_job(id, JobText::default);
        let status = end.statuses.last().copied().unwrap_or(127);
        self.finish_foreground(&end, status)
    }

    /// Sends a signal to the processes of a job. One that would end a stopped job continues it, so
    /// that it can end.
    pub(crate) fn signal_job(&mut self, id: u32, number: u8) {
        let Some(job) = self.state.jobs.find(id) else { return };
        let (group, pids) = (job.group(), job.living_pids().collect::<Vec<Pid>>());
        let is_stopped = job.is_stopped();
        let sys = self.sys;
        let send = |number: u8| match group {
            Some(group) => {
                let _ = sys.kill_group(group, number);
            }
            // A process that has just ended needs no signal.
            None => pids.iter().for_each(|pid| {
                let _ = sys.kill(*pid, number);
            }),
        };
        send(number);
        if is_stopped && [signal::HUP, signal::TERM].contains(&number) {
            send(signal::CONT);
        }
        if number == signal::CONT {
            self.state.jobs.set_running(id);
        }
    }

    /// Prints the state of a job that has ended or stopped.
    fn show_notice(&mut self, id: u32) {
        let Some(job) = self.state.jobs.find(id) else { return };
        let mut notice = self.job_notice(job);
        if job.is_stopped() {
            notice.insert(0, b'\n');
        }
        self.write_err(&notice);
        self.state.jobs.set_noticed(id);
    }

    /// Prints which jobs have ended or stopped since the last prompt.
    pub(crate) fn show_notices(&mut self) {
        if self.terminal.is_none() {
            return;
        }
        self.reap_children();
        let jobs = self.state.jobs.list().iter().filter(|j| !j.is_noticed());
        let changed: Vec<(u32, bool)> = jobs.map(|j| (j.id(), j.is_done())).collect();
        if !self.controls_jobs() {
            for (id, is_done) in changed {
                if is_done { self.state.jobs.remove(id) } else { self.state.jobs.set_noticed(id) }
            }
            return;
        }
        let mut text = Vec::new();
        for (id, is_done) in &changed {
            match self.state.jobs.find(*id) {
                Some(job) if *is_done => text.extend(self.job_notice(job)),
                _ => self.show_notice(*id),
            }
        }
        self.write_err(&text);
        for (id, _) in changed.iter().filter(|(_, is_done)| *is_done) {
            self.state.jobs.remove(*id);
        }
    }

    /// Returns whether an interactive shell may end: the first time with stopped jobs it only says
    /// that there are some.
    pub(crate) fn may_leave(&mut self) -> bool {
        if !self.controls_jobs() || self.leave_warned {
            return true;
        }
        self.reap_children();
        if !self.state.jobs.list().iter().any(|j| j.is_stopped()) {
            return true;
        }
        self.write_err(b"There are stopped jobs.\n");
        self.leave_warned = true;
        false
    }

    /// Ends job control when the shell ends: stopped jobs end, and the terminal goes back.
    pub(crate) fn end_job_control(&mut self, hangs_up: bool) {
        let Some(t) = self.terminal.take() else { return };
        let all: Vec<(u32, bool)> =
            self.state.jobs.list().iter().map(|j| (j.id(), j.is_stopped())).collect();
        for (id, is_stopped) in all {
            if hangs_up {
                self.signal_job(id, signal::HUP);
            } else if is_stopped {
                self.signal_job(id, signal::TERM);
            }
        }
        if t.before != t.own {
            t.lend(t.before);
        }
    }

    /// Stops the shell with its group, and takes the terminal again when it continues.
    pub(crate) fn suspend_shell(&mut self) {
        let Some(t) = self.terminal.take() else { return };
        if t.before != t.own {
            t.lend(t.before);
        }
        let _ = self.sys.kill_group(t.own, signal::STOP);
        // The process stops at a call.
        events::sleep_for(std::time::Duration::from_millis(1));
        let mut t = t;
        t.take_back(false);
        self.terminal = Some(t);
    }
}
