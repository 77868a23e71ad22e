//! The tree: a table of immutable nodes, cheap to clone.
//!
//! The table consists of groups of pages of reference-counted slots. A clone copies one pointer per
//! group; a write copies the group, the page and the node it changes, if a clone still holds them.
//! Directories are maps from names to node numbers, so hard links and renames are exact and a node
//! keeps its number for life. Numbers are not used again. Pages and groups whose nodes are all gone
//! are freed, so that two bytes remain of a thousand files that were made and removed.
//!
//! Nodes, names and pages hold their memory from the session's [`Budget`] as long as any clone has
//! them.
//!
//! Nodes of the image are in a layer of their own ([`crate::base`]) that all clones share. Those
//! that were changed are in a map that is looked up first.

use crate::base::{self, BaseLayer};
use crate::budget::{Budget, HeldBytes};
use crate::errno::Errno;
use crate::quota::{DiskLimits, Quota};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::node::now_ns;
pub use crate::node::{DirEntries, Executable, Ino, Inode, Name, NodeKind, ProgramMark};

/// The root directory.
pub const ROOT: Ino = 1;
/// The directory of the device nodes, reachable as `/.box` but not listed in `/`.
pub const BRIDGE: Ino = 2;
/// `/dev/fd`, whose entries are the caller's descriptors.
pub const DEV_FD: Ino = 3;
/// `/.box/code-from-strings`, not listed there; missing if [`crate::Vfs::forbid_code_from_strings`]
/// was called.
pub const CODE_FROM_STRINGS: Ino = 4;
/// `/dev/ptmx`.
pub const DEV_PTMX: Ino = 5;
/// `/dev/pts`, whose entries are the terminals.
pub const DEV_PTS: Ino = 6;
/// `/.box/terminal`.
pub const TERMINAL_NODE: Ino = 7;
/// First number for ordinary nodes.
const FIRST: Ino = 16;

/// Slots of a page, and pages of a group.
const FAN: usize = 64;

/// A part of the table; one without children is freed.
#[derive(Clone, Debug)]
struct TablePart<T> {
    slots: [Option<Arc<T>>; FAN],
    live: usize,
    _held: HeldBytes,
}

type Page = TablePart<Inode>;
type Group = TablePart<Page>;

impl<T> TablePart<T> {
    /// Creates an empty part. Nodes are counted before their pages, so their number is bounded.
    fn new(budget: &Arc<Budget>) -> TablePart<T> {
        let held = HeldBytes::force_hold(budget, size_of::<TablePart<T>>() as u64 + 32);
        TablePart { slots: [const { None }; FAN], live: 0, _held: held }
    }

    fn put_child(&mut self, at: usize, child: Option<Arc<T>>) -> Option<Arc<T>> {
        let more = usize::from(child.is_some());
        let old = std::mem::replace(&mut self.slots[at], child);
        self.live = self.live + more - usize::from(old.is_some());
        old
    }
}

/// All nodes. A clone is a version that can be kept.
#[derive(Clone, Debug, Default)]
pub struct NodeTree {
    groups: Vec<Option<Arc<Group>>>,
    next: Ino,
    base: Arc<BaseLayer>,
    /// Nodes of the base that were changed; `None` if removed.
    changed: Arc<BTreeMap<Ino, Option<Arc<Inode>>>>,
    budget: Arc<Budget>,
}

/// Returns the place of a number's node: group, page, slot.
fn node_place(ino: Ino) -> (usize, usize, usize) {
    let n = ino as usize;
    (n / FAN / FAN, n / FAN % FAN, n % FAN)
}

/// Calls `differs` for each slot whose child is not shared by both.
fn visit_unshared<T>(
    new: Option<Arc<TablePart<T>>>,
    old: Option<Arc<TablePart<T>>>,
    mut differs: impl FnMut(usize, Option<&Arc<T>>, Option<&Arc<T>>),
) {
    let same = |a: &Option<&Arc<T>>, b: &Option<&Arc<T>>| match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    };
    if matches!((&new, &old), (Some(a), Some(b)) if Arc::ptr_eq(a, b)) {
        return;
    }
    for at in 0..FAN {
        let child =
            |part: &'_ Option<Arc<TablePart<T>>>| part.as_ref().and_then(|p| p.slots[at].clone());
        let (a, b) = (child(&new), child(&old));
        if !same(&a.as_ref(), &b.as_ref()) {
            differs(at, a.as_ref(), b.as_ref());
        }
    }
}

