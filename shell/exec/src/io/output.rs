//! Writing by builtins. Output to streams (inherited ones, pipes) is collected, and written before
//! a delay could be observed: before a child starts, a file is opened or read, the shell waits or
//! reads, or another stream is written, and every few milliseconds.

use std::io;
use std::rc::Rc;

use super::{DescriptorTarget, OpenFile, bad_fd};
use crate::Shell;
use box_sys::signal;

/// Output of builtins that is not written yet, and the errors of writing it.
#[derive(Debug, Default)]
pub(crate) struct CollectedOutput {
    /// The stream that the output goes to.
    stream: Option<Rc<OpenFile>>,
    /// The time when collecting began, in milliseconds of the shell's clock.
    since: u64,
    /// Whether a reader has closed the pipe. The shell then ends as if by SIGPIPE.
    is_pipe_broken: bool,
    /// The first error, which the builtin has yet to report.
    error: Option<io::Error>,
}

impl CollectedOutput {
    /// Returns whether there is output to be written.
    #[inline]
    pub fn is_some(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns whether the output has waited for more than `milliseconds`.
    pub fn is_older(&self, milliseconds: u64, now: u64) -> bool {
        self.is_some() && now.saturating_sub(self.since) > milliseconds
    }

    /// Returns whether the end of a builtin has something to write or to report.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.error.is_some() || self.stream.as_ref().is_some_and(|s| !s.stream)
    }

    /// Prepares for collecting output of this stream.
    fn begin_stream(&mut self, stream: &Rc<OpenFile>, now: u64) {
        match &self.stream {
            Some(s) if Rc::ptr_eq(s, stream) => {}
            _ => {
                self.write();
                self.since = now;
                self.stream = Some(stream.clone());
            }
        }
    }

    /// Writes the collected output now.
    pub fn write(&mut self) {
        if let Some(stream) = self.stream.take()
            && let Err(e) = stream.flush()
        {
            match e.kind() {
                io::ErrorKind::BrokenPipe => self.is_pipe_broken = true,
                _ => self.note_error(e),
            }
        }
    }

    /// Records an error for the builtin to report.
    fn note_error(&mut self, e: io::Error) {
        self.error.get_or_insert(e);
    }

    /// Ends a builtin and returns its first error. Writes the output of files that are not streams.
    fn finish_builtin(&mut self) -> Option<io::Error> {
        if let Some(file) = self.stream.take_if(|s| !s.stream)
            && let Err(e) = file.flush()
        {
            self.note_error(e);
        }
        let e = self.error.take()?;
        if e.kind() == io::ErrorKind::BrokenPipe {
            self.is_pipe_broken = true;
            return None;
        }
        Some(e)
    }

    /// Returns whether the reader of a pipe has gone.
    #[inline]
    pub fn is_pipe_broken(&self) -> bool {
        self.is_pipe_broken
    }

    /// Returns whether the reader of a pipe has gone, and forgets it.
    pub fn take_broken_pipe(&mut self) -> bool {
        std::mem::take(&mut self.is_pipe_broken)
    }
}

impl Shell<'_> {
    /// Writes to a descriptor of the script.
    pub fn write_fd(&mut self, n: u32, data: &[u8]) -> io::Result<()> {
        if data.is_empty() {
            return match self.state.fds.get(n) {
                Some(DescriptorTarget::File(_) | DescriptorTarget::Capture(_)) => Ok(()),
                _ => Err(bad_fd()),
            };
        }
        self.budget.output_bytes += data.len() as u64;
        match self.state.fds.get(n) {
            Some(DescriptorTarget::Capture(b)) => {
                let mut b = b.borrow_mut();
                if (b.len() + data.len()) as u64 > self.budget.limits.expansion_bytes {
                    self.budget.note_hit("captured output too large");
                    return Ok(());
                }
                b.extend_from_slice(data);
                Ok(())
            }
            Some(DescriptorTarget::File(f)) => {
                let f = f.clone();
                self.output.begin_stream(&f, self.budget.elapsed_millis());
                f.write(data)
            }
            _ => Err(bad_fd()),
        }
    }

    /// Writes to standard output; the error is kept for [`Shell::finish_output`].
    pub fn write_out(&mut self, data: &[u8]) {
        if let Err(e) = self.write_fd(1, data) {
            self.output.note_error(e);
        }
    }

    /// Writes to standard error at once, after everything written before.
    pub fn write_err(&mut self, data: &[u8]) {
        // A failure to write to stderr cannot be reported anywhere.
        let _ = self.write_fd(2, data);
        if let Some(DescriptorTarget::File(f)) = self.state.fds.get(2) {
            let _ = f.flush();
        }
    }

    /// Prints a message, for callers that have only shared access to the shell.
    pub fn print_warning(&self, message: &[u8]) {
        let line = [self.message_prefix(), message.to_vec(), b"\n".to_vec()].concat();
        if let Some(before) = &self.output.stream {
            // A failure is reported by the next write.
            let _ = before.flush();
        }
        match self.state.fds.get(2) {
            Some(DescriptorTarget::File(f)) => drop(f.write(&line).and_then(|()| f.flush())),
            Some(DescriptorTarget::Capture(buffer)) => buffer.borrow_mut().extend_from_slice(&line),
            Some(DescriptorTarget::Memory(_)) | None => {}
        }
    }

    /// Writes the collected output. A closed pipe ends the shell at the next command, as SIGPIPE
    /// would.
    pub fn sync_output(&mut self) {
        self.output.write();
    }

    /// Ends a builtin and returns its first write error. Writes the output of files that are not
    /// streams, and also that of streams if a closed pipe is an error.
    pub fn finish_output(&mut self) -> Option<io::Error> {
        let survives = self.survives_broken_pipe();
        if survives {
            self.output.write();
        }
        let error = self.output.finish_builtin();
        if !survives || !self.output.take_broken_pipe() {
            return error;
        }
        if self.state.traps.get(signal::PIPE).is_some_and(|action| !action.is_empty()) {
            self.signals.raise_signal(signal::PIPE);
        }
        error.or_else(|| Some(io::ErrorKind::BrokenPipe.into()))
    }

    /// Returns whether writing to a pipe without a reader is an error of the builtin, because
    /// SIGPIPE is ignored or caught; it ends the shell otherwise (POSIX XCU 2.11).
    pub fn survives_broken_pipe(&self) -> bool {
        !self.state.traps.is_empty() && self.state.traps.get(signal::PIPE).is_some()
    }
}
