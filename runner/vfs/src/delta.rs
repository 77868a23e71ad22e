//! What a session has changed, as data: so that it can be kept without the process that has it,
//! and taken up by another one.
//!
//! A [`Delta`] lists the nodes that differ between two [`Snapshot`]s of one session, by number; nodes
//! of the image by where they lie in it, since their numbers are given as they are come upon.
//! [`between`] finds them by the shared parts of the two tables, so it costs what was changed, whatever
//! the session holds. A [`Layer`] adds deltas up: it is all that differs from a new
//! session of the same image and mounts, and [`Vfs::restore`] makes such a one the same again.
//!
//! # Deliberately absent
//! What lives with processes only: open files without a name, bytes in pipes, named pipes on host
//! mounts. Between two calls of a session there are no processes. Times of directories that every
//! session begins with are when this one began, until the guest changes them.

mod layer;
mod restore;

pub use layer::Layer;

use crate::Vfs;
use crate::base;
use crate::content::Content;
use crate::tree::{Ino, Inode, Kind, Tree};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Bytes of content and names after which a delta goes on in another one.
const PART: usize = 1 << 20;

/// The files of a session at one time. Making one costs next to nothing.
#[derive(Clone, Debug)]
pub struct Snapshot {
    tree: Tree,
    /// As the session began.
    origin: Tree,
    bytes: u64,
    entries: u64,
}

impl Snapshot {
    /// Bytes and entries that the disk quota has counted.
    pub fn quota(&self) -> (u64, u64) {
        (self.bytes, self.entries)
    }
}

impl Vfs {
    /// The present files.
    pub fn snapshot(&self) -> Snapshot {
        let st = self.read();
        Snapshot {
            tree: st.tree.clone(),
            origin: self.shared.origin.clone(),
            bytes: st.quota.bytes,
            entries: st.quota.entries,
        }
    }
}

/// A part of what has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The first number that the session gave; the same for all sessions of an image with the
    /// same mounts.
    origin: Ino,
    /// The number that it gives next.
    next: Ino,
    /// What the disk quota has counted.
    bytes: u64,
    entries: u64,
    nodes: Vec<(Id, Option<Node>)>,
}

impl Delta {
    /// Bytes of memory that it takes, about.
    pub fn size(&self) -> u64 {
        let node = |node: &Option<Node>| node.as_ref().map_or(0, Node::weight) + 256;
        self.nodes.iter().map(|(_, n)| node(n) as u64).sum()
    }
}

/// A node's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Id {
    /// Made by the session or present from its beginning.
    Own(Ino),
    /// Of the image: names below a directory that the session has from its beginning.
    Image(Ino, Vec<ByteBuf>),
}

/// What a node is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Node {
    mode: u16,
    nlink: u32,
    atime: u64,
    mtime: u64,
    ctime: u64,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum What {
    Dir {
        parent: Id,
        /// Entries that were added or lead elsewhere now.
        put: Vec<(ByteBuf, Id)>,
        gone: Vec<ByteBuf>,
    },
    File {
        len: u64,
        /// How much is visible of the bytes that the image has for it.
        base: Option<u64>,
        program: Option<u32>,
        /// Chunks that were written, by number.
        put: Vec<(u64, ByteBuf)>,
        gone: Vec<u64>,
    },
    Symlink(ByteBuf),
    Fifo,
    /// A device or mount, of which only the rest can change.
    Same,
}

impl Node {
    /// Bytes of its names and contents, about.
    fn weight(&self) -> usize {
        match &self.what {
            What::Dir { put, gone, .. } => {
                let put: usize = put.iter().map(|(name, _)| name.len() + 32).sum();
                put + gone.iter().map(|name| name.len() + 16).sum::<usize>()
            }
            What::File { put, gone, .. } => {
                put.iter().map(|(_, bytes)| bytes.len() + 16).sum::<usize>() + gone.len() * 8
            }
            What::Symlink(target) => target.len(),
            What::Fifo | What::Same => 0,
        }
    }
}

/// Tells `emit` of all that differs, in parts that are to be applied in their order.
///
/// # Errors
/// What `emit` says first.
pub fn between<E>(
    old: &Snapshot,
    new: &Snapshot,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<(), E> {
    if new.tree.is_same(&old.tree) {
        return Ok(());
    }
    let mut parts = Parts { new, old, nodes: Vec::new(), size: 0, emit };
    for ino in new.tree.differing(&old.tree) {
        parts.node(ino)?;
    }
    parts.flush()
}

/// Collects nodes until a part is full.
struct Parts<'a, E> {
    old: &'a Snapshot,
    new: &'a Snapshot,
    nodes: Vec<(Id, Option<Node>)>,
    size: usize,
    emit: &'a mut dyn FnMut(Delta) -> Result<(), E>,
}

