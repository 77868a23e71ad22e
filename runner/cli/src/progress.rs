//! How far long work is.
//!
//! Compiling an image tells a line for each program, wherever standard error goes. What is copied
//! (export, import) is counted in one line that is written over, on a terminal and if it takes long.

use crate::message;
use std::io::{IsTerminal, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Work that ends before is not worth a line.
const SILENT: Duration = Duration::from_millis(500);
/// How often the line is written.
const STEP: Duration = Duration::from_millis(200);

/// Tells the user what takes time.
pub fn compiling() -> Arc<dyn Fn(&str) + Send + Sync> {
    Arc::new(message::say)
}

/// Counts bytes that pass.
pub struct Counted<T> {
    inner: T,
    what: &'static str,
    bytes: u64,
    begun: Instant,
    shown: Option<Instant>,
    is_shown: bool,
}

impl<T> Counted<T> {
    /// `what` is what is done with them: `written`.
    pub fn new(inner: T, what: &'static str) -> Counted<T> {
        let is_shown = std::io::stderr().is_terminal();
        Counted { inner, what, bytes: 0, begun: Instant::now(), shown: None, is_shown }
    }

    fn add(&mut self, n: usize) {
        self.bytes += n as u64;
        if !self.is_shown || self.begun.elapsed() < SILENT {
            return;
        }
        if self.shown.is_none_or(|at| at.elapsed() >= STEP) {
            self.shown = Some(Instant::now());
            message::part(&format!("\rrunner: {:.1} MB {}", self.bytes as f64 / 1e6, self.what));
        }
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        if self.shown.is_some() {
            // The line is gone when the work is done.
            message::part("\r\x1b[K");
        }
    }
}

impl<T: Read> Read for Counted<T> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.add(n);
        Ok(n)
    }
}

impl<T: Write> Write for Counted<T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.add(n);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
