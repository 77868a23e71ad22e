//! Making, moving and removing names: each operation as POSIX defines the function of
//! its name.

use crate::changes::ChangeKind;
use crate::errno::Errno;
use crate::pipe::{PIPE_CAPACITY, Pipe};
use crate::tree::{BRIDGE, Ino, Inode, Kind, ROOT, State};
use crate::walk::{Last, Loc, Walk, follow_if, join};
use crate::{Vfs, now_ns};
use box_abi::Kind as FileKind;
use std::sync::Arc;

impl Vfs {
    /// The directory and name of something new; EEXIST if it is there.
    fn new_entry(
        &self,
        st: &State,
        base: &Loc,
        path: &[u8],
        dir: bool,
    ) -> Result<(Loc, Vec<u8>), Errno> {
        let Walk { parent, found, slash } = self.walk(st, base, path, Last::Entry)?;
        if found.is_some() {
            return Err(Errno::EXIST);
        }
        if slash && !dir {
            return Err(Errno::NOENT);
        }
        parent.ok_or(Errno::EXIST)
    }

    /// `mkdir(2)`.
    pub fn mkdir(&self, base: &Loc, path: &[u8], mode: u16) -> Result<(), Errno> {
        let mut st = self.write();
        match self.new_entry(&st, base, path, true)? {
            (Loc::Tree(d), name) => {
                can_change(&st, d)?;
                let kind = Kind::Dir { parent: d, entries: Arc::default() };
                st.link_new(d, &name, Inode::new(kind, mode & 0o7777)).map(drop)
            }
            (Loc::Host(m, rel), name) => self.mount(m).mkdir(&rel, &name, mode),
            _ => Err(Errno::ACCES),
        }
    }

    /// `symlink(2)`.
    pub fn symlink(&self, target: &[u8], base: &Loc, path: &[u8]) -> Result<(), Errno> {
        if target.is_empty() {
            return Err(Errno::NOENT);
        }
        if target.len() > 4095 {
            return Err(Errno::NAMETOOLONG);
        }
        let mut st = self.write();
        match self.new_entry(&st, base, path, false)? {
            (Loc::Tree(d), name) => {
                can_change(&st, d)?;
                st.quota.take(target.len() as u64)?;
                let made = st.link_new(d, &name, Inode::new(Kind::Symlink(target.into()), 0o777));
                if made.is_err() {
                    st.quota.give(target.len() as u64);
                }
                made.map(drop)
            }
            (Loc::Host(m, rel), name) => {
                self.mount(m).symlink(target, &rel, &name)?;
                self.note(m, &join(&rel, &name), ChangeKind::Created);
                Ok(())
            }
            _ => Err(Errno::ACCES),
        }
    }

    /// `mkfifo(3)`.
    pub fn mkfifo(&self, base: &Loc, path: &[u8], mode: u16) -> Result<(), Errno> {
        let mut st = self.write();
        match self.new_entry(&st, base, path, false)? {
            (Loc::Tree(d), name) => {
                can_change(&st, d)?;
                // A FIFO can hold a full buffer.
                st.quota.take(PIPE_CAPACITY as u64)?;
                let made =
                    st.link_new(d, &name, Inode::new(Kind::Fifo(Pipe::fifo()), mode & 0o7777));
                made.map(drop)
            }
            (Loc::Host(m, rel), name) => {
                self.mount(m).need_writable()?;
                st.make_fifo(m, join(&rel, &name), mode)
            }
            _ => Err(Errno::PERM),
        }
    }

