//! The session's files, for the page.

use crate::session;
use wasibox_vfs::{Errno, File, Loc, OpenFlags, Opened, ROOT, Vfs};

/// Bytes that are moved at once.
const STEP: usize = 256 << 10;

fn open(vfs: &Vfs, path: &[u8], how: OpenFlags) -> Result<File, Errno> {
    match vfs.open(&Loc::Tree(ROOT), path, OpenFlags { follow: true, ..how }, 0o644)? {
        Opened::File(file) => Ok(file),
        Opened::Descriptor(_) => Err(Errno::INVAL),
    }
}

/// Replaces or makes a file.
pub fn write(path: &[u8], bytes: &[u8]) -> Result<(), Errno> {
    let vfs = session::vfs().ok_or(Errno::NODEV)?;
    let how = OpenFlags { write: true, create: true, truncate: true, ..OpenFlags::default() };
    let file = open(vfs, path, how)?;
    let mut at = 0;
    while at < bytes.len() {
        let part = &bytes[at..bytes.len().min(at + STEP)];
        at += file.write(at as u64, false, part)?.0;
    }
    Ok(())
}

/// A file's bytes.
pub fn read(path: &[u8]) -> Result<Vec<u8>, Errno> {
    let vfs = session::vfs().ok_or(Errno::NODEV)?;
    let file = open(vfs, path, OpenFlags { read: true, ..OpenFlags::default() })?;
    let mut out = Vec::new();
    loop {
        let at = out.len();
        out.resize(at + STEP, 0);
        let n = file.read(at as u64, &mut out[at..])?;
        out.truncate(at + n);
        if n == 0 {
            return Ok(out);
        }
    }
}
