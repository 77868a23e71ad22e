//! Paths of the host in messages, as bytes because they need not be UTF-8.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsString;
#[cfg(unix)]
use std::os::unix::ffi::{OsStrExt, OsStringExt};
#[cfg(target_os = "wasi")]
use std::os::wasi::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Writes a path as bytes, because it need not be UTF-8.
pub fn serialize<S: Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
    path.as_os_str().as_bytes().serialize(s)
}

/// Reads a path that [`serialize`] has written.
pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<PathBuf, D::Error> {
    Ok(OsString::from_vec(Vec::deserialize(d)?).into())
}
