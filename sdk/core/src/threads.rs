//! Threads for blocking calls, which must not block a program's event loop. The loop's own pool is
//! too small for them, because a call may take as long as its guest.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use wasibox::lock_mutex;

/// The maximum number of threads. Further jobs wait until one is free.
const MOST: usize = 512;
/// The time for which a thread waits for the next job.
const IDLE: Duration = Duration::from_secs(10);
/// The stack of a thread in bytes. A small one is enough, because jobs mostly wait for another
/// process.
const STACK: usize = 1 << 20;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct ThreadPoolState {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

static STATE: Mutex<ThreadPoolState> =
    Mutex::new(ThreadPoolState { jobs: VecDeque::new(), threads: 0, idle: 0 });
static CHANGED: Condvar = Condvar::new();

fn lock_state() -> MutexGuard<'static, ThreadPoolState> {
    lock_mutex(&STATE)
}

/// Runs a job on another thread. The process does not wait for the job when the process ends.
///
/// # Errors
/// Returns an error if no thread can be started.
pub fn spawn_job(job: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut state = lock_state();
    state.jobs.push_back(Box::new(job));
    if state.idle >= state.jobs.len() || state.threads >= MOST {
        CHANGED.notify_one();
        return Ok(());
    }
    let builder = std::thread::Builder::new().name("wasibox-call".into()).stack_size(STACK);
    match builder.spawn(work_jobs) {
        Ok(_) => {
            state.threads += 1;
            Ok(())
        }
        // One of the other threads will run the job.
        Err(_) if state.threads > 0 => Ok(()),
        Err(e) => {
            state.jobs.pop_back();
            Err(e)
        }
    }
}

fn work_jobs() {
    /// Decrements the number of threads, even if a job panics.
    struct ThreadCountGuard;
    impl Drop for ThreadCountGuard {
        fn drop(&mut self) {
            lock_state().threads -= 1;
        }
    }
    let _counted = ThreadCountGuard;
    loop {
        let mut state = lock_state();
        let job = loop {
            if let Some(job) = state.jobs.pop_front() {
                break job;
            }
            state.idle += 1;
            let (again, waited) =
                CHANGED.wait_timeout(state, IDLE).unwrap_or_else(|e| e.into_inner());
            state = again;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                return;
            }
        };
        drop(state);
        job();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn jobs_that_wait_do_not_hold_others_up() {
        let (sender, receiver) = channel();
        let (release, wait) = channel::<()>();
        let wait = std::sync::Arc::new(Mutex::new(wait));
        for n in 0..40 {
            let (sender, wait) = (sender.clone(), wait.clone());
            spawn_job(move || {
                // All jobs except the last one wait.
                if n < 39 {
                    let _ = lock_mutex(&wait).recv();
                }
                let _ = sender.send(n);
            })
            .unwrap();
        }
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(39));
        drop(release);
        let mut rest: Vec<i32> = receiver.iter().take(39).collect();
        rest.sort_unstable();
        assert_eq!(rest, (0..39).collect::<Vec<_>>());
    }
}
