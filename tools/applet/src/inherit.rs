//! What a file that takes another's place has of it.
//!
//! `std::fs::set_permissions` does nothing on WASI, hence the calls of [`box_sys::meta`].

use std::path::Path;

use box_sys::meta;

/// Gives `path` the owner and the permission bits of the file it replaces, as far as the user may:
/// `sed -i` of a program leaves a program. Failures are no errors of the tool (GNU's ignore them, too).
pub fn inherit(from: &meta::Stat, path: &Path) {
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
