//! Building a session's file system.

use crate::base::{self, BaseKind, Folder, FolderEntry};
use crate::budget::Budget;
use crate::device::Device;
use crate::host::{HostMount, MountError, MountSpec, OpenFiles, ProtectedPaths};
use crate::net::LoopbackNetwork;
use crate::pipe::Pipes;
use crate::quota::DiskLimits;
use crate::terminal::Terminals;
use crate::tree::{
    BRIDGE, CODE_FROM_STRINGS, DEV_FD, DEV_PTMX, DEV_PTS, Ino, Inode, NodeKind, ROOT,
    TERMINAL_NODE, TreeState,
};
use crate::version::TreeOrigin;
use crate::vfs::{Vfs, VfsInner};
use std::sync::{Arc, RwLock};

/// A path of the base layer.
pub struct BaseFile {
    /// Absolute, plain (no dots, no doubled slashes).
    pub path: Vec<u8>,
    pub mode: u16,
    /// Modification time in nanoseconds since the epoch.
    pub time: u64,
    pub kind: BaseKind,
}

/// Directories that every session has, writable, with their modes.
pub const HOMES: &[(&str, u16)] = &[
    ("/bin", 0o755),
    ("/dev", 0o755),
    ("/etc", 0o755),
    ("/home/user", 0o755),
    ("/mnt/input", 0o755),
    ("/output", 0o755),
    ("/tmp", 0o1777),
    ("/usr/bin", 0o755),
    ("/usr/local/bin", 0o755),
    ("/var/tmp", 0o1777),
];

impl Vfs {
    /// Builds a file system of `base` (later entries replace earlier ones of the same path;
    /// directories are merged), devices, the device nodes below `/.box` and `mounts`. All memory
    /// that it keeps because of a guest is counted in `budget`. No mount shows a path of
    /// `protected`.
    ///
    /// # Errors
    /// If a mount's host path cannot be opened, is one of the kernel's file systems, or is a
    /// protected path or lies in one; or if its guest path is not absolute, is `/`, contains dots,
    /// or lies in `/dev`, in another mount or above one.
    pub fn new(
        base: impl IntoIterator<Item = BaseFile>,
        mounts: &[MountSpec],
        limits: DiskLimits,
        budget: Arc<Budget>,
        protected: &ProtectedPaths,
    ) -> Result<Vfs, MountError> {
        let mut st = TreeState::new(limits, budget.clone());
        let dir = |parent| NodeKind::Dir { parent, entries: Arc::default() };
        st.tree.set(ROOT, Inode::new(dir(ROOT), 0o755));
        make_bridge(&mut st);
        for (path, mode) in HOMES {
            let ino = make_dirs(&mut st, path.as_bytes());
            if let Ok(n) = st.tree.node_mut(ino) {
                n.mode = *mode;
            }
        }
        make_devices(&mut st);
        let proc = make_dirs(&mut st, b"/proc");
        for f in base {
            add_base(&mut st, f);
        }
        for (i, m) in mounts.iter().enumerate() {
            refuse_nested(m, &mounts[..i])?;
        }
        let mut opened = Vec::new();
        for (i, m) in mounts.iter().enumerate() {
            let at = mount_point(&mut st, m)?;
            let mut mount = HostMount::open(m, at, i, protected)?;
            mount.cap_length(limits.file);
            opened.push(mount);
            if let Ok(n) = st.tree.node_mut(at)
                && let NodeKind::Dir { parent, .. } = n.kind
            {
                n.kind = NodeKind::Mount { index: i, parent };
            }
        }
        let shared = VfsInner {
            origin: TreeOrigin::new(st.tree.clone()),
            state: RwLock::new(st),
            mounts: opened,
            host_files: OpenFiles::new(limits.host_descriptors),
            pipes: Pipes::new(budget.clone(), limits.pipes),
            network: LoopbackNetwork::new(budget.clone()),
            terminals: Terminals::new(budget.clone()),
            session_state: Default::default(),
            service: Default::default(),
            forbids_code: Default::default(),
            host_changes: Default::default(),
            proc,
            began: std::time::Instant::now(),
            budget,
        };
        Ok(Vfs { shared: Arc::new(shared) })
    }
}

