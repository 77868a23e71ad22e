//! Path resolution (POSIX XBD 4.13), in the guest's name space only.
//!
//! A path below a host mount is first tried in one host call, which refuses every symbolic link; if
//! that fails the components are walked one by one, and a link found on the way is read and
//! resolved *here*, so an absolute target means the guest's root. If files of the host change
//! meanwhile, the final host call still refuses links.
//!
//! A call of the host may take long (a network, a FUSE server that hangs), so the tree is never
//! locked meanwhile ([`Lock`]). The file that a walk has found can be gone when it is used;
//! operations check it again under the lock and repeat the walk if it is
//! ([`Vfs::retry_until_settled`]). The number of components, including those of links, is bounded,
//! and a killed process leaves between two of them.

use crate::errno::Errno;
use crate::fifos::join_path;
use crate::loc::{Loc, MAX_PATH, TERMINAL_INO};
pub use crate::node::MAX_NAME;
use crate::node::{GID, UID};
use crate::proc;
use crate::stop;
use crate::tree::{BRIDGE, CODE_FROM_STRINGS, DEV_FD, DEV_PTS, NodeKind, ROOT, TreeState};
use crate::vfs::Vfs;
use box_abi::{FileKind, Stat};
use std::sync::RwLockReadGuard;

/// POSIX `SYMLOOP_MAX`, with the value of Linux.
const MAX_LINKS: usize = 40;
/// Components of a path and of all links in it. A path of `PATH_MAX` has at most 2048.
const MAX_STEPS: usize = 8192;
/// The maximum number of attempts of an operation when other processes change the tree in between.
const MAX_TRIES: usize = 100;
/// Longest path of a working directory, because every process keeps its own.
const MAX_CWD: usize = 64 << 10;
/// The treatment of the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastComponent {
    /// Follow it if it is a symbolic link.
    Follow,
    /// Follow it only if a slash comes after it.
    Keep,
    /// The directory entry itself is meant, as for creating and removing: never follow it, and
    /// leave the meaning of a slash to the operation.
    Entry,
}

/// Returns `Follow` or `Keep`.
pub(crate) fn follow_if(follow: bool) -> LastComponent {
    if follow { LastComponent::Follow } else { LastComponent::Keep }
}

/// A resolved path.
#[derive(Clone, Debug)]
pub struct ResolvedPath {
    /// The directory of the last component and its name; `None` when the path ends in `/`-root, `.`
    /// or `..`.
    pub parent: Option<(Loc, Vec<u8>)>,
    /// The location of the file; `None` when only the last component is missing.
    pub found: Option<Loc>,
    /// Whether the path ended in a slash, so that it must be a directory.
    pub slash: bool,
}

impl ResolvedPath {
    /// Returns the location of the file, or ENOENT.
    pub fn existing_loc(self) -> Result<Loc, Errno> {
        self.found.ok_or(Errno::NOENT)
    }
}

/// The tree's lock during a walk: taken for access to a node, released before a call of the host.
struct Lock<'a> {
    vfs: &'a Vfs,
    guard: Option<RwLockReadGuard<'a, TreeState>>,
}

impl Lock<'_> {
    fn tree_state(&mut self) -> &TreeState {
        self.guard.get_or_insert_with(|| self.vfs.read())
    }

    /// Releases the lock before a call of the host; EINTR if the process was killed.
    fn free(&mut self) -> Result<(), Errno> {
        self.guard = None;
        stop::check_stop()
    }
}

impl Vfs {
    /// Runs an operation: resolves paths and acts on the files found, until nothing has changed in
    /// between (`Some`).
    pub(crate) fn retry_until_settled<T>(
        &self,
        mut act: impl FnMut() -> Result<Option<T>, Errno>,
    ) -> Result<T, Errno> {
        for _ in 0..MAX_TRIES {
            if let Some(done) = act()? {
                return Ok(done);
            }
            stop::check_stop()?;
        }
        Err(Errno::BUSY)
    }

