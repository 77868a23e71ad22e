//! The weight of threads on a busy machine, and the length of their turns, sched(7).
//!
//! A call of a few milliseconds passes between the server and its worker several times, and each
//! time the thread that is woken waits for the turn of a thread that computes: about 3 ms in Linux
//! since version 6.6. A thread that asks for short turns preempts those with long ones. While eight
//! sessions of one client ran endless loops on two processors, this reduced the time of another
//! client's short calls from 10 to 3 ms (median; 1.3 ms on an idle machine).

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The shortest turn that the kernel grants.
pub const SHORT_TURN: Duration = Duration::from_micros(100);

/// Whether [`use_short_turns`] was called.
static HAS_SHORT_TURNS: AtomicBool = AtomicBool::new(false);

/// Asks for short turns for this thread and those that it starts from now on, in this process and
/// its children. Has no effect on systems other than Linux, and before version 6.12.
pub fn use_short_turns() {
    HAS_SHORT_TURNS.store(true, Ordering::Relaxed);
    #[cfg(target_os = "linux")]
    linux::set_turn(0, Some(SHORT_TURN));
}

/// A time of long work, in which this thread has no short turns.
pub struct LongWork(PhantomData<*const ()>);

impl LongWork {
    /// Begins the time, which ends when the value is dropped.
    pub fn begin() -> LongWork {
        #[cfg(target_os = "linux")]
        if HAS_SHORT_TURNS.load(Ordering::Relaxed) {
            linux::set_turn(0, None);
        }
        LongWork(PhantomData)
    }
}

impl Drop for LongWork {
    fn drop(&mut self) {
        if HAS_SHORT_TURNS.load(Ordering::Relaxed) {
            use_short_turns();
        }
    }
}

/// Sets the niceness of a thread of any process, and the length of its turns, by default that of
/// the kernel. Returns whether the niceness could be set.
pub fn set_weight(thread: i32, nice: i32, turn: Option<Duration>) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, setpriority_process};
        let is_set = Pid::from_raw(thread)
            .is_some_and(|thread| setpriority_process(Some(thread), nice).is_ok());
        linux::set_turn(thread, turn);
        is_set
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (thread, nice, turn);
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, getpriority_process};
    use std::time::Duration;

    /// Sets the length of the turns of a thread (0: this one), and keeps its niceness. An older
    /// kernel ignores the length.
    pub(super) fn set_turn(thread: i32, turn: Option<Duration>) {
        let Ok(nice) = getpriority_process(Pid::from_raw(thread)) else { return };
        let attributes = libc::sched_attr {
            size: size_of::<libc::sched_attr>() as u32,
            sched_policy: libc::SCHED_OTHER as u32,
            sched_flags: 0,
            sched_nice: nice,
            sched_priority: 0,
            sched_runtime: turn.map_or(0, |turn| turn.as_nanos() as u64),
            sched_deadline: 0,
            sched_period: 0,
        };
        // A failure is ignored, for example for a thread that has ended: the turns stay as they
        // are.
        // JUSTIFICATION: neither the C library nor rustix has a function for this.
        // SAFETY: the kernel reads as many bytes of the structure as its first field says.
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attributes, 0) };
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_weight_applies_to_a_thread_and_keeps_its_niceness() {
        use rustix::process::getpriority_process;
        let weights = std::thread::spawn(|| {
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            assert!(set_weight(thread, 3, Some(SHORT_TURN)));
            use_short_turns();
            // Only a privileged process may reduce its niceness.
            let raised = set_weight(thread, 4, None);
            (raised, getpriority_process(None))
        });
        assert_eq!(weights.join().unwrap(), (true, Ok(4)));
        assert!(!set_weight(i32::MAX, 3, None));
    }
}
