//! Character devices of `/dev`, as in Linux's `null(4)`, `full(4)` and `random(4)`.

use crate::errno::Errno;

/// A character device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// Reads return end of file; writes are discarded.
    Null,
    /// Reads return zeros; writes are discarded.
    Zero,
    /// Reads return zeros; writes fail with ENOSPC.
    Full,
    /// Reads return the host's random bytes; writes are discarded.
    Random,
    /// The caller's controlling terminal, which the kernel knows.
    Tty,
    /// Opening makes a new terminal, and opens its master.
    Ptmx,
}

impl Device {
    /// Fills `buf`; returns the number of bytes that were read.
    pub fn read(self, buf: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Device::Null => Ok(0),
            Device::Zero | Device::Full => {
                buf.fill(0);
                Ok(buf.len())
            }
            Device::Random => {
                getrandom::fill(buf).map_err(|_| Errno::IO)?;
                Ok(buf.len())
            }
            Device::Tty | Device::Ptmx => Err(Errno::NXIO),
        }
    }

    /// Accepts `len` bytes.
    pub fn write(self, len: usize) -> Result<usize, Errno> {
        match self {
            Device::Null | Device::Zero | Device::Random => Ok(len),
            Device::Full => Err(Errno::NOSPC),
            Device::Tty | Device::Ptmx => Err(Errno::NXIO),
        }
    }
}
