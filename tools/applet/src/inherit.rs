//! Creates files that replace others, and gives them the attributes of the files they replace.
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
///
/// The error of the creation.
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

/// Gives `path` the owner and the permission bits of the file it replaces, as far as the user may
/// do so: after `sed -i`, a program is still executable. Failures are not errors of the tool; GNU's
/// tools ignore them, too.
pub fn inherit_metadata(from: &meta::Stat, path: &Path) {
    const SET_ID: u16 = 0o6000;
    let mut mode = from.mode & 0o7777;
    let same = meta::stat(path, true).is_ok_and(|s| (s.uid, s.gid) == (from.uid, from.gid));
    // The owner comes first, because changing it clears the set-user-ID bit. If it cannot be
    // changed, the bits are left out, because they would lend the current user's rights to a
    // program of another user.
    if !same && meta::chown(path, Some(from.uid), Some(from.gid), true).is_err() {
        let _ = meta::chown(path, None, Some(from.gid), true);
        mode &= !SET_ID;
    }
    let _ = meta::chmod(path, mode);
}
