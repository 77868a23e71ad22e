//! Opening, metadata and directory listings: each operation as POSIX defines the function of its
//! name. The module `entries` creates and removes names.

use crate::bridge::MetaExchange;
use crate::content::FileContent;
use crate::device::Device;
use crate::entries::can_change;
use crate::errno::Errno;
use crate::fifos::join_path;
use crate::file::VfsFile;
use crate::host::{self, HostMount};
use crate::journal::ChangeKind;
use crate::loc::{Loc, StatResult, TERMINAL_INO};
use crate::net::LoopbackNetwork;
use crate::node::{GID, UID, now_ns};
use crate::open_flags::OpenFlags;
use crate::pipe::{ReadEnd, WriteEnd};
use crate::proc::{self, OpenedNode, ProcNode};
use crate::terminal::{TerminalExchange, Terminals};
use crate::tree::{BRIDGE, DEV_FD, DEV_PTS, Executable, Ino, Inode, NodeKind, TreeState};
use crate::vfs::Vfs;
use crate::walk::{LastComponent, follow_if};
use box_abi::{FileKind, Stat};
use std::sync::Arc;

/// The result of opening.
#[derive(Debug)]
pub enum OpenResult {
    File(VfsFile),
    /// The path stands for the caller's own descriptor of that number.
    Descriptor(u32),
    /// The path stands for the terminal of the caller's session.
    ControllingTerminal,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    pub name: Vec<u8>,
    pub ino: u64,
    pub kind: FileKind,
}

impl Vfs {
    /// Returns the paths where files of the host are mounted, each with whether it is writable.
    pub fn mount_points(&self) -> Vec<(Vec<u8>, bool)> {
        let st = self.read();
        let point = |m: &HostMount| Some((self.path_of(&st, &Loc::Tree(m.at)).ok()?, m.writable));
        self.shared.mounts.iter().filter_map(point).collect()
    }

    pub(crate) fn mount(&self, index: usize) -> &HostMount {
        &self.shared.mounts[index]
    }

    /// `pipe(2)`; ENFILE if the session has too many.
    pub fn pipe(&self) -> Result<(ReadEnd, WriteEnd), Errno> {
        self.shared.pipes.pair()
    }

    /// Returns the session's terminals.
    pub fn terminals(&self) -> &Terminals {
        &self.shared.terminals
    }

    /// Returns the session's loopback network.
    pub fn network(&self) -> &LoopbackNetwork {
        &self.shared.network
    }

    /// Cleans up after a command whose processes have all ended: removes named pipes below `/.box`
    /// that they have left half open.
    pub fn command_ended(&self) {
        self.shared.pipes.release_unused();
    }

    /// `open(2)`. New files get `mode`.
    pub fn open(
        &self,
        base: &Loc,
        path: &[u8],
        how: OpenFlags,
        mode: u16,
    ) -> Result<OpenResult, Errno> {
        self.retry_until_settled(|| self.try_open(base, path, how, mode))
    }

    fn try_open(
        &self,
        base: &Loc,
        path: &[u8],
        how: OpenFlags,
        mode: u16,
    ) -> Result<Option<OpenResult>, Errno> {
        let follow = how.follow && !(how.create && how.excl);
        if how.create && path.ends_with(b"/") {
            // Linux refuses this before it examines the last component.
            if self.resolve_path(base, path, LastComponent::Entry)?.parent.is_some() {
                return Err(Errno::ISDIR);
            }
        }
        let walk = self.resolve_path(base, path, follow_if(follow))?;
        let Some(loc) = walk.found else {
            if !how.create {
                return Err(Errno::NOENT);
            }
            if how.directory {
                return Err(Errno::NOTDIR);
            }
            let (dir, name) = walk.parent.ok_or(Errno::ISDIR)?;
            return Ok(self.create_file(&dir, &name, how, mode)?.map(OpenResult::File));
        };
        if how.create && how.excl {
            return Err(Errno::EXIST);
        }
        let file = match &loc {
            Loc::Tree(ino) => {
                self.fetch_bytes(*ino, how)?;
                let mut st = self.write();
                match st.tree.get(*ino) {
                    None => return Ok(None),
                    Some(n) if matches!(n.kind, NodeKind::Device(Device::Tty)) => {
                        return Ok(Some(OpenResult::ControllingTerminal));
                    }
                    Some(_) => {}
                }
                self.open_node(&mut st, *ino, how)?
            }
            Loc::Host(m, rel) => self.open_host(*m, rel, how)?,
            Loc::PipeDir(_) => self.open_dir(&loc, how)?,
            Loc::PipeEnd(name, true) if how.write => {
                VfsFile::PipeWrite(self.shared.pipes.open_write(name)?)
            }
            Loc::PipeEnd(name, false) if !how.write => {
                VfsFile::PipeRead(self.shared.pipes.open_read(name)?)
            }
            Loc::PipeEnd(..) => return Err(Errno::ACCES),
            Loc::State => VfsFile::State(self.open_state(how.write)?),
            Loc::Service(n) => VfsFile::Service(self.open_service(*n)?),
            Loc::Descriptor(n) => return Ok(Some(OpenResult::Descriptor(*n))),
            Loc::Terminal(n) => {
                let terminal = self.shared.terminals.find(*n).ok_or(Errno::NOENT)?;
                VfsFile::Slave(terminal.slave()?)
            }
            Loc::Proc(path) => match proc::open_node(path, how, &self.shared.budget)? {
                OpenedNode::Dir => self.open_dir(&loc, how)?,
                OpenedNode::File(file) => VfsFile::Proc(file),
            },
        };
        Ok(Some(OpenResult::File(file)))
    }