fn make_bridge(st: &mut TreeState) {
    st.tree.set(BRIDGE, Inode::new(NodeKind::Dir { parent: ROOT, entries: Arc::default() }, 0o500));
    for (name, kind, mode) in
        [("meta", NodeKind::BridgeMeta, 0o600), ("pipe", NodeKind::BridgePipes, 0o500)]
    {
        let ino = st.tree.add(Inode::new(kind, mode));
        link_entry(st, BRIDGE, name.as_bytes(), ino);
    }
    st.tree.set(TERMINAL_NODE, Inode::new(NodeKind::BridgeTerminals, 0o600));
    link_entry(st, BRIDGE, b"terminal", TERMINAL_NODE);
    st.tree.set(CODE_FROM_STRINGS, Inode::new(NodeKind::Device(Device::Null), 0o400));
}

fn make_devices(st: &mut TreeState) {
    let dev = make_dirs(st, b"/dev");
    let nodes = [
        ("null", NodeKind::Device(Device::Null)),
        ("zero", NodeKind::Device(Device::Zero)),
        ("full", NodeKind::Device(Device::Full)),
        ("random", NodeKind::Device(Device::Random)),
        ("urandom", NodeKind::Device(Device::Random)),
        ("tty", NodeKind::Device(Device::Tty)),
        ("stdin", NodeKind::Descriptor(0)),
        ("stdout", NodeKind::Descriptor(1)),
        ("stderr", NodeKind::Descriptor(2)),
    ];
    for (name, kind) in nodes {
        let ino = st.tree.add(Inode::new(kind, 0o666));
        link_entry(st, dev, name.as_bytes(), ino);
    }
    st.tree.set(DEV_FD, Inode::new(NodeKind::Dir { parent: dev, entries: Arc::default() }, 0o555));
    link_entry(st, dev, b"fd", DEV_FD);
    st.tree.set(DEV_PTMX, Inode::new(NodeKind::Device(Device::Ptmx), 0o666));
    link_entry(st, dev, b"ptmx", DEV_PTMX);
    st.tree.set(DEV_PTS, Inode::new(NodeKind::Dir { parent: dev, entries: Arc::default() }, 0o555));
    link_entry(st, dev, b"pts", DEV_PTS);
    let own = make_dirs(st, b"/proc/self");
    let fd = st.tree.add(Inode::new(NodeKind::Symlink((*b"/dev/fd").into()), 0o777));
    link_entry(st, own, b"fd", fd);
}

fn link_entry(st: &mut TreeState, dir: Ino, name: &[u8], ino: Ino) {
    if let Ok(entries) = st.tree.entries_mut(dir) {
        entries.put_entry(name, ino);
    }
}

/// Returns the directory at `path`, and creates it with all directories above. A file in its place
/// is replaced, because only base entries of one image meet here.
fn make_dirs(st: &mut TreeState, path: &[u8]) -> Ino {
    let mut at = ROOT;
    for name in path.split(|b| *b == b'/').filter(|n| !n.is_empty() && *n != b"." && *n != b"..") {
        let known = st.tree.entries_of(at).ok().and_then(|e| e.get(name).copied());
        let known = known
            .filter(|i| st.tree.get(*i).is_some_and(|n| matches!(n.kind, NodeKind::Dir { .. })));
        at = known.unwrap_or_else(|| {
            let ino = st
                .tree
                .add(Inode::new(NodeKind::Dir { parent: at, entries: Arc::default() }, 0o755));
            link_entry(st, at, name, ino);
            if let Ok(up) = st.tree.node_mut(at) {
                up.nlink += 1;
            }
            ino
        });
    }
    at
}

