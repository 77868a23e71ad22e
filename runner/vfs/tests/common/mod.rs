//! Shorthands for the tests.
#![allow(dead_code)] // each test file uses some

pub mod sessions;

use std::sync::Arc;
use wasibox_vfs::tree::ROOT;
use wasibox_vfs::{
    Budget, DiskLimits, Errno, Executable, Loc, MountSpec, OpenFlags, OpenResult, ProgramMark, Vfs,
    VfsFile,
};

pub const ROOT_LOC: Loc = Loc::Tree(ROOT);
pub const READ: OpenFlags = OpenFlags {
    read: true,
    write: false,
    append: false,
    create: false,
    excl: false,
    truncate: false,
    directory: false,
    follow: true,
};
pub const WRITE: OpenFlags = OpenFlags { write: true, create: true, truncate: true, ..READ };

pub use wasibox_vfs::ProtectedPaths;

/// Returns the expected result of `executable` for a file.
pub fn program_file(program: Option<ProgramMark>, name: &str, head: &str) -> Executable {
    Executable { program, head: head.into(), name: name.into() }
}

/// Returns an unlimited budget.
pub fn unlimited() -> Arc<Budget> {
    Budget::new(u64::MAX)
}

pub fn vfs(mounts: &[MountSpec]) -> Vfs {
    Vfs::new([], mounts, DiskLimits::default(), unlimited(), &ProtectedPaths::default()).unwrap()
}

pub fn mount(host: &std::path::Path, guest: &str, writable: bool) -> MountSpec {
    MountSpec { host: host.into(), guest: guest.into(), writable, quota: None }
}

pub fn open(v: &Vfs, path: &str, how: OpenFlags) -> Result<VfsFile, Errno> {
    match v.open(&ROOT_LOC, path.as_bytes(), how, 0o644)? {
        OpenResult::File(f) => Ok(f),
        OpenResult::Descriptor(n) => panic!("{path} is descriptor {n}"),
        OpenResult::ControllingTerminal => Err(Errno::NXIO),
    }
}

pub fn write(v: &Vfs, path: &str, bytes: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Errno> {
    open(v, path, WRITE)?.write(0, false, bytes.as_ref()).map(drop)
}

pub fn read(v: &Vfs, path: &str) -> Result<String, Errno> {
    Ok(String::from_utf8_lossy(&read_bytes(v, path)?).into_owned())
}

pub fn read_bytes(v: &Vfs, path: &str) -> Result<Vec<u8>, Errno> {
    let f = open(v, path, READ)?;
    let (mut out, mut b) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match f.read(out.len() as u64, &mut b)? {
            0 => return Ok(out),
            n => out.extend_from_slice(&b[..n]),
        }
    }
}

pub fn names(v: &Vfs, path: &str) -> Result<Vec<String>, Errno> {
    let f = open(v, path, OpenFlags { directory: true, ..READ })?;
    let mut out: Vec<String> = v
        .list(f.loc().ok_or(Errno::NOTDIR)?)?
        .into_iter()
        .map(|e| String::from_utf8_lossy(&e.name).into_owned())
        .filter(|n| n != "." && n != "..")
        .collect();
    out.sort();
    Ok(out)
}
