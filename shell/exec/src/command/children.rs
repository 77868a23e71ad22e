//! Background children: collecting those that ended, and waiting for jobs.

use box_sys::Pid;

use crate::Shell;
use crate::state::jobs::Job;

impl Shell<'_> {
    /// Collects children that ended, without waiting.
    pub(crate) fn reap_children(&mut self) {
        if self.state.jobs.is_foreign() {
            return;
        }
        let jobs = self.state.jobs.list().iter().filter(|j| j.pumps().is_empty());
        let running: Vec<Pid> = jobs.flat_map(Job::running_pids).collect();
        for pid in running {
            if let Ok(Some(s)) = self.sys.try_wait(pid) {
                let status = i32::from(s.shell_status());
                self.state.jobs.set_status(pid, status);
                self.child_ended();
            }
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
        let pids: Vec<Pid> = job.map(|j| j.running_pids().collect()).unwrap_or_default();
        for pid in pids {
            let status = loop {
                match self.sys.wait_or_signal(pid) {
                    Ok(Some(s)) => break i32::from(s.shell_status()),
                    Ok(None) => {
                        if let Some(signal) = self.waiting_signal() {
                            return Err(signal);
                        }
                        // The signal is kept for the outer shell, so the wait continues.
                    }
                    Err(_) => break 127,
                }
            };
            self.state.jobs.set_status(pid, status);
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
        let (pumps, pids) = (job.pumps().to_vec(), job.running_pids().collect::<Vec<Pid>>());
        for p in pumps {
            self.drain_pump(&p.read, &p.into);
        }
        for pid in pids {
            let status = match self.sys.wait(pid) {
                Ok(s) => i32::from(s.shell_status()),
                Err(_) => 127,
            };
            self.state.jobs.set_status(pid, status);
            self.child_ended();
        }
        let status = self.state.jobs.find(id).and_then(Job::status).unwrap_or(127);
        self.state.jobs.remove(id);
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
