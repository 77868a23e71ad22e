//! The strings that a process begins with, copied from the guest's memory.
//!
//! They are bounded as `execve(2)` bounds them on Linux. They are charged to the memory limit
//! before they are copied, because a list of empty strings costs the host thirty times as much as
//! the guest.

use super::border::GuestList;
use super::memory::CallMemory;
use std::sync::Arc;
use wasibox_vfs::{Budget, Errno, Reservation};

/// The maximum number of bytes of arguments and environment together; each string counts with its
/// terminator and a pointer (Linux's `getconf ARG_MAX`).
pub const ARG_MAX: usize = 2 << 20;
/// Longest `PATH` that is searched, in bytes: Linux's longest string of an environment.
pub const PATH_LIST_MAX: usize = 128 << 10;

/// Bytes that a string costs the host beyond its content.
const STRING: u64 = 64;
/// Bytes by which the reservation grows at a time; most lists fit into the first step.
const STEP: u64 = 16 << 10;

/// Computes the bytes that copies of these strings take of the memory limit.
pub fn strings_cost<'a>(strings: impl Iterator<Item = &'a Vec<u8>>) -> u64 {
    strings.map(|s| s.len() as u64 + STRING).sum()
}

/// Copies the lists of one program.
pub struct ArgumentLists {
    held: Reservation,
    spare: u64,
    room: usize,
}

impl ArgumentLists {
    /// Creates lists that are charged to `budget`, together with `besides` additional bytes.
    pub fn new(budget: &Arc<Budget>, besides: u64) -> Result<ArgumentLists, Errno> {
        let held = budget.reserve_bytes(besides + STEP).ok_or(Errno::NOMEM)?;
        Ok(ArgumentLists { held, spare: STEP, room: ARG_MAX })
    }

    /// Charges a string.
    fn charge_string(&mut self, s: &[u8]) -> Result<(), Errno> {
        self.room = self.room.checked_sub(s.len() + 1 + 8).ok_or(Errno::TOOBIG)?;
        let cost = s.len() as u64 + STRING;
        if self.spare < cost {
            let more = cost.max(STEP);
            if !self.held.grow_by(more) {
                return Err(Errno::NOMEM);
            }
            self.spare += more;
        }
        self.spare -= cost;
        Ok(())
    }

    fn copy_string(&mut self, s: &[u8]) -> Result<Vec<u8>, Errno> {
        self.charge_string(s)?;
        Ok(s.to_vec())
    }

    /// Reads NUL-terminated strings from an array of `n` pointers.
    pub fn read_pointers<M: CallMemory>(
        &mut self,
        mem: &M,
        GuestList { at: list, n }: GuestList,
    ) -> Result<Vec<Vec<u8>>, Errno> {
        let mut out = Vec::new();
        for i in 0..n {
            let at = i.checked_mul(4).and_then(|k| list.checked_add(k)).ok_or(Errno::FAULT)?;
            // Only one string, which is bounded, is copied before it is charged.
            let s = mem.c_string(mem.read_u32(at)?, self.room)?;
            self.charge_string(&s)?;
            out.push(s);
        }
        Ok(out)
    }

    /// Reads strings that are separated by line feeds, as in WASIX, or that each end with a NUL.
    /// Our own programs use NULs, because their strings may contain line feeds.
    pub fn read_lines<M: CallMemory>(
        &mut self,
        mem: &M,
        GuestList { at, n: len }: GuestList,
    ) -> Result<Vec<Vec<u8>>, Errno> {
        if len as usize > self.room {
            return Err(Errno::TOOBIG);
        }
        mem.lend_bytes(at, len as usize, |all| {
            let (all, end) = all.strip_suffix(&[0]).map_or((all, b'\n'), |all| (all, 0));
            all.split(|b| *b == end).map(|string| self.copy_string(string)).collect()
        })
    }

    /// Copies strings that the host already has.
    pub fn copy_again(&mut self, strings: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Errno> {
        strings.iter().map(|s| self.copy_string(s)).collect()
    }

    /// Returns the reservation for the copies and for the additional bytes of
    /// [`ArgumentLists::new`].
    pub fn finish_charge(mut self) -> Reservation {
        let used = self.held.bytes() - self.spare;
        self.held.shrink_to(used);
        self.held
    }
}
