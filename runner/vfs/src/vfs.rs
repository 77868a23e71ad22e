//! What a session's file system consists of.

use crate::budget::Budget;
use crate::errno::Errno;
use crate::host::{HostMount, OpenFiles};
use crate::journal::HostJournal;
use crate::net::LoopbackNetwork;
use crate::node::Ino;
use crate::pipe::Pipes;
use crate::quota::{Quota, QuotaHit};
use crate::service::{ServedNodes, Service, ServiceFile};
use crate::session_state::{SessionState, StateFile};
use crate::terminal::Terminals;
use crate::tree::TreeState;
use crate::version::TreeOrigin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// A session's file system. Clones share it.
#[derive(Clone, Debug)]
pub struct Vfs {
    pub(crate) shared: Arc<VfsInner>,
}

#[derive(Debug)]
pub(crate) struct VfsInner {
    pub(crate) state: RwLock<TreeState>,
    pub(crate) budget: Arc<Budget>,
    /// The tree as the session began.
    pub(crate) origin: Arc<TreeOrigin>,
    pub(crate) mounts: Vec<HostMount>,
    pub(crate) host_files: OpenFiles,
    pub(crate) pipes: Pipes,
    pub(crate) network: LoopbackNetwork,
    pub(crate) terminals: Terminals,
    pub(crate) session_state: Arc<SessionState>,
    pub(crate) service: ServedNodes,
    /// Whether `/.box/code-from-strings` is missing.
    pub(crate) forbids_code: AtomicBool,
    pub(crate) host_changes: HostJournal,
    /// The directory `/proc`.
    pub(crate) proc: Ino,
    pub(crate) began: Instant,
}

impl Vfs {
    /// Locks the tree for reading. Poison is ignored: a panic under the lock is a bug of ours, the
    /// tree is consistent between statements, and a second panic in every other guest process would
    /// only hide the first.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, TreeState> {
        self.shared.state.read().unwrap_or_else(|e| e.into_inner())
    }

    /// Removes the node `/.box/code-from-strings`, without which the image's JavaScript makes no
    /// code of strings. Guests can create no file in its directory, and a guest that cannot access
    /// the directory is refused as well.
    pub fn forbid_code_from_strings(&self) {
        self.shared.forbids_code.store(true, Ordering::Relaxed);
    }

    pub(crate) fn allows_code_from_strings(&self) -> bool {
        !self.shared.forbids_code.load(Ordering::Relaxed)
    }

    /// Returns the first damage of the image that was found.
    pub fn damage(&self) -> Option<String> {
        self.read().tree.base().first_damage().map(str::to_owned)
    }

    /// Returns the file limit by which an operation was refused since the last call.
    pub fn take_hit(&self) -> Option<QuotaHit> {
        let own = self.write().quota.hit.take();
        let mounts = self.shared.mounts.iter().filter_map(HostMount::hit);
        // No mount is skipped, because each call resets the mount's state.
        let mount = mounts.fold(None, |first: Option<QuotaHit>, hit| first.or(Some(hit)));
        let pipes = self.shared.pipes.was_full().then_some(QuotaHit::Pipes);
        own.or(mount).or(pipes)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, TreeState> {
        self.shared.state.write().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the limits of the session's own files, and what they take of them.
    pub fn disk_space(&self) -> Quota {
        self.read().quota
    }

    /// Returns the time since this file system was made.
    pub fn age(&self) -> Duration {
        self.shared.began.elapsed()
    }

    /// Creates the node `/.box/state` with the bytes of the last call, which are empty at first.
    /// `None` removes it.
    pub fn set_state(&self, state: Option<Arc<[u8]>>) {
        self.shared.session_state.set(state, &self.shared.budget);
    }

    /// Returns the present state, if its node exists.
    pub fn session_state(&self) -> Option<Arc<[u8]>> {
        self.shared.session_state.get()
    }

    pub(crate) fn open_state(&self, write: bool) -> Result<StateFile, Errno> {
        self.shared.session_state.open(write, &self.shared.budget)
    }

    /// Lets `service` answer at the nodes of [`SERVICES`](crate::SERVICES) that it implements.
    pub fn set_service(&self, service: Option<Arc<dyn Service>>) {
        self.shared.service.set(service);
    }

    pub(crate) fn open_service(&self, n: usize) -> Result<ServiceFile, Errno> {
        self.shared.service.open(n, &self.shared.budget)
    }
}