impl<E> Parts<'_, E> {
    fn node(&mut self, ino: Ino) -> Result<(), E> {
        // What cannot be named is not reachable by name either.
        let Some(id) = id(&self.new.origin, ino) else { return Ok(()) };
        let Some(node) = self.new.tree.get(ino).cloned() else {
            return self.push(id, None, 16);
        };
        let old = self.old.tree.get(ino).cloned();
        match &node.kind {
            Kind::Dir { .. } => self.dir(id, &node, old.as_deref()),
            Kind::File { content, program } => {
                let before = match old.as_deref().map(|n| &n.kind) {
                    Some(Kind::File { content, .. }) => content.clone(),
                    _ => Content::default(),
                };
                self.file(id, &node, content, program.map(|p| p.0), &before)
            }
            Kind::Symlink(target) => {
                let size = target.len();
                self.push(id, Some(described(&node, What::Symlink(ByteBuf::from(&**target)))), size)
            }
            Kind::Fifo(_) => self.push(id, Some(described(&node, What::Fifo)), 0),
            _ => self.push(id, Some(described(&node, What::Same)), 0),
        }
    }

    fn dir(&mut self, id: Id, node: &Inode, old: Option<&Inode>) -> Result<(), E> {
        let Kind::Dir { parent, entries } = &node.kind else { return Ok(()) };
        let Some(parent) = self::id(&self.new.origin, *parent) else { return Ok(()) };
        let none = Default::default();
        let before = match old.map(|n| &n.kind) {
            Some(Kind::Dir { entries, .. }) => entries,
            _ => &none,
        };
        let gone: Vec<ByteBuf> = before
            .keys()
            .filter(|name| !entries.contains_key(*name))
            .map(|name| ByteBuf::from(&**name))
            .collect();
        let mut size: usize = gone.iter().map(|name| name.len() + 16).sum();
        let what = |put, gone| What::Dir { parent: parent.clone(), put, gone };
        let mut put = Vec::new();
        let mut gone = Some(gone);
        for (name, child) in entries.iter().filter(|(name, i)| before.get(*name) != Some(*i)) {
            let Some(child) = self::id(&self.new.origin, *child) else { continue };
            size += name.len() + 32;
            put.push((ByteBuf::from(&**name), child));
            if size > PART {
                let full = what(std::mem::take(&mut put), gone.take().unwrap_or_default());
                self.push(id.clone(), Some(described(node, full)), size)?;
                size = 0;
            }
        }
        let rest = what(put, gone.unwrap_or_default());
        self.push(id, Some(described(node, rest)), size)
    }

    fn file(
        &mut self,
        id: Id,
        node: &Inode,
        content: &Content,
        program: Option<u32>,
        before: &Content,
    ) -> Result<(), E> {
        let (changed, gone) = content.chunks_since(before);
        let (len, base) = (content.len(), content.base_visible());
        let mut size = gone.len() * 8;
        let mut gone = Some(gone);
        let mut put = Vec::new();
        for index in changed {
            let bytes = content.chunk(index).unwrap_or_default();
            size += bytes.len() + 16;
            put.push((index, ByteBuf::from(bytes)));
            if size > PART {
                let (put, gone) = (std::mem::take(&mut put), gone.take().unwrap_or_default());
                let full = What::File { len, base, program, put, gone };
                self.push(id.clone(), Some(described(node, full)), size)?;
                size = 0;
            }
        }
        let gone = gone.unwrap_or_default();
        let rest = What::File { len, base, program, put, gone };
        self.push(id, Some(described(node, rest)), size)
    }

    fn push(&mut self, id: Id, node: Option<Node>, size: usize) -> Result<(), E> {
        self.nodes.push((id, node));
        self.size += size + 64;
        if self.size > PART { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), E> {
        self.size = 0;
        let delta = Delta {
            origin: self.new.origin.next_number(),
            next: self.new.tree.next_number(),
            bytes: self.new.bytes,
            entries: self.new.entries,
            nodes: std::mem::take(&mut self.nodes),
        };
        (self.emit)(delta)
    }
}

fn described(n: &Inode, what: What) -> Node {
    Node { mode: n.mode, nlink: n.nlink, atime: n.atime, mtime: n.mtime, ctime: n.ctime, what }
}

/// A node's name; `None` if it is of the image and the image does not lead to it any more.
fn id(origin: &Tree, ino: Ino) -> Option<Id> {
    if ino < base::FIRST {
        return Some(Id::Own(ino));
    }
    let (mut names, mut at) = (Vec::new(), ino);
    while at >= base::FIRST {
        let parent = origin.base().parent(at)?;
        let (name, _) = image_entries(origin, parent)?.iter().find(|(_, i)| **i == at)?;
        names.push(ByteBuf::from(&**name));
        at = parent;
    }
    names.reverse();
    Some(Id::Image(at, names))
}

/// The node of that name.
fn ino(origin: &Tree, id: &Id) -> Option<Ino> {
    match id {
        Id::Own(ino) => (*ino < base::FIRST).then_some(*ino),
        Id::Image(at, names) => {
            let mut at = (*at < base::FIRST).then_some(*at)?;
            for name in names {
                at = *image_entries(origin, at)?.get(name.as_slice())?;
            }
            (at >= base::FIRST).then_some(at)
        }
    }
}

/// The entries of a directory as the session began with.
fn image_entries(origin: &Tree, dir: Ino) -> Option<&crate::tree::Entries> {
    let node = if dir >= base::FIRST { origin.base().get(dir) } else { origin.get(dir) };
    match &node?.kind {
        Kind::Dir { entries, .. } => Some(entries),
        _ => None,
    }
}
