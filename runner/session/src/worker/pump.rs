//! Copies between the caller's streams and a worker's pipes while the parent waits for the worker.
//!
//! A worker never gets the streams themselves, because a guest must not be able to act on a
//! terminal or on another reader of the caller's input. A terminal receives text and colours only,
//! as from a sandbox in this process.

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use wasibox_sandbox::terminal::Filter;

/// Size in bytes of the copy buffer.
const ROOM: usize = 64 << 10;
/// Maximum number of reads and writes of a stream before the caller checks the time again, because
/// a guest may write without end.
const STEPS: usize = 64;
/// Maximum number of rounds after a call has ended.
const ROUNDS: usize = 1000;

/// The copying of one stream from one descriptor to another.
struct StreamCopy<'a> {
    from: Option<StreamEnd<'a>>,
    to: Option<StreamEnd<'a>>,
    bytes: Vec<u8>,
    filter: Option<Filter>,
}

enum StreamEnd<'a> {
    /// Closed as soon as it is no longer needed, so that the worker sees the end.
    Pipe(OwnedFd),
    Callers(BorrowedFd<'a>),
}

impl AsFd for StreamEnd<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            StreamEnd::Pipe(fd) => fd.as_fd(),
            StreamEnd::Callers(fd) => *fd,
        }
    }
}

/// All streams of a call.
#[derive(Default)]
pub struct OutputPump<'a>(Vec<StreamCopy<'a>>);

impl<'a> OutputPump<'a> {
    /// Copies from the caller's `from`. Returns the worker's end of the pipe.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn add_input(&mut self, from: BorrowedFd<'a>) -> std::io::Result<OwnedFd> {
        let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        self.add_copy(StreamEnd::Callers(from), StreamEnd::Pipe(ours), None);
        Ok(theirs)
    }

    /// Copies to the caller's `to`. Returns the worker's end of the pipe. With `raw`, a terminal
    /// receives every byte.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn add_output(&mut self, to: BorrowedFd<'a>, raw: bool) -> std::io::Result<OwnedFd> {
        let filter = (!raw && to.is_terminal()).then(Filter::default);
        let (ours, theirs) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        self.add_copy(StreamEnd::Pipe(ours), StreamEnd::Callers(to), filter);
        Ok(theirs)
    }

    fn add_copy(&mut self, from: StreamEnd<'a>, to: StreamEnd<'a>, filter: Option<Filter>) {
        self.0.push(StreamCopy { from: Some(from), to: Some(to), bytes: Vec::new(), filter });
    }

    /// Returns the descriptors to poll in addition to the worker's.
    pub fn poll_fds(&self) -> Vec<PollFd<'_>> {
        self.0.iter().filter_map(StreamCopy::poll_fd).collect()
    }

    /// Copies everything that can be copied without blocking.
    pub fn run(&mut self) {
        for copy in &mut self.0 {
            for _ in 0..STEPS {
                if !copy.step() {
                    break;
                }
            }
        }
    }

    /// Copies the rest of the worker's pipes once the call has ended. Waits for the caller's reader
    /// as long as `patient` allows.
    pub fn drain_pipes(&mut self, patient: &mut dyn FnMut(&mut [PollFd<'_>]) -> bool) {
        self.0
            .retain(|copy| matches!(copy.from, Some(StreamEnd::Pipe(_))) || !copy.bytes.is_empty());
        // The contents of the pipes take only a few rounds; a worker that keeps writing is cut off.
        for _ in 0..ROUNDS {
            self.run();
            let mut wants: Vec<PollFd<'_>> = self
                .0
                .iter()
                .filter(|c| !c.bytes.is_empty())
                .filter_map(StreamCopy::poll_fd)
                .collect();
            if wants.is_empty() || !patient(&mut wants) {
                return;
            }
        }
    }
}

impl StreamCopy<'_> {
    fn poll_fd(&self) -> Option<PollFd<'_>> {
        if self.bytes.is_empty() {
            // The caller's reader must still exist too, because without it there is no point in
            // copying.
            self.to.as_ref()?;
            Some(PollFd::from_borrowed_fd(self.from.as_ref()?.as_fd(), PollFlags::IN))
        } else {
            Some(PollFd::from_borrowed_fd(self.to.as_ref()?.as_fd(), PollFlags::OUT))
        }
    }

    /// Reads or writes once. Returns whether another attempt may succeed at once.
    fn step(&mut self) -> bool {
        if !self.is_ready() {
            return false;
        }
        if self.bytes.is_empty() {
            let Some(from) = &self.from else { return false };
            let mut buffer = vec![0; ROOM];
            match rustix::io::read(from, &mut buffer) {
                Ok(0) => self.end(),
                Ok(n) => {
                    buffer.truncate(n);
                    self.bytes = match &mut self.filter {
                        Some(filter) => filter.filter_bytes(&buffer),
                        None => buffer,
                    };
                    return true;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => self.end(),
            }
            return false;
        }
        let Some(to) = &self.to else { return false };
        // A writable pipe takes at least this much without blocking.
        let part = &self.bytes[..self.bytes.len().min(libc_pipe_buf())];
        match rustix::io::write(to, part) {
            Ok(n) => {
                self.bytes.drain(..n);
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(_) => {
                self.bytes.clear();
                self.end();
                false
            }
        }
    }

    fn end(&mut self) {
        (self.from, self.to) = (None, None);
    }

    fn is_ready(&self) -> bool {
        let Some(want) = self.poll_fd() else { return false };
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        matches!(rustix::event::poll(&mut [want], Some(&now)), Ok(n) if n > 0)
    }
}

/// Returns the number of bytes that a writable pipe takes in one piece (pipe(7), `PIPE_BUF`).
const fn libc_pipe_buf() -> usize {
    4096
}
