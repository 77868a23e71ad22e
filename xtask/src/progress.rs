//! Progress lines: the current step, its duration, and the use of the cache.

use std::time::Instant;

/// Numbered steps of a task.
pub struct Steps {
    started: Instant,
    step: Instant,
    done: usize,
    total: usize,
}

impl Steps {
    /// Creates a task of `total` steps.
    pub fn new(total: usize) -> Steps {
        Steps { started: Instant::now(), step: Instant::now(), done: 0, total }
    }

    /// Announces the next step.
    pub fn begin_step(&mut self, what: &str) {
        self.done += 1;
        self.step = Instant::now();
        eprintln!("[{}/{}] {what}", self.done, self.total);
    }

    /// Ends the step; `note` describes its result.
    pub fn end_step(&self, note: &str) {
        eprintln!("      {note} ({:.1} s)", self.step.elapsed().as_secs_f64());
    }

    /// Ends the task.
    pub fn finish_task(&self, what: &str) {
        eprintln!("{what} in {:.1} s", self.started.elapsed().as_secs_f64());
    }
}