    /// Makes a file's bytes available, unless they already are. The caller must not have the tree
    /// locked, because this may take long.
    fn fetch_bytes(&self, ino: Ino, how: OpenFlags) -> Result<(), Errno> {
        let keeps = how.write && !how.truncate;
        let lazy = {
            let st = self.read();
            match st.tree.get(ino).map(|n| (n, &n.kind)) {
                // A caller without permission is refused later.
                Some((n, NodeKind::File { content, .. }))
                    if n.require_access(4).is_ok() || keeps =>
                {
                    content.lazy_bytes().cloned()
                }
                _ => None,
            }
        };
        match lazy {
            Some(lazy) if !how.truncate && (how.read || keeps) => {
                lazy.make_ready(&self.shared.budget, keeps)
            }
            _ => Ok(()),
        }
    }

    fn open_dir(&self, loc: &Loc, how: OpenFlags) -> Result<VfsFile, Errno> {
        if how.write || how.truncate {
            return Err(Errno::ISDIR);
        }
        let path = match loc {
            Loc::Host(_, path) | Loc::Proc(path) => path.len(),
            _ => 0,
        };
        let held = self.shared.budget.reserve_bytes(path as u64 + 128).ok_or(Errno::NOMEM)?;
        Ok(VfsFile::Dir { loc: loc.clone(), vfs: self.clone(), held })
    }

    fn open_node(&self, st: &mut TreeState, ino: Ino, how: OpenFlags) -> Result<VfsFile, Errno> {
        let node = st.tree.node_at(ino)?.clone();
        let is_dir = node.file_kind() == FileKind::Dir;
        if how.directory && !is_dir {
            return Err(Errno::NOTDIR);
        }
        let bits = if how.read || is_dir { 4 } else { 0 };
        node.require_access(bits | if how.write || how.truncate { 2 } else { 0 })?;
        match &node.kind {
            NodeKind::Dir { .. } | NodeKind::Mount { .. } | NodeKind::BridgePipes => {
                self.open_dir(&Loc::Tree(ino), how)
            }
            NodeKind::File { .. } => {
                if how.truncate && node.size() > 0 {
                    let n = st.tree.node_mut(ino)?;
                    if let NodeKind::File { content, program } = &mut n.kind {
                        let freed = content.set_len(0, &self.shared.budget)?;
                        *program = None;
                        let now = now_ns();
                        (n.mtime, n.ctime) = (now, now);
                        st.quota.give_bytes(freed);
                    }
                }
                Ok(VfsFile::open_tree_file(self, st, ino))
            }
            NodeKind::Symlink(_) => Err(Errno::LOOP),
            NodeKind::Device(Device::Tty) => Err(Errno::NXIO),
            NodeKind::Device(Device::Ptmx) => {
                Ok(VfsFile::Master(self.shared.terminals.open_master()?))
            }
            NodeKind::Device(d) => Ok(VfsFile::Device(*d, ino, self.clone())),
            NodeKind::Fifo(p) => Ok(match (how.read, how.write) {
                (true, true) => VfsFile::PipeBoth(p.reader(None), p.writer(None)),
                (_, true) => VfsFile::PipeWrite(p.writer(None)),
                _ => VfsFile::PipeRead(p.reader(None)),
            }),
            NodeKind::BridgeMeta => Ok(VfsFile::Meta(MetaExchange::new(self))),
            NodeKind::BridgeTerminals => Ok(VfsFile::Terminals(TerminalExchange::default())),
            NodeKind::Descriptor(_) => Err(Errno::NXIO),
        }
    }

