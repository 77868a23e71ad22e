//! Path resolution (POSIX XBD 4.13), in the guest's name space only.
//!
//! A path below a host mount is first tried in one host call, which refuses every
//! symbolic link; if that fails the components are walked one by one, and a link
//! found on the way is read and resolved *here*, so an absolute target means the
//! guest's root. Whatever changes on the host meanwhile, the final host call
//! refuses links again.

use crate::Vfs;
use crate::errno::Errno;
use crate::tree::{BRIDGE, DEV_FD, Ino, Kind, ROOT, State};
use box_abi::{Kind as FileKind, Stat};

/// POSIX `SYMLOOP_MAX` as Linux has it.
const MAX_LINKS: usize = 40;
/// Linux's `PATH_MAX` and `NAME_MAX`.
pub(crate) const MAX_PATH: usize = 4096;
/// Longest name of a directory entry in bytes.
pub const MAX_NAME: usize = 255;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loc {
    /// A node of the tree.
    Tree(Ino),
    /// A path below host mount N, without leading slash, symbolic links or dots;
    /// empty for the mount's root.
    Host(usize, Vec<u8>),
    /// A bridge pipe's directory.
    PipeDir(Vec<u8>),
    /// An end of a bridge pipe; true for the writing end.
    PipeEnd(Vec<u8>, bool),
    /// The caller's descriptor of that number.
    Descriptor(u32),
}

/// What to do with the last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// Follow it if it is a symbolic link.
    Follow,
    /// Follow it only if a slash comes after it.
    Keep,
    /// The directory entry itself is meant, as for making and removing: never follow
    /// it, and leave the meaning of a slash to the operation.
    Entry,
}

/// `Follow` or `Keep`.
pub(crate) fn follow_if(follow: bool) -> Last {
    if follow { Last::Follow } else { Last::Keep }
}

/// A resolved path.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The directory of the last component and its name; `None` when the path
    /// ends in `/`-root, `.` or `..`.
    pub parent: Option<(Loc, Vec<u8>)>,
    /// What is there; `None` when only the last component is missing.
    pub found: Option<Loc>,
    /// The path ended in a slash, so it must be a directory.
    pub slash: bool,
}

impl Walk {
    /// What is there, or ENOENT.
    pub fn existing(self) -> Result<Loc, Errno> {
        self.found.ok_or(Errno::NOENT)
    }
}

impl Vfs {
    /// Resolves `path` from `base`.
    pub fn walk(&self, st: &State, base: &Loc, path: &[u8], how: Last) -> Result<Walk, Errno> {
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        if path.len() > MAX_PATH {
            return Err(Errno::NAMETOOLONG);
        }
        let mut slash = path.ends_with(b"/");
        let mut cur = if path[0] == b'/' { Loc::Tree(ROOT) } else { base.clone() };
        let mut todo: Vec<Vec<u8>> = Vec::new();
        push_components(&mut todo, path);
        let mut links = 0;
        while let Some(name) = todo.pop() {
            let last = todo.is_empty();
            match name.as_slice() {
                b"." => {
                    self.need_dir(st, &cur)?;
                    continue;
                }
                b".." => {
                    self.need_dir(st, &cur)?;
                    cur = self.parent(st, &cur)?;
                    continue;
                }
                _ => {}
            }
            if name.len() > MAX_NAME {
                return Err(Errno::NAMETOOLONG);
            }
            if st.fifos.is_empty()
                && let Some(walk) = self.host_shortcut(&cur, &name, &todo, how, slash)
            {
                return Ok(walk);
            }
            let Some((child, kind)) = self.child(st, &cur, &name)? else {
                return if last {
                    Ok(Walk { parent: Some((cur, name)), found: None, slash })
                } else {
                    Err(Errno::NOENT)
                };
            };
            if kind == FileKind::Symlink && (!last || follows(how, slash)) {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let target = self.link_target(st, &child)?;
                if target.is_empty() {
                    return Err(Errno::NOENT);
                }
                if target[0] == b'/' {
                    cur = Loc::Tree(ROOT);
                }
                slash |= last && target.ends_with(b"/");
                push_components(&mut todo, &target);
                continue;
            }
            if last {
                if slash && how != Last::Entry && kind != FileKind::Dir {
                    return Err(Errno::NOTDIR);
                }
                return Ok(Walk { parent: Some((cur, name)), found: Some(child), slash });
            }
            if kind != FileKind::Dir {
                return Err(Errno::NOTDIR);
            }
            cur = child;
        }
        Ok(Walk { parent: None, found: Some(cur), slash })
    }

    /// One host call for the rest of a path below a mount, when it is plain.
    fn host_shortcut(
        &self,
        cur: &Loc,
        name: &[u8],
        todo: &[Vec<u8>],
        how: Last,
        slash: bool,
    ) -> Option<Walk> {
        let Loc::Host(m, rel) = cur else { return None };
        if todo.is_empty() || todo.iter().any(|c| c == b"." || c == b".." || c.len() > MAX_NAME) {
            return None;
        }
        let mut path = join(rel, name);
        for c in todo.iter().skip(1).rev() {
            path = join(&path, c);
        }
        let last = todo[0].clone();
        let full = join(&path, &last);
        let stat = self.shared.mounts[*m].stat(&full).ok()?;
        let plain = match stat.kind {
            FileKind::Symlink => !follows(how, slash),
            FileKind::Dir => true,
            _ => !slash || how == Last::Entry,
        };
        plain.then_some(Walk {
            parent: Some((Loc::Host(*m, path), last)),
            found: Some(Loc::Host(*m, full)),
            slash,
        })
    }

    fn need_dir(&self, st: &State, loc: &Loc) -> Result<(), Errno> {
        if self.loc_stat(st, loc)?.kind == FileKind::Dir { Ok(()) } else { Err(Errno::NOTDIR) }
    }

