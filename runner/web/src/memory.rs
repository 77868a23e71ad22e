//! A guest's memory, which this module cannot access: JavaScript copies its bytes.

use crate::ffi;
use std::cell::Cell;
use wasibox_kernel::{CallMemory, PART};
use wasibox_vfs::Errno;

thread_local! {
    /// A buffer for copies, kept from call to call.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Runs `with` on `len` bytes of buffer with arbitrary content. May be nested.
fn with_room<T>(len: usize, with: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut room = ROOM.take();
    if room.len() < len {
        room.resize(len, 0);
    }
    let done = with(&mut room[..len]);
    if room.len() <= PART {
        ROOM.set(room);
    }
    done
}

/// The memory of the guest that runs in this worker.
pub struct GuestMemory {
    size: usize,
}

impl GuestMemory {
    /// Returns the memory in its current size.
    pub fn new() -> GuestMemory {
        GuestMemory { size: ffi::guest_size() }
    }
}

impl CallMemory for GuestMemory {
    fn size(&self) -> usize {
        self.size
    }

    fn lend_bytes<T>(
        &self,
        at: u32,
        len: usize,
        look: impl FnOnce(&[u8]) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.check_range(at, len)?;
        with_room(len, |copy| {
            ffi::guest_read(at, copy);
            look(copy)
        })
    }

    fn fill_bytes(
        &mut self,
        at: u32,
        len: usize,
        make: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        self.check_range(at, len)?;
        with_room(len, |copy| {
            let n = make(copy)?;
            ffi::guest_write(at, copy.get(..n).ok_or(Errno::FAULT)?);
            Ok(n)
        })
    }

    fn read(&self, at: u32, to: &mut [u8]) -> Result<(), Errno> {
        self.check_range(at, to.len())?;
        ffi::guest_read(at, to);
        Ok(())
    }

    fn put_bytes(&mut self, at: u32, bytes: &[u8]) -> Result<(), Errno> {
        self.check_range(at, bytes.len())?;
        ffi::guest_write(at, bytes);
        Ok(())
    }
}
