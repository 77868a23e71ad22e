//! Reading by builtins (`read`, `mapfile`, scripts on standard input).

use std::io;
use std::time::Instant;

use box_sys::events;

use super::{DescriptorTarget, ReadingGuard, ReadingMode, bad_fd};
use crate::Shell;
use crate::shell::Unwind;

impl DescriptorTarget {
    /// Appends the bytes up to and including `delim` to `out`, at most `max`. Returns whether the
    /// delimiter was found; `false` at the end of input or at the maximum.
    pub fn read_until(&self, delim: Option<u8>, max: usize, out: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            DescriptorTarget::File(f) => f.read_until(delim, max, out),
            DescriptorTarget::Memory(m) => {
                if let Some(f) = m.real_file() {
                    return f.read_until(delim, max, out);
                }
                let rest = m.rest_bytes();
                let rest = &rest[..rest.len().min(max)];
                let found = delim.and_then(|d| memchr::memchr(d, rest));
                let n = found.map_or(rest.len(), |i| i + 1);
                out.extend_from_slice(&rest[..n]);
                m.advance(n);
                Ok(found.is_some())
            }
            DescriptorTarget::Capture(_) => Err(bad_fd()),
        }
    }

    /// Reads all remaining bytes.
    pub fn read_to_end(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            DescriptorTarget::File(f) => f.read_to_end(out),
            DescriptorTarget::Memory(m) => {
                if let Some(f) = m.real_file() {
                    return f.read_to_end(out);
                }
                out.extend_from_slice(m.rest_bytes());
                m.advance(m.rest_bytes().len());
                Ok(())
            }
            DescriptorTarget::Capture(_) => Err(bad_fd()),
        }
    }
}

impl Shell<'_> {
    /// Calls [`DescriptorTarget::read_until`] on a descriptor of the script. Writes the collected
    /// output before a read that may block.
    pub fn read_until(
        &mut self,
        fd: u32,
        delim: Option<u8>,
        max: usize,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let desc = self.state.fds.get(fd).cloned().ok_or_else(bad_fd)?;
        if matches!(&desc, DescriptorTarget::File(f) if !f.is_seekable()) {
            self.sync_output();
        }
        let limit = usize::try_from(self.budget.limits.expansion_bytes).unwrap_or(usize::MAX);
        let begun = out.len();
        let found = loop {
            let left = max.min(limit).saturating_sub(out.len() - begun);
            match desc.read_until(delim, left, out) {
                // The traps of signals run before the next command.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => self.collect_signals(),
                other => break other?,
            }
        };
        if !found && out.len() >= limit {
            self.budget.note_hit("line too long");
        }
        Ok(found)
    }

    /// Reads like [`Shell::read_until`], but runs the traps of signals while it waits, as `read`
    /// does (bash manual 3.7.6), and returns `None` at a time limit. Does not wait on a file whose
    /// input is always available.
    pub(crate) fn read_before(
        &mut self,
        fd: u32,
        delim: Option<u8>,
        max: usize,
        out: &mut Vec<u8>,
        deadline: Option<Instant>,
    ) -> Result<io::Result<Option<bool>>, Unwind> {
        let Some(desc) = self.state.fds.get(fd).cloned() else { return Ok(Err(bad_fd())) };
        let file = match &desc {
            DescriptorTarget::File(f) => Some(f.clone()),
            DescriptorTarget::Memory(m) => m.real_file(),
            DescriptorTarget::Capture(_) => None,
        };
        let Some(file) = file.filter(|f| !f.is_seekable()) else {
            return Ok(self.read_until(fd, delim, max, out).map(Some));
        };
        self.sync_output();
        let limit = usize::try_from(self.budget.limits.expansion_bytes).unwrap_or(usize::MAX);
        let mut left = max.min(limit);
        loop {
            let step = match deadline {
                // Never reads beyond the bytes that are known to be available.
                Some(_) => left.min(1),
                None => left,
            };
            let ready = match deadline {
                Some(d) => {
                    let time = d.saturating_duration_since(Instant::now());
                    events::poll_readable(file.file(), time)
                }
                None => Ok(true),
            };
            let begun = out.len();
            let read = match ready {
                Ok(true) => desc.read_until(delim, step, out),
                Ok(false) => return Ok(Ok(None)),
                Err(e) => Err(e),
            };
            left -= (out.len() - begun).min(left);
            match read {
                Ok(true) => return Ok(Ok(Some(true))),
                Ok(false) if out.len() == begun || deadline.is_none() => break,
                Ok(false) if left == 0 => break,
                Ok(false) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => self.run_pending_traps()?,
                Err(e) => return Ok(Err(e)),
            }
        }
        if max > limit && left == 0 {
            self.budget.note_hit("line too long");
        }
        Ok(Ok(Some(false)))
    }

    /// Reads a whole file, up to the limit for captured data, because `/dev/zero` has no end.
    pub fn read_file(&self, path: &std::path::Path) -> io::Result<Vec<u8>> {
        self.sys.read(path, self.budget.limits.expansion_bytes)
    }

    /// Changes how a descriptor's terminal is read, until the guard is dropped.
    pub(crate) fn begin_reading_mode(&self, fd: u32, mode: ReadingMode) -> Option<ReadingGuard> {
        match self.state.fds.get(fd) {
            Some(DescriptorTarget::File(f)) => ReadingGuard::begin(f.file(), mode),
            _ => None,
        }
    }

    /// Returns whether a descriptor of the script is a terminal.
    pub fn fd_is_terminal(&self, fd: u32) -> bool {
        matches!(self.state.fds.get(fd), Some(DescriptorTarget::File(f)) if f.is_terminal())
    }
}
