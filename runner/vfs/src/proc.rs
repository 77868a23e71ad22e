//! `/proc` (`proc(5)`) as a process sees it.
//!
//! The files describe processes, which this crate does not know. The kernel therefore sets their
//! source once for each thread that runs a process, as for [`crate::stop`]. A caller without a
//! process sees only the nodes of the tree: `/proc/self/fd`.
//!
//! A file's text is made when it is opened, and stays the same while it is open. Nothing below
//! `/proc` can be changed.

use crate::budget::{Budget, Reservation};
use crate::errno::Errno;
use crate::node::{GID, UID, now_ns};
use crate::open_flags::OpenFlags;
use box_abi::{FileKind, Stat};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A file below `/proc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcNode {
    /// A directory, with the names of its entries.
    Dir(Vec<Vec<u8>>),
    /// The directory of the caller's descriptors, which is `/dev/fd`.
    OwnDescriptors,
    /// A symbolic link with its target.
    Link(Vec<u8>),
    /// A file that can only be read.
    Text(Vec<u8>),
}

impl ProcNode {
    pub(crate) fn file_kind(&self) -> FileKind {
        match self {
            ProcNode::Dir(_) | ProcNode::OwnDescriptors => FileKind::Dir,
            ProcNode::Link(_) => FileKind::Symlink,
            ProcNode::Text(_) => FileKind::File,
        }
    }
}

/// The source of the files below `/proc`. It may use the file system, whose tree is not locked when
/// it is called.
pub trait ProcSource {
    /// Returns the file of a path relative to `/proc`, which is empty for `/proc` itself.
    fn find_node(&self, path: &[u8]) -> Option<ProcNode>;
}

thread_local! {
    static SOURCE: RefCell<Option<Arc<dyn ProcSource>>> = const { RefCell::new(None) };
}

/// A guard during whose life the thread sees the files of a source.
#[derive(Debug)]
#[must_use]
pub struct ProcGuard(());

/// Makes the calling thread see the files of `source` below `/proc`.
pub fn show_proc(source: Arc<dyn ProcSource>) -> ProcGuard {
    SOURCE.with_borrow_mut(|own| *own = Some(source));
    ProcGuard(())
}

impl Drop for ProcGuard {
    fn drop(&mut self) {
        // A thread that ends may have dropped the source already.
        let _ = SOURCE.try_with(|own| own.borrow_mut().take());
    }
}

/// Returns whether the calling thread has a source.
pub(crate) fn is_shown() -> bool {
    SOURCE.try_with(|own| own.borrow().is_some()).unwrap_or(false)
}

/// The source that answers, which is put back when this value is dropped.
struct AskedSource(Arc<dyn ProcSource>);

impl Drop for AskedSource {
    fn drop(&mut self) {
        let _ = SOURCE.try_with(|own| *own.borrow_mut() = Some(self.0.clone()));
    }
}

/// Returns the file of a path relative to `/proc`, as the calling thread sees it. The source does
/// not see itself meanwhile, because a guest could make it ask itself for ever: by a `PATH` that
/// leads to `/proc/self/exe`, which is searched for along `PATH`.
pub(crate) fn find_node(path: &[u8]) -> Option<ProcNode> {
    let source = SOURCE.try_with(|own| own.borrow_mut().take()).ok().flatten()?;
    AskedSource(source).0.find_node(path)
}

/// Returns the metadata of such a file. As on Linux a file's size is 0, because its text is made
/// when it is opened.
pub(crate) fn stat_of(path: &[u8]) -> Result<Stat, Errno> {
    let kind = find_node(path).ok_or(Errno::NOENT)?.file_kind();
    Ok(stat_as(path, kind))
}

fn stat_as(path: &[u8], kind: FileKind) -> Stat {
    let (mode, nlink) = match kind {
        FileKind::Dir => (0o555, 2),
        FileKind::Symlink => (0o777, 1),
        _ => (0o444, 1),
    };
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    let now = now_ns();
    Stat {
        kind,
        mode,
        uid: UID,
        gid: GID,
        nlink,
        dev: 4,
        ino: hasher.finish() >> 16 | 1,
        size: 0,
        atime: now,
        mtime: now,
        ctime: now,
    }
}

/// An open file of `/proc`.
#[derive(Debug)]
pub struct ProcFile {
    path: Vec<u8>,
    text: Vec<u8>,
    _held: Reservation,
}

impl ProcFile {
    /// Returns the bytes of the file at `off`; 0 is the end.
    pub(crate) fn read(&self, off: u64, buf: &mut [u8]) -> usize {
        let from = usize::try_from(off).map_or(self.text.len(), |at| at.min(self.text.len()));
        let n = buf.len().min(self.text.len() - from);
        buf[..n].copy_from_slice(&self.text[from..from + n]);
        n
    }

    pub(crate) fn stat(&self) -> Stat {
        stat_as(&self.path, FileKind::File)
    }
}

/// An opened node.
pub(crate) enum OpenedNode {
    Dir,
    File(ProcFile),
}

/// Opens the file of a path relative to `/proc`.
pub(crate) fn open_node(
    path: &[u8],
    how: OpenFlags,
    budget: &Arc<Budget>,
) -> Result<OpenedNode, Errno> {
    let text = match find_node(path).ok_or(Errno::NOENT)? {
        ProcNode::Dir(_) | ProcNode::OwnDescriptors => return Ok(OpenedNode::Dir),
        ProcNode::Link(_) => return Err(Errno::LOOP),
        _ if how.directory => return Err(Errno::NOTDIR),
        _ if how.write || how.truncate => return Err(Errno::ACCES),
        ProcNode::Text(text) => text,
    };
    let cost = (path.len() + text.len()) as u64;
    let held = budget.reserve_bytes(cost).ok_or(Errno::NOMEM)?;
    Ok(OpenedNode::File(ProcFile { path: path.to_vec(), text, _held: held }))
}