    /// The directory above; the root's is the root.
    pub(crate) fn parent(&self, st: &State, loc: &Loc) -> Result<Loc, Errno> {
        Ok(match loc {
            Loc::Tree(ino) => match &st.tree.node(*ino)?.kind {
                Kind::Dir { parent, .. } | Kind::Mount { parent, .. } => Loc::Tree(*parent),
                _ => Loc::Tree(BRIDGE),
            },
            Loc::Host(m, rel) if rel.is_empty() => {
                let at = self.shared.mounts[*m].at;
                match &st.tree.node(at)?.kind {
                    Kind::Mount { parent, .. } => Loc::Tree(*parent),
                    _ => Loc::Tree(ROOT),
                }
            }
            Loc::Host(m, rel) => {
                let cut = rel.iter().rposition(|b| *b == b'/').unwrap_or(0);
                Loc::Host(*m, rel[..cut].to_vec())
            }
            Loc::PipeDir(_) | Loc::PipeEnd(..) => Loc::Tree(BRIDGE),
            Loc::Descriptor(_) => Loc::Tree(DEV_FD),
        })
    }

    /// What `name` is in the directory `dir`.
    fn child(&self, st: &State, dir: &Loc, name: &[u8]) -> Result<Option<(Loc, FileKind)>, Errno> {
        match dir {
            Loc::Tree(ino) => {
                let node = st.tree.node(*ino)?;
                match &node.kind {
                    Kind::Dir { entries, .. } => {
                        node.need(1)?;
                        if *ino == DEV_FD {
                            let n = std::str::from_utf8(name).ok().and_then(|s| s.parse().ok());
                            return Ok(n.map(|n| (Loc::Descriptor(n), FileKind::CharDevice)));
                        }
                        let Some(&child) = entries.get(name) else {
                            let bridge = *ino == ROOT && name == b".box";
                            return Ok(bridge.then_some((Loc::Tree(BRIDGE), FileKind::Dir)));
                        };
                        let node = st.tree.node(child)?;
                        Ok(Some(match node.kind {
                            Kind::Mount { index, .. } => {
                                (Loc::Host(index, Vec::new()), self.shared.mounts[index].kind)
                            }
                            Kind::Descriptor(n) => (Loc::Descriptor(n), FileKind::CharDevice),
                            _ => (Loc::Tree(child), node.file_kind()),
                        }))
                    }
                    Kind::BridgePipes => Ok(Some((Loc::PipeDir(name.to_vec()), FileKind::Dir))),
                    _ => Err(Errno::NOTDIR),
                }
            }
            Loc::Host(m, rel) => {
                let path = join(rel, name);
                if let Some(ino) = st.fifos.get(*m, &path) {
                    return Ok(Some((Loc::Tree(ino), FileKind::Fifo)));
                }
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
            Loc::PipeEnd(..) | Loc::Descriptor(_) => Err(Errno::NOTDIR),
        }
    }

    pub(crate) fn link_target(&self, st: &State, loc: &Loc) -> Result<Vec<u8>, Errno> {
        match loc {
            Loc::Tree(ino) => match &st.tree.node(*ino)?.kind {
                Kind::Symlink(t) => Ok(t.to_vec()),
                _ => Err(Errno::INVAL),
            },
            Loc::Host(m, rel) => self.shared.mounts[*m].read_link(rel),
            _ => Err(Errno::INVAL),
        }
    }

    pub(crate) fn loc_stat(&self, st: &State, loc: &Loc) -> Result<Stat, Errno> {
        let special = |kind, mode, ino| Stat {
            kind,
            mode,
            uid: crate::UID,
            gid: crate::GID,
            nlink: 1,
            dev: 2,
            ino,
            size: 0,
            atime: 0,
            mtime: 0,
            ctime: 0,
        };
        match loc {
            Loc::Tree(ino) => Ok(st.tree.node(*ino)?.stat(*ino)),
            Loc::Host(m, rel) => self.shared.mounts[*m].stat(rel),
            Loc::PipeDir(_) => Ok(special(FileKind::Dir, 0o700, 1)),
            Loc::PipeEnd(..) => Ok(special(FileKind::Fifo, 0o600, 2)),
            Loc::Descriptor(n) => Ok(special(FileKind::CharDevice, 0o620, 16 + u64::from(*n))),
        }
    }

    /// The absolute path of a directory, for the working directory.
    pub(crate) fn path_of(&self, st: &State, loc: &Loc) -> Result<Vec<u8>, Errno> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut at = match loc {
            Loc::Tree(ino) => *ino,
            Loc::Host(m, rel) => {
                if !rel.is_empty() {
                    parts.push(rel.clone());
                }
                self.shared.mounts[*m].at
            }
            _ => return Err(Errno::NOTDIR),
        };
        while at != ROOT {
            let parent = match &st.tree.node(at)?.kind {
                Kind::Dir { parent, .. } | Kind::Mount { parent, .. } => *parent,
                _ => return Err(Errno::NOTDIR),
            };
            let entries = st.tree.entries(parent)?;
            let name = entries.iter().find(|(_, i)| **i == at).ok_or(Errno::NOENT)?.0;
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

fn follows(how: Last, slash: bool) -> bool {
    match how {
        Last::Follow => true,
        Last::Keep => slash,
        Last::Entry => false,
    }
}

/// Pushes the components of `path` so that the first is popped first.
fn push_components(todo: &mut Vec<Vec<u8>>, path: &[u8]) {
    todo.extend(path.rsplit(|b| *b == b'/').filter(|c| !c.is_empty()).map(<[u8]>::to_vec));
}

/// `dir/name`, where an empty `dir` is the mount's root.
pub(crate) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}
