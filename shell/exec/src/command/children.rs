//! Background children: collecting those that ended, and waiting for jobs.

use box_sys::{ChildChange, Pid};

use crate::Shell;
use crate::state::jobs::Job;

impl Shell<'_> {
    /// Collects children that ended, without waiting.
    pub(crate) fn reap_children(&mut self) {
        if self.state.jobs.is_foreign() {
            return;
        }
        let jobs = self.state.jobs.list().iter().filter(|j| j.pumps().is_empty());
        let living: Vec<Pid> = jobs.flat_map(Job::living_pids).collect();
        for pid in living {
            if let Ok(Some(change)) = self.sys.try_change(pid) {
                self.note_change(pid, change);
            }
        }
    }

    /// Records a change of a process of a job.
    pub(crate) fn note_change(&mut self, pid: Pid, change: ChildChange) {
        self.state.jobs.set_change(pid, change);
        if let ChildChange::Ended(_) = change {
            self.child_ended();
        }
    }

    /// Waits for a job as `wait` does. If a signal with a trap arrives first, the error is that
    /// signal.
    pub(crate) fn wait_job_or_signal(&mut self, id: u32) -> Result<i32, u8> {
        self.sync_output();
        let job = self.state.jobs.find(id);
        // If this shell forwards the job's output, it must read all of it even if a signal arrives.
        if box_sys::events::signal_dispositions().0 == 0
            || job.is_none_or(|j| !j.pumps().is_empty())
        {
            return Ok(self.wait_job(id));
        }
        let pids: Vec<Pid> = job.map(|j| j.living_pids().collect()).unwrap_or_default();
        for pid in pids {
            let change = loop {
                let waited = if self.controls_jobs() {
                    self.sys.wait_change(pid)
                } else {
                    self.sys.wait_or_signal(pid).map(|w| w.map(ChildChange::Ended))
                };
                match waited {
                    // With job control, `wait` returns when a job stops.
                    Ok(Some(ChildChange::Stopped(signal))) => {
                        self.note_change(pid, ChildChange::Stopped(signal));
                        return Ok(128 + i32::from(signal));
                    }
                    Ok(Some(ended)) => break Some(ended),
                    Ok(None) => {
                        if let Some(signal) = self.waiting_signal() {
                            return Err(signal);
                        }
                        // The signal is kept for the outer shell, so the wait continues.
                    }
                    Err(_) => break None,
                }
            };
            match change {
                Some(change) => self.state.jobs.set_change(pid, change),
                None => self.state.jobs.set_status(pid, 127),
            }
            // A signal that came before the child ended counts, even if both are seen at once.
            let signal = self.waiting_signal().filter(|signal| *signal != box_sys::signal::CHLD);
            self.child_ended();
            if let Some(signal) = signal {
                return Err(signal);
            }
        }
        Ok(self.wait_job(id))
    }

    /// Waits for all processes of a job, takes it off the list and returns its status.
    pub(crate) fn wait_job(&mut self, id: u32) -> i32 {
        self.sync_output();
        let Some(job) = self.state.jobs.find(id) else { return 127 };
        let (pumps, pids) = (job.pumps().to_vec(), job.living_pids().collect::<Vec<Pid>>());
        for p in pumps {
            self.drain_pump(&p.read, &p.into);
        }
        for pid in pids {
            match self.sys.wait(pid) {
                Ok(ended) => self.state.jobs.set_change(pid, ChildChange::Ended(ended)),
                Err(_) => self.state.jobs.set_status(pid, 127),
            }
            self.child_ended();
        }
        let status = self.state.jobs.find(id).and_then(Job::status).unwrap_or(127);
        // With job control, the user is warned first.
        if !self.controls_jobs() {
            self.state.jobs.remove(id);
        }
        status
    }

    /// Waits for background jobs whose output goes into a capture buffer, because it is complete
    /// only when they have ended.
    pub(crate) fn drain_captured_jobs(&mut self) {
        if self.state.jobs.is_foreign() {
            return;
        }
        for p in self.state.jobs.take_pumps() {
            self.drain_pump(&p.read, &p.into);
        }
    }
}
