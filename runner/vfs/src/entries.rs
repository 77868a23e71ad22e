//! Creating, moving and removing names: each operation as POSIX defines the function of its name.

use crate::errno::Errno;
use crate::fifos::{self, join_path};
use crate::journal::ChangeKind;
use crate::loc::Loc;
use crate::node::now_ns;
use crate::pipe::Pipe;
use crate::tree::{BRIDGE, Ino, Inode, NodeKind, ROOT, TreeState};
use crate::vfs::Vfs;
use crate::walk::{LastComponent, ResolvedPath, follow_if};
use box_abi::FileKind;
use std::sync::Arc;

impl Vfs {
    /// Returns the directory and name of a new entry; EEXIST if it exists.
    fn new_entry(&self, base: &Loc, path: &[u8], dir: bool) -> Result<(Loc, Vec<u8>), Errno> {
        let ResolvedPath { parent, found, slash } =
            self.resolve_path(base, path, LastComponent::Entry)?;
        if found.is_some() {
            return Err(Errno::EXIST);
        }
        if slash && !dir {
            return Err(Errno::NOENT);
        }
        parent.ok_or(Errno::EXIST)
    }

    /// Adds `node` as `name` to a directory of the tree; `None` if the name was taken in the
    /// meantime.
    fn add_node(
        &self,
        dir: Ino,
        name: &[u8],
        kind: NodeKind,
        mode: u16,
    ) -> Result<Option<()>, Errno> {
        let mut st = self.write();
        if !st.is_current(dir, name, None) {
            return Ok(None);
        }
        can_change(&st, dir)?;
        let target = if let NodeKind::Symlink(t) = &kind { t.len() as u64 } else { 0 };
        st.quota.take_bytes(target)?;
        let made = st.link_new(dir, name, Inode::new(kind, mode & 0o7777));
        if made.is_err() {
            st.quota.give_bytes(target);
        }
        made.map(|_| Some(()))
    }

    /// `mkdir(2)`.
    pub fn mkdir(&self, base: &Loc, path: &[u8], mode: u16) -> Result<(), Errno> {
        self.retry_until_settled(|| match self.new_entry(base, path, true)? {
            (Loc::Tree(parent), name) => self.add_node(
                parent,
                &name,
                NodeKind::Dir { parent, entries: Arc::default() },
                mode,
            ),
            (Loc::Host(m, rel), name) => self.mount(m).mkdir(&rel, &name, mode).map(Some),
            _ => Err(Errno::ACCES),
        })
    }

    /// `symlink(2)`.
    pub fn symlink(&self, target: &[u8], base: &Loc, path: &[u8]) -> Result<(), Errno> {
        if target.is_empty() {
            return Err(Errno::NOENT);
        }
        if target.len() > 4095 {
            return Err(Errno::NAMETOOLONG);
        }
        self.retry_until_settled(|| match self.new_entry(base, path, false)? {
            (Loc::Tree(d), name) => {
                self.add_node(d, &name, NodeKind::Symlink(target.into()), 0o777)
            }
            (Loc::Host(m, rel), name) => {
                self.mount(m).symlink(target, &rel, &name)?;
                self.note_change(m, &join_path(&rel, &name), ChangeKind::Created);
                Ok(Some(()))
            }
            _ => Err(Errno::ACCES),
        })
    }

    /// `mkfifo(3)`.
    pub fn mkfifo(&self, base: &Loc, path: &[u8], mode: u16) -> Result<(), Errno> {
        self.retry_until_settled(|| match self.new_entry(base, path, false)? {
            (Loc::Tree(d), name) => {
                let pipe = Pipe::new_fifo(&self.shared.budget)?;
                self.add_node(d, &name, NodeKind::Fifo(pipe), mode)
            }
            (Loc::Host(m, rel), name) => {
                self.mount(m).need_writable()?;
                let pipe = Pipe::new_fifo(&self.shared.budget)?;
                self.write().make_fifo(m, join_path(&rel, &name), pipe, mode)
            }
            _ => Err(Errno::PERM),
        })
    }

