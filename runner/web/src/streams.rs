//! A run's standard streams: output goes to the page at once, input arrives from it in a buffer.

use crate::terminal::{self, PageTerminal};
use crate::{ffi, lock_mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use wasibox_vfs::{Errno, Readiness, StdStream};

/// Maximum bytes of buffered input.
const ROOM: usize = 1 << 20;

#[derive(Default)]
struct WaitingInput {
    bytes: VecDeque<u8>,
    is_over: bool,
}

static INPUT: Mutex<WaitingInput> =
    Mutex::new(WaitingInput { bytes: VecDeque::new(), is_over: false });
static MORE: Condvar = Condvar::new();

/// Forgets the input of the last run.
pub fn begin_input() {
    *lock_mutex(&INPUT) = WaitingInput::default();
}

/// Adds bytes to the input, and returns the number that fitted. If the input is full, the page is
/// notified when there is room again.
pub fn put_input(bytes: &[u8]) -> usize {
    let mut input = lock_mutex(&INPUT);
    if let Some(terminal) = terminal::current() {
        type_all(&mut input, &terminal);
        return if input.bytes.is_empty() { terminal.type_bytes(bytes) } else { 0 };
    }
    let n = bytes.len().min(ROOM - input.bytes.len());
    input.bytes.extend(&bytes[..n]);
    MORE.notify_all();
    n
}

/// Types the input that has come before the call's terminal was there.
pub fn type_waiting(terminal: &PageTerminal) {
    type_all(&mut lock_mutex(&INPUT), terminal);
}

fn type_all(input: &mut WaitingInput, terminal: &PageTerminal) {
    let n = terminal.type_bytes(input.bytes.make_contiguous());
    input.bytes.drain(..n);
}

/// Ends the input, except that of a terminal, which has none.
pub fn end_input() {
    lock_mutex(&INPUT).is_over = true;
    MORE.notify_all();
}

/// Standard input.
#[derive(Debug)]
pub struct PageInput;

impl StdStream for PageInput {
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut input = lock_mutex(&INPUT);
        if input.bytes.is_empty() && !input.is_over {
            return Err(Errno::AGAIN);
        }
        let was_full = input.bytes.len() == ROOM;
        let n = buf.len().min(input.bytes.len());
        for (to, byte) in buf.iter_mut().zip(input.bytes.drain(..n)) {
            *to = byte;
        }
        drop(input);
        if was_full {
            ffi::input_wake();
        }
        Ok(n)
    }

    fn write(&self, _: &[u8]) -> Result<usize, Errno> {
        Err(Errno::BADF)
    }

    fn readiness_of(&self, write: bool) -> Option<Readiness> {
        let input = lock_mutex(&INPUT);
        let bytes = input.bytes.len() as u64;
        let hangup = bytes == 0 && input.is_over;
        (!write && (bytes > 0 || hangup)).then_some(Readiness { bytes, hangup })
    }

    fn wait_ready(&self, _: bool, timeout: Duration) {
        let input = lock_mutex(&INPUT);
        if input.bytes.is_empty() && !input.is_over {
            drop(MORE.wait_timeout(input, timeout));
        }
    }
}

/// A counter of output against a run's limit.
#[derive(Debug)]
pub struct PageMeter {
    pub left: AtomicU64,
    over: AtomicBool,
}

impl PageMeter {
    /// Makes a counter for `limit` bytes.
    pub fn new(limit: Option<u64>) -> PageMeter {
        PageMeter { left: AtomicU64::new(limit.unwrap_or(u64::MAX)), over: AtomicBool::new(false) }
    }

    /// Returns whether more was written than is allowed.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Counts `n` bytes, or as many as may still be written, and returns their number.
    fn take_room(&self, n: usize) -> usize {
        let less = |left: u64| Some(left.saturating_sub(n as u64));
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let left = left.unwrap_or(0);
        if left < n as u64 {
            self.over.store(true, Ordering::Relaxed);
        }
        left.min(n as u64) as usize
    }
}

/// Standard output or error.
#[derive(Debug)]
pub struct PageOutput {
    /// The descriptor: 1 or 2.
    pub stream: u32,
    pub meter: std::sync::Arc<PageMeter>,
}

impl StdStream for PageOutput {
    fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        Err(Errno::BADF)
    }

    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let n = self.meter.take_room(data.len());
        ffi::output(self.stream, &data[..n]);
        if n == 0 && !data.is_empty() { Err(Errno::NOSPC) } else { Ok(n) }
    }

    fn readiness_of(&self, write: bool) -> Option<Readiness> {
        write.then_some(Readiness { bytes: 65536, hangup: false })
    }

    fn wait_ready(&self, _: bool, _: Duration) {}

    fn is_full(&self) -> bool {
        self.meter.is_over()
    }
}
