//! The ends of a run's standard streams.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wasibox_vfs::{Errno, Readiness, Stream};

/// An open descriptor of the host, passed through.
#[derive(Debug)]
pub struct HostStream {
    fd: OwnedFd,
    terminal: bool,
    meter: Option<Arc<Meter>>,
}

/// Counts output of several streams against one limit.
#[derive(Debug)]
pub struct Meter {
    limit: u64,
    used: AtomicU64,
    over: AtomicBool,
}

impl Meter {
    /// A meter for `limit` bytes; `None` is no limit.
    pub fn new(limit: Option<u64>) -> Arc<Meter> {
        let limit = limit.unwrap_or(u64::MAX);
        Arc::new(Meter { limit, used: AtomicU64::new(0), over: AtomicBool::new(false) })
    }

    /// How many of `n` bytes may still be written; takes them.
    fn take(&self, n: usize) -> usize {
        let before = self.used.fetch_add(n as u64, Ordering::Relaxed);
        let left = self.limit.saturating_sub(before);
        if left < n as u64 {
            self.used.store(self.limit, Ordering::Relaxed);
            self.over.store(true, Ordering::Relaxed);
        }
        left.min(n as u64) as usize
    }

    /// Whether something was cut off.
    pub fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

impl HostStream {
    /// Reads from a duplicate of `fd`.
    pub fn input(fd: impl AsFd) -> std::io::Result<Arc<dyn Stream>> {
        Ok(Arc::new(HostStream::dup(fd.as_fd(), None)?))
    }

    /// Writes to a duplicate of `fd`, metered.
    pub fn output(fd: impl AsFd, meter: Arc<Meter>) -> std::io::Result<Arc<dyn Stream>> {
        Ok(Arc::new(HostStream::dup(fd.as_fd(), Some(meter))?))
    }

    fn dup(fd: BorrowedFd<'_>, meter: Option<Arc<Meter>>) -> std::io::Result<HostStream> {
        let fd = fd.try_clone_to_owned()?;
        Ok(HostStream { terminal: fd.is_terminal(), fd, meter })
    }

    fn poll(&self, write: bool, timeout: Duration) -> PollFlags {
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

impl Stream for HostStream {
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        if self.poll(false, Duration::ZERO).is_empty() {
            return Err(Errno::AGAIN);
        }
        match rustix::io::read(&self.fd, buf) {
            Err(rustix::io::Errno::INTR) => Err(Errno::AGAIN),
            r => Ok(r?),
        }
    }

    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let n = self.meter.as_ref().map_or(data.len(), |m| m.take(data.len()));
        if n == 0 && !data.is_empty() {
            return Err(Errno::NOSPC);
        }
        let mut done = 0;
        while done < n {
            match rustix::io::write(&self.fd, &data[done..n]) {
                Ok(k) => done += k,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    self.poll(true, Duration::from_millis(100));
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(n)
    }

    fn ready(&self, write: bool) -> Option<Readiness> {
        let got = self.poll(write, Duration::ZERO);
        let hangup = got.intersects(PollFlags::HUP | PollFlags::ERR);
        (!got.is_empty()).then_some(Readiness { bytes: 1, hangup })
    }

    fn wait(&self, write: bool, timeout: Duration) {
        self.poll(write, timeout);
    }

    fn full(&self) -> bool {
        self.meter.as_ref().is_some_and(|m| m.over())
    }

    fn is_terminal(&self) -> bool {
        self.terminal
    }
}

/// Input from bytes.
#[derive(Debug)]
pub struct BytesInput(Mutex<(Vec<u8>, usize)>);

impl BytesInput {
    /// A stream of these bytes, then end of file.
    pub fn new(bytes: Vec<u8>) -> Arc<BytesInput> {
        Arc::new(BytesInput(Mutex::new((bytes, 0))))
    }
}

impl Stream for BytesInput {
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut s = crate::lock(&self.0);
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

    fn ready(&self, _: bool) -> Option<Readiness> {
        let s = crate::lock(&self.0);
        let left = s.0.len() - s.1;
        Some(Readiness { bytes: left as u64, hangup: left == 0 })
    }

    fn wait(&self, _: bool, _: Duration) {}
}

/// Output kept in memory, up to a limit.
#[derive(Debug)]
pub struct Capture {
    bytes: Mutex<Vec<u8>>,
    meter: Arc<Meter>,
}

impl Capture {
    /// An empty capture on that meter.
    pub fn new(meter: Arc<Meter>) -> Arc<Capture> {
        Arc::new(Capture { bytes: Mutex::default(), meter })
    }

    /// What was written; leaves nothing.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *crate::lock(&self.bytes))
    }
}

impl Stream for Capture {
    fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        Err(Errno::BADF)
    }

    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let n = self.meter.take(data.len());
        if n == 0 && !data.is_empty() {
            return Err(Errno::NOSPC);
        }
        crate::lock(&self.bytes).extend_from_slice(&data[..n]);
        Ok(n)
    }

    fn ready(&self, _: bool) -> Option<Readiness> {
        Some(Readiness { bytes: 65536, hangup: false })
    }

    fn wait(&self, _: bool, _: Duration) {}

    fn full(&self) -> bool {
        self.meter.over()
    }
}
