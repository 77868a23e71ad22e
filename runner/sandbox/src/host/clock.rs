//! CPU time of the host's threads.

use wasibox_kernel::CpuUsage;

/// Returns the CPU time of the calling thread so far.
pub fn thread_usage() -> CpuUsage {
    // JUSTIFICATION: rustix does not report a thread's user and system time. SAFETY: rusage is
    // plain data, for which zero is valid; `u` lives for the call.
    let u = unsafe {
        let mut u: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut u);
        u
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    CpuUsage { user: ns(u.ru_utime), system: ns(u.ru_stime) }
}

/// Returns the CPU time of the calling thread in nanoseconds.
pub fn cpu_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Returns the clock of the calling thread's CPU time, which other threads can read.
pub fn of_thread() -> Option<libc::clockid_t> {
    let mut clock = 0;
    // JUSTIFICATION: rustix does not have the call.
    // SAFETY: the thread is the calling one, and `clock` lives for the call.
    let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
    (failed == 0).then_some(clock)
}

/// Returns the time of such a clock in nanoseconds; `None` if its thread has ended.
pub fn time_of(clock: libc::clockid_t) -> Option<u64> {
    // JUSTIFICATION: rustix only reads clocks that it knows by name. SAFETY: timespec is plain
    // data, for which zero is valid, and live for the call; a clock whose thread has ended is an
    // error.
    let t = unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        if libc::clock_gettime(clock, &mut t) != 0 {
            return None;
        }
        t
    };
    Some(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}
