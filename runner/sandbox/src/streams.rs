//! The ends of a run's standard streams.

use crate::terminal::FilteredStream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Dev, FileType, fstat, major, minor};
use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::pipe::PIPE_BUF;
use wasibox_vfs::{Errno, Readiness, StdStream};

/// The offset of `preadv2` that means no offset.
#[cfg(target_os = "linux")]
const NO_OFFSET: u64 = u64::MAX;
#[cfg(target_os = "linux")]
const UNKNOWN: rustix::io::Errno = rustix::io::Errno::OPNOTSUPP;

/// The numbers of `/dev/null`, whose name a jailed worker cannot look up.
const NULL_DEVICE: (u32, u32) = if cfg!(target_os = "linux") { (1, 3) } else { (3, 2) };

/// An open descriptor of the host that a guest uses. Other programs may share it, so it stays in
/// blocking mode. The guest's thread must nevertheless not block on it, because there is no
/// reliable way to end such a wait. See [`HostStream::put_some`].
#[derive(Debug)]
pub struct HostStream {
    fd: OwnedFd,
    terminal: bool,
    /// Whether reads and writes may wait for another process, as they do unless it is a file.
    waits: bool,
    /// Whether the descriptor lacks requests that do not wait, as terminals do, and pipes of old
    /// kernels.
    no_nowait: AtomicBool,
    meter: Option<Arc<OutputMeter>>,
    /// The filter of a terminal's output.
    filter: Option<Mutex<FilteredStream>>,
}

/// A meter that counts the output of several streams against one limit.
#[derive(Debug)]
pub struct OutputMeter {
    limit: u64,
    used: AtomicU64,
    over: AtomicBool,
}

impl OutputMeter {
    /// Creates a meter for `limit` bytes; `None` is no limit.
    pub fn new(limit: Option<u64>) -> Arc<OutputMeter> {
        let limit = limit.unwrap_or(u64::MAX);
        Arc::new(OutputMeter { limit, used: AtomicU64::new(0), over: AtomicBool::new(false) })
    }

    /// Takes up to `n` of the bytes that may still be written, and returns their number.
    fn take_room(&self, n: usize) -> usize {
        let to = |used: u64| Some(used.saturating_add(n as u64).min(self.limit));
        let before = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, to);
        let left = self.limit - before.unwrap_or(self.limit);
        if left < n as u64 {
            self.over.store(true, Ordering::Relaxed);
        }
        left.min(n as u64) as usize
    }

    /// Gives back `n` bytes that were not written after all.
    fn give_back(&self, n: usize) {
        self.used.fetch_sub(n as u64, Ordering::Relaxed);
    }

    /// Returns whether output was cut off.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Returns whether `fd` is the host's `/dev/null`.
pub fn is_null_device(fd: impl AsFd) -> bool {
    let Ok(stat) = fstat(fd) else { return false };
    let device = (major(stat.st_rdev as Dev), minor(stat.st_rdev as Dev));
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && device == NULL_DEVICE
}

impl HostStream {
    /// Creates a stream that reads from a duplicate of `fd`.
    pub fn input(fd: impl AsFd) -> std::io::Result<Arc<dyn StdStream>> {
        Ok(Arc::new(HostStream::dup(fd.as_fd(), None)?))
    }

    /// Creates a stream that writes to a duplicate of `fd`, metered. A terminal gets text and
    /// colours only, unless `raw` (the module `terminal` has the rules); every other descriptor
    /// gets the bytes as they are.
    pub fn output(
        fd: impl AsFd,
        meter: Arc<OutputMeter>,
        raw: bool,
    ) -> std::io::Result<Arc<dyn StdStream>> {
        let mut stream = HostStream::dup(fd.as_fd(), Some(meter))?;
        stream.filter = (stream.terminal && !raw).then(Mutex::default);
        Ok(Arc::new(stream))
    }

    fn dup(fd: BorrowedFd<'_>, meter: Option<Arc<OutputMeter>>) -> std::io::Result<HostStream> {
        let fd = fd.try_clone_to_owned()?;
        let terminal = fd.is_terminal();
        let kind = FileType::from_raw_mode(fstat(&fd)?.st_mode);
        let waits = terminal || matches!(kind, FileType::Fifo | FileType::Socket);
        let no_nowait = AtomicBool::new(false);
        Ok(HostStream { terminal, waits, no_nowait, fd, meter, filter: None })
    }

    /// Reads available bytes; EAGAIN if there are none.
    fn get(&self, buf: &mut [u8]) -> rustix::io::Result<usize> {
        #[cfg(target_os = "linux")]
        if self.waits && !self.no_nowait.load(Ordering::Relaxed) {
            use rustix::io::{ReadWriteFlags, preadv2};
            let mut buf = [std::io::IoSliceMut::new(buf)];
            match preadv2(&self.fd, &mut buf, NO_OFFSET, ReadWriteFlags::NOWAIT) {
                Err(UNKNOWN | rustix::io::Errno::NOSYS) => {
                    self.no_nowait.store(true, Ordering::Relaxed);
                }
                r => return r,
            }
        }
        if self.waits && self.poll_ready(false, Duration::ZERO).is_empty() {
            return Err(rustix::io::Errno::AGAIN);
        }
        rustix::io::read(&self.fd, buf)
    }

