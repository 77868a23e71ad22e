//! Background jobs and the statuses of children that ended.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::rc::Rc;

use box_sys::terminal::Termios;
use box_sys::{ChildChange, Pid};

/// Output of a job that goes into a command substitution's buffer. It is read while the shell
/// waits.
#[derive(Clone, Debug)]
pub struct JobPump {
    pub read: Rc<File>,
    pub into: Rc<RefCell<Vec<u8>>>,
}

/// The state of a process of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessState {
    Running,
    /// The signal with this number has stopped it.
    Stopped(u8),
    /// It has ended with this status, as the shell reports it; the signal that has ended it, if any.
    Ended {
        status: i32,
        signal: Option<u8>,
    },
}

#[derive(Clone, Debug)]
struct JobProcess {
    pid: Pid,
    state: ProcessState,
}

/// The state of a job, as `jobs` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    Running,
    /// Its processes are stopped; the signal that has stopped the last one.
    Stopped(u8),
    /// All processes have ended: the status of the last one, and the signal that has ended it.
    Done {
        status: i32,
        signal: Option<u8>,
    },
}

/// One job: the processes of a pipeline.
#[derive(Clone, Debug)]
pub struct Job {
    id: u32,
    processes: Vec<JobProcess>,
    text: Vec<u8>,
    /// The texts of the processes, if there are several.
    stages: Vec<Vec<u8>>,
    pumps: Vec<JobPump>,
    /// Whether the processes are in a group of their own, which the first one leads.
    leads_group: bool,
    /// The place in the order of jobs that began in the background or stopped.
    order: u64,
    /// Whether it has stopped and was not continued, even if it has ended since.
    has_stopped: bool,
    /// Whether the user has seen its state.
    is_noticed: bool,
    /// The terminal's modes when the job stopped, which it gets again.
    pub modes: Option<Termios>,
}

impl Job {
    /// Returns the job's number: 1 is `%1`.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the job's commands, as `jobs` shows them.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the processes and their texts, if there are several.
    pub fn stages(&self) -> impl Iterator<Item = (Pid, &[u8])> {
        self.processes.iter().map(|p| p.pid).zip(self.stages.iter().map(Vec::as_slice))
    }

    /// Returns the outputs that this shell has to copy to a buffer.
    pub fn pumps(&self) -> &[JobPump] {
        &self.pumps
    }

    /// Returns the job's state.
    pub fn state(&self) -> JobState {
        let mut stopped = None;
        for p in &self.processes {
            match p.state {
                ProcessState::Running => return JobState::Running,
                ProcessState::Stopped(signal) => stopped = Some(signal),
                ProcessState::Ended { .. } => {}
            }
        }
        match (stopped, self.processes.last().map(|p| p.state)) {
            (Some(signal), _) => JobState::Stopped(signal),
            (None, Some(ProcessState::Ended { status, signal })) => {
                JobState::Done { status, signal }
            }
            _ => JobState::Done { status: 0, signal: None },
        }
    }

    /// Returns whether all processes of the job have ended.
    pub fn is_done(&self) -> bool {
        matches!(self.state(), JobState::Done { .. })
    }

    /// Returns whether the job is stopped.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state(), JobState::Stopped(_))
    }

    /// Returns whether the user has seen the job's state.
    pub fn is_noticed(&self) -> bool {
        self.is_noticed
    }

    /// Returns the status of the last process once all have ended.
    pub fn status(&self) -> Option<i32> {
        match self.state() {
            JobState::Done { status, .. } => Some(status),
            JobState::Running | JobState::Stopped(_) => None,
        }
    }

    /// Returns the statuses of its processes. One that is stopped has the status that its signal
    /// would give it.
    pub fn statuses(&self) -> Vec<i32> {
        let of = |p: &JobProcess| match p.state {
            ProcessState::Running => 0,
            ProcessState::Stopped(signal) => 128 + i32::from(signal),
            ProcessState::Ended { status, .. } => status,
        };
        self.processes.iter().map(of).collect()
    }

    /// Returns whether Ctrl-C has ended one of its processes. The others may have noticed its end
    /// first, and ended by themselves.
    pub fn is_interrupted(&self) -> bool {
        let by_int = |p: &JobProcess| {
            matches!(p.state, ProcessState::Ended { signal: Some(box_sys::signal::INT), .. })
        };
        self.processes.iter().any(by_int)
    }

    /// Sets the text, unless the job has one.
    pub(crate) fn set_text(&mut self, text: impl FnOnce() -> crate::walk::JobText) {
        if self.text.is_empty() {
            let found = text();
            (self.text, self.stages) = (found.text, found.stages);
        }
    }

    /// Returns all processes of the job.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.processes.iter().map(|p| p.pid)
    }

    /// Returns the processes of the job that have not ended.
    pub fn living_pids(&self) -> impl Iterator<Item = Pid> {
        let lives = |p: &&JobProcess| !matches!(p.state, ProcessState::Ended { .. });
        self.processes.iter().filter(lives).map(|p| p.pid)
    }

    /// Returns a process of the job that is neither stopped nor ended.
    pub fn running_pid(&self) -> Option<Pid> {
        self.processes.iter().find(|p| p.state == ProcessState::Running).map(|p| p.pid)
    }

    /// Returns the job's first process.
    pub fn leader(&self) -> Pid {
        self.processes.first().map_or(0, |p| p.pid)
    }

    /// Returns the process group of the job, if it has one of its own.
    pub fn group(&self) -> Option<Pid> {
        self.leads_group.then(|| self.leader())
    }

    /// Returns the job's last process, which `$!` names.
    pub fn last_pid(&self) -> Pid {
        self.processes.last().map_or(0, |p| p.pid)
    }
}

