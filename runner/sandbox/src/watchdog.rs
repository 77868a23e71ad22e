//! A deadline that ends the process in whatever state its threads are.
//!
//! The sandbox ends a run at its deadline by itself. If a fault of ours or of the engine prevents
//! that (a lock that is never released, a thread that no signal reaches), the process must still
//! end. So the host's kernel counts the time, and the handler of its signal allocates nothing and
//! takes no lock: it writes prepared bytes and leaves by `_exit`.
//!
//! It is meant for a process that runs a single sandbox. A worker's parent sends SIGKILL instead.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// The output of the process when it is ended, and its exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords {
    /// For standard output.
    pub output: Vec<u8>,
    /// For standard error.
    pub error: Vec<u8>,
    pub status: i32,
}

/// Returns the signal of the timer: the last but one, which programs do not use.
fn timer_signal() -> i32 {
    libc::SIGRTMAX() - 1
}

static WORDS: AtomicPtr<LastWords> = AtomicPtr::new(std::ptr::null_mut());

/// Ends the process with `words` after a given amount of time. A process has one watchdog; another
/// call replaces the words and adds a deadline.
///
/// # Errors
/// If the system has no timer left.
pub fn arm_watchdog(after: Duration, words: LastWords) -> std::io::Result<()> {
    // The words are leaked, because the handler may read them at any time.
    WORDS.store(Box::into_raw(Box::new(words)), Ordering::SeqCst);
    // JUSTIFICATION: only C's library provides handlers and timers of the host's kernel. SAFETY:
    // sigaction and sigevent are plain data for which zero is valid; the handler has the type that
    // SA_SIGINFO asks for, and calls only what signal-safety(7) allows.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = end as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigfillset(&mut action.sa_mask);
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = timer_signal();
        let mut timer: libc::timer_t = std::mem::zeroed();
        let time = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec {
                tv_sec: libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX),
                // Zero would disarm it.
                tv_nsec: libc::c_long::from(after.subsec_nanos().max(1)),
            },
        };
        libc::sigaction(timer_signal(), &action, std::ptr::null_mut()) != 0
            || libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) != 0
            || libc::timer_settime(timer, 0, &time, std::ptr::null_mut()) != 0
    };
    if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

extern "C" fn end(_: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let words = WORDS.load(Ordering::SeqCst);
    // JUSTIFICATION: only these calls are allowed in a handler.
    // SAFETY: the words were leaked before the timer began and are never changed. Descriptors that
    // would block are written to without waiting, and write(2) keeps no pointer.
    unsafe {
        if let Some(words) = words.as_ref() {
            for (fd, text) in [(1, &words.output), (2, &words.error)] {
                let mut one = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
                if !text.is_empty() && libc::poll(&mut one, 1, 100) == 1 {
                    libc::write(fd, text.as_ptr().cast(), text.len().min(libc::PIPE_BUF));
                }
            }
            libc::_exit(words.status);
        }
        libc::_exit(124);
    }
}

/// Closes all descriptors of the process from number `first` on. A process calls this before
/// anything else, because its parent may have left some open.
pub fn close_inherited(first: u32) {
    // JUSTIFICATION: descriptors without an owner can only be closed by number.
    // SAFETY: called when nothing of this process has been opened, so that no owner loses its own.
    unsafe { libc::close_range(first, u32::MAX, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    /// Runs itself as a separate process, which waits for a lock for ever.
    #[test]
    fn ends_a_process_that_hangs() {
        const MARK: &str = "WASIBOX_TEST_WATCHDOG";
        if std::env::var_os(MARK).is_some() {
            let words = LastWords { output: b"out".into(), error: b"err".into(), status: 124 };
            arm_watchdog(Duration::from_millis(50), words).unwrap();
            let lock = std::sync::Mutex::new(());
            let _held = lock.lock();
            loop {
                std::thread::park();
            }
        }
        let me = std::env::current_exe().unwrap();
        let mut child = Command::new(me)
            .args(["--exact", "watchdog::tests::ends_a_process_that_hangs", "--nocapture"])
            .env(MARK, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let status = child.wait().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(status.code(), Some(124), "{text}");
        assert!(text.contains("out") && text.ends_with("err"), "{text}");
    }
}
