//! The interval timer of a process: `proc_raise_interval` of WASIX, with which libc makes
//! `setitimer(2)` with `ITIMER_REAL`, and `alarm(2)`.
//!
//! No thread waits for it. The process looks at its timer at the end of each system call and in
//! each wait, which ends when the timer does. A program that only computes makes a call now and
//! then to learn of signals; so it learns of this one, too.
//!
//! As POSIX demands, a program that replaces another one keeps the timer, and a child has none.

use super::guest::{GuestCall, Sys};
use super::host::Host;
use super::process::Process;
use crate::lock_mutex;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wasibox_vfs::Errno;

/// A timer, set or not.
#[derive(Debug, Default)]
pub struct IntervalTimer {
    /// Whether it is set, so that a call of a process without a timer takes no lock.
    is_set: AtomicBool,
    alarm: Mutex<Option<Alarm>>,
}

/// The next signal of a timer.
#[derive(Clone, Copy, Debug)]
struct Alarm {
    signal: u8,
    at: Instant,
    /// The time between two signals; `None` if there is only one.
    period: Option<Duration>,
}

impl Alarm {
    /// Returns the alarm after this one, which is over at `now`. Times that have passed meanwhile
    /// are left out, because a signal that is pending is not raised again.
    fn after(self, now: Instant) -> Option<Alarm> {
        let period = self.period?;
        let late = now.saturating_duration_since(self.at).as_nanos() % period.as_nanos();
        let rest = period - Duration::from_nanos(u64::try_from(late).ok()?);
        Some(Alarm { at: now.checked_add(rest)?, ..self })
    }
}

impl IntervalTimer {
    /// Sets the timer, or turns it off with `None`.
    fn set(&self, alarm: Option<Alarm>) {
        let mut current = lock_mutex(&self.alarm);
        *current = alarm;
        self.is_set.store(alarm.is_some(), Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Returns the time of the next signal.
    pub fn next(&self) -> Option<Instant> {
        if self.is_set() { lock_mutex(&self.alarm).map(|alarm| alarm.at) } else { None }
    }

    /// Returns the signal whose time has come at `now`, and sets the timer for the one after it.
    fn take_due(&self, now: Instant) -> Option<u8> {
        let mut current = lock_mutex(&self.alarm);
        let due = current.filter(|alarm| alarm.at <= now)?;
        *current = due.after(now);
        self.is_set.store(current.is_some(), Ordering::Release);
        Some(due.signal)
    }
}

impl<H: Host> Process<H> {
    /// Delivers the signal of the timer if its time has come.
    pub fn raise_due_alarm(&self) {
        if self.timer.is_set()
            && let Some(signal) = self.timer.take_due(Instant::now())
        {
            self.deliver_signal(signal);
        }
    }
}

/// `proc_raise_interval` of WASIX: raises a signal after `interval` nanoseconds, and again after
/// each further ones if `repeats` is not 0. It replaces the timer that was set before; 0 nanoseconds
/// only turn that off.
///
/// # Errors
/// EINVAL for a number that is no signal's, or for a time that the clock does not reach.
pub fn proc_raise_interval<H: Host>(
    c: &mut GuestCall<'_, H>,
    signal: u32,
    interval: u64,
    repeats: u32,
) -> Sys {
    let signal = u8::try_from(signal).ok().filter(|s| (1..64).contains(s)).ok_or(Errno::INVAL)?;
    if interval == 0 {
        c.process.timer.set(None);
        return Ok(());
    }
    let interval = Duration::from_nanos(interval);
    let at = Instant::now().checked_add(interval).ok_or(Errno::INVAL)?;
    let period = (repeats != 0).then_some(interval);
    c.process.timer.set(Some(Alarm { signal, at, period }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_alarm_goes_off_once() {
        let (timer, now) = (IntervalTimer::default(), Instant::now());
        assert_eq!((timer.next(), timer.take_due(now)), (None, None));
        timer.set(Some(Alarm { signal: 14, at: now + SECOND, period: None }));
        assert_eq!((timer.next(), timer.take_due(now)), (Some(now + SECOND), None));
        assert_eq!(timer.take_due(now + SECOND), Some(14));
        assert_eq!((timer.next(), timer.take_due(now + 2 * SECOND)), (None, None));
    }

    #[test]
    fn a_period_keeps_its_beat_when_signals_are_late() {
        let (timer, now) = (IntervalTimer::default(), Instant::now());
        timer.set(Some(Alarm { signal: 14, at: now + SECOND, period: Some(2 * SECOND) }));
        assert_eq!(timer.take_due(now + SECOND), Some(14));
        assert_eq!(timer.next(), Some(now + 3 * SECOND));
        // Three signals late, and half a second: one is raised, and the beat stays.
        assert_eq!(timer.take_due(now + 9 * SECOND + SECOND / 2), Some(14));
        assert_eq!(timer.next(), Some(now + 11 * SECOND));
        timer.set(None);
        assert_eq!(timer.next(), None);
    }
}
