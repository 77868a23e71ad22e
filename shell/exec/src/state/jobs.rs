//! Background jobs and the statuses of children that ended.

use std::cell::RefCell;
use std::fs::File;
use std::rc::Rc;

use box_sys::Pid;

/// Output of a job that goes into a command substitution's buffer: read when somebody waits.
#[derive(Clone, Debug)]
pub struct Pump {
    pub read: Rc<File>,
    pub into: Rc<RefCell<Vec<u8>>>,
}

#[derive(Clone, Debug)]
pub struct Process {
    pub pid: Pid,
    /// `None` while it runs.
    pub status: Option<i32>,
}

#[derive(Clone, Debug)]
pub struct Job {
    pub id: u32,
    pub processes: Vec<Process>,
    pub text: Vec<u8>,
    pub pumps: Vec<Pump>,
    /// Bash reports an end only once.
    pub notified: bool,
    pub no_hup: bool,
}

impl Job {
    pub fn is_done(&self) -> bool {
        self.processes.iter().all(|p| p.status.is_some())
    }

    /// The status of the last process.
    pub fn status(&self) -> Option<i32> {
        if !self.is_done() {
            return None;
        }
        self.processes.last().and_then(|p| p.status)
    }

    pub fn leader(&self) -> Pid {
        self.processes.first().map_or(0, |p| p.pid)
    }

    pub fn last_pid(&self) -> Pid {
        self.processes.last().map_or(0, |p| p.pid)
    }
}

/// How many statuses of ended children are kept (POSIX asks for CHILD_MAX).
const REMEMBERED: usize = 4096;

#[derive(Clone, Debug, Default)]
pub struct Jobs {
    pub list: Vec<Job>,
    /// Statuses of children whose job is gone from the list.
    ended: std::collections::VecDeque<(Pid, i32)>,
    pub current: Option<u32>,
    pub previous: Option<u32>,
    /// The list is a parent shell's: it can be shown, not waited for.
    pub foreign: bool,
}

impl Jobs {
    pub fn add(&mut self, pids: Vec<Pid>, text: Vec<u8>, pumps: Vec<Pump>) -> u32 {
        if self.foreign {
            *self = Jobs::default();
        }
        let id = self.list.iter().map(|j| j.id).max().unwrap_or(0) + 1;
        let processes = pids.into_iter().map(|pid| Process { pid, status: None }).collect();
        self.list.push(Job { id, processes, text, pumps, notified: false, no_hup: false });
        self.previous = self.current;
        self.current = Some(id);
        id
    }

    pub fn find(&self, id: u32) -> Option<&Job> {
        self.list.iter().find(|j| j.id == id)
    }

    pub fn find_mut(&mut self, id: u32) -> Option<&mut Job> {
        self.list.iter_mut().find(|j| j.id == id)
    }

    pub fn by_pid(&self, pid: Pid) -> Option<&Job> {
        self.list.iter().find(|j| j.processes.iter().any(|p| p.pid == pid))
    }

    pub fn ended_status(&self, pid: Pid) -> Option<i32> {
        self.ended.iter().rev().find(|(p, _)| *p == pid).map(|(_, s)| *s)
    }

    /// Keeps the status of a child that is on no list.
    pub fn remember(&mut self, pid: Pid, status: i32) {
        self.ended.push_back((pid, status));
        while self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }

    pub fn forget_ended(&mut self, pid: Pid) {
        self.ended.retain(|(p, _)| *p != pid);
    }

    /// Takes a job off the list, remembering its statuses.
    pub fn remove(&mut self, id: u32) {
        let Some(at) = self.list.iter().position(|j| j.id == id) else { return };
        let job = self.list.remove(at);
        for p in &job.processes {
            if let Some(s) = p.status {
                self.ended.push_back((p.pid, s));
            }
        }
        while self.ended.len() > REMEMBERED {
            self.ended.pop_front();
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

    /// Notes that a process ended.
    pub fn set_status(&mut self, pid: Pid, status: i32) {
        for job in &mut self.list {
            for p in &mut job.processes {
                if p.pid == pid {
                    p.status = Some(status);
                }
            }
        }
    }

    /// The job a specification such as `%1`, `%+`, `%-`, `%name`, `%?text` means. `Err` holds bash's complaint.
    pub fn by_spec(&self, spec: &[u8]) -> Result<u32, &'static str> {
        let body = spec.strip_prefix(b"%").unwrap_or(spec);
        match body {
            b"" | b"%" | b"+" => return self.current.ok_or("no such job"),
            b"-" => return self.previous.or(self.current).ok_or("no such job"),
            _ => {}
        }
        if body.iter().all(u8::is_ascii_digit) {
            let n: u32 = std::str::from_utf8(body).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
            return self.find(n).map(|j| j.id).ok_or("no such job");
        }
        let matches = |j: &&Job| match body.strip_prefix(b"?") {
            Some(part) => memchr::memmem::find(&j.text, part).is_some(),
            None => j.text.starts_with(body),
        };
        let mut found = self.list.iter().filter(matches);
        match (found.next(), found.next()) {
            (Some(j), None) => Ok(j.id),
            (Some(_), Some(_)) => Err("ambiguous job spec"),
            _ => Err("no such job"),
        }
    }
}
