//! A guest's linear memory, as calls see it.
//!
//! Bytes are lent to a closure, or filled by one, so that no slice of guest memory outlives a step
//! of a call. A host whose own memory contains the guest's (native code) lends the guest's bytes
//! themselves; a host that cannot see them (a browser: another `WebAssembly.Memory`) copies them.
//! Calls are generic over this trait and compiled for each host.

use wasibox_vfs::Errno;

/// Bytes that a call moves before it checks whether its process was ended: a few milliseconds of
/// work for the slowest file, the random device.
pub const PART: usize = 1 << 20;
/// The maximum number of bytes that one read or write moves, even if more are requested (Linux's
/// `MAX_RW_COUNT`).
pub const MAX_MOVED: u64 = 0x7fff_f000;
/// Bytes that are searched for the end of a string at a time.
const STRING_STEP: usize = 256;

/// The linear memory of the calling guest, during one call.
pub trait CallMemory {
    /// Returns its bytes, as of the call's beginning.
    fn size(&self) -> usize;

    /// Lends `len` bytes at `at`, or EFAULT.
    fn lend_bytes<T>(
        &self,
        at: u32,
        len: usize,
        look: impl FnOnce(&[u8]) -> Result<T, Errno>,
    ) -> Result<T, Errno>;

    /// Lets `make` write to the `len` bytes at `at`, or returns EFAULT. `make` returns the number
    /// of bytes that it has written, from the first on. It must not rely on their previous content.
    fn fill_bytes(
        &mut self,
        at: u32,
        len: usize,
        make: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno>;

    /// Copies bytes from `at`, or EFAULT.
    fn read(&self, at: u32, to: &mut [u8]) -> Result<(), Errno> {
        self.lend_bytes(at, to.len(), |bytes| {
            to.copy_from_slice(bytes);
            Ok(())
        })
    }

    /// Copies bytes to `at`, or EFAULT.
    fn put_bytes(&mut self, at: u32, bytes: &[u8]) -> Result<(), Errno> {
        self.fill_bytes(at, bytes.len(), |to| {
            to.copy_from_slice(bytes);
            Ok(bytes.len())
        })?;
        Ok(())
    }

    /// Returns EFAULT unless the bytes lie in the memory.
    fn check_range(&self, at: u32, len: usize) -> Result<(), Errno> {
        let end = (at as usize).checked_add(len).ok_or(Errno::FAULT)?;
        if end <= self.size() { Ok(()) } else { Err(Errno::FAULT) }
    }

    fn read_array<const N: usize>(&self, at: u32) -> Result<[u8; N], Errno> {
        let mut out = [0; N];
        self.read(at, &mut out)?;
        Ok(out)
    }

    fn read_u8(&self, at: u32) -> Result<u8, Errno> {
        self.read_array(at).map(u8::from_le_bytes)
    }

    fn read_u32(&self, at: u32) -> Result<u32, Errno> {
        self.read_array(at).map(u32::from_le_bytes)
    }

    fn put_u32(&mut self, at: u32, v: u32) -> Result<(), Errno> {
        self.put_bytes(at, &v.to_le_bytes())
    }

    fn put_u64(&mut self, at: u32, v: u64) -> Result<(), Errno> {
        self.put_bytes(at, &v.to_le_bytes())
    }

    /// Returns the next part of a buffer of `len` bytes at `at` after its first `done` bytes, as
    /// address and length. `done` is less than `len`, and the part has at most [`PART`] bytes.
    /// EFAULT unless the whole buffer lies in the memory.
    fn buffer_part(&self, at: u32, len: usize, done: usize) -> Result<(u32, usize), Errno> {
        self.check_range(at, len)?;
        let from = (at as usize).checked_add(done).and_then(|from| u32::try_from(from).ok());
        Ok((from.ok_or(Errno::FAULT)?, len.saturating_sub(done).min(PART)))
    }

    /// Copies a path: bytes without NUL, at most 4096 of them plus a terminator.
    fn read_path(&self, at: u32, len: u32) -> Result<Vec<u8>, Errno> {
        if len > 4097 {
            return Err(Errno::NAMETOOLONG);
        }
        self.lend_bytes(at, len as usize, |path| {
            let path = path.strip_suffix(b"\0").unwrap_or(path);
            if path.contains(&0) { Err(Errno::INVAL) } else { Ok(path.to_vec()) }
        })
    }

    /// Copies a NUL-terminated string of at most `max` bytes; E2BIG if it is longer.
    fn c_string(&self, at: u32, max: usize) -> Result<Vec<u8>, Errno> {
        self.check_range(at, 0)?;
        let mut out = Vec::new();
        loop {
            let from = at as usize + out.len();
            let n = STRING_STEP.min(self.size() - from);
            if n == 0 {
                return Err(Errno::FAULT);
            }
            let from = u32::try_from(from).map_err(|_| Errno::FAULT)?;
            let ended = self.lend_bytes(from, n, |bytes| {
                let end = bytes.iter().position(|b| *b == 0);
                out.extend_from_slice(&bytes[..end.unwrap_or(n)]);
                Ok(end.is_some())
            })?;
            if out.len() > max {
                return Err(Errno::TOOBIG);
            }
            if ended {
                return Ok(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory that is lent by copies, like a browser's.
    struct Copied(Vec<u8>);

    impl CallMemory for Copied {
        fn size(&self) -> usize {
            self.0.len()
        }

        fn lend_bytes<T>(
            &self,
            at: u32,
            len: usize,
            look: impl FnOnce(&[u8]) -> Result<T, Errno>,
        ) -> Result<T, Errno> {
            self.check_range(at, len)?;
            look(&self.0[at as usize..at as usize + len])
        }

        fn fill_bytes(
            &mut self,
            at: u32,
            len: usize,
            make: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
        ) -> Result<usize, Errno> {
            self.check_range(at, len)?;
            let mut copy = vec![0xaa; len];
            let n = make(&mut copy)?;
            self.0[at as usize..at as usize + n].copy_from_slice(&copy[..n]);
            Ok(n)
        }
    }

    #[test]
    fn strings_end_at_their_nul_the_limit_or_the_memory() {
        let mut m = Copied(vec![b'x'; 1000]);
        assert_eq!(m.c_string(0, 5000), Err(Errno::FAULT));
        assert_eq!(m.c_string(0, 999), Err(Errno::TOOBIG));
        assert_eq!(m.c_string(0, 100), Err(Errno::TOOBIG));
        for end in [0, 1, 255, 256, 257, 512, 999] {
            m.0.fill(b'x');
            m.0[end] = 0;
            assert_eq!(m.c_string(0, 5000), Ok(vec![b'x'; end]));
            assert_eq!(m.c_string(0, end), Ok(vec![b'x'; end]));
            if end > 0 {
                assert_eq!(m.c_string(0, end - 1), Err(Errno::TOOBIG));
            }
        }
        assert_eq!(m.c_string(999, 0), Ok(Vec::new()));
        assert_eq!(m.c_string(1000, 9), Err(Errno::FAULT));
        assert_eq!(m.c_string(u32::MAX, 9), Err(Errno::FAULT));
    }

    #[test]
    fn parts_lie_in_the_memory() {
        let m = Copied(vec![0; 100]);
        assert_eq!(m.buffer_part(90, 10, 4), Ok((94, 6)));
        assert_eq!(m.buffer_part(90, 11, 4), Err(Errno::FAULT));
        assert_eq!(m.buffer_part(100, 0, 0), Ok((100, 0)));
        assert_eq!(m.buffer_part(u32::MAX, 1, 0), Err(Errno::FAULT));
        assert_eq!(m.buffer_part(0, usize::MAX, 0), Err(Errno::FAULT));
    }

    #[test]
    fn only_what_was_made_is_written() {
        let mut m = Copied(vec![1; 8]);
        let two = |to: &mut [u8]| {
            to[..2].fill(7);
            Ok(2)
        };
        assert_eq!(m.fill_bytes(2, 6, two), Ok(2));
        assert_eq!(m.0, [1, 1, 7, 7, 1, 1, 1, 1]);
        assert_eq!(m.fill_bytes(2, 7, two), Err(Errno::FAULT));
        assert_eq!(m.fill_bytes(2, 6, |_| Err(Errno::AGAIN)), Err(Errno::AGAIN));
        assert_eq!(m.0, [1, 1, 7, 7, 1, 1, 1, 1]);
    }
}