    /// Creates and opens a file; `None` if the name was taken in the meantime.
    fn create_file(
        &self,
        dir: &Loc,
        name: &[u8],
        how: OpenFlags,
        mode: u16,
    ) -> Result<Option<VfsFile>, Errno> {
        match dir {
            Loc::Tree(d) => {
                let mut st = self.write();
                if !st.is_current(*d, name, None) {
                    return Ok(None);
                }
                can_change(&st, *d)?;
                let kind = NodeKind::File { content: FileContent::default(), program: None };
                let ino = st.link_new(*d, name, Inode::new(kind, mode & 0o7777))?;
                Ok(Some(VfsFile::open_tree_file(self, &mut st, ino)))
            }
            Loc::Host(m, rel) => {
                let make = || self.mount(*m).create(rel, name, how, mode);
                let fd = match self.shared.host_files.open_file(make) {
                    // Another process was faster.
                    Err(Errno::EXIST) if !how.excl => return Ok(None),
                    made => made?,
                };
                self.note_change(*m, &join_path(rel, name), ChangeKind::Created);
                Ok(Some(VfsFile::Host { fd, mount: *m, vfs: self.clone() }))
            }
            _ => Err(Errno::ACCES),
        }
    }

    fn open_host(&self, m: usize, rel: &[u8], how: OpenFlags) -> Result<VfsFile, Errno> {
        let mount = self.mount(m);
        let stat = mount.stat(rel)?;
        if stat.kind == FileKind::Symlink {
            return Err(Errno::LOOP);
        }
        if stat.kind == FileKind::Dir {
            let loc = Loc::Host(m, rel.to_vec());
            return self.open_dir(&loc, how);
        }
        if how.directory {
            return Err(Errno::NOTDIR);
        }
        let files = &self.shared.host_files;
        let fd = files.open_file(|| mount.open_existing(rel, how))?;
        if how.write || how.truncate {
            self.note_change(m, rel, ChangeKind::Modified);
        }
        Ok(VfsFile::Host { fd, mount: m, vfs: self.clone() })
    }

    pub(crate) fn note_change(&self, m: usize, rel: &[u8], kind: ChangeKind) {
        self.shared.host_changes.note_change(m, rel, kind, &self.shared.budget);
    }

    /// `stat(2)`, or `lstat(2)` without `follow`.
    pub fn stat(&self, base: &Loc, path: &[u8], follow: bool) -> Result<Stat, Errno> {
        self.retry_until_settled(|| {
            self.found_stat(&self.resolve_path(base, path, follow_if(follow))?.existing_loc()?)
        })
    }

    /// Returns the same as [`Vfs::stat`], or the number of the caller's own descriptor that the
    /// path stands for.
    pub fn stat_or_descriptor(
        &self,
        base: &Loc,
        path: &[u8],
        follow: bool,
    ) -> Result<StatResult, Errno> {
        self.retry_until_settled(|| {
            match self.resolve_path(base, path, follow_if(follow))?.existing_loc()? {
                Loc::Descriptor(n) => Ok(Some(StatResult::Descriptor(n))),
                loc => Ok(self.found_stat(&loc)?.map(StatResult::Stat)),
            }
        })
    }

    /// Opens an open file or directory again, with an offset of its own, as opening
    /// `/proc/self/fd/N` does on Linux; `None` for a file that can only be shared. A file of a
    /// mount that is not open for writing (`writes`) cannot become writable, because changes in
    /// mounts are recorded by name and its name is no longer known.
    pub fn reopen(
        &self,
        file: &VfsFile,
        how: OpenFlags,
        writes: bool,
    ) -> Result<Option<VfsFile>, Errno> {
        match file {
            VfsFile::Tree(f) => {
                self.fetch_bytes(f.ino(), how)?;
                self.open_node(&mut self.write(), f.ino(), how).map(Some)
            }
            VfsFile::Host { .. } if (how.write || how.truncate) && !writes => Err(Errno::ACCES),
            VfsFile::Host { fd, mount, .. } => {
                let again = || self.mount(*mount).reopen(fd, how);
                let fd = self.shared.host_files.open_file(again)?;
                Ok(Some(VfsFile::Host { fd, mount: *mount, vfs: self.clone() }))
            }
            VfsFile::Dir { loc, .. } => self.open_dir(loc, how).map(Some),
            _ => Ok(None),
        }
    }

