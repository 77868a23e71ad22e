//! The base layer: the image's directories, each read when it is first accessed.
//!
//! An image has thousands of files, and a process reads a few dozen. So a directory of the image
//! becomes a node with its entries on first access, and these nodes stay for the session. The layer
//! itself never changes: [`crate::tree::NodeTree`] keeps a guest's changes beside it, so that all
//! clones of a tree share one base.

use crate::budget::{Budget, HeldBytes};
use crate::content::{Blob, FileContent, LazyBytes};
use crate::node::{DirEntries, Ino, Inode, MAX_NAME, Name, NodeKind, ProgramMark};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Number of the base layer's first node; a session's own nodes have lower numbers.
pub const FIRST: Ino = 1 << 32;
/// The maximum number of nodes of the layer, because directories of a damaged image may contain
/// themselves.
const MAX_NODES: usize = 1_000_000;

/// A directory that is listed only when necessary.
pub trait Folder: Send + Sync {
    /// Returns its entries, in any order; of equal names the last one counts.
    ///
    /// # Errors
    /// The reason why the folder cannot be read. The session then sees an empty directory without
    /// permissions, and [`crate::Vfs::damage`] returns the reason.
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String>;
}

/// An entry of a [`Folder`].
pub struct FolderEntry {
    pub name: Vec<u8>,
    /// Permission bits.
    pub mode: u16,
    /// Modification time in nanoseconds since the epoch.
    pub time: u64,
    pub kind: BaseKind,
}

/// The kind of an entry of the base layer.
pub enum BaseKind {
    Dir(Arc<dyn Folder>),
    File {
        bytes: Blob,
        program: Option<ProgramMark>,
    },
    /// A file whose bytes are fetched when it is opened.
    Lazy(Arc<dyn LazyBytes>),
    /// A program whose bytes are fetched when it is opened.
    LazyProgram(Arc<dyn LazyBytes>, ProgramMark),
    Symlink(Vec<u8>),
}

impl FolderEntry {
    /// Returns whether its name is valid as the name of a directory's entry.
    pub fn is_plain(&self) -> bool {
        let n = self.name.as_slice();
        !matches!(n, b"" | b"." | b"..") && n.len() <= MAX_NAME && !n.contains(&b'/')
    }
}

/// Returns the node of a file or symbolic link, or a directory's folder.
pub fn leaf_inode(kind: BaseKind, mode: u16, time: u64) -> Result<Inode, Arc<dyn Folder>> {
    let kind = match kind {
        BaseKind::Dir(folder) => return Err(folder),
        BaseKind::File { bytes, program } => {
            NodeKind::File { content: FileContent::from_blob(bytes), program }
        }
        BaseKind::Lazy(lazy) => {
            NodeKind::File { content: FileContent::from_lazy(lazy), program: None }
        }
        BaseKind::LazyProgram(lazy, program) => {
            NodeKind::File { content: FileContent::from_lazy(lazy), program: Some(program) }
        }
        BaseKind::Symlink(target) => NodeKind::Symlink(target.into()),
    };
    Ok(Inode::new_at(kind, mode, time))
}

/// A node, and its place in the image.
struct BaseNode {
    parent: Ino,
    mode: u16,
    time: u64,
    /// The source of a directory's entries.
    folder: Option<Arc<dyn Folder>>,
    made: OnceLock<Arc<Inode>>,
    /// Host memory of a directory's entries.
    held: OnceLock<HeldBytes>,
}

/// The nodes of the layer that were accessed so far, by number.
#[derive(Default)]
pub struct BaseLayer {
    nodes: boxcar::Vec<BaseNode>,
    damage: OnceLock<String>,
    budget: Arc<Budget>,
}

/// Host memory of a node of the layer, with its name.
const COST: u64 = size_of::<BaseNode>() as u64 + Inode::COST + 128;

impl std::fmt::Debug for BaseLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Base({} nodes)", self.nodes.count())
    }
}

impl BaseLayer {
    /// Creates an empty layer whose memory is counted in `budget`.
    pub fn new(budget: Arc<Budget>) -> BaseLayer {
        BaseLayer { budget, ..BaseLayer::default() }
    }

    fn node_at(&self, ino: Ino) -> Option<&BaseNode> {
        self.nodes.get(usize::try_from(ino.checked_sub(FIRST)?).ok()?)
    }

    /// Returns the node of that number; lists a directory on first access.
    pub fn get(&self, ino: Ino) -> Option<&Arc<Inode>> {
        let n = self.node_at(ino)?;
        Some(n.made.get_or_init(|| Arc::new(self.make_inode(ino, n))))
    }

    /// Returns whether it is a directory that was not accessed yet.
    pub fn is_unlisted(&self, ino: Ino) -> bool {
        self.node_at(ino).is_some_and(|n| n.folder.is_some() && n.made.get().is_none())
    }

    /// Returns the directory of the image that contains the node.
    pub fn parent_of(&self, ino: Ino) -> Option<Ino> {
        self.node_at(ino).map(|n| n.parent)
    }

    /// Returns the first damage that was found.
    pub fn first_damage(&self) -> Option<&str> {
        self.damage.get().map(String::as_str)
    }

    /// Records damage, unless some was recorded before.
    pub fn note_damage(&self, why: String) {
        let _ = self.damage.set(why);
    }

    /// Adds an entry of the directory `parent`.
    pub fn add_entry(&self, parent: Ino, kind: BaseKind, mode: u16, time: u64) -> Ino {
        let made = OnceLock::new();
        let folder = match leaf_inode(kind, mode, time) {
            Ok(node) => {
                let _ = made.set(Arc::new(node));
                None
            }
            Err(folder) => Some(folder),
        };
        FIRST
            + self.nodes.push(BaseNode { parent, mode, time, folder, made, held: OnceLock::new() })
                as Ino
    }

    fn make_inode(&self, ino: Ino, n: &BaseNode) -> Inode {
        let listed = n.folder.as_ref().map_or_else(|| Ok(Vec::new()), |f| f.list_entries());
        let listed = listed.and_then(|l| {
            let fits = self.nodes.count() + l.len() <= MAX_NODES;
            if fits { Ok(l) } else { Err("too many files".into()) }
        });
        let (listed, mode) = match listed {
            Ok(l) => (l, n.mode),
            Err(why) => {
                self.note_damage(why);
                (Vec::new(), 0)
            }
        };
        // The memory is taken even past the limit, because an access cannot fail here; the image
        // bounds the number of entries.
        let _ = n.held.set(HeldBytes::force_hold(&self.budget, listed.len() as u64 * COST));
        let mut entries = BTreeMap::new();
        let mut folders = 0;
        for e in listed.into_iter().filter(FolderEntry::is_plain) {
            folders += u32::from(matches!(e.kind, BaseKind::Dir(_)));
            let child = self.add_entry(ino, e.kind, e.mode, e.time);
            entries.insert(Name::from(e.name), child);
        }
        let kind = NodeKind::Dir { parent: n.parent, entries: Arc::new(DirEntries::from(entries)) };
        let mut node = Inode::new_at(kind, mode, n.time);
        node.nlink += folders;
        node
    }
}