    /// `link(2)`; `follow` as in `linkat(2)`'s `AT_SYMLINK_FOLLOW`.
    pub fn link(
        &self,
        from_base: &Loc,
        from: &[u8],
        follow: bool,
        to_base: &Loc,
        to: &[u8],
    ) -> Result<(), Errno> {
        let mut st = self.write();
        let walk = self.walk(&st, from_base, from, follow_if(follow))?;
        let source = walk.clone().existing()?;
        let (dir, name) = self.new_entry(&st, to_base, to, false)?;
        match (&source, &dir) {
            (Loc::Tree(ino), Loc::Tree(d)) => {
                if st.tree.node(*ino)?.file_kind() == FileKind::Dir || *ino < 16 {
                    return Err(Errno::PERM);
                }
                can_change(&st, *d)?;
                st.link_node(*d, &name, *ino)?;
                let node = st.tree.node_mut(*ino)?;
                node.nlink = node.nlink.saturating_add(1);
                node.ctime = now_ns();
                Ok(())
            }
            (Loc::Host(m, _), Loc::Host(n, rel)) if m == n => {
                let Some((Loc::Host(_, from_dir), from_name)) = walk.parent else {
                    return Err(Errno::PERM);
                };
                self.mount(*m).link((&from_dir, &from_name), (rel, &name))?;
                self.note(*m, &join(rel, &name), ChangeKind::Created);
                Ok(())
            }
            _ => Err(Errno::XDEV),
        }
    }

