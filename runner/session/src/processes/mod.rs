//! Processes that continue from call to call, as requests name them: their output, which is kept up
//! to a bound, their input and their end.
//!
//! Each is a program beside the session's calls ([`Session::spawn`]), read by threads of this
//! process, so that it waits for no client but its followers. A session with such a process stays
//! awake, because programs beside calls mark it as used.
//!
//! | file | contents |
//! |---|---|
//! | `ring` | the last bytes of output, by position |
//! | `follower` | clients that get the output as it comes, for which the process waits |
//! | `managed` | one process: the threads that serve it, its end |
//!
//! The session's methods for them are in `session/managed.rs`.
//!
//! # Bounds
//! As many run as [`Session::spawn`] allows; [`ENDED`] ended ones are remembered. Of the output of
//! each [`KEPT_OUTPUT`] bytes are kept, and [`managed::QUEUED`] bytes of input wait.
//!
//! [`Session::spawn`]: crate::Session::spawn
//! [`KEPT_OUTPUT`]: wasibox_protocol::KEPT_OUTPUT

mod follower;
mod managed;
mod ring;

pub use follower::{FollowedOutput, ProcessFollower};
pub use managed::ManagedProcess;

use crate::error::Error;
use crate::spawned::TerminalSize;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use wasibox_protocol::ScreenSize;
use wasibox_vfs::lock_mutex;

/// The number of ended processes that are remembered.
const ENDED: usize = 32;

/// The processes of a session, by the numbers that requests name them by.
#[derive(Default)]
pub struct ManagedTable {
    state: Mutex<TableState>,
    /// CPU time of those that have ended, in microseconds.
    pub cpu: Arc<AtomicU64>,
}

#[derive(Default)]
struct TableState {
    last: u64,
    all: BTreeMap<u64, Arc<ManagedProcess>>,
}

impl ManagedTable {
    /// Returns the process with this number.
    ///
    /// # Errors
    /// [`Error::NoProcess`].
    pub fn find(&self, number: u64) -> Result<Arc<ManagedProcess>, Error> {
        lock_mutex(&self.state).all.get(&number).cloned().ok_or(Error::NoProcess(number))
    }

    /// Adds the process that `make` begins under a new number, and forgets the oldest of many that
    /// have ended.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn add(
        &self,
        make: impl FnOnce(u64) -> Result<ManagedProcess, Error>,
    ) -> Result<Arc<ManagedProcess>, Error> {
        let mut state = lock_mutex(&self.state);
        let ended: Vec<u64> =
            state.all.iter().filter(|(_, p)| !p.is_running()).map(|(number, _)| *number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(ENDED - 1)) {
            state.all.remove(number);
        }
        let number = state.last + 1;
        let made = Arc::new(make(number)?);
        state.last = number;
        state.all.insert(number, made.clone());
        Ok(made)
    }

    /// Returns all processes, those that run and those that have ended.
    pub fn all(&self) -> Vec<Arc<ManagedProcess>> {
        lock_mutex(&self.state).all.values().cloned().collect()
    }

    /// Returns those that run. One that the session's process has ended does not, even if its end is
    /// not noticed yet.
    pub fn running(&self) -> Vec<Arc<ManagedProcess>> {
        self.all()
            .into_iter()
            .filter(|process| process.is_running() && !process.is_lost())
            .collect()
    }

    /// Records that the session's process has ended all that run.
    pub fn lose_all(&self) {
        self.running().iter().for_each(|process| process.set_lost(true));
    }
}

/// Returns the running processes in words, each with its number and command.
pub fn process_words(running: &[Arc<ManagedProcess>]) -> Vec<String> {
    running.iter().map(|process| format!("{}: {}", process.number, process.command)).collect()
}

impl From<ScreenSize> for TerminalSize {
    fn from(size: ScreenSize) -> TerminalSize {
        TerminalSize { rows: size.rows.max(1), columns: size.columns.max(1) }
    }
}