    /// `readlink(2)`.
    pub fn read_link(&self, base: &Loc, path: &[u8]) -> Result<Vec<u8>, Errno> {
        self.retry_until_settled(|| {
            let loc = self.resolve_path(base, path, LastComponent::Keep)?.existing_loc()?;
            match self.link_target(&loc) {
                Err(Errno::STALE) if matches!(loc, Loc::Tree(_)) => Ok(None),
                target => target.map(Some),
            }
        })
    }

    /// Resolves a directory to change to; returns it with its absolute path.
    pub fn chdir(&self, base: &Loc, path: &[u8]) -> Result<(Loc, Vec<u8>), Errno> {
        self.retry_until_settled(|| {
            let loc = self.resolve_path(base, path, LastComponent::Follow)?.existing_loc()?;
            let Some(stat) = self.found_stat(&loc)? else { return Ok(None) };
            if stat.kind != FileKind::Dir {
                return Err(Errno::NOTDIR);
            }
            if stat.mode & 0o100 == 0 {
                return Err(Errno::ACCES);
            }
            let path = self.path_of(&self.read(), &loc)?;
            Ok(Some((loc, path)))
        })
    }

    /// `chmod(2)`.
    pub fn chmod(&self, base: &Loc, path: &[u8], mode: u16) -> Result<(), Errno> {
        self.retry_until_settled(|| {
            match self.resolve_path(base, path, LastComponent::Follow)?.existing_loc()? {
                Loc::Tree(ino) if (BRIDGE..16).contains(&ino) => Err(Errno::PERM),
                Loc::Tree(ino) => {
                    let mut st = self.write();
                    let Ok(node) = st.tree.node_mut(ino) else { return Ok(None) };
                    node.mode = mode & 0o7777;
                    node.ctime = now_ns();
                    Ok(Some(()))
                }
                Loc::Host(m, rel) => self.mount(m).chmod(&rel, mode).map(Some),
                _ => Err(Errno::PERM),
            }
        })
    }

    /// `chown(2)`: only to oneself, as for any user except root.
    pub fn chown(
        &self,
        base: &Loc,
        path: &[u8],
        uid: u32,
        gid: u32,
        follow: bool,
    ) -> Result<(), Errno> {
        self.resolve_path(base, path, follow_if(follow))?.existing_loc()?;
        let own = |id, mine| id == u32::MAX || id == mine;
        if own(uid, UID) && own(gid, GID) { Ok(()) } else { Err(Errno::PERM) }
    }

    /// `utimensat(2)`.
    pub fn set_times(
        &self,
        base: &Loc,
        path: &[u8],
        atime: Option<u64>,
        mtime: Option<u64>,
        follow: bool,
    ) -> Result<(), Errno> {
        self.retry_until_settled(|| {
            let loc = self.resolve_path(base, path, follow_if(follow))?.existing_loc()?;
            match self.set_loc_times(&loc, atime, mtime) {
                Err(Errno::STALE) if matches!(loc, Loc::Tree(_)) => Ok(None),
                done => done.map(Some),
            }
        })
    }

    pub(crate) fn set_loc_times(
        &self,
        loc: &Loc,
        atime: Option<u64>,
        mtime: Option<u64>,
    ) -> Result<(), Errno> {
        match loc {
            Loc::Tree(ino) => self.write().set_times(*ino, atime, mtime),
            Loc::Host(m, rel) => self.mount(*m).set_times(rel, atime, mtime),
            _ => Ok(()),
        }
    }

