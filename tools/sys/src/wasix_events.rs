//! Signals, waiting, CPU times and the creation mask of a guest.
//!
//! The host calls the export `__wasm_signal` at the end of a system call for each signal that
//! arrived, as it does for WASIX's libc; a call that waits then ends with EINTR. There is one
//! handler for all signals, so for a signal that is neither caught nor ignored, the handler is
//! removed and the signal is raised again.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::time::Duration;

use super::cvt;
use crate::events::{CpuTimes, signal_arrived, signal_bit, signal_dispositions};
use crate::net::Wait;

#[link(wasm_import_module = "wasix_32v1")]
unsafe extern "C" {
    fn callback_signal(name: *const u8, len: usize) -> i32;
    fn proc_raise(signal: u32) -> i32;
    fn proc_signals_sizes_get(count: *mut u32) -> i32;
    fn proc_signals_get(pairs: *mut [u8; 2]) -> i32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn clock_time_get(id: u32, precision: u64, out: *mut u64) -> i32;
    fn poll_oneoff(subs: *const Subscription, out: *mut PollEvent, n: u32, count: *mut u32) -> i32;
}

/// The structure `subscription` of preview 1; the tag selects the union's field.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Subscription {
    userdata: u64,
    tag: u64,
    /// The clock's id or the descriptor's number.
    id: u64,
    timeout: u64,
    precision: u64,
    flags: u64,
}
const _: () = assert!(size_of::<Subscription>() == 48);

/// The structure `event` of preview 1.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PollEvent {
    userdata: u64,
    errno: u16,
    tag: u8,
    _rest: [u8; 21],
}
const _: () = assert!(size_of::<PollEvent>() == 32);

const TAG_CLOCK: u64 = 0;
const TAG_READ: u64 = 1;
const TAG_WRITE: u64 = 2;
const MONOTONIC: u64 = 1;

/// The longest wait, a bound that only keeps absurd times from overflowing. Signals end waits
/// earlier, with EINTR.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1 << 20);

const HANDLER: &[u8] = b"__wasm_signal";

/// Receives signals from the host.
// JUSTIFICATION: the host finds the handler by its name.
// SAFETY: no other symbol has this name; the function has no preconditions.
#[unsafe(no_mangle)]
extern "C" fn __wasm_signal(signal: i32) {
    let signal = signal as u8;
    if signal_arrived(signal) {
        return;
    }
    // These are CHLD, CONT, URG and WINCH, which do nothing by default.
    if matches!(signal, 17 | 18 | 23 | 28) {
        return;
    }
    // TSTP, TTIN and TTOU stop the process by default.
    if matches!(signal, 20..=22) {
        if super::signal_call(signal.into(), box_abi::control::STOP).is_err() {
            // Another host knows STOP, which has no handler.
            // SAFETY: plain integers. JUSTIFICATION: no library wraps this host call.
            unsafe { proc_raise(box_abi::signal::STOP.into()) };
        }
        return;
    }
    // SAFETY: the name's length is 0, and the rest is plain integers.
    // JUSTIFICATION: no library wraps these host calls.
    unsafe {
        callback_signal(HANDLER.as_ptr(), 0);
        proc_raise(signal as u32);
    }
}

pub(crate) fn set_dispositions(old: (u64, u64), (caught, ignored): (u64, u64)) {
    // The host withholds the signals that this process ignores. So a program that replaces the
    // process ignores them, too, and a signal that was ignored at the start can be caught after
    // this call.
    if old.1 | caught | ignored != 0 && ours() {
        // If the host refuses, the handler ignores the signals.
        let _ = super::signal_call(ignored as u32, box_abi::control::IGNORE);
    }
    if old.0 | caught | ignored != 0 && ours() {
        // Other hosts give the handler all signals, and only at the end of a system call.
        let _ = super::signal_call(caught as u32, box_abi::control::CATCH);
    }
    if (old.0 | old.1 == 0) == (caught | ignored == 0) {
        return;
    }
    let len = if caught | ignored == 0 { 0 } else { HANDLER.len() };
    // The result does not matter: a host without signals never calls the handler.
    // SAFETY: the name is live and at least `len` bytes long.
    // JUSTIFICATION: no library wraps this host call.
    unsafe { callback_signal(HANDLER.as_ptr(), len) };
}

pub(crate) fn end_by_closed_pipes() {
    if ours() {
        // If the host refuses, the program gets the error of its write.
        let _ = super::signal_call(0, box_abi::control::PIPE);
    }
}

