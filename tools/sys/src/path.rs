//! Conversions between byte strings and paths, parts of paths, and names in directories. Paths are
//! byte strings in all guests and on POSIX hosts.

use std::ffi::{OsStr, OsString};
use std::io;
#[cfg(unix)]
use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(target_os = "wasi")]
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Returns a path that has these bytes.
pub fn from_bytes(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Returns the bytes of a path.
pub fn to_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Returns an OS string that has these bytes.
pub fn os_string(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// Returns the bytes of an OS string.
pub fn os_bytes(s: &OsStr) -> &[u8] {
    s.as_bytes()
}

/// Returns the bytes of an owned OS string.
pub fn os_into_bytes(s: OsString) -> Vec<u8> {
    s.into_vec()
}

/// The path that replaces an empty one. Linux and our kernel reject an empty path with ENOENT, but
/// some runtimes of preview 1 programs do not (Node fails with EINVAL). For those the replacement
/// is a name in a directory that does not exist, so that no file can ever have it.
#[cfg(not(target_os = "wasi"))]
const NOTHING: &str = "";
#[cfg(target_os = "wasi")]
const NOTHING: &str = "/\u{1}nothing/\u{1}";

/// Returns `path` made absolute by `cwd`; nothing else changes lexically (`..` stays). An empty
/// path names no file (POSIX XBD 4.16), in particular not `cwd`: any use of the result fails with
/// ENOENT.
pub fn resolve_path(cwd: &Path, path: &[u8]) -> PathBuf {
    match path {
        [] => PathBuf::from(NOTHING),
        path => cwd.join(from_bytes(path)),
    }
}

/// Returns `dir/name`, without doubling a slash.
pub fn join_path(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut out = dir.to_vec();
    if !out.is_empty() && !out.ends_with(b"/") {
        out.push(b'/');
    }
    out.extend_from_slice(name);
    out
}

/// Returns the last component without trailing slashes; `/` for the root, an empty name for an
/// empty path.
pub fn base_name(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|c| *c != b'/').map_or(0, |i| i + 1);
    if end == 0 {
        return if path.is_empty() { path } else { &path[..1] };
    }
    let start = path[..end].iter().rposition(|c| *c == b'/').map_or(0, |i| i + 1);
    &path[start..end]
}

/// Returns the path without its trailing slashes; the root stays `/`.
pub fn strip_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|c| *c != b'/').map_or(1, |i| i + 1);
    &path[..end.min(path.len())]
}

/// Returns the part of the path before the last component; `.` if that part is empty.
pub fn dir_name(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|c| *c != b'/').map_or(0, |i| i + 1);
    if end == 0 {
        return if path.is_empty() { b"." } else { b"/" };
    }
    let Some(slash) = path[..end].iter().rposition(|c| *c == b'/') else { return b"." };
    let dir = &path[..slash];
    let end = dir.iter().rposition(|c| *c != b'/').map_or(0, |i| i + 1);
    if end == 0 { b"/" } else { &dir[..end] }
}

/// Returns the names in a directory, in byte order.
///
/// # Errors
///
/// The error of opening or reading the directory.
pub fn names_in(dir: &Path) -> io::Result<Vec<Vec<u8>>> {
    let name = |entry: io::Result<std::fs::DirEntry>| Ok(os_into_bytes(entry?.file_name()));
    let mut names: Vec<Vec<u8>> = std::fs::read_dir(dir)?.map(name).collect::<io::Result<_>>()?;
    names.retain(|name| name != b"." && name != b"..");
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        // The expected values are those of basename and dirname in coreutils 9.1.
        for (path, base, dir) in [
            ("/a/b/", "b", "/a"),
            ("a", "a", "."),
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("", "", "."),
            ("a/b", "b", "a"),
            ("a//b", "b", "a"),
            ("/a", "a", "/"),
            ("///a///", "a", "/"),
        ] {
            assert_eq!(base_name(path.as_bytes()), base.as_bytes(), "{path}");
            assert_eq!(dir_name(path.as_bytes()), dir.as_bytes(), "{path}");
        }
    }
}