    /// Does `link(2)`; `follow` is `linkat(2)`'s `AT_SYMLINK_FOLLOW`.
    pub fn link(
        &self,
        from_base: &Loc,
        from: &[u8],
        follow: bool,
        to_base: &Loc,
        to: &[u8],
    ) -> Result<(), Errno> {
        self.retry_until_settled(|| {
            let walk = self.resolve_path(from_base, from, follow_if(follow))?;
            let source = walk.clone().existing_loc()?;
            let (dir, name) = self.new_entry(to_base, to, false)?;
            match (&source, &dir) {
                (Loc::Tree(ino), Loc::Tree(d)) => {
                    let mut st = self.write();
                    let Some(node) = st.tree.get(*ino) else { return Ok(None) };
                    if node.file_kind() == FileKind::Dir || *ino < 16 {
                        return Err(Errno::PERM);
                    }
                    // An open file whose last name is gone gets no new one.
                    if node.nlink == 0 || !st.is_current(*d, &name, None) {
                        return Ok(None);
                    }
                    can_change(&st, *d)?;
                    st.link_node(*d, &name, *ino)?;
                    let node = st.tree.node_mut(*ino)?;
                    node.nlink = node.nlink.saturating_add(1);
                    node.ctime = now_ns();
                    Ok(Some(()))
                }
                (Loc::Host(m, _), Loc::Host(n, rel)) if m == n => {
                    let Some((Loc::Host(_, from_dir), from_name)) = walk.parent else {
                        return Err(Errno::PERM);
                    };
                    self.mount(*m).link((&from_dir, &from_name), (rel, &name))?;
                    self.note_change(*m, &join_path(rel, &name), ChangeKind::Created);
                    Ok(Some(()))
                }
                _ => Err(Errno::XDEV),
            }
        })
    }

    /// `unlink(2)`, or `rmdir(2)` with `dir`.
    pub fn remove(&self, base: &Loc, path: &[u8], dir: bool) -> Result<(), Errno> {
        self.retry_until_settled(|| self.try_remove(base, path, dir))
    }

    fn try_remove(&self, base: &Loc, path: &[u8], dir: bool) -> Result<Option<()>, Errno> {
        let walk = self.resolve_path(base, path, LastComponent::Entry)?;
        let found = walk.found.ok_or(Errno::NOENT)?;
        let Some((parent, name)) = walk.parent else {
            let last = path.rsplit(|b| *b == b'/').find(|c| !c.is_empty());
            return Err(match (dir, last) {
                (false, _) => Errno::ISDIR,
                (true, Some(b".")) => Errno::INVAL,
                (true, Some(_)) => Errno::NOTEMPTY,
                (true, None) => Errno::BUSY,
            });
        };
        if walk.slash && !dir {
            let Some(stat) = self.found_stat(&found)? else { return Ok(None) };
            return Err(if stat.kind == FileKind::Dir { Errno::ISDIR } else { Errno::NOTDIR });
        }
        match (&found, &parent) {
            (Loc::Tree(ino), Loc::Tree(d)) => {
                if *ino < 16 {
                    return Err(Errno::BUSY);
                }
                let mut st = self.write();
                if !st.is_current(*d, &name, Some(*ino)) {
                    return Ok(None);
                }
                match (&st.tree.node_at(*ino)?.kind, dir) {
                    (NodeKind::Dir { entries, .. }, true) if !entries.is_empty() => {
                        return Err(Errno::NOTEMPTY);
                    }
                    (NodeKind::Dir { .. }, false) => return Err(Errno::ISDIR),
                    (NodeKind::Dir { .. }, true) | (_, false) => {}
                    (_, true) => return Err(Errno::NOTDIR),
                }
                can_change(&st, *d)?;
                st.unlink_name(*d, &name).map(Some)
            }
            (Loc::Host(_, rel), _) if rel.is_empty() => Err(Errno::BUSY),
            (Loc::Tree(_), Loc::Host(m, up)) => {
                self.mount(*m).need_writable()?;
                if dir {
                    return Err(Errno::NOTDIR);
                }
                self.write().remove_fifo(*m, &join_path(up, &name)).map(Some)
            }
            (Loc::Host(m, rel), Loc::Host(_, up)) => {
                if dir && self.read().fifos.any_below(*m, rel) {
                    return Err(Errno::NOTEMPTY);
                }
                self.mount(*m).remove(up, &name, dir)?;
                self.note_change(*m, rel, ChangeKind::Deleted);
                Ok(Some(()))
            }
            _ => Err(Errno::ACCES),
        }
    }