    /// Writes as much as possible without waiting for a reader, perhaps not all; EAGAIN if that is
    /// nothing.
    fn put_some(&self, data: &[u8]) -> rustix::io::Result<usize> {
        if !self.waits {
            return rustix::io::write(&self.fd, data);
        }
        #[cfg(target_os = "linux")]
        if !self.no_nowait.load(Ordering::Relaxed) {
            use rustix::io::{ReadWriteFlags, pwritev2};
            let data = [std::io::IoSlice::new(data)];
            match pwritev2(&self.fd, &data, NO_OFFSET, ReadWriteFlags::NOWAIT) {
                Err(UNKNOWN | rustix::io::Errno::NOSYS) => {
                    self.no_nowait.store(true, Ordering::Relaxed);
                }
                r => return r,
            }
        }
        if self.poll_ready(true, Duration::ZERO).is_empty() {
            return Err(rustix::io::Errno::AGAIN);
        }
        // A pipe that is ready takes this many bytes (POSIX `poll` and `PIPE_BUF`); so does a
        // terminal, unless its user stops its output at that moment.
        rustix::io::write(&self.fd, &data[..data.len().min(PIPE_BUF)])
    }

    fn poll_ready(&self, write: bool, timeout: Duration) -> PollFlags {
        let want = if write { PollFlags::OUT } else { PollFlags::IN };
        let mut fds = [PollFd::new(&self.fd, want)];
        let timeout =
            Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        match poll(&mut fds, Some(&timeout)) {
            Ok(n) if n > 0 => fds[0].revents(),
            _ => PollFlags::empty(),
        }
    }
}

impl Drop for HostStream {
    /// Waits a little for a slow terminal to take the rest of the output.
    fn drop(&mut self) {
        let Some(filter) = self.filter.take() else { return };
        let mut shown = filter.into_inner().unwrap_or_else(|e| e.into_inner());
        for _ in 0..20 {
            if shown.flush(&|bytes: &[u8]| self.put_some(bytes)) != Err(rustix::io::Errno::AGAIN) {
                return;
            }
            self.poll_ready(true, Duration::from_millis(100));
        }
    }
}

impl StdStream for HostStream {
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        match self.get(buf) {
            Err(rustix::io::Errno::INTR) => Err(Errno::AGAIN),
            r => Ok(r?),
        }
    }

    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let n = self.meter.as_ref().map_or(data.len(), |m| m.take_room(data.len()));
        if n == 0 && !data.is_empty() {
            return Err(Errno::NOSPC);
        }
        let written = match &self.filter {
            None => self.put_some(&data[..n]),
            Some(filter) => lock_mutex(filter).put(&data[..n], |shown| self.put_some(shown)),
        };
        if let Some(meter) = &self.meter {
            meter.give_back(n - *written.as_ref().unwrap_or(&0));
        }
        match written {
            Err(rustix::io::Errno::INTR) => Err(Errno::AGAIN),
            r => Ok(r?),
        }
    }

    fn readiness_of(&self, write: bool) -> Option<Readiness> {
        let got = self.poll_ready(write, Duration::ZERO);
        let hangup = got.intersects(PollFlags::HUP | PollFlags::ERR);
        (!got.is_empty()).then_some(Readiness { bytes: 1, hangup })
    }

    fn wait_ready(&self, write: bool, timeout: Duration) {
        self.poll_ready(write, timeout);
    }

    fn is_full(&self) -> bool {
        self.meter.as_ref().is_some_and(|m| m.is_over())
    }

    fn is_terminal(&self) -> bool {
        self.terminal
    }
}

/// Input from bytes.
#[derive(Debug)]
pub struct BytesInput(Mutex<(Vec<u8>, usize)>);

impl BytesInput {
    /// Creates a stream of these bytes, then end of file.
    pub fn new(bytes: Vec<u8>) -> Arc<BytesInput> {
        Arc::new(BytesInput(Mutex::new((bytes, 0))))
    }
}

impl StdStream for BytesInput {
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut s = lock_mutex(&self.0);
        let (bytes, pos) = &mut *s;
        let rest = bytes.get(*pos..).unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        *pos += n;
        Ok(n)
    }

    fn write(&self, _: &[u8]) -> Result<usize, Errno> {
        Err(Errno::BADF)
    }

    fn readiness_of(&self, _: bool) -> Option<Readiness> {
        let s = lock_mutex(&self.0);
        let left = s.0.len() - s.1;
        Some(Readiness { bytes: left as u64, hangup: left == 0 })
    }

    fn wait_ready(&self, _: bool, _: Duration) {}
}

/// Output kept in memory, up to a limit.
#[derive(Debug)]
pub struct Capture {
    bytes: Mutex<Option<Vec<u8>>>,
    meter: Arc<OutputMeter>,
}

impl Capture {
    /// Creates an empty capture that `meter` counts.
    pub fn new(meter: Arc<OutputMeter>) -> Arc<Capture> {
        Arc::new(Capture { bytes: Mutex::new(Some(Vec::new())), meter })
    }

    /// Takes the output so far.
    pub fn take_output(&self) -> Vec<u8> {
        lock_mutex(&self.bytes).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes the output so far; later output is discarded, as by `/dev/null`.
    pub fn close(&self) -> Vec<u8> {
        lock_mutex(&self.bytes).take().unwrap_or_default()
    }
}

impl StdStream for Capture {
    fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        Err(Errno::BADF)
    }

    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let mut bytes = lock_mutex(&self.bytes);
        let Some(bytes) = &mut *bytes else { return Ok(data.len()) };
        let n = self.meter.take_room(data.len());
        if n == 0 && !data.is_empty() {
            return Err(Errno::NOSPC);
        }
        bytes.extend_from_slice(&data[..n]);
        Ok(n)
    }

    fn readiness_of(&self, _: bool) -> Option<Readiness> {
        Some(Readiness { bytes: 65536, hangup: false })
    }

    fn wait_ready(&self, _: bool, _: Duration) {}

    fn is_full(&self) -> bool {
        self.meter.is_over()
    }
}