impl NodeTree {
    /// Creates an empty tree whose memory is counted in `budget`.
    pub fn new(budget: Arc<Budget>) -> NodeTree {
        NodeTree { base: Arc::new(BaseLayer::new(budget.clone())), budget, ..NodeTree::default() }
    }

    /// Returns the session's memory budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the image's layer.
    pub fn base(&self) -> &BaseLayer {
        &self.base
    }

    /// Returns the node, if it exists.
    pub fn get(&self, ino: Ino) -> Option<&Arc<Inode>> {
        if ino >= base::FIRST {
            return match self.changed.get(&ino) {
                Some(changed) => changed.as_ref(),
                None => self.base.get(ino),
            };
        }
        let (g, p, s) = node_place(ino);
        self.groups.get(g)?.as_ref()?.slots[p].as_ref()?.slots[s].as_ref()
    }

    /// Returns whether it is a directory of the image that was not listed yet, without listing it.
    pub fn is_unlisted(&self, ino: Ino) -> bool {
        !self.changed.contains_key(&ino) && self.base.is_unlisted(ino)
    }

    /// Returns the node, or ESTALE.
    pub fn node_at(&self, ino: Ino) -> Result<&Arc<Inode>, Errno> {
        self.get(ino).ok_or(Errno::STALE)
    }

    /// Returns a node for a change; it is copied first if another version of the tree shares it.
    pub fn node_mut(&mut self, ino: Ino) -> Result<&mut Inode, Errno> {
        if ino >= base::FIRST {
            let changed = Arc::make_mut(&mut self.changed);
            let slot = match changed.entry(ino) {
                Entry::Occupied(slot) => slot.into_mut(),
                Entry::Vacant(slot) => slot.insert(self.base.get(ino).cloned()),
            };
            return slot.as_mut().map(Arc::make_mut).ok_or(Errno::STALE);
        }
        let (g, p, s) = node_place(ino);
        let group = self.groups.get_mut(g).and_then(Option::as_mut).ok_or(Errno::STALE)?;
        let page = Arc::make_mut(group).slots[p].as_mut().ok_or(Errno::STALE)?;
        Arc::make_mut(page).slots[s].as_mut().map(Arc::make_mut).ok_or(Errno::STALE)
    }

    /// Stores a node at a given number.
    pub fn set(&mut self, ino: Ino, node: Inode) {
        let (g, p, s) = node_place(ino);
        if self.groups.len() <= g {
            self.groups.resize(g + 1, None);
        }
        let budget = &self.budget;
        let group = self.groups[g].get_or_insert_with(|| Arc::new(Group::new(budget)));
        let group = Arc::make_mut(group);
        if group.slots[p].is_none() {
            group.put_child(p, Some(Arc::new(Page::new(budget))));
        }
        if let Some(page) = &mut group.slots[p] {
            Arc::make_mut(page).put_child(s, Some(Arc::new(node)));
        }
    }

    /// Returns ENOSPC if all numbers are used.
    pub fn has_numbers(&self) -> Result<(), Errno> {
        if self.next < base::FIRST { Ok(()) } else { Err(Errno::NOSPC) }
    }

    /// Adds a node under a fresh number.
    pub fn add(&mut self, node: Inode) -> Ino {
        self.next = self.next.max(FIRST);
        let ino = self.next;
        self.next += 1;
        self.set(ino, node);
        ino
    }

    /// Removes and returns a node.
    pub fn remove(&mut self, ino: Ino) -> Option<Arc<Inode>> {
        if ino >= base::FIRST {
            let node = self.get(ino).cloned();
            Arc::make_mut(&mut self.changed).insert(ino, None);
            return node;
        }
        self.get(ino)?;
        let (g, p, s) = node_place(ino);
        let slot = self.groups.get_mut(g)?;
        let group = Arc::make_mut(slot.as_mut()?);
        let page = Arc::make_mut(group.slots[p].as_mut()?);
        let node = page.put_child(s, None);
        // The page from which numbers are being given stays.
        if page.live == 0 && ino / FAN as u64 != self.next / FAN as u64 {
            group.put_child(p, None);
            if group.live == 0 {
                *slot = None;
            }
        }
        node
    }

