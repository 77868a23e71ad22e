//! Byte strings to paths and back. Paths are byte strings on all guests and on POSIX hosts.

use std::ffi::{OsStr, OsString};
#[cfg(unix)]
use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(target_os = "wasi")]
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path for these bytes.
pub fn from_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The bytes of a path.
pub fn to_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// An OS string for these bytes.
pub fn os_string(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// The bytes of an OS string.
pub fn os_bytes(s: &OsStr) -> &[u8] {
    s.as_bytes()
}

/// The bytes of an owned OS string.
pub fn os_into_bytes(s: OsString) -> Vec<u8> {
    s.into_vec()
}

/// What stands for an empty path. Linux refuses one with ENOENT; wasi-libc takes it for its own
/// working directory, which is the root, so that there a name has to be given that nothing has
/// and, its directory missing, nothing can be given.
#[cfg(not(target_os = "wasi"))]
const NOTHING: &str = "";
#[cfg(target_os = "wasi")]
const NOTHING: &str = "/\u{1}nothing/\u{1}";

/// `path` made absolute by `cwd`; lexically nothing else changes (`..` stays). An empty path names
/// nothing (POSIX XBD 4.16), least of all `cwd`: what is done with its result ends in ENOENT.
pub fn resolve(cwd: &Path, path: &[u8]) -> PathBuf {
    match path {
        [] => PathBuf::from(NOTHING),
        path => cwd.join(from_bytes(path)),
    }
}