    /// Returns the entries of an open directory, `.` and `..` first.
    pub fn list(&self, dir: &Loc) -> Result<Vec<DirEntry>, Errno> {
        let dot = |name: &[u8], loc: &Loc| -> Result<DirEntry, Errno> {
            let ino = self.loc_stat(loc)?.ino;
            Ok(DirEntry { name: name.to_vec(), ino, kind: FileKind::Dir })
        };
        let up = self.parent_of(&self.read(), dir)?;
        let mut out = vec![dot(b".", dir)?, dot(b"..", &up)?];
        match dir {
            Loc::Tree(ino) if *ino == DEV_FD => {}
            Loc::Tree(ino) if *ino == DEV_PTS => {
                out.extend(self.shared.terminals.numbers().into_iter().map(|n| DirEntry {
                    name: n.to_string().into_bytes(),
                    ino: TERMINAL_INO + u64::from(n),
                    kind: FileKind::CharDevice,
                }));
            }
            Loc::Tree(ino) => {
                let st = self.read();
                for (name, child) in
                    st.tree.entries_of(*ino).map_or_else(|_| Arc::default(), Arc::clone).iter()
                {
                    let kind = if st.tree.is_unlisted(*child) {
                        FileKind::Dir
                    } else {
                        let node = st.tree.node_at(*child)?;
                        match node.kind {
                            NodeKind::Mount { index, .. } => self.mount(index).kind,
                            _ => node.file_kind(),
                        }
                    };
                    out.push(DirEntry { name: name.to_vec(), ino: *child, kind });
                }
                drop(st);
                if *ino == self.shared.proc {
                    list_proc(b"", &mut out);
                }
            }
            Loc::Proc(path) => list_proc(path, &mut out),
            Loc::Host(m, rel) => {
                let listed = self.mount(*m).list(rel)?;
                let fifos = self.read().fifos.list_dir(*m, rel);
                for (name, ino, kind) in listed {
                    if !fifos.iter().any(|(hidden, _)| *hidden == name) {
                        out.push(DirEntry { name, ino, kind });
                    }
                }
                let fifo = |(name, ino)| DirEntry { name, ino, kind: FileKind::Fifo };
                out.extend(fifos.into_iter().map(fifo));
            }
            _ => {}
        }
        Ok(out)
    }

    /// Returns the program or the first `head` bytes of an executable file.
    ///
    /// # Errors
    /// EACCES unless it is a regular file with an execute bit.
    pub fn executable_kind(
        &self,
        base: &Loc,
        path: &[u8],
        head: usize,
    ) -> Result<Executable, Errno> {
        self.retry_until_settled(|| {
            let mut walk = self.resolve_path(base, path, LastComponent::Follow)?;
            let name = walk.parent.take().map(|(_, name)| name).unwrap_or_default();
            let loc = walk.existing_loc()?;
            let Some(stat) = self.found_stat(&loc)? else { return Ok(None) };
            if stat.kind != FileKind::File || stat.mode & 0o111 == 0 {
                return Err(Errno::ACCES);
            }
            match &loc {
                Loc::Tree(ino) => {
                    let node = self.read().tree.get(*ino).cloned();
                    if let Some(NodeKind::File { program: Some(program), content }) =
                        node.as_deref().map(|n| &n.kind)
                        && content.lazy_bytes().is_some()
                    {
                        // Its bytes need not be fetched, because the host runs its own copy of the
                        // program.
                        return Ok(Some(Executable {
                            program: Some(*program),
                            head: Vec::new(),
                            name,
                        }));
                    }
                    self.fetch_bytes(*ino, OpenFlags { read: true, ..OpenFlags::default() })?;
                    let node = self.read().tree.get(*ino).cloned();
                    match node.as_deref().map(|n| &n.kind) {
                        Some(NodeKind::File { content, program }) => {
                            let head = content.read_all(head as u64)?;
                            Ok(Some(Executable { program: *program, head, name }))
                        }
                        Some(_) => Err(Errno::ACCES),
                        None => Ok(None),
                    }
                }
                Loc::Host(m, rel) => {
                    let read = OpenFlags { read: true, ..OpenFlags::default() };
                    let file = self.mount(*m).open_existing(rel, read)?;
                    let mut buf = vec![0; head];
                    let n = host::read_at(&file, &mut buf, 0)?;
                    buf.truncate(n);
                    Ok(Some(Executable { program: None, head: buf, name }))
                }
                _ => Err(Errno::ACCES),
            }
        })
    }
}

/// Adds the entries of a directory below `/proc`, which replace others of the same name.
fn list_proc(path: &[u8], out: &mut Vec<DirEntry>) {
    let Some(ProcNode::Dir(names)) = proc::find_node(path) else { return };
    out.retain(|e| !names.contains(&e.name));
    for name in names {
        let child = if path.is_empty() { name.clone() } else { join_path(path, &name) };
        // A process may have ended in the meantime.
        if let Ok(stat) = proc::stat_of(&child) {
            out.push(DirEntry { name, ino: stat.ino, kind: stat.kind });
        }
    }
}

impl TreeState {
    pub(crate) fn set_times(
        &mut self,
        ino: Ino,
        atime: Option<u64>,
        mtime: Option<u64>,
    ) -> Result<(), Errno> {
        let node = self.tree.node_mut(ino)?;
        node.atime = atime.unwrap_or(node.atime);
        node.mtime = mtime.unwrap_or(node.mtime);
        node.ctime = now_ns();
        Ok(())
    }
}
