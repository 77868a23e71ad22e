//! The tree: a table of immutable nodes, cheap to clone.
//!
//! The table is groups of pages of reference-counted slots. A clone copies one pointer per
//! group; a write copies the group, the page and the node it changes, if a clone still holds
//! them. Directories are maps from names to node numbers, so hard links and
//! renames are exact and a node keeps its number for life. Numbers are not used again; pages
//! and groups whose nodes are all gone are freed, so that making and removing files costs
//! two bytes a thousand.
//!
//! Nodes, names and pages hold what they occupy of the session's memory [`Budget`] as long
//! as any clone has them.
//!
//! Nodes of the image are in a layer of their own ([`crate::base`]) that all clones share; those
//! that were changed are in a map before it.

use crate::base::{self, BaseLayer};
use crate::budget::{Budget, HeldBytes};
use crate::errno::Errno;
use crate::now_ns;
use crate::quota::{DiskLimits, Quota};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

pub use crate::node::{DirEntries, Executable, Ino, Inode, Name, NodeKind, ProgramMark};

/// The root directory.
pub const ROOT: Ino = 1;
/// The bridge's directory, reachable as `/.box` but not listed in `/`.
pub const BRIDGE: Ino = 2;
/// `/dev/fd`, whose entries are the caller's descriptors.
pub const DEV_FD: Ino = 3;
/// `/.box/code-from-strings`, not listed there; missing if [`crate::Vfs::forbid_code_from_strings`] was called.
pub const CODE_FROM_STRINGS: Ino = 4;
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
    /// An empty one. Nodes are counted before their pages, so their number is bounded.
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

/// All nodes. Clone it for a snapshot.
#[derive(Clone, Debug, Default)]
pub struct NodeTree {
    groups: Vec<Option<Arc<Group>>>,
    next: Ino,
    base: Arc<BaseLayer>,
    /// Nodes of the base that were changed; `None` if removed.
    changed: Arc<BTreeMap<Ino, Option<Arc<Inode>>>>,
    budget: Arc<Budget>,
}

/// Where a number's node is: group, page, slot.
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
    /// An empty tree whose memory is counted in `budget`.
    pub fn new(budget: Arc<Budget>) -> NodeTree {
        NodeTree { base: Arc::new(BaseLayer::new(budget.clone())), budget, ..NodeTree::default() }
    }

    /// The session's memory budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The image's layer.
    pub fn base(&self) -> &BaseLayer {
        &self.base
    }

    /// The node, if it exists.
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

    /// Whether it is a directory of the image, found out without listing it.
    pub fn is_unlisted(&self, ino: Ino) -> bool {
        !self.changed.contains_key(&ino) && self.base.is_unlisted(ino)
    }

    /// The node, or ESTALE.
    pub fn node_at(&self, ino: Ino) -> Result<&Arc<Inode>, Errno> {
        self.get(ino).ok_or(Errno::STALE)
    }

    /// The node to change, copied first if a snapshot shares it.
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

    /// Puts a node at a given number.
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

    /// ENOSPC if all numbers were given.
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

    /// Forgets a node; returns it.
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
        // The page that numbers are being given from stays.
        if page.live == 0 && ino / FAN as u64 != self.next / FAN as u64 {
            group.put_child(p, None);
            if group.live == 0 {
                *slot = None;
            }
        }
        node
    }

    /// The entries of a directory, or ENOTDIR.
    pub fn entries_of(&self, dir: Ino) -> Result<&Arc<DirEntries>, Errno> {
        match &self.node_at(dir)?.kind {
            NodeKind::Dir { entries, .. } => Ok(entries),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// The entries of a directory to change; its times become now.
    pub fn entries_mut(&mut self, dir: Ino) -> Result<&mut DirEntries, Errno> {
        let now = now_ns();
        let node = self.node_mut(dir)?;
        (node.mtime, node.ctime) = (now, now);
        match &mut node.kind {
            NodeKind::Dir { entries, .. } => Ok(Arc::make_mut(entries)),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Whether nothing was changed between the two.
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

    /// Numbers of nodes that are not shared with `old`, those that are gone included.
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

    /// The number that the next node gets.
    pub fn next_number(&self) -> Ino {
        self.next.max(FIRST)
    }

    /// Makes a node that the session began with what it was then.
    pub(crate) fn put_back(&mut self, ino: Ino, node: Arc<Inode>) {
        if ino >= base::FIRST {
            if self.changed.contains_key(&ino) {
                Arc::make_mut(&mut self.changed).remove(&ino);
            }
        } else {
            self.set(ino, Inode::clone(&node));
        }
    }

    /// Says from where on numbers are given.
    pub fn set_next_number(&mut self, next: Ino) {
        self.next = next;
    }

    /// Nodes of the image that were changed or lie above such a node. Whatever else is of the image
    /// is as it was, with all that lies in it.
    pub fn touched_nodes(&self) -> HashSet<Ino> {
        let mut out = HashSet::new();
        for ino in self.changed.keys() {
            let mut at = *ino;
            // A directory that was moved has its own parent; anything else that is not where it
            // was in the image is in a directory that was changed.
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

/// The tree with what only the living session has.
#[derive(Debug, Default)]
pub struct TreeState {
    pub tree: NodeTree,
    pub quota: Quota,
    /// How often each node is open; an unlinked node lives while it is.
    pub open: HashMap<Ino, usize>,
    /// Named pipes on host mounts.
    pub fifos: crate::fifos::Fifos,
}

impl TreeState {
    /// An empty tree with its accounts.
    pub fn new(limits: DiskLimits, budget: Arc<Budget>) -> TreeState {
        let quota = Quota { limits, ..Quota::default() };
        TreeState { tree: NodeTree::new(budget), quota, ..TreeState::default() }
    }

    /// Charges the quota for and links `node` as `name` in `dir`, which must not
    /// have that name. The caller has checked permissions.
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

    /// Charges quota and budget for the name and adds it to a directory; the node's count of
    /// links stays as it is.
    pub fn link_node(&mut self, dir: Ino, name: &[u8], ino: Ino) -> Result<(), Errno> {
        self.quota.take_entry(name)?;
        let budget = self.tree.budget.clone();
        let added = self.tree.entries_mut(dir).and_then(|e| e.add_entry(name, ino, &budget));
        if added.is_err() {
            self.quota.give_entry(name);
        }
        added
    }

    /// The session's memory budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.tree.budget
    }

    /// Puts a node at a number, counted in the budget, whatever is there.
    pub(crate) fn replace_node(&mut self, ino: Ino, mut node: Inode) -> Result<(), Errno> {
        node.count_in(&self.tree.budget)?;
        if ino >= base::FIRST {
            Arc::make_mut(&mut self.tree.changed).insert(ino, Some(Arc::new(node)));
        } else {
            self.tree.set(ino, node);
        }
        Ok(())
    }

    /// Whether `name` in `dir` still is what a walk has found there.
    pub fn is_current(&self, dir: Ino, name: &[u8], found: Option<Ino>) -> bool {
        self.tree.entries_of(dir).is_ok_and(|e| e.get(name).copied() == found)
    }

    /// Takes `name` out of `dir` and drops one link of what it named.
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

    /// Forgets `ino` if nothing links to it and nobody has it open.
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