/// Returns `(signal, 1)` for each signal that a child must ignore.
pub(super) fn inherited_dispositions() -> Vec<[u8; 2]> {
    let (_, ignored) = signal_dispositions();
    (1..64).filter(|n| ignored & signal_bit(*n) != 0).map(|n| [n, 1]).collect()
}

pub(crate) fn ignored_at_start() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let mut count = 0u32;
        let mut pairs = [[0u8; 2]; 64];
        // JUSTIFICATION: no library wraps these host calls.
        // SAFETY: `count` is live, and `pairs` has room for the number that the first call
        // returned.
        let known = unsafe {
            proc_signals_sizes_get(&mut count) == 0
                && count as usize <= pairs.len()
                && proc_signals_get(pairs.as_mut_ptr()) == 0
        };
        let given = if known { pairs.get(..count as usize) } else { None };
        given
            .unwrap_or_default()
            .iter()
            .filter(|p| p[1] == 1)
            .fold(0, |set, p| set | signal_bit(p[0]))
    })
}

/// Returns the events that happened, in no particular order; at most as many as there are
/// subscriptions.
fn poll(subs: &[Subscription]) -> io::Result<Vec<PollEvent>> {
    let mut events = vec![PollEvent::default(); subs.len()];
    let mut count = 0u32;
    // JUSTIFICATION: std cannot wait for several descriptors.
    // SAFETY: both lists are live and have the length that is passed.
    cvt(unsafe { poll_oneoff(subs.as_ptr(), events.as_mut_ptr(), subs.len() as u32, &mut count) })?;
    events.truncate(count as usize);
    Ok(events)
}

fn after(time: Duration) -> Subscription {
    let timeout = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Subscription { tag: TAG_CLOCK, id: MONOTONIC, timeout, ..Subscription::default() }
}

/// Sleeps; returns early at a signal.
pub(crate) fn pause(time: Duration) {
    // An interrupted sleep is not an error, because the caller checks for signals itself.
    let _ = poll(&[after(time)]);
}

/// Returns which of the files can be read or written. Waits at most `time` for one of them.
pub(super) fn poll_files(files: &[(&File, Wait)], time: Duration) -> io::Result<Vec<bool>> {
    let one = |(n, (file, wait)): (u64, &(&File, Wait))| {
        let tag = if *wait == Wait::Read { TAG_READ } else { TAG_WRITE };
        let id = u64::from(file.as_raw_fd() as u32);
        Subscription { userdata: n, tag, id, ..Subscription::default() }
    };
    let mut list: Vec<Subscription> = (1..).zip(files).map(one).collect();
    list.push(after(time));
    let happened = poll(&list)?;
    // A descriptor that cannot be polled counts as ready, so that its read or write reports the
    // error.
    Ok((1..).take(files.len()).map(|n| happened.iter().any(|e| e.userdata == n)).collect())
}

/// Returns whether the host is ours, because other hosts may not know our clocks.
pub(super) fn ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| std::path::Path::new(box_abi::PIPE_DIR).exists())
}

pub(crate) fn cpu_times() -> CpuTimes {
    let clock = |id: u32| {
        let mut t = 0u64;
        // SAFETY: `t` is live. JUSTIFICATION: std has no CPU clocks.
        let known = ours() && unsafe { clock_time_get(id, 1, &mut t) } == 0;
        if known { Duration::from_nanos(t) } else { Duration::ZERO }
    };
    use box_abi::clock as c;
    CpuTimes {
        user: clock(c::USER),
        system: clock(c::SYSTEM),
        children_user: clock(c::CHILDREN_USER),
        children_system: clock(c::CHILDREN_SYSTEM),
    }
}

/// Returns the mask that the host applies to files that this process creates.
pub(crate) fn initial_umask() -> u16 {
    static FIRST: OnceLock<u16> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let given = std::env::var(box_abi::UMASK_VARIABLE).ok();
        given
            .and_then(|m| u16::from_str_radix(&m, 8).ok())
            .map_or(box_abi::DEFAULT_UMASK, |m| m & 0o777)
    })
}

/// Does nothing, because the host has no call for it: see [`umask_in_force`].
pub(crate) fn set_umask(_: u16) {
    initial_umask();
}

pub(crate) fn umask_in_force() -> u16 {
    initial_umask()
}
