//! A file that replaces another: where it is written, and the attributes that it inherits.
//!
//! `std::fs::set_permissions` does nothing on WASI, hence the calls of [`box_sys::meta`].

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use box_sys::meta;

use crate::Ctx;

/// Creates a file in the folder of `path`, under an unused name that begins with `stem`.
///
/// # Errors
/// The error of creating it.
pub fn create_beside(ctx: &Ctx<'_>, path: &Path, stem: &str) -> io::Result<(File, PathBuf)> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    for n in 0..1000u32 {
        let path = dir.join(format!("{stem}{:05}{n:03}", ctx.procs.pid() % 100_000));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Gives `path` the owner and the permission bits of the file it replaces, as far as the user may:
/// `sed -i` of a program leaves a program. Failures are not errors of the tool (GNU's ignore them,
/// too).
pub fn inherit_metadata(from: &meta::Stat, path: &Path) {
    const SET_ID: u16 = 0o6000;
    let mut mode = from.mode & 0o7777;
    let same = meta::stat(path, true).is_ok_and(|s| (s.uid, s.gid) == (from.uid, from.gid));
    // First the owner: changing it takes the set-user-ID bits away, and where it cannot be changed
    // the bits would make a program of another user's rights out of ours.
    if !same && meta::chown(path, Some(from.uid), Some(from.gid), true).is_err() {
        let _ = meta::chown(path, None, Some(from.gid), true);
        mode &= !SET_ID;
    }
    let _ = meta::chmod(path, mode);
}