/// The number of kept statuses of ended children (POSIX requires CHILD_MAX).
const REMEMBERED: usize = 4096;

/// A shell's table of background jobs. Copies share the list until one of them changes it.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    list: Rc<Vec<Job>>,
    /// Statuses of children whose job has been removed from the list.
    ended: Rc<VecDeque<(Pid, i32)>>,
    /// The last [`Job::order`].
    last_order: u64,
    is_foreign: bool,
}

/// A job to be added to the list.
#[derive(Debug, Default)]
pub struct NewJob {
    pub pids: Vec<Pid>,
    pub text: Vec<u8>,
    /// The texts of the processes, if there are several.
    pub stages: Vec<Vec<u8>>,
    pub pumps: Vec<JobPump>,
    /// Whether the first process leads a group of the job's own.
    pub leads_group: bool,
}

impl Jobs {
    /// Returns the jobs, oldest first.
    pub fn list(&self) -> &[Job] {
        &self.list
    }

    /// Returns the job that `%+` names: the one that stopped last, or, if none is stopped, the one
    /// that began last.
    pub fn current_job(&self) -> Option<u32> {
        self.by_order().next()
    }

    /// Returns the job that `%-` names: the next one after the current job.
    pub fn previous_job(&self) -> Option<u32> {
        self.by_order().nth(1)
    }

