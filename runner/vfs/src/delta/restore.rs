//! Making a new session what another one was.

use super::{Delta, Id, Node, What, ino};
use crate::errno::Errno;
use crate::pipe::Pipe;
use crate::tree::{Ino, Inode, Kind, Program, State, Tree};
use crate::{Vfs, base};
use std::sync::Arc;

impl Vfs {
    /// Applies a part. Restoring begins with a session in which nothing has run, of the same
    /// image and mounts.
    ///
    /// # Errors
    /// INVAL for what is not of such a session or makes no sense, NOSPC and NOMEM past the
    /// limits. The session is of no use then.
    pub fn restore(&self, delta: Delta) -> Result<(), Errno> {
        let mut st = self.write();
        let origin = &self.shared.origin;
        let limits = st.quota.limits;
        if delta.origin != origin.next_number() || delta.next >= base::FIRST {
            return Err(Errno::INVAL);
        }
        if delta.bytes > limits.bytes || delta.entries > limits.entries {
            return Err(Errno::NOSPC);
        }
        st.tree.set_next_number(delta.next);
        (st.quota.bytes, st.quota.entries) = (delta.bytes, delta.entries);
        for (id, node) in delta.nodes {
            let at = ino(origin, &id).ok_or(Errno::INVAL)?;
            // A number that was never given would make the table grow without end.
            if at < base::FIRST && at >= delta.next.max(delta.origin) {
                return Err(Errno::INVAL);
            }
            match node {
                None => drop(st.tree.remove(at)),
                Some(node) => put(&mut st, origin, at, node)?,
            }
        }
        Ok(())
    }
}

fn put(st: &mut State, origin: &Tree, at: Ino, node: Node) -> Result<(), Errno> {
    let budget = st.budget().clone();
    let known = st.tree.get(at).cloned();
    let kind = match (node.what, known.as_deref().map(|n| &n.kind)) {
        (What::Dir { parent, put, gone }, known) => {
            let mut entries = match known {
                Some(Kind::Dir { entries, .. }) => entries.clone(),
                _ => Arc::default(),
            };
            let own = Arc::make_mut(&mut entries);
            for name in gone {
                own.remove(&name);
            }
            for (name, child) in put {
                let child = ino(origin, &child).ok_or(Errno::INVAL)?;
                own.remove(&name);
                own.add(&name, child, &budget)?;
            }
            Kind::Dir { parent: named(origin, &parent)?, entries }
        }
        (What::File { len, base, program, put, gone }, known) => {
            let mut content = match known {
                Some(Kind::File { content, .. }) => content.clone(),
                _ => Default::default(),
            };
            content.reshape(len, base).ok_or(Errno::INVAL)?;
            for index in gone {
                content.drop_chunk(index);
            }
            for (index, bytes) in put {
                content.put_chunk(index, &bytes, &budget)?;
            }
            Kind::File { content, program: program.map(Program) }
        }
        (What::Symlink(target), _) => Kind::Symlink(target.into_vec().into()),
        (What::Fifo, Some(kind @ Kind::Fifo(_))) => kind.clone(),
        (What::Fifo, _) => Kind::Fifo(Pipe::fifo(&budget)?),
        (What::Same, Some(kind)) => kind.clone(),
        (What::Same, None) => return Err(Errno::INVAL),
    };
    let mut new = Inode::at(kind, node.mode & 0o7777, node.mtime);
    (new.nlink, new.atime, new.ctime) = (node.nlink, node.atime, node.ctime);
    st.replace(at, new)
}

fn named(origin: &Tree, id: &Id) -> Result<Ino, Errno> {
    ino(origin, id).ok_or(Errno::INVAL)
}
