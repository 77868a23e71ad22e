//! WASIX: threads and futexes, with WASIX's layouts.
//!
//! Addresses of futexes are in the guest's own memory, so that a wait and a wake-up concern one
//! process only. The compared value is read with the baton held, so that no other thread can run
//! between the comparison and the sleep.

use super::guest::{GuestCall, Halt, Sys};
use super::host::Host;
use super::memory::CallMemory;
use super::second;
use super::threads::{SleepEvent, current_thread};
use std::time::{Duration, Instant};
use wasibox_vfs::Errno;

/// The export at which a thread begins. Its arguments are the thread's number and the address that
/// was passed to `thread_spawn_v2`.
pub const START: &str = "wasi_thread_start";
/// Bytes of WASIX's `thread_start`: stack, thread-local base, function, argument, ten reserved
/// words, sizes of the stack and of its guard. The kernel reads none of it.
const START_SIZE: usize = 64;

/// Begins a thread at the export [`START`] with its number and the address `start`; also stores the
/// number at `out`.
///
/// # Errors
/// ENOTSUP if the program cannot have threads, EAGAIN for too many, ENOMEM.
pub fn thread_spawn_v2<H: Host>(c: &mut GuestCall<'_, H>, start: u32, out: u32) -> Sys {
    c.mem.check_range(start, START_SIZE)?;
    c.mem.read_u32(out)?;
    let number = second::spawn_thread(c, start)?;
    Ok(c.mem.put_u32(out, c.process.thread_id(number))?)
}

/// `gettid(2)`: the process's number for its first thread.
pub fn thread_id<H: Host>(c: &mut GuestCall<'_, H>, out: u32) -> Sys {
    Ok(c.mem.put_u32(out, c.process.thread_id(current_thread()))?)
}

/// Stores the number of processors.
pub fn thread_parallelism<H: Host>(c: &mut GuestCall<'_, H>, out: u32) -> Sys {
    // Although only one thread of a process runs at a time, callers use this to decide how many
    // processes to start.
    let n = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    Ok(c.mem.put_u32(out, n)?)
}

/// Waits for the end of another thread; an unknown thread counts as ended.
pub fn thread_join<H: Host>(c: &mut GuestCall<'_, H>, tid: u32) -> Sys {
    let number = tid.wrapping_sub(c.process.pid);
    if number == 0 || number == current_thread() {
        return Err(Errno::DEADLK.into());
    }
    loop {
        match c.process.threads.sleep_for(SleepEvent::End(number), None) {
            None | Some(true) => return Ok(()),
            Some(false) => c.process.check_wait()?,
        }
    }
}

/// Sleeps until a wake-up of that address, if it holds `expected`. `timeout` points to an optional
/// time (tag, nanoseconds); the byte at `woken` becomes 0 if the time has passed first, and 1
/// otherwise.
pub fn futex_wait<H: Host>(
    c: &mut GuestCall<'_, H>,
    at: u32,
    expected: u32,
    timeout: u32,
    woken: u32,
) -> Sys {
    check_address(c, at)?;
    let until = match timeout {
        0 => None,
        _ => match c.mem.read_u8(timeout)? {
            0 => None,
            1 => {
                let time = timeout.checked_add(8).ok_or(Errno::FAULT)?;
                let ns = u64::from_le_bytes(c.mem.read_array(time)?);
                Instant::now().checked_add(Duration::from_nanos(ns))
            }
            _ => return Err(Errno::INVAL.into()),
        },
    };
    c.mem.put_bytes(woken, &[0])?;
    if c.mem.read_u32(at)? != expected {
        return Ok(c.mem.put_bytes(woken, &[1])?);
    }
    c.process.check_wait()?;
    let is_late = || until.is_some_and(|u| Instant::now() >= u);
    loop {
        let slept = match c.process.threads.sleep_for(SleepEvent::Futex(at), until) {
            Some(woken) => woken,
            // This is the only thread, so only time or a signal ends the wait.
            None if is_late() => false,
            None => {
                c.process.park_thread(until)?;
                continue;
            }
        };
        if slept {
            c.mem.put_bytes(woken, &[1])?;
            return Ok(());
        }
        c.process.check_wait()?;
        if is_late() {
            return Ok(());
        }
        // Woken without an event. The guest checks whether a wake-up happened in the meantime.
        if c.mem.read_u32(at)? != expected {
            return Ok(c.mem.put_bytes(woken, &[1])?);
        }
    }
}

/// Wakes the thread that has slept longest at that address; stores at `woken` whether there was
/// one.
///
/// # Errors
/// EINVAL for an address that is not a multiple of 4.
pub fn futex_wake<H: Host>(c: &mut GuestCall<'_, H>, at: u32, woken: u32) -> Sys {
    wake_sleepers(c, at, 1, woken)
}

/// Wakes all threads that sleep at that address; otherwise as [`futex_wake`].
pub fn futex_wake_all<H: Host>(c: &mut GuestCall<'_, H>, at: u32, woken: u32) -> Sys {
    wake_sleepers(c, at, usize::MAX, woken)
}

fn wake_sleepers<H: Host>(c: &mut GuestCall<'_, H>, at: u32, most: usize, woken: u32) -> Sys {
    check_address(c, at)?;
    c.mem.check_range(woken, 1)?;
    let n = c.process.threads.wake_sleepers(SleepEvent::Futex(at), most);
    Ok(c.mem.put_bytes(woken, &[u8::from(n > 0)])?)
}

fn check_address<H: Host>(c: &GuestCall<'_, H>, at: u32) -> Result<(), Halt> {
    if !at.is_multiple_of(4) {
        return Err(Errno::INVAL.into());
    }
    c.mem.read_u32(at)?;
    Ok(())
}

/// Lets other threads of the process run first or, if there are none, other threads of the host.
pub fn sched_yield<H: Host>(c: &mut GuestCall<'_, H>) -> Sys {
    if !c.process.threads.offer_baton() {
        std::thread::yield_now();
    }
    Ok(())
}
