//! Restores a session's files from data.

use super::{Delta, FileTotals, Id, NodeChange, NodeContent, TreeNode};
use crate::base;
use crate::budget::Budget;
use crate::content::FileContent;
use crate::errno::Errno;
use crate::pipe::Pipe;
use crate::tree::{Ino, Inode, NodeKind, ProgramMark, TreeState};
use crate::version::TreeOrigin;
use crate::vfs::Vfs;
use std::sync::Arc;
use wasibox_snapshot::delta::{MAX_TARGET, is_name};

/// Paths whose changes could not be restored because the session now has another image: they are as
/// in that image.
pub type Lost = Vec<Vec<u8>>;

/// The maximum number of paths that are reported; more are left out.
const MOST_LOST: usize = 1000;

impl Vfs {
    /// Applies a part, while nothing runs. The session must be of the same image and in the state
    /// in which the part was made, or new if the parts describe everything.
    ///
    /// # Errors
    /// INVAL for a part that is malformed or of another session, NOSPC and NOMEM past the limits.
    /// The session must then be discarded.
    pub fn restore_delta(&self, delta: Delta) -> Result<(), Errno> {
        self.restorer(None).apply_delta(delta)
    }

    /// Does the same as [`Vfs::restore_delta`] for a new session of another image: leaves out
    /// changes that refer to files that this image lacks, or to bytes of files that may differ
    /// here, and adds their paths to `lost`.
    ///
    /// # Errors
    /// The same as [`Vfs::restore_delta`].
    pub fn restore_elsewhere(&self, delta: Delta, lost: &mut Lost) -> Result<(), Errno> {
        self.restorer(Some(lost)).apply_delta(delta)
    }

    fn restorer<'a>(&'a self, lost: Option<&'a mut Lost>) -> Restorer<'a> {
        Restorer { vfs: self, origin: &self.shared.origin, lost }
    }
}

struct Restorer<'a> {
    vfs: &'a Vfs,
    origin: &'a TreeOrigin,
    lost: Option<&'a mut Lost>,
}

impl Restorer<'_> {
    fn apply_delta(mut self, delta: Delta) -> Result<(), Errno> {
        let mut st = self.vfs.write();
        let limits = st.quota.limits;
        let FileTotals { made, bytes, entries } = delta.totals;
        let next = self.origin.tree.next_number().checked_add(made);
        let next = next.filter(|n| *n < base::FIRST).ok_or(Errno::INVAL)?;
        if bytes > limits.bytes || entries > limits.entries {
            return Err(Errno::NOSPC);
        }
        st.tree.set_next_number(next);
        (st.quota.bytes, st.quota.entries) = (bytes, entries);
        for (id, change) in delta.nodes {
            let Some(at) = self.ino_of(&id)? else { continue };
            // A number that was never given would make the table grow without end. Only a removed
            // node may have one, because its number may still be unused here.
            if at < base::FIRST && at >= next && change != NodeChange::Gone {
                return Err(Errno::INVAL);
            }
            match change {
                NodeChange::Gone => drop(st.tree.remove(at)),
                NodeChange::Given => match self.origin.tree.get(at).cloned() {
                    Some(node) if matches!(id, Id::Given(_)) => st.tree.put_back(at, node),
                    _ => return Err(Errno::INVAL),
                },
                NodeChange::Is(node) => self.put_node(&mut st, at, node, &id)?,
            }
        }
        Ok(())
    }

    /// Returns the node of that id; `None` if another image has none there.
    fn ino_of(&mut self, id: &Id) -> Result<Option<Ino>, Errno> {
        match self.origin.ino_of(id) {
            Some(ino) => Ok(Some(ino)),
            None => self.leave_out(id).map(|()| None),
        }
    }

    /// Records a path that was left out.
    fn leave_out(&mut self, id: &Id) -> Result<(), Errno> {
        let (Some(lost), Id::Given(names)) = (&mut self.lost, id) else {
            return Err(Errno::INVAL);
        };
        if lost.len() < MOST_LOST {
            lost.push(names.iter().flat_map(|n| [b"/", n.as_slice()].concat()).collect());
        }
        Ok(())
    }

    fn put_node(
        &mut self,
        st: &mut TreeState,
        at: Ino,
        node: TreeNode,
        id: &Id,
    ) -> Result<(), Errno> {
        let budget = st.budget().clone();
        let known = st.tree.get(at).cloned();
        let kind = match (node.what, known.as_deref().map(|n| &n.kind)) {
            (NodeContent::Dir { parent, put, gone, hidden }, known) => {
                let mut entries = match known {
                    Some(NodeKind::Dir { entries, .. }) => entries.clone(),
                    _ => Arc::default(),
                };
                let own = Arc::make_mut(&mut entries);
                for name in gone.iter().chain(&hidden) {
                    own.remove_entry(name);
                }
                for (name, child) in put {
                    if !is_name(&name) {
                        return Err(Errno::INVAL);
                    }
                    let Some(child) = self.ino_of(&child)? else { continue };
                    own.remove_entry(&name);
                    own.add_entry(&name, child, &budget)?;
                }
                let Some(parent) = self.ino_of(&parent)? else { return Ok(()) };
                NodeKind::Dir { parent, entries }
            }
            (NodeContent::File { len, base, program, put, gone }, known) => {
                if self.lost.is_some() && base.is_some_and(|n| n > 0) {
                    return self.leave_out(id);
                }
                let content = match known {
                    Some(NodeKind::File { content, .. }) => content.clone(),
                    _ => FileContent::default(),
                };
                let content = write_content(content, len, base, put, gone, &budget)?;
                NodeKind::File { content, program: program.map(ProgramMark) }
            }
            (NodeContent::Symlink(target), _) if target.is_empty() || target.len() > MAX_TARGET => {
                return Err(Errno::INVAL);
            }
            (NodeContent::Symlink(target), _) => NodeKind::Symlink(target.into_vec().into()),
            (NodeContent::Fifo, Some(kind @ NodeKind::Fifo(_))) => kind.clone(),
            (NodeContent::Fifo, _) => NodeKind::Fifo(Pipe::new_fifo(&budget)?),
            (NodeContent::Same, Some(kind)) => kind.clone(),
            (NodeContent::Same, None) => return Err(Errno::INVAL),
        };
        let mut new = Inode::new_at(kind, node.mode & 0o7777, node.mtime);
        (new.nlink, new.atime, new.ctime) = (node.nlink, node.atime, node.ctime);
        st.replace_node(at, new)
    }
}

/// Applies the changes to a content.
fn write_content(
    mut content: FileContent,
    len: u64,
    base: Option<u64>,
    put: Vec<(u64, serde_bytes::ByteBuf)>,
    gone: Vec<u64>,
    budget: &Arc<Budget>,
) -> Result<FileContent, Errno> {
    content.reshape(len, base).ok_or(Errno::INVAL)?;
    for index in gone {
        content.drop_chunk(index);
    }
    for (index, bytes) in put {
        content.put_chunk(index, &bytes, budget)?;
    }
    Ok(content)
}