    /// Returns the entries of a directory, or ENOTDIR.
    pub fn entries_of(&self, dir: Ino) -> Result<&Arc<DirEntries>, Errno> {
        match &self.node_at(dir)?.kind {
            NodeKind::Dir { entries, .. } => Ok(entries),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Returns the entries of a directory for a change; sets the directory's times to now.
    pub fn entries_mut(&mut self, dir: Ino) -> Result<&mut DirEntries, Errno> {
        let now = now_ns();
        let node = self.node_mut(dir)?;
        (node.mtime, node.ctime) = (now, now);
        match &mut node.kind {
            NodeKind::Dir { entries, .. } => Ok(Arc::make_mut(entries)),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Returns whether nothing was changed between the two.
    pub fn is_same(&self, other: &NodeTree) -> bool {
        let same = |(a, b): (&Option<Arc<Group>>, &Option<Arc<Group>>)| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        self.groups.len() == other.groups.len()
            && self.groups.iter().zip(&other.groups).all(same)
            && Arc::ptr_eq(&self.changed, &other.changed)
    }

    /// Returns the numbers of nodes that are not shared with `old`, including removed ones.
    pub fn differing_nodes(&self, old: &NodeTree) -> Vec<Ino> {
        let mut out = Vec::new();
        for g in 0..self.groups.len().max(old.groups.len()) {
            let group = |t: &NodeTree| t.groups.get(g).cloned().flatten();
            visit_unshared(group(self), group(old), |p, new, old| {
                visit_unshared(new.cloned(), old.cloned(), |s, _, _| {
                    out.push(((g * FAN + p) * FAN + s) as Ino);
                });
            });
        }
        if !Arc::ptr_eq(&self.changed, &old.changed) {
            let known = |t: &NodeTree, ino: &Ino| t.changed.get(ino).cloned();
            let both: HashSet<Ino> =
                self.changed.keys().chain(old.changed.keys()).copied().collect();
            out.extend(both.into_iter().filter(|ino| match (known(self, ino), known(old, ino)) {
                (Some(Some(a)), Some(Some(b))) => !Arc::ptr_eq(&a, &b),
                (Some(None), Some(None)) => false,
                _ => true,
            }));
        }
        out
    }

    /// Returns the number that the next node gets.
    pub fn next_number(&self) -> Ino {
        self.next.max(FIRST)
    }

    /// Restores the original of a node that the session began with.
    pub(crate) fn put_back(&mut self, ino: Ino, node: Arc<Inode>) {
        if ino >= base::FIRST {
            if self.changed.contains_key(&ino) {
                Arc::make_mut(&mut self.changed).remove(&ino);
            }
        } else {
            self.set(ino, Inode::clone(&node));
        }
    }

    /// Sets the number that the next node gets.
    pub fn set_next_number(&mut self, next: Ino) {
        self.next = next;
    }

    /// Returns the nodes of the image that were changed or lie above such a node. All other nodes
    /// of the image are unchanged, with everything in them.
    pub fn touched_nodes(&self) -> HashSet<Ino> {
        let mut out = HashSet::new();
        for ino in self.changed.keys() {
            let mut at = *ino;
            // A moved directory knows its new parent; any other moved node is in a directory that
            // was changed.
            while out.insert(at) {
                let parent = match self.get(at).map(|n| &n.kind) {
                    Some(NodeKind::Dir { parent, .. } | NodeKind::Mount { parent, .. }) => {
                        Some(*parent)
                    }
                    _ => self.base.parent_of(at),
                };
                match parent {
                    Some(p) if p >= base::FIRST => at = p,
                    _ => break,
                }
            }
        }
        out
    }
}

/// The tree, and state that exists only while the session is awake.
#[derive(Debug, Default)]
pub struct TreeState {
    pub tree: NodeTree,
    pub quota: Quota,
    /// The number of times that each node is open; an unlinked node lives while it is open.
    pub open: HashMap<Ino, usize>,
    /// Named pipes on host mounts.
    pub fifos: crate::fifos::Fifos,
}

impl TreeState {
    /// Creates an empty tree with its accounts.
    pub fn new(limits: DiskLimits, budget: Arc<Budget>) -> TreeState {
        let quota = Quota { limits, ..Quota::default() };
        TreeState { tree: NodeTree::new(budget), quota, ..TreeState::default() }
    }

    /// Charges the quota for `node` and links it as `name` in `dir`, which must not have that name.
    /// The caller has checked permissions.
    pub fn link_new(&mut self, dir: Ino, name: &[u8], node: Inode) -> Result<Ino, Errno> {
        let is_dir = matches!(node.kind, NodeKind::Dir { .. });
        let ino = self.new_node(node)?;
        if let Err(e) = self.link_node(dir, name, ino) {
            self.tree.remove(ino);
            return Err(e);
        }
        if is_dir {
            self.tree.node_mut(dir)?.nlink += 1;
        }
        Ok(ino)
    }

    /// Counts a node in the budget and adds it.
    pub fn new_node(&mut self, mut node: Inode) -> Result<Ino, Errno> {
        self.tree.has_numbers()?;
        node.count_in(&self.tree.budget)?;
        Ok(self.tree.add(node))
    }

    /// Charges quota and budget for the name and adds it to a directory; does not change the node's
    /// count of links.
    pub fn link_node(&mut self, dir: Ino, name: &[u8], ino: Ino) -> Result<(), Errno> {
        self.quota.take_entry(name)?;
        let budget = self.tree.budget.clone();
        let added = self.tree.entries_mut(dir).and_then(|e| e.add_entry(name, ino, &budget));
        if added.is_err() {
            self.quota.give_entry(name);
        }
        added
    }

    /// Returns the session's memory budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.tree.budget
    }

    /// Stores a node at a number, counted in the budget, and replaces any node there.
    pub(crate) fn replace_node(&mut self, ino: Ino, mut node: Inode) -> Result<(), Errno> {
        node.count_in(&self.tree.budget)?;
        if ino >= base::FIRST {
            Arc::make_mut(&mut self.tree.changed).insert(ino, Some(Arc::new(node)));
        } else {
            self.tree.set(ino, node);
        }
        Ok(())
    }

    /// Returns whether `name` in `dir` is still the node that a walk has found there.
    pub fn is_current(&self, dir: Ino, name: &[u8], found: Option<Ino>) -> bool {
        self.tree.entries_of(dir).is_ok_and(|e| e.get(name).copied() == found)
    }

    /// Removes `name` from `dir` and drops one link of its node.
    pub fn unlink_name(&mut self, dir: Ino, name: &[u8]) -> Result<(), Errno> {
        let ino = self.tree.entries_mut(dir)?.remove_entry(name).ok_or(Errno::NOENT)?;
        self.quota.give_entry(name);
        self.drop_link(ino, dir)
    }

    /// Drops a link of `ino`, which was in directory `dir`.
    pub fn drop_link(&mut self, ino: Ino, dir: Ino) -> Result<(), Errno> {
        let node = self.tree.node_mut(ino)?;
        if matches!(node.kind, NodeKind::Dir { .. }) {
            node.nlink = 0;
            let up = self.tree.node_mut(dir)?;
            up.nlink = up.nlink.saturating_sub(1);
        } else {
            node.nlink = node.nlink.saturating_sub(1);
            node.ctime = now_ns();
        }
        self.collect_node(ino);
        Ok(())
    }

    /// Removes `ino` if it has no links and is not open.
    pub fn collect_node(&mut self, ino: Ino) {
        let dead = self.tree.get(ino).is_some_and(|n| n.nlink == 0);
        if !dead || self.open.contains_key(&ino) {
            return;
        }
        if let Some(node) = self.tree.remove(ino) {
            match &node.kind {
                NodeKind::File { content, .. } => self.quota.give_bytes(content.charged_bytes()),
                NodeKind::Symlink(t) => self.quota.give_bytes(t.len() as u64),
                _ => {}
            }
        }
    }

    /// Counts an opening of `ino`.
    pub fn count_open(&mut self, ino: Ino) {
        *self.open.entry(ino).or_insert(0) += 1;
    }

    /// Counts a closing of `ino`.
    pub fn count_close(&mut self, ino: Ino) {
        if let Some(n) = self.open.get_mut(&ino) {
            *n -= 1;
            if *n == 0 {
                self.open.remove(&ino);
                self.collect_node(ino);
            }
        }
    }
}
