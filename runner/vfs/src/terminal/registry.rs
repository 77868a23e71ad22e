//! The terminals of a session.

use super::pair::{GroupSignal, MasterEnd, Terminal};
use crate::budget::Budget;
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The maximum number of terminals at once in a session.
pub const MAX_TERMINALS: usize = 64;

/// Host memory of a terminal: its buffers when they are full, each with the room that a growing
/// buffer may take in addition.
const COST: u64 = 2 * (65536 + 8192 + 4 * 4096) + 2048;

/// Delivers the signals of terminals to processes.
pub trait TerminalSignals: Send + Sync {
    /// Delivers a signal to those of its processes that receive it.
    fn deliver(&self, signal: GroupSignal);
}

/// The parts that terminals share.
#[derive(Default)]
pub(super) struct Registry {
    by_number: Mutex<BTreeMap<u32, Weak<Terminal>>>,
    receivers: Mutex<Vec<Weak<dyn TerminalSignals>>>,
    count: Arc<AtomicUsize>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registry({})", self.count.load(Ordering::Relaxed))
    }
}

/// A terminal's place in the count.
#[derive(Debug)]
pub(super) struct TerminalCount(Arc<AtomicUsize>);

impl Drop for TerminalCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Registry {
    pub(super) fn forget(&self, number: u32) {
        lock_mutex(&self.by_number).remove(&number);
    }

    pub(super) fn send_signal(&self, signal: GroupSignal) {
        let receivers: Vec<_> =
            lock_mutex(&self.receivers).iter().filter_map(Weak::upgrade).collect();
        receivers.iter().for_each(|r| r.deliver(signal));
    }
}

/// A session's terminals.
#[derive(Debug, Default)]
pub struct Terminals {
    registry: Arc<Registry>,
    budget: Arc<Budget>,
}

impl Terminals {
    /// Creates a set without terminals, whose memory is counted in `budget`.
    pub fn new(budget: Arc<Budget>) -> Terminals {
        Terminals { registry: Arc::default(), budget }
    }

    /// Adds a receiver of signals, for as long as it lives.
    pub fn add_receiver(&self, receiver: Weak<dyn TerminalSignals>) {
        let mut all = lock_mutex(&self.registry.receivers);
        all.retain(|r| r.strong_count() > 0);
        all.push(receiver);
    }

    /// Opens a new terminal.
    ///
    /// # Errors
    /// ENOSPC if there are too many (as on Linux), ENOMEM.
    pub fn open_master(&self) -> Result<MasterEnd, Errno> {
        let counted = TerminalCount(self.registry.count.clone());
        if self.registry.count.fetch_add(1, Ordering::Relaxed) >= MAX_TERMINALS {
            return Err(Errno::NOSPC);
        }
        let held = self.budget.reserve_bytes(COST).ok_or(Errno::NOMEM)?;
        let mut all = lock_mutex(&self.registry.by_number);
        let number = (0..).find(|n| !all.contains_key(n)).unwrap_or(u32::MAX);
        let terminal = Terminal::new(number, self.registry.clone(), held, counted);
        all.insert(number, Arc::downgrade(&terminal));
        Ok(terminal.master())
    }

    /// Returns the terminal `/dev/pts/N`.
    pub fn find(&self, number: u32) -> Option<Arc<Terminal>> {
        lock_mutex(&self.registry.by_number).get(&number)?.upgrade()
    }

    /// Returns the numbers of the terminals.
    pub fn numbers(&self) -> Vec<u32> {
        lock_mutex(&self.registry.by_number).keys().copied().collect()
    }

    fn all(&self) -> Vec<Arc<Terminal>> {
        lock_mutex(&self.registry.by_number).values().filter_map(Weak::upgrade).collect()
    }

    /// Returns the controlling terminal of a session.
    pub fn of_session(&self, session: u32) -> Option<Arc<Terminal>> {
        if session == 0 {
            return None;
        }
        self.all().into_iter().find(|t| t.session() == session)
    }

    /// Hangs up the terminal of a session whose leader has ended.
    pub fn session_ended(&self, session: u32) {
        if let Some(terminal) = self.of_session(session) {
            terminal.hang_up(true);
        }
    }
}
