//! Views of a kept tree's files by name, for code that exports a folder or compares it.
//!
//! Nothing is locked, because a kept tree does not change. The content of mounts and devices is not
//! part of it.

use crate::base;
use crate::budget::Budget;
use crate::content::{FileContent, LazyBytes};
use crate::errno::Errno;
use crate::tree::{Ino, Inode, Name, NodeKind, NodeTree, ROOT};
use crate::version::TreeVersion;
use box_abi::Stat;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet, btree_map};
use std::iter::Peekable;
use std::sync::Arc;

/// The file at a path.
#[derive(Clone, Debug)]
pub struct PathView<'a> {
    pub stat: Stat,
    pub shape: ViewShape<'a>,
}

/// The kind and content of a file.
#[derive(Clone, Debug)]
pub enum ViewShape<'a> {
    Dir,
    File(FileView<'a>),
    Symlink(&'a [u8]),
    /// A device, a named pipe, a mount.
    Other,
}

/// A file's bytes.
#[derive(Clone, Debug)]
pub struct FileView<'a> {
    content: &'a FileContent,
    budget: &'a Arc<Budget>,
}

impl<'a> FileView<'a> {
    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        self.content.len()
    }

    /// Returns whether the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads at an offset; 0 is the end.
    ///
    /// # Errors
    /// If bytes that were not read before cannot be fetched.
    pub fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        if let Some(lazy) = self.content.lazy_bytes().filter(|_| off == 0) {
            lazy.make_ready(self.budget, false)?;
        }
        self.content.read(off, buf)
    }

    /// Returns the bytes with which the session began, if they are unchanged and fetched on demand.
    pub fn untouched_bytes(&self) -> Option<&'a Arc<dyn LazyBytes>> {
        self.content.untouched_bytes()
    }

    /// Returns whether both are known to be the same bytes.
    pub fn is_same(&self, other: &FileView<'_>) -> bool {
        self.content.is_same(other.content)
    }
}

/// A name whose file differs from the one at the beginning of the session.
#[derive(Clone, Debug)]
pub struct ViewDifference<'a> {
    pub old: Option<PathView<'a>>,
    pub new: Option<PathView<'a>>,
}