    /// `unlink(2)`, or `rmdir(2)` with `dir`.
    pub fn remove(&self, base: &Loc, path: &[u8], dir: bool) -> Result<(), Errno> {
        let mut st = self.write();
        let walk = self.walk(&st, base, path, Last::Entry)?;
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
            let is_dir = self.loc_stat(&st, &found)?.kind == FileKind::Dir;
            return Err(if is_dir { Errno::ISDIR } else { Errno::NOTDIR });
        }
        match (&found, &parent) {
            (Loc::Tree(ino), Loc::Tree(d)) => {
                let node = st.tree.node(*ino)?;
                match (&node.kind, dir) {
                    _ if *ino < 16 => return Err(Errno::BUSY),
                    (Kind::Dir { entries, .. }, true) if !entries.is_empty() => {
                        return Err(Errno::NOTEMPTY);
                    }
                    (Kind::Dir { .. }, false) => return Err(Errno::ISDIR),
                    (Kind::Dir { .. }, true) => {}
                    (_, true) => return Err(Errno::NOTDIR),
                    (Kind::Fifo(_), false) if node.nlink == 1 => {
                        can_change(&st, *d)?;
                        st.quota.give(PIPE_CAPACITY as u64);
                    }
                    (_, false) => {}
                }
                can_change(&st, *d)?;
                st.unlink(*d, &name)
            }
            (Loc::Host(_, rel), _) if rel.is_empty() => Err(Errno::BUSY),
            (Loc::Tree(_), Loc::Host(m, up)) => {
                self.mount(*m).need_writable()?;
                if dir { Err(Errno::NOTDIR) } else { st.remove_fifo(*m, &join(up, &name)) }
            }
            (Loc::Host(m, rel), Loc::Host(_, up)) => {
                if dir && st.fifos.any_below(*m, rel) {
                    return Err(Errno::NOTEMPTY);
                }
                self.mount(*m).remove(up, &name, dir)?;
                self.note(*m, rel, ChangeKind::Deleted);
                Ok(())
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
        let mut st = self.write();
        let a = self.walk(&st, from_base, from, Last::Entry)?;
        let b = self.walk(&st, to_base, to, Last::Entry)?;
        let (from_dir, from_name) = a.parent.ok_or(Errno::BUSY)?;
        let (to_dir, to_name) = b.parent.ok_or(Errno::BUSY)?;
        let source = a.found.ok_or(Errno::NOENT)?;
        if (a.slash || b.slash) && self.loc_stat(&st, &source)?.kind != FileKind::Dir {
            return Err(Errno::NOTDIR);
        }
        match (&source, &from_dir, &to_dir) {
            (Loc::Tree(ino), Loc::Tree(d), Loc::Tree(e)) => {
                let target = match b.found {
                    Some(Loc::Tree(t)) => Some(t),
                    None => None,
                    Some(_) => return Err(Errno::BUSY),
                };
                rename_nodes(&mut st, (*d, &from_name, *ino), (*e, &to_name, target))
            }
            (Loc::Host(_, rel), ..) if rel.is_empty() => Err(Errno::BUSY),
            (Loc::Host(m, old), Loc::Host(_, d), Loc::Host(n, e)) if m == n => {
                if b.found.as_ref().is_some_and(|t| matches!(t, Loc::Host(_, r) if r.is_empty())) {
                    return Err(Errno::BUSY);
                }
                let new = join(e, &to_name);
                if st.fifos.any_below(*m, &new) {
                    return Err(Errno::NOTEMPTY);
                }
                self.mount(*m).rename((d, &from_name), (e, &to_name))?;
                if matches!(b.found, Some(Loc::Tree(_))) {
                    st.remove_fifo(*m, &new)?;
                }
                st.fifos.renamed(*m, old, &new);
                self.note(*m, old, ChangeKind::Deleted);
                self.note(*m, &new, ChangeKind::Created);
                Ok(())
            }
            // A named pipe of the mount.
            (Loc::Tree(ino), Loc::Host(m, d), Loc::Host(n, e)) if m == n => {
                self.mount(*m).need_writable()?;
                let (old, new) = (join(d, &from_name), join(e, &to_name));
                match &b.found {
                    Some(Loc::Tree(other)) if other == ino => return Ok(()),
                    Some(Loc::Tree(_)) => st.remove_fifo(*m, &new)?,
                    Some(Loc::Host(_, rel)) => {
                        if self.mount(*m).stat(rel)?.kind == FileKind::Dir {
                            return Err(Errno::ISDIR);
                        }
                        self.mount(*m).remove(e, &to_name, false)?;
                        self.note(*m, rel, ChangeKind::Deleted);
                    }
                    _ => {}
                }
                st.fifos.renamed(*m, &old, &new);
                Ok(())
            }
            _ => Err(Errno::XDEV),
        }
    }
}

/// EACCES unless entries of the directory may be made and removed.
pub(crate) fn can_change(st: &State, dir: Ino) -> Result<(), Errno> {
    if (BRIDGE..16).contains(&dir) {
        return Err(Errno::ACCES);
    }
    st.tree.node(dir)?.need(3)
}

fn rename_nodes(
    st: &mut State,
    (from_dir, from, ino): (Ino, &[u8], Ino),
    (to_dir, to, target): (Ino, &[u8], Option<Ino>),
) -> Result<(), Errno> {
    if ino < 16 || matches!(st.tree.node(ino)?.kind, Kind::Mount { .. }) {
        return Err(Errno::BUSY);
    }
    if target == Some(ino) {
        return Ok(());
    }
    let is_dir = matches!(st.tree.node(ino)?.kind, Kind::Dir { .. });
    if is_dir {
        // A directory cannot move below itself.
        let mut at = to_dir;
        while at != ROOT {
            if at == ino {
                return Err(Errno::INVAL);
            }
            match &st.tree.node(at)?.kind {
                Kind::Dir { parent, .. } => at = *parent,
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
            match &st.tree.node(at)?.kind {
                Kind::Dir { parent, .. } => at = *parent,
                _ => break,
            }
        }
    }
    can_change(st, from_dir)?;
    can_change(st, to_dir)?;
    if let Some(t) = target {
        match &st.tree.node(t)?.kind {
            _ if t < 16 => return Err(Errno::BUSY),
            Kind::Mount { .. } => return Err(Errno::BUSY),
            Kind::Dir { .. } if !is_dir => return Err(Errno::ISDIR),
            Kind::Dir { entries, .. } if !entries.is_empty() => return Err(Errno::NOTEMPTY),
            Kind::Dir { .. } => {}
            _ if is_dir => return Err(Errno::NOTDIR),
            _ => {}
        }
        st.unlink(to_dir, to)?;
    }
    // The new name may be longer than the old one: charge it before changing anything.
    st.link_node(to_dir, to, ino)?;
    st.tree.entries_mut(from_dir)?.remove(from);
    st.quota.give_entry(from);
    let node = st.tree.node_mut(ino)?;
    node.ctime = now_ns();
    if let Kind::Dir { parent, .. } = &mut node.kind {
        *parent = to_dir;
        let up = st.tree.node_mut(from_dir)?;
        up.nlink = up.nlink.saturating_sub(1);
        st.tree.node_mut(to_dir)?.nlink += 1;
    }
    Ok(())
}
