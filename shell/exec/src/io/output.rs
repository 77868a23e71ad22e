//! Writing by builtins. Output of streams (inherited ones, pipes) is collected and written
//! before anything could observe the difference: before a child starts, a file is opened or
//! looked at, the shell waits or reads, another stream is written, and every few milliseconds.

use std::io;
use std::rc::Rc;

use super::{Desc, bad_fd};
use crate::Shell;

impl Shell<'_> {
    /// Writes to a descriptor of the script.
    pub fn write_fd(&mut self, n: u32, data: &[u8]) -> io::Result<()> {
        if data.is_empty() {
            return match self.state.fds.get(n) {
                Some(Desc::File(_) | Desc::Capture(_)) => Ok(()),
                _ => Err(bad_fd()),
            };
        }
        self.budget.output_bytes += data.len() as u64;
        match self.state.fds.get(n) {
            Some(Desc::Capture(b)) => {
                let mut b = b.borrow_mut();
                if (b.len() + data.len()) as u64 > self.budget.limits.expansion_bytes {
                    self.limit_hit = Some("captured output too large");
                    return Ok(());
                }
                b.extend_from_slice(data);
                Ok(())
            }
            Some(Desc::File(f)) => {
                let f = f.clone();
                self.make_dirty(&f);
                f.write(data)
            }
            _ => Err(bad_fd()),
        }
    }

    /// Writes to standard output; the error is kept for [`Shell::finish_output`].
    pub fn out(&mut self, data: &[u8]) {
        if let Err(e) = self.write_fd(1, data) {
            self.output_error.get_or_insert(e);
        }
    }

    /// Writes to standard error at once, after everything written before.
    pub fn err(&mut self, data: &[u8]) {
        // Nobody can be told that stderr fails.
        let _ = self.write_fd(2, data);
        if let Some(Desc::File(f)) = self.state.fds.get(2) {
            let _ = f.flush();
        }
    }

    /// A message, where the shell is only looked at.
    pub fn warn(&self, message: &[u8]) {
        let line = [self.prefix(), message.to_vec(), b"\n".to_vec()].concat();
        if let Some(before) = &self.dirty {
            // What fails is told when it is written next.
            let _ = before.flush();
        }
        match self.state.fds.get(2) {
            Some(Desc::File(f)) => drop(f.write(&line).and_then(|()| f.flush())),
            Some(Desc::Capture(buffer)) => buffer.borrow_mut().extend_from_slice(&line),
            Some(Desc::Memory(_)) | None => {}
        }
    }

    fn make_dirty(&mut self, f: &Rc<super::OpenFile>) {
        match &self.dirty {
            Some(d) if Rc::ptr_eq(d, f) => {}
            _ => {
                self.sync_output();
                self.dirty_since = self.budget.clock();
                self.dirty = Some(f.clone());
            }
        }
    }

    /// Writes what is collected. A closed pipe ends the shell at the next command, as SIGPIPE would.
    pub fn sync_output(&mut self) {
        if let Some(d) = self.dirty.take()
            && let Err(e) = d.flush()
        {
            self.note_write_error(e);
        }
    }

    fn note_write_error(&mut self, e: io::Error) {
        if e.kind() == io::ErrorKind::BrokenPipe {
            self.broken_pipe = true;
        } else {
            self.output_error.get_or_insert(e);
        }
    }

    /// At the end of a builtin: its first write error. Files that are no streams are written now.
    pub fn finish_output(&mut self) -> Option<io::Error> {
        if self.dirty.as_ref().is_some_and(|d| !d.stream)
            && let Some(d) = self.dirty.take()
            && let Err(e) = d.flush()
        {
            self.output_error.get_or_insert(e);
        }
        let e = self.output_error.take()?;
        if e.kind() == io::ErrorKind::BrokenPipe {
            self.broken_pipe = true;
            return None;
        }
        Some(e)
    }
}
