//! WASI preview 1: arguments, environment, clocks, randomness.

use super::border::GuestBuf;
use super::guest::{GuestCall, Sys};
use super::host::Host;
use super::memory::CallMemory;
use box_abi::clock;
use wasibox_vfs::Errno;

/// Stores strings in WASI's layout: pointers at `list`, NUL-terminated bytes at `buf`.
fn put_strings<M: CallMemory>(mem: &mut M, strings: &[Vec<u8>], list: u32, buf: u32) -> Sys {
    let mut at = buf;
    for (s, i) in strings.iter().zip(0u32..) {
        let slot = i.checked_mul(4).and_then(|n| list.checked_add(n)).ok_or(Errno::FAULT)?;
        mem.put_u32(slot, at)?;
        mem.put_bytes(at, s)?;
        let end =
            u32::try_from(s.len()).ok().and_then(|n| at.checked_add(n)).ok_or(Errno::FAULT)?;
        mem.put_bytes(end, &[0])?;
        at = end.checked_add(1).ok_or(Errno::FAULT)?;
    }
    Ok(())
}

fn put_sizes<M: CallMemory>(mem: &mut M, strings: &[Vec<u8>], count: u32, size: u32) -> Sys {
    let bytes: usize = strings.iter().map(|s| s.len() + 1).sum();
    mem.put_u32(count, u32::try_from(strings.len()).map_err(|_| Errno::OVERFLOW)?)?;
    mem.put_u32(size, u32::try_from(bytes).map_err(|_| Errno::OVERFLOW)?)?;
    Ok(())
}

/// Stores the arguments: pointers at `argv`, and the strings with their NULs at `buf`.
/// [`args_sizes_get`] reports the room that both need.
pub fn args_get<H: Host>(c: &mut GuestCall<'_, H>, argv: u32, buf: u32) -> Sys {
    let start = crate::lock_mutex(&c.process.start);
    put_strings(&mut c.mem, &start.argv, argv, buf)
}

/// Stores the number of arguments at `count`, and their size with all NULs at `size`.
pub fn args_sizes_get<H: Host>(c: &mut GuestCall<'_, H>, count: u32, size: u32) -> Sys {
    let start = crate::lock_mutex(&c.process.start);
    put_sizes(&mut c.mem, &start.argv, count, size)
}

/// Stores the environment as `NAME=value`: pointers at `env`, and the strings with their NULs at
/// `buf`.
pub fn environ_get<H: Host>(c: &mut GuestCall<'_, H>, env: u32, buf: u32) -> Sys {
    let start = crate::lock_mutex(&c.process.start);
    put_strings(&mut c.mem, &start.env, env, buf)
}

/// Stores the number of variables at `count`, and their size with all NULs at `size`.
pub fn environ_sizes_get<H: Host>(c: &mut GuestCall<'_, H>, count: u32, size: u32) -> Sys {
    let start = crate::lock_mutex(&c.process.start);
    put_sizes(&mut c.mem, &start.env, count, size)
}

/// Returns the time of a WASI clock in nanoseconds; EINVAL for an unknown one.
pub fn now<H: Host>(c: &GuestCall<'_, H>, id: u32) -> Result<u64, Errno> {
    if let Some(fixed) = c.process.kernel.fixed.get() {
        return Ok(fixed.fixed_time(id == 0));
    }
    Ok(match id {
        0 => wasibox_vfs::now_ns(),
        1 => c.process.kernel.monotonic_now(),
        2 => c.process.cpu_ns(),
        3 => c.process.thread_cpu_ns(),
        clock::USER => c.process.cpu().user,
        clock::SYSTEM => c.process.cpu().system,
        clock::CHILDREN_USER => crate::lock_mutex(&c.process.children_cpu).user,
        clock::CHILDREN_SYSTEM => crate::lock_mutex(&c.process.children_cpu).system,
        _ => return Err(Errno::INVAL),
    })
}

/// `clock_getres(2)`: stores the resolution, which is one nanosecond for every clock.
///
/// # Errors
/// EINVAL for an unknown clock.
pub fn clock_res_get<H: Host>(c: &mut GuestCall<'_, H>, id: u32, out: u32) -> Sys {
    now(c, id)?;
    Ok(c.mem.put_u64(out, 1)?)
}

/// `clock_gettime(2)`: stores the time of a clock in nanoseconds, as [`now`] returns it.
///
/// # Errors
/// EINVAL for an unknown clock.
pub fn clock_time_get<H: Host>(c: &mut GuestCall<'_, H>, id: u32, out: u32) -> Sys {
    let t = now(c, id)?;
    Ok(c.mem.put_u64(out, t)?)
}

/// Fills the buffer with random bytes from the host's source, or with fixed ones while a process is
/// being prepared (see [`FixedClock`](super::cells::FixedClock)).
pub fn random_get<H: Host>(c: &mut GuestCall<'_, H>, buf: GuestBuf) -> Sys {
    let GuestBuf { at: buf, len } = buf;
    let mut done = 0;
    while done < len as usize {
        let (at, n) = c.mem.buffer_part(buf, len as usize, done)?;
        let fixed = c.process.kernel.fixed.get();
        done += c.mem.fill_bytes(at, n, |out| {
            match fixed {
                Some(fixed) => fixed.fill_random(out),
                None => getrandom::fill(out).map_err(|_| Errno::IO)?,
            }
            Ok(n)
        })?;
        c.process.check_alive()?;
    }
    Ok(())
}
