//! Background jobs and the statuses of children that ended.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::rc::Rc;

use box_sys::Pid;

/// Output of a job that goes into a command substitution's buffer. It is read while the shell
/// waits.
#[derive(Clone, Debug)]
pub struct JobPump {
    pub read: Rc<File>,
    pub into: Rc<RefCell<Vec<u8>>>,
}

#[derive(Clone, Debug)]
struct JobProcess {
    pid: Pid,
    /// The exit status; `None` while the process runs.
    status: Option<i32>,
}

/// One job: the processes of a pipeline.
#[derive(Clone, Debug)]
pub struct Job {
    id: u32,
    processes: Vec<JobProcess>,
    text: Vec<u8>,
    pumps: Vec<JobPump>,
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

    /// Returns the outputs that this shell has to copy to a buffer.
    pub fn pumps(&self) -> &[JobPump] {
        &self.pumps
    }

    /// Returns whether all processes of the job have ended.
    pub fn is_done(&self) -> bool {
        self.processes.iter().all(|p| p.status.is_some())
    }

    /// Returns the status of the last process once all have ended.
    pub fn status(&self) -> Option<i32> {
        if !self.is_done() {
            return None;
        }
        self.processes.last().and_then(|p| p.status)
    }

    /// Returns all processes of the job.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.processes.iter().map(|p| p.pid)
    }

    /// Returns the processes of the job that are running.
    pub fn running_pids(&self) -> impl Iterator<Item = Pid> {
        self.processes.iter().filter(|p| p.status.is_none()).map(|p| p.pid)
    }

    /// Returns the job's first process.
    pub fn leader(&self) -> Pid {
        self.processes.first().map_or(0, |p| p.pid)
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
    current: Option<u32>,
    previous: Option<u32>,
    is_foreign: bool,
}

impl Jobs {
    /// Returns the jobs, oldest first.
    pub fn list(&self) -> &[Job] {
        &self.list
    }

    /// Returns the job that `%+` names.
    pub fn current_job(&self) -> Option<u32> {
        self.current
    }

    /// Returns the job that `%-` names.
    pub fn previous_job(&self) -> Option<u32> {
        self.previous
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
    pub fn add(&mut self, pids: Vec<Pid>, text: Vec<u8>, pumps: Vec<JobPump>) -> u32 {
        if self.is_foreign {
            *self = Jobs::default();
        }
        let id = self.list.iter().map(|j| j.id).max().unwrap_or(0) + 1;
        let processes = pids.into_iter().map(|pid| JobProcess { pid, status: None }).collect();
        Rc::make_mut(&mut self.list).push(Job { id, processes, text, pumps });
        self.previous = self.current;
        self.current = Some(id);
        id
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
            if let Some(status) = p.status {
                self.remember_status(p.pid, status);
            }
        }
        if self.current == Some(id) {
            self.current = self.previous.take();
        }
        if self.previous == Some(id) || self.previous.is_none() {
            let current = self.current;
            self.previous = self.list.iter().rev().map(|j| j.id).find(|i| Some(*i) != current);
        }
        if self.current.is_none() {
            self.current = self.previous.take();
        }
    }

    /// Records that a process has ended.
    pub fn set_status(&mut self, pid: Pid, status: i32) {
        let jobs = Rc::make_mut(&mut self.list).iter_mut();
        for p in jobs.flat_map(|j| &mut j.processes).filter(|p| p.pid == pid) {
            p.status = Some(status);
        }
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
            b"" | b"%" | b"+" => return job(self.current),
            b"-" => return job(self.previous.or(self.current)),
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
