//! What a command changed: the difference of two snapshots, and a journal of what
//! was touched in writable host mounts.

use crate::Vfs;
use crate::tree::{Ino, Inode, Kind, ROOT, Tree};
use crate::walk::Loc;
use std::collections::{BTreeMap, HashMap, HashSet};
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
        let differing: HashSet<Ino> = new.differing(&mark.0).collect();
        if !differing.is_empty() {
            let (old_paths, new_paths) = (paths(&mark.0), paths(&new));
            for (path, ino) in &new_paths {
                let kind = match old_paths.get(path) {
                    None => ChangeKind::Created,
                    Some(old)
                        if old == ino && !content_differs(&mark.0, &new, *ino, &differing) =>
                    {
                        continue;
                    }
                    Some(_) => ChangeKind::Modified,
                };
                let size = new.get(*ino).map_or(0, |n| n.size());
                out.push(Change { path: path.clone(), kind, size });
            }
            for path in old_paths.keys().filter(|p| !new_paths.contains_key(*p)) {
                out.push(Change { path: path.clone(), kind: ChangeKind::Deleted, size: 0 });
            }
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

/// Whether the bytes may differ: a changed mode or time alone does not count.
fn content_differs(old: &Tree, new: &Tree, ino: Ino, differing: &HashSet<Ino>) -> bool {
    if !differing.contains(&ino) {
        return false;
    }
    match (old.get(ino).map(|n| &n.kind), new.get(ino).map(|n| &n.kind)) {
        (Some(Kind::File { content: a, .. }), Some(Kind::File { content: b, .. })) => !a.same(b),
        (Some(Kind::Symlink(a)), Some(Kind::Symlink(b))) => a != b,
        _ => true,
    }
}

/// Every file and symbolic link by path.
fn paths(tree: &Tree) -> HashMap<Vec<u8>, Ino> {
    let mut out = HashMap::new();
    let mut todo: Vec<(Vec<u8>, Ino)> = vec![(Vec::new(), ROOT)];
    while let Some((dir, ino)) = todo.pop() {
        let Some(Kind::Dir { entries, .. }) = tree.get(ino).map(|n| &n.kind) else { continue };
        for (name, child) in entries.iter() {
            let path = [&dir, b"/".as_slice(), name].concat();
            match tree.get(*child).map(|n: &Arc<Inode>| &n.kind) {
                Some(Kind::Dir { .. }) => todo.push((path, *child)),
                Some(Kind::File { .. } | Kind::Symlink(_)) => {
                    out.insert(path, *child);
                }
                _ => {}
            }
        }
    }
    out
}
