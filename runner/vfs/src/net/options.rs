//! The options of `setsockopt`. Options without a meaning on a loopback are only stored and
//! returned.

use super::BUFFER;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// An option that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketFlag {
    ReusePort,
    ReuseAddress,
    NoDelay,
    DontRoute,
    OnlyV6,
    Broadcast,
    MulticastLoopV4,
    MulticastLoopV6,
    KeepAlive,
    OutOfBandInline,
}

/// An option that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketSize {
    Receive,
    Send,
    ReceiveLow,
    SendLow,
    TimeToLive,
    MulticastTimeToLive,
}

/// An option that is a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketTime {
    Receive,
    Send,
    Connect,
    Accept,
    Linger,
}

/// The smallest buffer in bytes (about Linux's `SOCK_MIN_RCVBUF`).
const LEAST: u64 = 2304;
/// The value of a time that is not set.
const NONE: u64 = u64::MAX;

/// A socket's options.
#[derive(Debug)]
pub struct SocketOptions {
    flags: AtomicU32,
    sizes: [AtomicU64; 6],
    times: [AtomicU64; 5],
}

impl Default for SocketOptions {
    fn default() -> SocketOptions {
        let sizes = [BUFFER as u64, BUFFER as u64, 1, 1, 64, 1].map(AtomicU64::new);
        SocketOptions { flags: AtomicU32::new(0), sizes, times: [NONE; 5].map(AtomicU64::new) }
    }
}

impl SocketOptions {
    /// Returns whether a switch is on.
    pub fn flag(&self, flag: SocketFlag) -> bool {
        self.flags.load(Relaxed) & 1 << flag as u32 != 0
    }

    /// Sets a switch.
    pub fn set_flag(&self, flag: SocketFlag, on: bool) {
        let bit = 1 << flag as u32;
        if on {
            self.flags.fetch_or(bit, Relaxed);
        } else {
            self.flags.fetch_and(!bit, Relaxed);
        }
    }

    /// Returns a number, or its default.
    pub fn size(&self, size: SocketSize) -> u64 {
        self.sizes[size as usize].load(Relaxed)
    }

    /// Sets a number. Buffers become twice as large as requested, as in Linux, within bounds.
    pub fn set_size(&self, size: SocketSize, value: u64) {
        let value = match size {
            SocketSize::Receive | SocketSize::Send => {
                value.saturating_mul(2).clamp(LEAST, BUFFER as u64)
            }
            _ => value,
        };
        self.sizes[size as usize].store(value, Relaxed);
    }

    /// Returns a time, if it is set.
    pub fn time(&self, time: SocketTime) -> Option<Duration> {
        let ns = self.times[time as usize].load(Relaxed);
        (ns != NONE).then(|| Duration::from_nanos(ns))
    }

    /// Sets a time; `None` is no limit.
    pub fn set_time(&self, time: SocketTime, value: Option<Duration>) {
        let ns = |t: Duration| u64::try_from(t.as_nanos()).unwrap_or(NONE);
        self.times[time as usize].store(value.map_or(NONE, ns), Relaxed);
    }

    /// Copies the options of a listener for an accepted socket.
    pub(super) fn inherit(&self) -> SocketOptions {
        let copy = |all: &AtomicU64| AtomicU64::new(all.load(Relaxed));
        SocketOptions {
            flags: AtomicU32::new(self.flags.load(Relaxed)),
            sizes: std::array::from_fn(|i| copy(&self.sizes[i])),
            times: std::array::from_fn(|i| copy(&self.times[i])),
        }
    }
}