    /// `rename(2)`.
    pub fn rename(
        &self,
        from_base: &Loc,
        from: &[u8],
        to_base: &Loc,
        to: &[u8],
    ) -> Result<(), Errno> {
        self.retry_until_settled(|| self.try_rename((from_base, from), (to_base, to)))
    }

    fn try_rename(
        &self,
        (from_base, from): (&Loc, &[u8]),
        (to_base, to): (&Loc, &[u8]),
    ) -> Result<Option<()>, Errno> {
        let a = self.resolve_path(from_base, from, LastComponent::Entry)?;
        let b = self.resolve_path(to_base, to, LastComponent::Entry)?;
        let (from_dir, from_name) = a.parent.ok_or(Errno::BUSY)?;
        let (to_dir, to_name) = b.parent.ok_or(Errno::BUSY)?;
        let source = a.found.ok_or(Errno::NOENT)?;
        if a.slash || b.slash {
            let Some(stat) = self.found_stat(&source)? else { return Ok(None) };
            if stat.kind != FileKind::Dir {
                return Err(Errno::NOTDIR);
            }
        }
        match (&source, &from_dir, &to_dir) {
            (Loc::Tree(ino), Loc::Tree(d), Loc::Tree(e)) => {
                let target = match b.found {
                    Some(Loc::Tree(t)) => Some(t),
                    None => None,
                    Some(_) => return Err(Errno::BUSY),
                };
                let mut st = self.write();
                let current = st.is_current(*d, &from_name, Some(*ino))
                    && st.is_current(*e, &to_name, target);
                if !current {
                    // The directory of the device nodes can be named, though no directory lists it.
                    return if *ino < 16 { Err(Errno::BUSY) } else { Ok(None) };
                }
                rename_nodes(&mut st, (*d, &from_name, *ino), (*e, &to_name, target)).map(Some)
            }
            (Loc::Host(_, rel), ..) if rel.is_empty() => Err(Errno::BUSY),
            (Loc::Host(m, old), Loc::Host(_, d), Loc::Host(n, e)) if m == n => {
                if b.found.as_ref().is_some_and(|t| matches!(t, Loc::Host(_, r) if r.is_empty())) {
                    return Err(Errno::BUSY);
                }
                let new = join_path(e, &to_name);
                if self.read().fifos.any_below(*m, &new) {
                    return Err(Errno::NOTEMPTY);
                }
                self.mount(*m).rename((d, &from_name), (e, &to_name))?;
                let mut st = self.write();
                if matches!(b.found, Some(Loc::Tree(_))) {
                    // Another process may have removed it in the meantime.
                    let _ = st.remove_fifo(*m, &new);
                }
                st.fifos.rename_paths(*m, old, &new);
                drop(st);
                self.note_change(*m, old, ChangeKind::Deleted);
                self.note_change(*m, &new, ChangeKind::Created);
                Ok(Some(()))
            }
            (Loc::Tree(ino), Loc::Host(m, d), Loc::Host(n, e)) if m == n => {
                self.rename_fifo(*m, *ino, &join_path(d, &from_name), (e, &to_name), b.found)
            }
            _ => Err(Errno::XDEV),
        }
    }

    /// Moves a named pipe of a mount over an existing file, if there is one.
    fn rename_fifo(
        &self,
        m: usize,
        ino: Ino,
        old: &[u8],
        (dir, name): (&[u8], &[u8]),
        target: Option<Loc>,
    ) -> Result<Option<()>, Errno> {
        self.mount(m).need_writable()?;
        let new = join_path(dir, name);
        match &target {
            Some(Loc::Tree(other)) if *other == ino => return Ok(Some(())),
            Some(Loc::Host(_, rel)) => {
                if self.mount(m).stat(rel)?.kind == FileKind::Dir {
                    return Err(Errno::ISDIR);
                }
                self.mount(m).remove(dir, name, false)?;
                self.note_change(m, rel, ChangeKind::Deleted);
            }
            _ => {}
        }
        let mut st = self.write();
        if st.fifos.get(m, old) != Some(ino) {
            return Ok(None);
        }
        if st.fifos.get(m, &new).is_some() {
            st.remove_fifo(m, &new)?;
        }
        st.fifos.rename_paths(m, old, &new);
        Ok(Some(()))
    }
}

