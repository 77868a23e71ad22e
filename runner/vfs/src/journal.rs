//! The journal of changes in writable host mounts.

use crate::budget::{Budget, HeldBytes};
use crate::sync::lock_mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// The kind of difference at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

/// Bounds of a list of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeBounds {
    /// Number of changes.
    pub count: usize,
    /// Bytes of their paths together.
    pub bytes: usize,
    /// The time at which comparing stops; `None` for never.
    pub deadline: Option<Instant>,
}

impl Default for ChangeBounds {
    /// Returns 10,000 changes, 4 MiB of paths, no deadline.
    fn default() -> ChangeBounds {
        ChangeBounds { count: 10_000, bytes: 4 << 20, deadline: None }
    }
}

/// Paths changed below writable mounts since the last [`Vfs::mark_state`](crate::Vfs::mark_state).
#[derive(Debug, Default)]
pub(crate) struct HostJournal(Mutex<ChangeJournal>);

#[derive(Debug, Default)]
pub(crate) struct ChangeJournal {
    pub(crate) touched: BTreeMap<(usize, Vec<u8>), ChangeKind>,
    held: HeldBytes,
    pub(crate) cut: bool,
}

impl ChangeJournal {
    /// Computes the bytes that an entry occupies.
    fn note_cost(rel: &[u8]) -> u64 {
        rel.len() as u64 + 96
    }
}

impl HostJournal {
    pub(crate) fn lock(&self) -> MutexGuard<'_, ChangeJournal> {
        lock_mutex(&self.0)
    }

    pub(crate) fn note_change(
        &self,
        mount: usize,
        rel: &[u8],
        kind: ChangeKind,
        budget: &Arc<Budget>,
    ) {
        let mut j = self.lock();
        let key = (mount, rel.to_vec());
        let merged = match (j.touched.get(&key), kind) {
            (Some(ChangeKind::Created), ChangeKind::Modified) => ChangeKind::Created,
            (Some(ChangeKind::Deleted), ChangeKind::Created) => ChangeKind::Modified,
            (Some(ChangeKind::Created), ChangeKind::Deleted) => {
                j.touched.remove(&key);
                j.held.shrink_by(ChangeJournal::note_cost(rel));
                return;
            }
            _ => kind,
        };
        if let Some(known) = j.touched.get_mut(&key) {
            *known = merged;
            return;
        }
        if j.touched.len() < ChangeBounds::default().count
            && j.held.grow_by(budget, ChangeJournal::note_cost(rel))
        {
            j.touched.insert(key, merged);
        } else {
            j.cut = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_is_bounded() {
        let (journal, budget) = (HostJournal::default(), Budget::new(4 << 20));
        let note = |n: usize, kind| journal.note_change(0, n.to_string().as_bytes(), kind, &budget);
        (0..10_000).for_each(|n| note(n, ChangeKind::Created));
        assert!(!journal.lock().cut);
        note(10_000, ChangeKind::Created);
        note(5, ChangeKind::Modified);
        assert!(journal.lock().cut && journal.lock().touched.len() == 10_000);
        (0..10_000).for_each(|n| note(n, ChangeKind::Deleted));
        assert_eq!(budget.used_bytes(), 0);
        let long = vec![b'x'; 3 << 20];
        journal.note_change(0, &long, ChangeKind::Modified, &budget);
        journal.note_change(1, &long, ChangeKind::Modified, &budget);
        assert_eq!(journal.lock().touched.len(), 1);
        *journal.lock() = ChangeJournal::default();
        assert_eq!(budget.used_bytes(), 0);
    }
}
