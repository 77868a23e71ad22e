//! Files of the host in the guest's name space.
//!
//! | file | content |
//! |---|---|
//! | `mount` | a mount, reached from its own descriptor downwards |
//! | `linux`, `macos` | the part of it that is specific to one system, the same functions in both |
//! | `guard` | the parts of the host that a mount must not lead to |
//! | `account` | limits on additions to the host's files |
//! | `open` | open files, and their limit |
//! | `absent` | the same interface without files of a host: a browser |
//!
//! No type of the system's interface leaves this module, except for the open file itself
//! ([`Handle`]).

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod account;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod mount;
mod open;
#[cfg(all(unix, not(target_vendor = "apple")))]
#[path = "linux.rs"]
mod system;
#[cfg(target_vendor = "apple")]
#[path = "macos.rs"]
mod system;

#[cfg(not(unix))]
use absent as mount;

use mount::most_open;
pub use mount::{Handle, HostMount};
pub(crate) use mount::{read_at, sync};
pub(crate) use open::OpenFiles;
pub use open::OpenHostFile;

use std::path::PathBuf;

/// A host path in the guest's name space.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MountSpec {
    #[serde(with = "crate::host_path")]
    pub host: PathBuf,
    /// Absolute path in the guest.
    pub guest: String,
    pub writable: bool,
    /// Bytes that the guest may add to the host's files through this mount, including 256 for each
    /// new name; `None` is no limit. Truncation gives bytes back, removal does not.
    pub quota: Option<u64>,
}

/// The reason why a mount cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    #[error("cannot mount {host}: {source}")]
    Host { host: PathBuf, source: std::io::Error },
    #[error("cannot mount {host}: not a regular file or directory")]
    Kind { host: PathBuf },
    #[error("cannot mount at {guest}: {why}")]
    Guest { guest: String, why: &'static str },
    #[error("cannot mount {host}: its files are the kernel's, and act on the host")]
    Kernel { host: PathBuf },
    #[error("cannot mount {host}: {path} is the runner's own")]
    Protected { host: PathBuf, path: PathBuf },
    #[error("cannot mount {host}: there are no files of a host here")]
    Absent { host: PathBuf },
}

/// Host files and folders that no guest may see, though a mount may contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectedPaths {
    /// The paths, which need not exist yet.
    pub paths: Vec<PathBuf>,
}