impl TreeVersion {
    /// Calls `each` for every file below the directory `dir`, an absolute plain path. The path that
    /// it gets is relative to `dir`; parents come before children, in the order of names.
    ///
    /// # Errors
    /// NOENT or NOTDIR for `dir`; the first error of `each`.
    pub fn each_below<E: From<Errno>>(
        &self,
        dir: &[u8],
        each: &mut dyn FnMut(&[u8], PathView<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let top = lookup_path(&self.tree, dir)?;
        let mut path = Vec::new();
        let mut frames = vec![(dir_entries(&self.tree, Some(top)), 0)];
        while let Some((frame, len)) = frames.last_mut() {
            path.truncate(*len);
            let Some((name, ino)) = frame.next() else {
                frames.pop();
                continue;
            };
            push(&mut path, name);
            let Some(node) = self.tree.get(*ino) else { continue };
            each(&path, self.path_view(node, *ino))?;
            if matches!(node.kind, NodeKind::Dir { .. }) {
                frames.push((dir_entries(&self.tree, Some(*ino)), path.len()));
            }
        }
        Ok(())
    }

    /// Calls `each` with every name below `dir` that differs from the beginning of the session;
    /// permission bits count. The cost depends on the changes only.
    ///
    /// # Errors
    /// The first error of `each`.
    pub fn for_each_difference<E: From<Errno>>(
        &self,
        dir: &[u8],
        each: &mut dyn FnMut(&[u8], ViewDifference<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (old, new) = (&self.origin.tree, &self.tree);
        let touched = new.touched_nodes();
        let top = |tree| lookup_path(tree, dir).ok();
        let mut frames = vec![MergedEntries::new((old, top(old)), (new, top(new)), 0)];
        let mut path = Vec::new();
        while let Some(frame) = frames.last_mut() {
            path.truncate(frame.path_len);
            let Some((name, a, b)) = frame.next() else {
                frames.pop();
                continue;
            };
            if a == b && a.is_some_and(|i| is_untouched(i, &touched)) {
                continue;
            }
            push(&mut path, name);
            let before = a.and_then(|i| Some((old.get(i)?, i)));
            let after = b.and_then(|i| Some((new.get(i)?, i)));
            if nodes_differ(before.map(|n| &**n.0), after.map(|n| &**n.0)) {
                let old = before.map(|(n, i)| self.path_view(n, i));
                let new = after.map(|(n, i)| self.path_view(n, i));
                each(&path, ViewDifference { old, new })?;
            }
            let dir = |n: Option<(&Arc<Inode>, Ino)>| {
                n.filter(|(n, _)| matches!(n.kind, NodeKind::Dir { .. })).map(|(_, i)| i)
            };
            let (a, b) = (dir(before), dir(after));
            if a.is_some() || b.is_some() {
                frames.push(MergedEntries::new((old, a), (new, b), path.len()));
            }
        }
        Ok(())
    }

    /// Returns the original file at a path.
    pub fn original_view(&self, path: &[u8]) -> Option<PathView<'_>> {
        let tree = &self.origin.tree;
        let mut at = ROOT;
        for name in path.split(|b| *b == b'/').filter(|n| !n.is_empty()) {
            at = *tree.entries_of(at).ok()?.get(name)?;
        }
        Some(self.path_view(tree.get(at)?, at))
    }

    fn path_view<'a>(&'a self, node: &'a Inode, ino: Ino) -> PathView<'a> {
        let shape = match &node.kind {
            NodeKind::Dir { .. } => ViewShape::Dir,
            NodeKind::File { content, .. } => {
                ViewShape::File(FileView { content, budget: self.tree.budget() })
            }
            NodeKind::Symlink(target) => ViewShape::Symlink(target),
            _ => ViewShape::Other,
        };
        PathView { stat: node.stat(ino), shape }
    }
}

fn push(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Returns whether a node of the image is unchanged, with everything below it.
fn is_untouched(ino: Ino, touched: &HashSet<Ino>) -> bool {
    ino >= base::FIRST && !touched.contains(&ino)
}

fn lookup_path(tree: &NodeTree, path: &[u8]) -> Result<Ino, Errno> {
    let mut at = ROOT;
    for name in path.split(|b| *b == b'/').filter(|n| !n.is_empty()) {
        at = *tree.entries_of(at)?.get(name).ok_or(Errno::NOENT)?;
    }
    tree.entries_of(at).map(|_| at)
}

fn dir_entries(tree: &NodeTree, dir: Option<Ino>) -> btree_map::Iter<'_, Name, Ino> {
    static NONE: BTreeMap<Name, Ino> = BTreeMap::new();
    dir.and_then(|d| tree.entries_of(d).ok()).map_or(&NONE, |e| e).iter()
}

/// Returns whether a name stands for a different file. Of directories only the bits count, because
/// their entries are compared separately.
fn nodes_differ(old: Option<&Inode>, new: Option<&Inode>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return true };
    let same = match (&old.kind, &new.kind) {
        (NodeKind::Dir { .. }, NodeKind::Dir { .. }) => true,
        (NodeKind::File { content: a, .. }, NodeKind::File { content: b, .. }) => a.is_same(b),
        (NodeKind::Symlink(a), NodeKind::Symlink(b)) => return a != b,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
    };
    !same || old.mode != new.mode
}

/// A directory of two trees that are compared: the remaining entries of both, by name.
pub(crate) struct MergedEntries<'a> {
    old: Peekable<btree_map::Iter<'a, Name, Ino>>,
    new: Peekable<btree_map::Iter<'a, Name, Ino>>,
    /// The length of the directory's path.
    pub path_len: usize,
}

impl<'a> MergedEntries<'a> {
    /// Merges a directory of each tree; a tree that does not have it contributes no entries.
    pub(crate) fn new(
        old: (&'a NodeTree, Option<Ino>),
        new: (&'a NodeTree, Option<Ino>),
        path_len: usize,
    ) -> MergedEntries<'a> {
        let side = |(tree, dir)| dir_entries(tree, dir).peekable();
        MergedEntries { old: side(old), new: side(new), path_len }
    }
}

impl<'a> Iterator for MergedEntries<'a> {
    /// A name, and its node in each tree.
    type Item = (&'a Name, Option<Ino>, Option<Ino>);

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.old.peek(), self.new.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((a, _)), Some((b, _))) => a.cmp(b),
        };
        let old = if order.is_le() { self.old.next() } else { None };
        let new = if order.is_ge() { self.new.next() } else { None };
        let name = old.or(new)?.0;
        Some((name, old.map(|(_, i)| *i), new.map(|(_, i)| *i)))
    }
}
