//! Progress of long operations.
//!
//! Compiling an image writes a line for each program, wherever standard error goes. Copying
//! (export, import) is counted in a single line that is updated in place, only on a terminal and
//! only if it takes long. Unpacking ([`work_patiently`]) is reported to a terminal at once, and to
//! a file or a pipe only if it takes long.

use crate::{installed, message};
use std::fmt::Display;
use std::io::{IsTerminal, Read, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Work that ends sooner is not shown.
const SILENT: Duration = Duration::from_millis(500);
/// Work that ends sooner is reported to a terminal only.
const QUICK: Duration = Duration::from_secs(1);
/// The interval between updates of the line.
const STEP: Duration = Duration::from_millis(200);

/// Returns a function that shows a line about the progress of compilation.
pub fn compile_progress() -> Arc<dyn Fn(&str) + Send + Sync> {
    Arc::new(message::say_message)
}

/// A reporter for work that may be quick.
pub struct PatientProgress {
    /// Lines that are held back while the work may still be quick; `None` once they are written
    /// directly.
    waiting: Mutex<Option<Vec<String>>>,
}

impl PatientProgress {
    /// Writes a line at once.
    pub fn print_now(&self, line: &dyn Display) {
        message::say_message(&line.to_string());
    }

    /// Writes a line, unless the work is quick and standard error is not a terminal.
    pub fn unless_quick(&self, line: &dyn Display) {
        match &mut *self.lock_lines() {
            Some(lines) => lines.push(line.to_string()),
            None => message::say_message(&line.to_string()),
        }
    }

    fn lock_lines(&self) -> MutexGuard<'_, Option<Vec<String>>> {
        self.waiting.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Runs work and reports its progress, see [`PatientProgress`].
pub fn work_patiently<T>(work: impl FnOnce(&PatientProgress) -> T) -> T {
    let waiting = (!std::io::stderr().is_terminal()).then(Vec::new);
    let patient = PatientProgress { waiting: Mutex::new(waiting) };
    let (done, end) = channel::<()>();
    std::thread::scope(|scope| {
        let (patient, end) = (&patient, end);
        let reporter = scope.spawn(move || {
            if end.recv_timeout(QUICK) == Err(RecvTimeoutError::Timeout) {
                let lines = patient.lock_lines().take();
                lines.unwrap_or_default().iter().for_each(|line| message::say_message(line));
            }
        });
        let result = work(patient);
        drop(done);
        // The scope waits for the end of the function only, and a jail that closes next must find
        // no other thread.
        if let Err(panic) = reporter.join() {
            std::panic::resume_unwind(panic);
        }
        result
    })
}

/// A reader or writer that counts the bytes.
pub struct CountingProgress<T> {
    inner: T,
    what: &'static str,
    bytes: u64,
    begun: Instant,
    shown: Option<Instant>,
    is_shown: bool,
}

impl<T> CountingProgress<T> {
    /// Wraps `inner`; `what` describes the operation, for example `written`.
    pub fn new(inner: T, what: &'static str) -> CountingProgress<T> {
        let is_shown = std::io::stderr().is_terminal();
        CountingProgress { inner, what, bytes: 0, begun: Instant::now(), shown: None, is_shown }
    }

    fn add_bytes(&mut self, n: usize) {
        self.bytes += n as u64;
        if !self.is_shown || self.begun.elapsed() < SILENT {
            return;
        }
        if self.shown.is_none_or(|at| at.elapsed() >= STEP) {
            self.shown = Some(Instant::now());
            let name = installed::name();
            message::print_part(&format!(
                "\r{name}: {:.1} MB {}",
                self.bytes as f64 / 1e6,
                self.what
            ));
        }
    }
}

impl<T> Drop for CountingProgress<T> {
    fn drop(&mut self) {
        if self.shown.is_some() {
            // Removes the line when the work is done.
            message::print_part("\r\x1b[K");
        }
    }
}

impl<T: Read> Read for CountingProgress<T> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.add_bytes(n);
        Ok(n)
    }
}

impl<T: Write> Write for CountingProgress<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.add_bytes(n);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