    /// Resolves `path` from `base`. The caller must not have the tree locked.
    pub fn resolve_path(
        &self,
        base: &Loc,
        path: &[u8],
        how: LastComponent,
    ) -> Result<ResolvedPath, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        if path.len() > MAX_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        let mut lock = Lock { vfs: self, guard: None };
        let mut slash = path.ends_with(b"/");
        let mut cur = if path[0] == b'/' { Loc::Tree(ROOT) } else { base.clone() };
        let mut todo: Vec<Vec<u8>> = Vec::new();
        push_components(&mut todo, path);
        let (mut links, mut steps) = (0, 0);
        // Whether the rest of the path may be tried in one call of a mount. After a failure it is
        // not tried again until a link was followed.
        let mut at_once = true;
        while let Some(name) = todo.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return Err(Errno::LOOP);
            }
            let last = todo.is_empty();
            match name.as_slice() {
                b"." => {
                    self.need_dir(&mut lock, &cur)?;
                    continue;
                }
                b".." => {
                    self.need_dir(&mut lock, &cur)?;
                    cur = self.parent_of(lock.tree_state(), &cur)?;
                    continue;
                }
                _ => {}
            }
            if name.len() > MAX_NAME {
                return Err(Errno::NAMETOOLONG);
            }
            if at_once && matches!(cur, Loc::Host(..)) && lock.tree_state().fifos.is_empty() {
                at_once = false;
                lock.free()?;
                if let Some(walk) = self.host_shortcut(&cur, &name, &todo, how, slash) {
                    return Ok(walk);
                }
            }
            let Some((child, kind)) = self.child_of(&mut lock, &cur, &name)? else {
                return if last {
                    Ok(ResolvedPath { parent: Some((cur, name)), found: None, slash })
                } else {
                    Err(Errno::NOENT)
                };
            };
            if kind == FileKind::Symlink && (!last || follows_link(how, slash)) {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let target = match &child {
                    Loc::Tree(_) => tree_link(lock.tree_state(), &child)?,
                    _ => {
                        lock.free()?;
                        self.link_target(&child)?
                    }
                };
                if target.is_empty() {
                    return Err(Errno::NOENT);
                }
                if target[0] == b'/' {
                    cur = Loc::Tree(ROOT);
                }
                slash |= last && target.ends_with(b"/");
                push_components(&mut todo, &target);
                at_once = true;
                continue;
            }
            if last {
                if slash && how != LastComponent::Entry && kind != FileKind::Dir {
                    return Err(Errno::NOTDIR);
                }
                return Ok(ResolvedPath { parent: Some((cur, name)), found: Some(child), slash });
            }
            if kind != FileKind::Dir {
                return Err(Errno::NOTDIR);
            }
            cur = child;
        }
        Ok(ResolvedPath { parent: None, found: Some(cur), slash })
    }

    /// Resolves the rest of a path below a mount in one host call, when it is plain.
    fn host_shortcut(
        &self,
        cur: &Loc,
        name: &[u8],
        todo: &[Vec<u8>],
        how: LastComponent,
        slash: bool,
    ) -> Option<ResolvedPath> {
        let Loc::Host(m, rel) = cur else { return None };
        if todo.is_empty() || todo.iter().any(|c| c == b"." || c == b".." || c.len() > MAX_NAME) {
            return None;
        }
        let mut path = join_path(rel, name);
        for c in todo.iter().skip(1).rev() {
            path.push(b'/');
            path.extend_from_slice(c);
        }
        let last = todo[0].clone();
        let full = join_path(&path, &last);
        let stat = self.shared.mounts[*m].stat(&full).ok()?;
        let plain = match stat.kind {
            FileKind::Symlink => !follows_link(how, slash),
            FileKind::Dir => true,
            _ => !slash || how == LastComponent::Entry,
        };
        plain.then_some(ResolvedPath {
            parent: Some((Loc::Host(*m, path), last)),
            found: Some(Loc::Host(*m, full)),
            slash,
        })
    }

    fn need_dir(&self, lock: &mut Lock<'_>, loc: &Loc) -> Result<(), Errno> {
        let kind = match loc {
            Loc::Tree(ino) => lock.tree_state().tree.node_at(*ino)?.file_kind(),
            _ => {
                lock.free()?;
                self.loc_stat(loc)?.kind
            }
        };
        if kind == FileKind::Dir { Ok(()) } else { Err(Errno::NOTDIR) }
    }

    /// Returns the directory above; the root's is the root.
    pub(crate) fn parent_of(&self, st: &TreeState, loc: &Loc) -> Result<Loc, Errno> {
        Ok(match loc {
            Loc::Tree(ino) => match &st.tree.node_at(*ino)?.kind {
                NodeKind::Dir { parent, .. } | NodeKind::Mount { parent, .. } => Loc::Tree(*parent),
                _ => Loc::Tree(BRIDGE),
            },
            Loc::Host(m, rel) if rel.is_empty() => {
                let at = self.shared.mounts[*m].at;
                match &st.tree.node_at(at)?.kind {
                    NodeKind::Mount { parent, .. } => Loc::Tree(*parent),
                    _ => Loc::Tree(ROOT),
                }
            }
            Loc::Host(m, rel) => {
                let cut = rel.iter().rposition(|b| *b == b'/').unwrap_or(0);
                Loc::Host(*m, rel[..cut].to_vec())
            }
            Loc::PipeDir(_) | Loc::PipeEnd(..) | Loc::State | Loc::Service(_) => Loc::Tree(BRIDGE),
            Loc::Descriptor(_) => Loc::Tree(DEV_FD),
            Loc::Terminal(_) => Loc::Tree(DEV_PTS),
            Loc::Proc(path) => match path.iter().rposition(|b| *b == b'/') {
                Some(cut) => Loc::Proc(path[..cut].to_vec()),
                None => Loc::Tree(self.shared.proc),
            },
        })
    }

    /// Finds the file `name` in the directory `dir`.
    fn child_of(
        &self,
        lock: &mut Lock<'_>,
        dir: &Loc,
        name: &[u8],
    ) -> Result<Option<(Loc, FileKind)>, Errno> {
        match dir {
            Loc::Tree(ino) => {
                let st = lock.tree_state();
                let node = st.tree.node_at(*ino)?;
                match &node.kind {
                    NodeKind::Dir { entries, .. } => {
                        node.require_access(1)?;
                        if *ino == DEV_FD {
                            let n = std::str::from_utf8(name).ok().and_then(|s| s.parse().ok());
                            return Ok(n.map(|n| (Loc::Descriptor(n), FileKind::CharDevice)));
                        }
                        if *ino == DEV_PTS {
                            return Ok(self.find_terminal(name));
                        }
                        let known = entries.get(name).copied();
                        if *ino == self.shared.proc && proc::is_shown() {
                            lock.free()?;
                            if let Some(found) = proc_child(name.to_vec()) {
                                return Ok(Some(found));
                            }
                        }
                        let st = lock.tree_state();
                        let Some(child) = known else {
                            if *ino == BRIDGE && name == b"state" {
                                let there = self.shared.session_state.is_there();
                                return Ok(there.then_some((Loc::State, FileKind::CharDevice)));
                            }
                            if *ino == BRIDGE
                                && let Some(n) = self.shared.service.find_node(name)
                            {
                                return Ok(Some((Loc::Service(n), FileKind::CharDevice)));
                            }
                            if *ino == BRIDGE && name == b"code-from-strings" {
                                let node = (Loc::Tree(CODE_FROM_STRINGS), FileKind::CharDevice);
                                return Ok(self.allows_code_from_strings().then_some(node));
                            }
                            let bridge = *ino == ROOT && name == b".box";
                            return Ok(bridge.then_some((Loc::Tree(BRIDGE), FileKind::Dir)));
                        };
                        let node = st.tree.node_at(child)?;
                        Ok(Some(match node.kind {
                            NodeKind::Mount { index, .. } => {
                                (Loc::Host(index, Vec::new()), self.shared.mounts[index].kind)
                            }
                            NodeKind::Descriptor(n) => (Loc::Descriptor(n), FileKind::CharDevice),
                            _ => (Loc::Tree(child), node.file_kind()),
                        }))
                    }
                    NodeKind::BridgePipes => Ok(Some((Loc::PipeDir(name.to_vec()), FileKind::Dir))),
                    _ => Err(Errno::NOTDIR),
                }
            }
            Loc::Host(m, rel) => {
                let path = join_path(rel, name);
                if let Some(ino) = lock.tree_state().fifos.get(*m, &path) {
                    return Ok(Some((Loc::Tree(ino), FileKind::Fifo)));
                }
                lock.free()?;
                match self.shared.mounts[*m].stat(&path) {
                    Ok(s) => Ok(Some((Loc::Host(*m, path), s.kind))),
                    Err(Errno::NOENT) => Ok(None),
                    Err(e) => Err(e),
                }
            }
            Loc::PipeDir(pipe) => Ok(match name {
                b"r" => Some((Loc::PipeEnd(pipe.clone(), false), FileKind::Fifo)),
                b"w" => Some((Loc::PipeEnd(pipe.clone(), true), FileKind::Fifo)),
                _ => None,
            }),
            Loc::Proc(path) => {
                lock.free()?;
                Ok(proc_child(join_path(path, name)))
            }
            Loc::PipeEnd(..)
            | Loc::State
            | Loc::Service(_)
            | Loc::Descriptor(_)
            | Loc::Terminal(_) => Err(Errno::NOTDIR),
        }
    }

    /// Finds an entry of `/dev/pts`.
    fn find_terminal(&self, name: &[u8]) -> Option<(Loc, FileKind)> {
        let number = std::str::from_utf8(name).ok()?.parse::<u32>().ok()?;
        let is_plain = number.to_string().as_bytes() == name;
        let found = is_plain && self.shared.terminals.find(number).is_some();
        found.then_some((Loc::Terminal(number), FileKind::CharDevice))
    }

    /// Returns the target of a symbolic link. The caller must not have the tree locked.
    pub(crate) fn link_target(&self, loc: &Loc) -> Result<Vec<u8>, Errno> {
        match loc {
            Loc::Host(m, rel) => self.shared.mounts[*m].read_link(rel),
            Loc::Proc(path) => match proc::find_node(path) {
                Some(proc::ProcNode::Link(target)) => Ok(target),
                _ => Err(Errno::INVAL),
            },
            _ => tree_link(&self.read(), loc),
        }
    }

    /// Returns the same as [`Vfs::loc_stat`], for a file that a walk has found; `None` if it is
    /// gone.
    pub(crate) fn found_stat(&self, loc: &Loc) -> Result<Option<Stat>, Errno> {
        match self.loc_stat(loc) {
            Err(Errno::STALE) if matches!(loc, Loc::Tree(_)) => Ok(None),
            r => r.map(Some),
        }
    }

    /// Returns metadata. The caller must not have the tree locked.
    pub(crate) fn loc_stat(&self, loc: &Loc) -> Result<Stat, Errno> {
        let special = |kind, mode, ino| Stat {
            kind,
            mode,
            uid: UID,
            gid: GID,
            nlink: 1,
            dev: 2,
            ino,
            size: 0,
            atime: 0,
            mtime: 0,
            ctime: 0,
        };
        match loc {
            Loc::Tree(ino) => Ok(self.read().tree.node_at(*ino)?.stat(*ino)),
            Loc::Host(m, rel) => self.shared.mounts[*m].stat(rel),
            Loc::Proc(path) => proc::stat_of(path),
            Loc::PipeDir(_) => Ok(special(FileKind::Dir, 0o700, 1)),
            Loc::PipeEnd(..) => Ok(special(FileKind::Fifo, 0o600, 2)),
            Loc::State => Ok(special(FileKind::CharDevice, 0o600, 3)),
            Loc::Service(n) => Ok(special(FileKind::CharDevice, 0o600, 4 + *n as u64)),
            Loc::Descriptor(n) => Ok(special(FileKind::CharDevice, 0o620, 16 + u64::from(*n))),
            Loc::Terminal(n) => {
                Ok(special(FileKind::CharDevice, 0o620, TERMINAL_INO + u64::from(*n)))
            }
        }
    }

    /// Returns the absolute path of a directory, for the working directory; ENAMETOOLONG past
    /// [`MAX_CWD`].
    pub(crate) fn path_of(&self, st: &TreeState, loc: &Loc) -> Result<Vec<u8>, Errno> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut len = 0;
        let mut at = match loc {
            Loc::Tree(ino) => *ino,
            Loc::Host(m, rel) => {
                if !rel.is_empty() {
                    parts.push(rel.clone());
                }
                self.shared.mounts[*m].at
            }
            Loc::Proc(path) => {
                parts.push(path.clone());
                self.shared.proc
            }
            _ => return Err(Errno::NOTDIR),
        };
        while at != ROOT {
            let parent = match &st.tree.node_at(at)?.kind {
                NodeKind::Dir { parent, .. } | NodeKind::Mount { parent, .. } => *parent,
                _ => return Err(Errno::NOTDIR),
            };
            let entries = st.tree.entries_of(parent)?;
            let name = entries.iter().find(|(_, i)| **i == at).ok_or(Errno::NOENT)?.0;
            len += name.len() + 1;
            if len > MAX_CWD {
                return Err(Errno::NAMETOOLONG);
            }
            parts.push(name.to_vec());
            at = parent;
        }
        let mut out = Vec::new();
        for p in parts.iter().rev() {
            out.push(b'/');
            out.extend_from_slice(p);
        }
        if out.is_empty() {
            out.push(b'/');
        }
        Ok(out)
    }
}

/// Returns the file of a path relative to `/proc`.
fn proc_child(path: Vec<u8>) -> Option<(Loc, FileKind)> {
    match proc::find_node(&path)? {
        proc::ProcNode::OwnDescriptors => Some((Loc::Tree(DEV_FD), FileKind::Dir)),
        node => Some((Loc::Proc(path), node.file_kind())),
    }
}

fn tree_link(st: &TreeState, loc: &Loc) -> Result<Vec<u8>, Errno> {
    let Loc::Tree(ino) = loc else { return Err(Errno::INVAL) };
    match &st.tree.node_at(*ino)?.kind {
        NodeKind::Symlink(target) => Ok(target.to_vec()),
        _ => Err(Errno::INVAL),
    }
}

fn follows_link(how: LastComponent, slash: bool) -> bool {
    match how {
        LastComponent::Follow => true,
        LastComponent::Keep => slash,
        LastComponent::Entry => false,
    }
}

/// Pushes the components of `path` so that the first is popped first.
fn push_components(todo: &mut Vec<Vec<u8>>, path: &[u8]) {
    todo.extend(path.rsplit(|b| *b == b'/').filter(|c| !c.is_empty()).map(<[u8]>::to_vec));
}