impl TreeState {
    /// Creates a pipe at a path of a mount that has no file there; `None` if it got a pipe in the
    /// meantime.
    pub(crate) fn make_fifo(
        &mut self,
        mount: usize,
        rel: Vec<u8>,
        pipe: Arc<Pipe>,
        mode: u16,
    ) -> Result<Option<()>, Errno> {
        if self.fifos.get(mount, &rel).is_some() {
            return Ok(None);
        }
        self.quota.take_entry(&fifos::NAME)?;
        match self.new_node(Inode::new(NodeKind::Fifo(pipe), mode & 0o7777)) {
            Ok(ino) => {
                self.fifos.insert_path(mount, rel, ino);
                Ok(Some(()))
            }
            Err(e) => {
                self.quota.give_entry(&fifos::NAME);
                Err(e)
            }
        }
    }

    /// Removes a pipe's name; open ends of the pipe stay valid.
    pub(crate) fn remove_fifo(&mut self, mount: usize, rel: &[u8]) -> Result<(), Errno> {
        let ino = self.fifos.remove_path(mount, rel).ok_or(Errno::NOENT)?;
        self.quota.give_entry(&fifos::NAME);
        self.drop_link(ino, ino)
    }
}

/// Returns EACCES unless entries of the directory may be created and removed.
pub(crate) fn can_change(st: &TreeState, dir: Ino) -> Result<(), Errno> {
    if (BRIDGE..16).contains(&dir) {
        return Err(Errno::ACCES);
    }
    st.tree.node_at(dir)?.require_access(3)
}

fn rename_nodes(
    st: &mut TreeState,
    (from_dir, from, ino): (Ino, &[u8], Ino),
    (to_dir, to, target): (Ino, &[u8], Option<Ino>),
) -> Result<(), Errno> {
    if ino < 16 || matches!(st.tree.node_at(ino)?.kind, NodeKind::Mount { .. }) {
        return Err(Errno::BUSY);
    }
    if target == Some(ino) {
        return Ok(());
    }
    let is_dir = matches!(st.tree.node_at(ino)?.kind, NodeKind::Dir { .. });
    if is_dir {
        // A directory cannot move below itself.
        let mut at = to_dir;
        while at != ROOT {
            if at == ino {
                return Err(Errno::INVAL);
            }
            match &st.tree.node_at(at)?.kind {
                NodeKind::Dir { parent, .. } => at = *parent,
                _ => return Err(Errno::INVAL),
            }
        }
    }
    if let Some(t) = target {
        // Nor may it replace a directory that it lies in.
        let mut at = from_dir;
        while at != ROOT {
            if at == t {
                return Err(Errno::NOTEMPTY);
            }
            match &st.tree.node_at(at)?.kind {
                NodeKind::Dir { parent, .. } => at = *parent,
                _ => break,
            }
        }
    }
    can_change(st, from_dir)?;
    can_change(st, to_dir)?;
    if let Some(t) = target {
        match &st.tree.node_at(t)?.kind {
            _ if t < 16 => return Err(Errno::BUSY),
            NodeKind::Mount { .. } => return Err(Errno::BUSY),
            NodeKind::Dir { .. } if !is_dir => return Err(Errno::ISDIR),
            NodeKind::Dir { entries, .. } if !entries.is_empty() => return Err(Errno::NOTEMPTY),
            NodeKind::Dir { .. } => {}
            _ if is_dir => return Err(Errno::NOTDIR),
            _ => {}
        }
    }
    match target {
        // The name exists already and only gets another node. That needs no memory, so it cannot
        // fail after the old node was removed.
        Some(t) => {
            st.tree.entries_mut(to_dir)?.put_entry(to, ino);
            st.drop_link(t, to_dir)?;
        }
        // The new name may be longer than the old one: charge it before changing anything.
        None => st.link_node(to_dir, to, ino)?,
    }
    st.tree.entries_mut(from_dir)?.remove_entry(from);
    st.quota.give_entry(from);
    let node = st.tree.node_mut(ino)?;
    node.ctime = now_ns();
    if let NodeKind::Dir { parent, .. } = &mut node.kind {
        *parent = to_dir;
        let up = st.tree.node_mut(from_dir)?;
        up.nlink = up.nlink.saturating_sub(1);
        st.tree.node_mut(to_dir)?.nlink += 1;
    }
    Ok(())
}
