//! The node `/.box/state`: the state that the shell of one call of a session leaves for the next
//! (`box_abi::session` has the format). This module checks only the framing of the format.

use crate::budget::{Budget, Reservation};
use crate::errno::Errno;
use crate::sync::lock_mutex;
use box_abi::session::{STATE_MAX, is_whole};
use std::sync::{Arc, Mutex, MutexGuard};

/// The state, while a call of a session runs.
#[derive(Debug, Default)]
pub(crate) struct SessionState(Mutex<Option<StateBytes>>);

#[derive(Debug)]
struct StateBytes {
    bytes: Arc<[u8]>,
    /// Its share of the memory limit.
    _held: Reservation,
}

impl SessionState {
    fn lock_bytes(&self) -> MutexGuard<'_, Option<StateBytes>> {
        lock_mutex(&self.0)
    }

    pub(crate) fn get(&self) -> Option<Arc<[u8]>> {
        self.lock_bytes().as_ref().map(|kept| kept.bytes.clone())
    }

    /// Sets the bytes of the last call; `None` removes the node.
    pub(crate) fn set(&self, state: Option<Arc<[u8]>>, budget: &Arc<Budget>) {
        let kept = state.map(|bytes| {
            let held = budget.reserve_anyway(bytes.len() as u64);
            StateBytes { bytes, _held: held }
        });
        *self.lock_bytes() = kept;
    }

    pub(crate) fn open(
        self: &Arc<Self>,
        write: bool,
        budget: &Arc<Budget>,
    ) -> Result<StateFile, Errno> {
        let before = self.get().ok_or(Errno::NOENT)?;
        let new = if write {
            Some(Mutex::new(StateBuffer {
                bytes: Vec::new(),
                held: budget.reserve_bytes(0).ok_or(Errno::NOMEM)?,
            }))
        } else {
            None
        };
        Ok(StateFile { state: self.clone(), before, new })
    }

    pub(crate) fn is_there(&self) -> bool {
        self.lock_bytes().is_some()
    }
}

/// One opening of the node.
#[derive(Debug)]
pub struct StateFile {
    state: Arc<SessionState>,
    before: Arc<[u8]>,
    /// The written bytes, if it is open for writing.
    new: Option<Mutex<StateBuffer>>,
}

#[derive(Debug)]
struct StateBuffer {
    bytes: Vec<u8>,
    held: Reservation,
}

impl StateFile {
    /// Reads the state as it was at the opening.
    pub(crate) fn read(&self, off: u64, buf: &mut [u8]) -> usize {
        let rest = usize::try_from(off).ok().and_then(|off| self.before.get(off..));
        let rest = rest.unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        n
    }

    /// Adds to the bytes that replace the state at the close.
    pub(crate) fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let mut new =
            self.new.as_ref().ok_or(Errno::BADF)?.lock().unwrap_or_else(|e| e.into_inner());
        let StateBuffer { bytes, held } = &mut *new;
        let length = bytes.len() + data.len();
        if length > STATE_MAX {
            return Err(Errno::FBIG);
        }
        if length > bytes.capacity() {
            let capacity = length.max(2 * bytes.capacity()).min(STATE_MAX);
            if !held.grow_by((capacity - bytes.capacity()) as u64) {
                return Err(Errno::NOMEM);
            }
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(data);
        Ok(data.len())
    }
}

impl Drop for StateFile {
    /// Stores the new state if it is whole. A process that is ended while it writes leaves a part,
    /// which is discarded.
    fn drop(&mut self) {
        let Some(new) = self.new.take() else { return };
        let StateBuffer { bytes, mut held } = new.into_inner().unwrap_or_else(|e| e.into_inner());
        if !is_whole(&bytes) {
            return;
        }
        let mut state = self.state.lock_bytes();
        if let Some(kept) = &mut *state {
            held.shrink_to(bytes.len() as u64);
            *kept = StateBytes { bytes: bytes.into(), _held: held };
        }
    }
}
