//! The terminal of a call: the page sees its screen and types.
//!
//! A thread passes the screen on. It waits while the page has not confirmed what it got, so that a
//! program that prints without end waits for the page instead of filling its memory. What the page
//! types goes to the terminal at once, from the worker that answers the page.

use crate::{ffi, lock_mutex};
use box_abi::terminal::WindowSize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;
use wasibox_protocol::ScreenSize;
use wasibox_vfs::terminal::{MasterEnd, SlaveEnd};
use wasibox_vfs::{Errno, Vfs};

/// Bytes of the screen that the page may get before it confirms them.
const WINDOW: u64 = 128 << 10;
/// Bytes that are passed on at once.
const PART: usize = 16 << 10;
/// The time after which a terminal without programs is looked at again.
const LOOK: Duration = Duration::from_millis(50);

/// The terminal of the running call.
static CURRENT: Mutex<Option<Arc<PageTerminal>>> = Mutex::new(None);

/// A terminal of which the page has the other end.
pub struct PageTerminal {
    master: MasterEnd,
    sent: AtomicU64,
    shown: AtomicU64,
    is_over: AtomicBool,
    relay: OnceLock<Thread>,
}

impl PageTerminal {
    /// Types bytes, and returns the number that fitted.
    pub fn type_bytes(&self, bytes: &[u8]) -> usize {
        self.master.try_write(bytes).unwrap_or(0)
    }

    fn wake_relay(&self) {
        if let Some(relay) = self.relay.get() {
            relay.unpark();
        }
    }

    /// Passes the screen on until no program has the terminal and the call has ended.
    fn relay_screen(&self) {
        let mut part = vec![0; PART];
        loop {
            self.master.terminal().watch(&std::thread::current());
            // A page may confirm the screen of an earlier call late.
            let shown = self.shown.load(Ordering::Acquire);
            let waiting = self.sent.load(Ordering::Acquire).saturating_sub(shown);
            // The rest of a call that has ended is bounded, and nobody waits for it.
            if waiting >= WINDOW && !self.is_over.load(Ordering::Acquire) {
                std::thread::park();
                continue;
            }
            match self.master.try_read(&mut part) {
                Ok(n) => {
                    self.sent.fetch_add(n as u64, Ordering::AcqRel);
                    ffi::output(1, &part[..n]);
                }
                Err(_) if self.is_over.load(Ordering::Acquire) => return,
                Err(Errno::AGAIN) => std::thread::park(),
                Err(_) => std::thread::park_timeout(LOOK),
            }
        }
    }
}

/// The terminal of a call, until the call ends.
pub struct CallTerminal {
    terminal: Arc<PageTerminal>,
    relay: JoinHandle<()>,
}

impl CallTerminal {
    /// Opens a terminal for a call. The slave end is for its program.
    ///
    /// # Errors
    /// ENOSPC, ENOMEM; EAGAIN if there is no worker for it.
    pub fn open(vfs: &Vfs, size: ScreenSize) -> Result<(CallTerminal, SlaveEnd), Errno> {
        let master = vfs.terminals().open_master()?;
        set_size(&master, size);
        let slave = master.terminal().slave()?;
        let terminal = Arc::new(PageTerminal {
            master,
            sent: AtomicU64::new(0),
            shown: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            relay: OnceLock::new(),
        });
        let theirs = terminal.clone();
        let relay = std::thread::Builder::new().spawn(move || theirs.relay_screen());
        let relay = relay.map_err(|_| Errno::AGAIN)?;
        let _ = terminal.relay.set(relay.thread().clone());
        *lock_mutex(&CURRENT) = Some(terminal.clone());
        crate::streams::type_waiting(&terminal);
        Ok((CallTerminal { terminal, relay }, slave))
    }

    /// Ends it, after the page has got all of the screen.
    pub fn end(self) {
        *lock_mutex(&CURRENT) = None;
        self.terminal.is_over.store(true, Ordering::Release);
        self.terminal.wake_relay();
        let _ = self.relay.join();
    }
}

fn set_size(master: &MasterEnd, ScreenSize { rows, columns }: ScreenSize) {
    let (rows, columns) = (rows.max(1), columns.max(1));
    master.terminal().set_size(WindowSize { rows, columns, width: 0, height: 0 });
}

/// Returns the terminal of the running call, if it has one.
pub fn current() -> Option<Arc<PageTerminal>> {
    lock_mutex(&CURRENT).clone()
}

/// Sets the size of the running call's terminal.
pub fn resize(size: ScreenSize) {
    if let Some(terminal) = current() {
        set_size(&terminal.master, size);
    }
}

/// Records that the page has shown so many further bytes of the screen.
pub fn confirm(bytes: u64) {
    if let Some(terminal) = current() {
        terminal.shown.fetch_add(bytes, Ordering::AcqRel);
        terminal.wake_relay();
    }
}