fn add_base(st: &mut TreeState, f: BaseFile) {
    let cut = f.path.iter().rposition(|b| *b == b'/').unwrap_or(0);
    let (dir, name) = (&f.path[..cut], f.path.get(cut + 1..).unwrap_or(&[]));
    match base::leaf_inode(f.kind, f.mode, f.time) {
        Err(folder) => {
            let ino = make_dirs(st, &f.path);
            merge_folder(st, ino, &*folder, f.mode, f.time);
        }
        Ok(node) => {
            if matches!(name, b"" | b"." | b"..") || name.len() > crate::node::MAX_NAME {
                return;
            }
            let dir = make_dirs(st, dir);
            let ino = st.tree.add(node);
            link_entry(st, dir, name, ino);
        }
    }
}

/// Merges a folder's entries into the directory `at`, which exists already: one of the few
/// directories that every session has. All others are listed on demand.
fn merge_folder(st: &mut TreeState, at: Ino, folder: &dyn Folder, mode: u16, time: u64) {
    let listed = match folder.list_entries() {
        Ok(listed) => listed,
        Err(why) => return st.tree.base().note_damage(why),
    };
    for e in listed.into_iter().filter(FolderEntry::is_plain) {
        let known = st.tree.entries_of(at).ok().and_then(|n| n.get(e.name.as_slice()).copied());
        let known = known.filter(|i| *i < base::FIRST && st.tree.entries_of(*i).is_ok());
        if let (BaseKind::Dir(folder), Some(known)) = (&e.kind, known) {
            merge_folder(st, known, &**folder, e.mode, e.time);
            continue;
        }
        let is_dir = matches!(e.kind, BaseKind::Dir(_));
        let ino = st.tree.base().add_entry(at, e.kind, e.mode, e.time);
        link_entry(st, at, &e.name, ino);
        if let Ok(n) = st.tree.node_mut(at) {
            n.nlink += u32::from(is_dir);
        }
    }
    if let Ok(n) = st.tree.node_mut(at) {
        (n.mode, n.mtime, n.ctime) = (mode, time, time);
    }
}

/// Refuses a mount in or above another, because the outer one would hide the inner one.
fn refuse_nested(m: &MountSpec, others: &[MountSpec]) -> Result<(), MountError> {
    let parts = |m: &'_ MountSpec| -> Vec<String> {
        m.guest.split('/').filter(|p| !p.is_empty()).map(str::to_owned).collect()
    };
    let own = parts(m);
    for other in others.iter().map(parts) {
        let why = match () {
            () if own.starts_with(&other) => "it lies in another mount",
            () if other.starts_with(&own) => "another mount lies in it",
            () => continue,
        };
        return Err(MountError::Guest { guest: m.guest.clone(), why });
    }
    Ok(())
}

fn mount_point(st: &mut TreeState, m: &MountSpec) -> Result<Ino, MountError> {
    let bad = |why| Err(MountError::Guest { guest: m.guest.clone(), why });
    let path = m.guest.as_bytes();
    if !path.starts_with(b"/") {
        return bad("the guest path must be absolute");
    }
    let parts: Vec<&[u8]> = path.split(|b| *b == b'/').filter(|p| !p.is_empty()).collect();
    if parts.is_empty() {
        return bad("the root cannot be replaced");
    }
    if parts
        .iter()
        .any(|p| *p == b"." || *p == b".." || p.len() > crate::node::MAX_NAME || p.contains(&0))
    {
        return bad("the guest path must be plain");
    }
    if parts[0] == b"dev" || parts[0] == b".box" {
        return bad("the path is reserved");
    }
    let mut at = ROOT;
    for name in &parts {
        let next = st.tree.entries_of(at).ok().and_then(|e| e.get(*name).copied());
        match next.and_then(|i| st.tree.get(i).map(|n| (i, n))) {
            Some((_, n)) if matches!(n.kind, NodeKind::Mount { .. }) => {
                return bad("it lies in another mount");
            }
            Some((i, n)) if matches!(n.kind, NodeKind::Dir { .. }) => at = i,
            Some(_) => break,
            None => break,
        }
    }
    Ok(make_dirs(st, path))
}
