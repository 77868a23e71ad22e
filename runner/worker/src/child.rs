//! A worker's process, as its parent sees it.

use crate::cgroup::CgroupHandle;
use crate::channel::Channel;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, pidfd_open,
    pidfd_send_signal, waitid, waitpid,
};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

/// The argument that makes a program a worker; its name follows.
pub const ARGUMENT: &str = "worker";

/// A running worker. Dropping it ends the process.
#[derive(Debug)]
pub struct Worker {
    /// A child of this process that no other code waits for.
    pid: Pid,
    /// The end of the worker, once it has been waited for; after that its number may belong to
    /// another process.
    ended: Option<WorkerEnd>,
    pidfd: Option<OwnedFd>,
    /// `None` until a group is requested; then the group, or `Some(None)` if the host's kernel has
    /// refused it.
    group: Option<Option<CgroupHandle>>,
    /// Requests and their answers.
    pub channel: Channel,
    /// Messages that must reach the worker while it handles a request.
    pub control: Channel,
}

/// The end of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by this signal.
    Signaled(i32),
    /// It was killed by the host's kernel because of its memory.
    OutOfMemory,
}

impl std::fmt::Display for WorkerEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WorkerEnd::Exited(status) => write!(f, "ended with status {status}"),
            WorkerEnd::Signaled(libc::SIGSYS) => {
                f.write_str("was ended for a forbidden system call (SIGSYS)")
            }
            WorkerEnd::Signaled(libc::SIGSEGV) => f.write_str("crashed (SIGSEGV)"),
            WorkerEnd::Signaled(libc::SIGABRT) => f.write_str("aborted (SIGABRT)"),
            WorkerEnd::Signaled(libc::SIGKILL) => f.write_str("was killed (SIGKILL)"),
            WorkerEnd::Signaled(signal) => write!(f, "was ended by signal {signal}"),
            WorkerEnd::OutOfMemory => f.write_str("was ended by the host for its memory"),
        }
    }
}

impl Worker {
    /// Starts `program` as a worker: with an empty environment, in the root directory, with two
    /// sockets for standard input and output and nothing for standard error.
    ///
    /// Because a worker ends with the thread that started it (prctl(2), `PR_SET_PDEATHSIG`), this
    /// must be called by a thread that lives as long as the worker may.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub fn start(program: &Path) -> io::Result<Worker> {
        let (channel, theirs) = Channel::pair()?;
        let (control, their_control) = Channel::pair()?;
        let child = Command::new(program)
            .arg(ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::from(their_control))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Worker::from_parts(Pid::from_child(&child), channel, control))
    }

    /// Adopts a worker that another worker has created as a child of this process, and that has the
    /// other ends of these sockets.
    ///
    /// # Errors
    /// Returns an error if this process has no such child.
    pub fn adopt(pid: u32, channel: Channel, control: Channel) -> io::Result<Worker> {
        let child = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let child = child.ok_or(io::ErrorKind::InvalidInput)?;
        let look = WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT | WaitIdOptions::EXITED;
        waitid(WaitId::Pid(child), look)?;
        Ok(Worker::from_parts(child, channel, control))
    }

    fn from_parts(pid: Pid, mut channel: Channel, mut control: Channel) -> Worker {
        // A socket that leaks to another worker is of no use there.
        channel.bind_peer(pid);
        control.bind_peer(pid);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
        Worker { pid, ended: None, pidfd, group: None, channel, control }
    }

    /// Moves the worker to a control group of its own, unless it is already in one or the host's
    /// kernel does not permit it. The first move after a while takes ten milliseconds, because the
    /// kernel waits for every processor (an RCU grace period).
    pub fn enter_cgroup(&mut self) {
        let pid = self.pid();
        self.group.get_or_insert_with(|| CgroupHandle::for_process(pid));
    }

    fn own_group(&self) -> Option<&CgroupHandle> {
        self.group.as_ref()?.as_ref()
    }

    /// Returns the process's number.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Limits the worker's memory by the host's kernel, in a group of its own; returns whether that
    /// was possible.
    pub fn limit_memory(&mut self, bytes: u64) -> bool {
        self.enter_cgroup();
        self.own_group().is_some_and(|g| g.limit_memory(bytes).is_ok())
    }

    /// Returns the private memory in bytes: pages that no file backs. Returns `None` if the process
    /// has ended.
    pub fn memory(&self) -> Option<u64> {
        memory_of(self.pid())
    }

    /// Kills the process at once.
    pub fn kill(&self) {
        match &self.pidfd {
            _ if self.ended.is_some() => {}
            Some(pidfd) => drop(pidfd_send_signal(pidfd, Signal::KILL)),
            // The process was not waited for, so the number is still its own.
            None => drop(rustix::process::kill_process(self.pid, Signal::KILL)),
        }
    }

    /// Ends the process if it is still running, waits for it, and returns its end.
    pub fn end(&mut self) -> WorkerEnd {
        // The process may be about to end by itself, and the caller needs the status with which it
        // does.
        for _ in 0..50 {
            if let Some(ended) = self.wait_status(WaitOptions::NOHANG) {
                return ended;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        self.kill();
        self.wait_status(WaitOptions::empty()).unwrap_or(WorkerEnd::Signaled(libc::SIGKILL))
    }

    /// Returns the end of the process; `None` if it is still running and `options` forbid waiting.
    fn wait_status(&mut self, options: WaitOptions) -> Option<WorkerEnd> {
        if self.ended.is_none() {
            let status = loop {
                match waitpid(Some(self.pid), options) {
                    Ok(found) => break found?.1,
                    Err(rustix::io::Errno::INTR) => {}
                    // Other code has waited for the process.
                    Err(_) => {
                        self.ended = Some(WorkerEnd::Signaled(libc::SIGKILL));
                        return self.ended;
                    }
                }
            };
            self.ended = Some(self.take_status(status));
        }
        self.ended
    }

    fn take_status(&self, status: WaitStatus) -> WorkerEnd {
        match (status.exit_status(), status.terminating_signal()) {
            (_, Some(libc::SIGKILL)) if self.own_group().is_some_and(CgroupHandle::ran_out) => {
                WorkerEnd::OutOfMemory
            }
            (_, Some(signal)) => WorkerEnd::Signaled(signal),
            (code, None) => WorkerEnd::Exited(code.unwrap_or(-1)),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        self.wait_status(WaitOptions::empty());
    }
}

/// Returns the anonymous and shared memory of a process in bytes, from /proc/PID/status (proc(5)).
pub fn memory_of(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|l| l.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    Some((field("RssAnon:")? + field("RssShmem:").unwrap_or(0)) << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_started_and_ended() {
        // Not a worker, but a process that reads standard input to its end.
        let mut w = Worker::start(Path::new("/bin/cat")).unwrap_or_else(|e| panic!("{e}"));
        // `cat worker`: no such file.
        assert_eq!(w.end(), WorkerEnd::Exited(1));
        assert!(Worker::start(Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn memory_of_this_process_is_known() {
        let pages = std::hint::black_box(vec![1u8; 8 << 20]);
        let memory = memory_of(std::process::id());
        assert!(memory.is_some_and(|m| m > pages.len() as u64), "{memory:?}");
        std::hint::black_box(pages);
        assert_eq!(memory_of(u32::MAX), None);
    }
}