    /// Returns the jobs in the order in which they become the current one.
    fn by_order(&self) -> impl Iterator<Item = u32> {
        let mut all: Vec<_> = self.list.iter().map(|j| (j.has_stopped, j.order, j.id)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().map(|(_, _, id)| id)
    }

    /// Returns whether the jobs are a parent shell's, which can be listed but not waited for.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Marks the list as foreign, because a subshell cannot wait for the children of the shell
    /// around it.
    pub fn enter_subshell(&mut self) {
        self.is_foreign = !self.list.is_empty();
    }

    /// Adds a job to the list and returns its number.
    pub fn add(&mut self, new: NewJob) -> u32 {
        if self.is_foreign {
            *self = Jobs::default();
        }
        let NewJob { pids, text, stages, pumps, leads_group } = new;
        let id = self.list.iter().map(|j| j.id).max().unwrap_or(0) + 1;
        let running = |pid| JobProcess { pid, state: ProcessState::Running };
        let processes = pids.into_iter().map(running).collect();
        let order = self.next_order();
        let job = Job {
            id,
            processes,
            text,
            stages,
            pumps,
            leads_group,
            order,
            has_stopped: false,
            is_noticed: true,
            modes: None,
        };
        Rc::make_mut(&mut self.list).push(job);
        id
    }

    fn next_order(&mut self) -> u64 {
        self.last_order += 1;
        self.last_order
    }

    /// Returns the job of this number.
    pub fn find(&self, id: u32) -> Option<&Job> {
        self.list.iter().find(|j| j.id == id)
    }

    /// Returns the job that a process belongs to.
    pub fn by_pid(&self, pid: Pid) -> Option<&Job> {
        self.list.iter().find(|j| j.processes.iter().any(|p| p.pid == pid))
    }

    /// Returns the status of a process whose job has been removed.
    pub fn ended_status(&self, pid: Pid) -> Option<i32> {
        self.ended.iter().rev().find(|(p, _)| *p == pid).map(|(_, s)| *s)
    }

    /// Stores the status of a child that belongs to no job.
    pub fn remember_status(&mut self, pid: Pid, status: i32) {
        let ended = Rc::make_mut(&mut self.ended);
        ended.push_back((pid, status));
        while ended.len() > REMEMBERED {
            ended.pop_front();
        }
    }

    /// Removes a job from the list and stores its statuses.
    pub fn remove(&mut self, id: u32) {
        let Some(at) = self.list.iter().position(|j| j.id == id) else { return };
        let job = Rc::make_mut(&mut self.list).remove(at);
        for p in &job.processes {
            if let ProcessState::Ended { status, .. } = p.state {
                self.remember_status(p.pid, status);
            }
        }
    }

    /// Records that a process has ended.
    pub fn set_status(&mut self, pid: Pid, status: i32) {
        self.set_state(pid, ProcessState::Ended { status, signal: None });
    }

    /// Records a change of a process.
    pub fn set_change(&mut self, pid: Pid, change: ChildChange) {
        use box_sys::WaitStatus::Signaled;
        self.set_state(
            pid,
            match change {
                ChildChange::Stopped(signal) => ProcessState::Stopped(signal),
                ChildChange::Ended(ended) => ProcessState::Ended {
                    status: i32::from(ended.shell_status()),
                    signal: match ended {
                        Signaled(signal) => Some(signal),
                        box_sys::WaitStatus::Exited(_) => None,
                    },
                },
            },
        );
    }

    fn set_state(&mut self, pid: Pid, state: ProcessState) {
        let order = self.next_order();
        for job in Rc::make_mut(&mut self.list) {
            let before = job.state();
            job.processes.iter_mut().filter(|p| p.pid == pid).for_each(|p| p.state = state);
            let now = job.state();
            if now != before {
                job.is_noticed = false;
                if let JobState::Stopped(_) = now {
                    (job.order, job.has_stopped) = (order, true);
                }
            }
        }
    }

    /// Records that the processes of a job continue.
    pub fn set_running(&mut self, id: u32) {
        let order = self.next_order();
        if let Some(job) = self.find_mut(id) {
            for p in &mut job.processes {
                if let ProcessState::Stopped(_) = p.state {
                    p.state = ProcessState::Running;
                }
            }
            (job.order, job.has_stopped, job.is_noticed) = (order, false, true);
        }
    }

    /// Records that the user has seen a job's state.
    pub fn set_noticed(&mut self, id: u32) {
        if let Some(job) = self.find_mut(id) {
            job.is_noticed = true;
        }
    }

    /// Returns the job of this number, to be changed.
    pub fn find_mut(&mut self, id: u32) -> Option<&mut Job> {
        Rc::make_mut(&mut self.list).iter_mut().find(|j| j.id == id)
    }

    /// Takes all job outputs that this shell has to copy to a buffer.
    pub fn take_pumps(&mut self) -> Vec<JobPump> {
        if self.list.iter().all(|j| j.pumps.is_empty()) {
            return Vec::new();
        }
        let jobs = Rc::make_mut(&mut self.list).iter_mut();
        jobs.flat_map(|j| std::mem::take(&mut j.pumps)).collect()
    }

    /// Returns the job that a specification such as `%1`, `%+`, `%-`, `%name`, `%?text` means.
    ///
    /// # Errors
    /// Returns bash's message for a specification that matches no job, or several.
    pub fn by_spec(&self, spec: &[u8]) -> Result<&Job, &'static str> {
        let job = |id: Option<u32>| id.and_then(|id| self.find(id)).ok_or("no such job");
        let body = spec.strip_prefix(b"%").unwrap_or(spec);
        match body {
            b"" | b"%" | b"+" => return job(self.current_job()),
            b"-" => return job(self.previous_job().or(self.current_job())),
            _ => {}
        }
        if body.iter().all(u8::is_ascii_digit) {
            return job(std::str::from_utf8(body).ok().and_then(|s| s.parse().ok()));
        }
        let matches = |j: &&Job| match body.strip_prefix(b"?") {
            Some(part) => memchr::memmem::find(&j.text, part).is_some(),
            None => j.text.starts_with(body),
        };
        let mut found = self.list.iter().filter(matches);
        match (found.next(), found.next()) {
            (Some(j), None) => Ok(j),
            (Some(_), Some(_)) => Err("ambiguous job spec"),
            _ => Err("no such job"),
        }
    }

    /// Returns the job that an operand names, by a specification or by a process number.
    pub fn find_by_operand(&self, operand: &[u8]) -> Option<&Job> {
        if operand.starts_with(b"%") {
            return self.by_spec(operand).ok();
        }
        let pid = crate::builtin::opts::parse_integer(operand)?;
        self.by_pid(u32::try_from(pid).ok()?)
    }
}
