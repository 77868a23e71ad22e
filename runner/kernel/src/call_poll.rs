//! WASI preview 1 `poll_oneoff`, and sleeping.
//!
//! A clock subscription with timeout 0 returns at once, an absolute one is measured on its own
//! clock, and the earliest of several decides.

use super::border::{Fd, GuestList};
use super::call_misc::now;
use super::descriptors::OpenDescription;
use super::guest::{GuestCall, Sys};
use super::host::Host;
use super::memory::CallMemory;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox_vfs::{Errno, Readiness};

const SUBSCRIPTION: u32 = 48;
const EVENT: u32 = 32;
const MAX_SUBSCRIPTIONS: u32 = 4096;
const CLOCK: u8 = 0;
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;

struct PollSubscription {
    userdata: u64,
    what: PollTarget,
}

enum PollTarget {
    At(Option<Instant>),
    File { open: Arc<OpenDescription>, write: bool },
    Bad(u8, Errno),
}

fn read_sub<H: Host>(c: &GuestCall<'_, H>, at: u32) -> Result<PollSubscription, Errno> {
    let b: [u8; SUBSCRIPTION as usize] = c.mem.read_array(at)?;
    let u64_at = |i: usize| u64::from_le_bytes(b[i..i + 8].try_into().unwrap_or_default());
    let u32_at = |i: usize| u32::from_le_bytes(b[i..i + 4].try_into().unwrap_or_default());
    let tag = b[8];
    let what = match tag {
        CLOCK => {
            let absolute = b[40] & 1 != 0;
            let timeout = u64_at(24);
            match now(c, u32_at(16)) {
                Err(e) => PollTarget::Bad(tag, e),
                Ok(t) => {
                    let left = if absolute { timeout.saturating_sub(t) } else { timeout };
                    PollTarget::At(Instant::now().checked_add(Duration::from_nanos(left)))
                }
            }
        }
        FD_READ | FD_WRITE => match crate::lock_mutex(&c.process.fds).get(Fd(u32_at(16))) {
            Ok(d) if tag == FD_WRITE && !d.open.write || tag == FD_READ && !d.open.read => {
                PollTarget::Bad(tag, Errno::BADF)
            }
            Ok(d) => PollTarget::File { open: d.open.clone(), write: tag == FD_WRITE },
            Err(e) => PollTarget::Bad(tag, e),
        },
        _ => return Err(Errno::INVAL),
    };
    Ok(PollSubscription { userdata: u64_at(0), what })
}

fn encode_event(userdata: u64, errno: u16, tag: u8, r: Readiness) -> [u8; EVENT as usize] {
    let mut e = [0u8; EVENT as usize];
    e[0..8].copy_from_slice(&userdata.to_le_bytes());
    e[8..10].copy_from_slice(&errno.to_le_bytes());
    e[10] = tag;
    e[16..24].copy_from_slice(&r.bytes.to_le_bytes());
    e[24] = u8::from(r.hangup);
    e
}

fn check_subscription(s: &PollSubscription) -> Option<[u8; EVENT as usize]> {
    let none = Readiness { bytes: 0, hangup: false };
    match &s.what {
        PollTarget::At(Some(t)) => {
            (*t <= Instant::now()).then(|| encode_event(s.userdata, 0, CLOCK, none))
        }
        PollTarget::At(None) => None,
        PollTarget::File { open, write } => {
            let tag = if *write { FD_WRITE } else { FD_READ };
            open.file.ready(*write).map(|r| encode_event(s.userdata, 0, tag, r))
        }
        PollTarget::Bad(tag, e) => Some(encode_event(s.userdata, e.0, *tag, none)),
    }
}

/// `poll(2)` and timers: waits until at least one of the `n` subscriptions has an event. Writes an
/// event for each subscription that has one at `out`, and the number of events at `count`. For a
/// descriptor that is not open, the event reports the error EBADF. Offers the baton to other
/// threads.
///
/// # Errors
/// EINVAL for no subscriptions or too many, EINTR for a signal that is handled.
pub fn poll_oneoff<H: Host>(
    c: &mut GuestCall<'_, H>,
    subs: GuestList,
    out: u32,
    count: u32,
) -> Sys {
    let GuestList { at: subs, n } = subs;
    if n == 0 || n > MAX_SUBSCRIPTIONS {
        return Err(Errno::INVAL.into());
    }
    let at = |base: u32, i: u32, size: u32| base.checked_add(i * size).ok_or(Errno::FAULT);
    let list = (0..n)
        .map(|i| read_sub(c, at(subs, i, SUBSCRIPTION)?))
        .collect::<Result<Vec<PollSubscription>, Errno>>()?;
    let deadline = list.iter().filter_map(|s| match s.what {
        PollTarget::At(t) => t,
        _ => None,
    });
    let deadline = deadline.min();
    let me = std::thread::current();
    // A thread that polls in a loop must let the other threads run.
    c.process.threads.offer_baton();
    loop {
        // Registering comes first, so that no event between the check and the wait is missed.
        let mut look_again = false;
        for s in &list {
            if let PollTarget::File { open, .. } = &s.what {
                look_again |= open.file.watch(&me);
            }
        }
        let events: Vec<_> = list.iter().filter_map(check_subscription).collect();
        if !events.is_empty() {
            for (e, i) in events.iter().zip(0..) {
                c.mem.put_bytes(at(out, i, EVENT)?, e)?;
            }
            return Ok(c.mem.put_u32(count, events.len() as u32)?);
        }
        // Streams of the host cannot wake this thread, so it checks every 5 ms, a delay that
        // readers do not notice.
        let soon = look_again.then(|| Instant::now() + Duration::from_millis(5));
        c.process.park_thread([deadline, soon].into_iter().flatten().min())?;
    }
}

/// `nanosleep(2)`.
///
/// # Errors
/// EINTR for a signal that is handled, EINVAL for a time that the clock does not reach.
pub fn thread_sleep<H: Host>(c: &mut GuestCall<'_, H>, ns: u64) -> Sys {
    let Some(until) = Instant::now().checked_add(Duration::from_nanos(ns)) else {
        return Err(Errno::INVAL.into());
    };
    while Instant::now() < until {
        c.process.park_thread(Some(until))?;
    }
    Ok(())
}
