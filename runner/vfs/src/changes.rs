//! The changes of a command: the difference of two versions of the tree, and a journal of changes
//! in writable host mounts.

use crate::base;
use crate::journal::{ChangeBounds, ChangeJournal, ChangeKind};
use crate::loc::{Loc, MAX_PATH};
use crate::tree::{Ino, Inode, NodeKind, NodeTree, ROOT};
use crate::vfs::Vfs;
use crate::view::MergedEntries;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// A changed file or symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// Absolute path in the guest.
    pub path: Vec<u8>,
    pub kind: ChangeKind,
    /// Size now, in bytes; 0 if deleted.
    pub size: u64,
}

/// Changes by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeChanges {
    pub list: Vec<TreeChange>,
    /// Whether the list may be incomplete, because a bound was reached or a path is longer than any
    /// call accepts.
    pub truncated: bool,
}

/// The number of names that are compared between two checks of the clock.
const LOOK: usize = 256;

/// A list under construction, with its bounds.
struct ChangeListing<'a> {
    bounds: &'a ChangeBounds,
    out: TreeChanges,
    bytes: usize,
    steps: usize,
    full: bool,
}

impl<'a> ChangeListing<'a> {
    fn new(bounds: &'a ChangeBounds) -> ChangeListing<'a> {
        ChangeListing { bounds, out: TreeChanges::default(), bytes: 0, steps: 0, full: false }
    }

    /// Returns whether a bound was reached; counts a step.
    fn is_over(&mut self) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK) {
            self.check_clock();
        }
        self.full
    }

    /// Checks the deadline.
    fn check_clock(&mut self) {
        if self.bounds.deadline.is_some_and(|d| Instant::now() >= d) {
            self.cut_list();
        }
    }

    fn cut_list(&mut self) {
        self.full = true;
        self.out.truncated = true;
    }

    fn push(&mut self, path: &[u8], kind: ChangeKind, size: u64) {
        if self.out.list.len() >= self.bounds.count || self.bytes + path.len() > self.bounds.bytes {
            return self.cut_list();
        }
        self.bytes += path.len();
        self.out.list.push(TreeChange { path: path.to_vec(), kind, size });
    }
}

/// A point to compare with. It keeps the session's files of that time, which still count against
/// the budget.
#[derive(Clone, Debug)]
pub struct ChangeMark(NodeTree);

impl Vfs {
    /// Records the present state.
    pub fn mark_state(&self) -> ChangeMark {
        *self.shared.host_changes.lock() = ChangeJournal::default();
        ChangeMark(self.read().tree.clone())
    }

    /// Returns the files and symbolic links that differ from `mark`, sorted by path, within the
    /// bounds. Its time and memory do not depend on files that a guest has made beyond the bounds.
    pub fn changes_since(&self, mark: &ChangeMark, bounds: &ChangeBounds) -> TreeChanges {
        let new = self.read().tree.clone();
        let mut found = ChangeListing::new(bounds);
        found.check_clock();
        self.host_changes(&mut found);
        if !found.full && !new.is_same(&mark.0) {
            Comparison::new(&mark.0, &new).run(&mut found);
        }
        let mut out = found.out;
        out.list.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        out
    }

    /// Adds the journal's changes. The tree is not locked during host calls, because they may take
    /// long.
    fn host_changes(&self, found: &mut ChangeListing<'_>) {
        let (touched, cut) = {
            let j = self.shared.host_changes.lock();
            (j.touched.clone(), j.cut)
        };
        found.out.truncated |= cut;
        for ((m, rel), kind) in touched {
            found.check_clock();
            if found.full {
                return;
            }
            let loc = Loc::Host(m, rel);
            let Ok(path) = self.path_of(&self.read(), &loc) else { continue };
            let Loc::Host(m, rel) = loc else { continue };
            let stat = self.mount(m).stat(&rel);
            let (kind, size) = match (kind, &stat) {
                (ChangeKind::Created, Err(_)) => continue,
                (ChangeKind::Deleted, _) | (_, Err(_)) => (ChangeKind::Deleted, 0),
                (k, Ok(s)) => (k, s.size),
            };
            found.push(&path, kind, size);
        }
    }
}

/// Two trees being compared.
struct Comparison<'a> {
    old: &'a NodeTree,
    new: &'a NodeTree,
    /// The image's directories that must be compared.
    touched: HashSet<Ino>,
}

impl<'a> Comparison<'a> {
    fn new(old: &'a NodeTree, new: &'a NodeTree) -> Comparison<'a> {
        let touched = old.touched_nodes().union(&new.touched_nodes()).copied().collect();
        Comparison { old, new, touched }
    }

    fn new_frame(&self, old: Option<Ino>, new: Option<Ino>, path: usize) -> MergedEntries<'a> {
        MergedEntries::new((self.old, old), (self.new, new), path)
    }

    /// Keeps one path and a frame per directory above the present one, so memory is bounded by the
    /// longest path that a call takes, not by the depth of the trees.
    fn run(&self, found: &mut ChangeListing<'_>) {
        let mut path = Vec::new();
        let mut frames = vec![self.new_frame(Some(ROOT), Some(ROOT), 0)];
        while let Some(frame) = frames.last_mut() {
            if found.is_over() {
                return;
            }
            path.truncate(frame.path_len);
            let Some((name, a, b)) = frame.next() else {
                frames.pop();
                continue;
            };
            if a == b && a.is_some_and(|i| i >= base::FIRST && !self.touched.contains(&i)) {
                continue;
            }
            let old = a.and_then(|i| leaf_inode(self.old, i));
            let new = b.and_then(|i| leaf_inode(self.new, i));
            let kind = match (old, new) {
                (None, Some(_)) => Some(ChangeKind::Created),
                (Some(_), None) => Some(ChangeKind::Deleted),
                (Some(x), Some(y)) if a != b || content_differs(x, y) => Some(ChangeKind::Modified),
                _ => None,
            };
            let a = a.filter(|i| is_dir(self.old, *i));
            let b = b.filter(|i| is_dir(self.new, *i));
            if kind.is_none() && a.is_none() && b.is_none() {
                continue;
            }
            if path.len() + 1 + name.len() > MAX_PATH {
                found.out.truncated = true;
                continue;
            }
            path.push(b'/');
            path.extend_from_slice(name);
            if let Some(kind) = kind {
                found.push(&path, kind, new.map_or(0, |n| n.size()));
            }
            if a.is_some() || b.is_some() {
                frames.push(self.new_frame(a, b, path.len()));
            }
        }
    }
}

fn is_dir(tree: &NodeTree, ino: Ino) -> bool {
    tree.get(ino).is_some_and(|n| matches!(n.kind, NodeKind::Dir { .. }))
}

/// Returns the node if it is a file or symbolic link.
fn leaf_inode(tree: &NodeTree, ino: Ino) -> Option<&Arc<Inode>> {
    tree.get(ino).filter(|n| matches!(n.kind, NodeKind::File { .. } | NodeKind::Symlink(_)))
}

/// Returns whether the bytes may differ: a changed mode or time alone does not count.
fn content_differs(old: &Arc<Inode>, new: &Arc<Inode>) -> bool {
    if Arc::ptr_eq(old, new) {
        return false;
    }
    match (&old.kind, &new.kind) {
        (NodeKind::File { content: a, .. }, NodeKind::File { content: b, .. }) => !a.is_same(b),
        (NodeKind::Symlink(a), NodeKind::Symlink(b)) => a != b,
        _ => true,
    }
}
