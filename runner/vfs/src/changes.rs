//! What a command changed: the difference of two snapshots, and a journal of what
//! was touched in writable host mounts.

use crate::Vfs;
use crate::base;
use crate::tree::{Entries, Ino, Inode, Kind, Name, ROOT, Tree};
use crate::walk::Loc;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex};

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

/// A changed file or symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Absolute path in the guest.
    pub path: Vec<u8>,
    pub kind: ChangeKind,
    /// Size now, in bytes; 0 if deleted.
    pub size: u64,
}

/// Most changes that are listed.
pub const MAX_CHANGES: usize = 10_000;

/// A point to compare with.
#[derive(Clone, Debug)]
pub struct Mark(Tree);

/// Paths touched below writable mounts since the last [`Vfs::mark`].
#[derive(Debug, Default)]
pub(crate) struct HostJournal(Mutex<BTreeMap<(usize, Vec<u8>), ChangeKind>>);

impl HostJournal {
    pub(crate) fn note(&self, mount: usize, rel: &[u8], kind: ChangeKind) {
        let mut j = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let key = (mount, rel.to_vec());
        let merged = match (j.get(&key), kind) {
            (Some(ChangeKind::Created), ChangeKind::Modified) => ChangeKind::Created,
            (Some(ChangeKind::Deleted), ChangeKind::Created) => ChangeKind::Modified,
            (Some(ChangeKind::Created), ChangeKind::Deleted) => {
                j.remove(&key);
                return;
            }
            _ => kind,
        };
        if j.len() < MAX_CHANGES || j.contains_key(&key) {
            j.insert(key, merged);
        }
    }
}

impl Vfs {
    /// Remembers the present state.
    pub fn mark(&self) -> Mark {
        self.shared.host_changes.0.lock().unwrap_or_else(|e| e.into_inner()).clear();
        Mark(self.read().tree.clone())
    }

    /// Files and symbolic links that differ from `mark`, by path, at most
    /// [`MAX_CHANGES`] of them.
    pub fn changes(&self, mark: &Mark) -> Vec<Change> {
        let new = self.read().tree.clone();
        let mut out = Vec::new();
        if !new.is_same(&mark.0) {
            Comparison::new(&mark.0, &new).run(&mut out);
        }
        self.host_changes(&mut out);
        out.sort_by(|a, b| a.path.cmp(&b.path));
        out.truncate(MAX_CHANGES);
        out
    }

    fn host_changes(&self, out: &mut Vec<Change>) {
        let journal = self.shared.host_changes.0.lock().unwrap_or_else(|e| e.into_inner());
        let st = self.read();
        for ((m, rel), kind) in journal.iter() {
            let Ok(path) = self.path_of(&st, &Loc::Host(*m, rel.clone())) else { continue };
            let stat = self.mount(*m).stat(rel);
            let (kind, size) = match (kind, &stat) {
                (ChangeKind::Created, Err(_)) => continue,
                (ChangeKind::Deleted, _) | (_, Err(_)) => (ChangeKind::Deleted, 0),
                (k, Ok(s)) => (*k, s.size),
            };
            out.push(Change { path, kind, size });
        }
    }
}

/// Two trees being compared.
struct Comparison<'a> {
    old: &'a Tree,
    new: &'a Tree,
    /// The image's directories that must be looked into.
    touched: HashSet<Ino>,
}

impl<'a> Comparison<'a> {
    fn new(old: &'a Tree, new: &'a Tree) -> Comparison<'a> {
        let touched = old.touched().union(&new.touched()).copied().collect();
        Comparison { old, new, touched }
    }

    fn run(&self, out: &mut Vec<Change>) {
        let mut todo = vec![(Vec::new(), Some(ROOT), Some(ROOT))];
        while let Some((dir, old, new)) = todo.pop() {
            let (old, new) = (entries(self.old, old), entries(self.new, new));
            let names: BTreeSet<&Name> = old.keys().chain(new.keys()).collect();
            for name in names {
                let (a, b) = (old.get(name).copied(), new.get(name).copied());
                if a == b && a.is_some_and(|i| i >= base::FIRST && !self.touched.contains(&i)) {
                    continue;
                }
                let path = || [&dir, b"/".as_slice(), name].concat();
                let kind =
                    match (a.and_then(|i| leaf(self.old, i)), b.and_then(|i| leaf(self.new, i))) {
                        (None, Some(_)) => Some(ChangeKind::Created),
                        (Some(_), None) => Some(ChangeKind::Deleted),
                        (Some(x), Some(y)) if a != b || content_differs(x, y) => {
                            Some(ChangeKind::Modified)
                        }
                        _ => None,
                    };
                if let Some(kind) = kind {
                    let size = b.and_then(|i| leaf(self.new, i)).map_or(0, |n| n.size());
                    out.push(Change { path: path(), kind, size });
                }
                let (a, b) =
                    (a.filter(|i| is_dir(self.old, *i)), b.filter(|i| is_dir(self.new, *i)));
                if a.is_some() || b.is_some() {
                    todo.push((path(), a, b));
                }
            }
        }
    }
}

fn entries(tree: &Tree, dir: Option<Ino>) -> Arc<Entries> {
    dir.and_then(|d| tree.entries(d).ok()).cloned().unwrap_or_default()
}

fn is_dir(tree: &Tree, ino: Ino) -> bool {
    tree.get(ino).is_some_and(|n| matches!(n.kind, Kind::Dir { .. }))
}

/// The node if it is a file or symbolic link.
fn leaf(tree: &Tree, ino: Ino) -> Option<&Arc<Inode>> {
    tree.get(ino).filter(|n| matches!(n.kind, Kind::File { .. } | Kind::Symlink(_)))
}

/// Whether the bytes may differ: a changed mode or time alone does not count.
fn content_differs(old: &Arc<Inode>, new: &Arc<Inode>) -> bool {
    if Arc::ptr_eq(old, new) {
        return false;
    }
    match (&old.kind, &new.kind) {
        (Kind::File { content: a, .. }, Kind::File { content: b, .. }) => !a.same(b),
        (Kind::Symlink(a), Kind::Symlink(b)) => a != b,
        _ => true,
    }
}
