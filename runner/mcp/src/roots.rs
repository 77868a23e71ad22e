//! Mounts a client's roots, which are folders that it names to the server, in the client's
//! sessions, if the server's operator allows it.
//!
//! The protocol plans to remove roots (SEP-2577), but clients support them and will for a long
//! time.
#![allow(deprecated)]

use rmcp::model::Root;
use rmcp::service::{Peer, RoleServer};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wasibox::MountSpec;

/// The maximum number of roots that are mounted.
const MAX_ROOTS: usize = 32;

/// The access of a client's sessions to its roots; they are mounted unless it is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootsMode {
    #[default]
    Refused,
    ReadOnly,
    Writable,
}

/// The folder in which guests see the roots.
pub const FOLDER: &str = "/roots";

/// The time limit for a client to name its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(5);

impl RootsMode {
    /// Asks the client for its roots and returns their mounts, if it answers.
    pub(crate) async fn asked(self, peer: &Peer<RoleServer>) -> Option<Vec<MountSpec>> {
        let list = tokio::time::timeout(ROOTS_TIMEOUT, peer.list_roots()).await.ok()?.ok()?;
        Some(self.mounts(&list.roots))
    }

    /// Returns mounts for the roots that are folders of this host; others are left out.
    fn mounts(self, roots: &[Root]) -> Vec<MountSpec> {
        let mut names = BTreeSet::new();
        let folders = roots.iter().filter_map(|root| Some((root, root_folder(&root.uri)?)));
        let mount = |(root, host): (&Root, PathBuf)| {
            let name = own_name(&mut names, root.name.as_deref(), &host);
            let (guest, writable) = (format!("{FOLDER}/{name}"), self == RootsMode::Writable);
            MountSpec { host, guest, writable, quota: None }
        };
        match self {
            RootsMode::Refused => Vec::new(),
            _ => folders.take(MAX_ROOTS).map(mount).collect(),
        }
    }
}

/// Returns the folder that a `file:` URI (RFC 8089) names, if it exists.
fn root_folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    let path = PathBuf::from(path.into_owned());
    (path.is_absolute() && path.is_dir()).then(|| path.canonicalize().ok())?
}

/// Returns a unique name for a root, made from the root's own name or its folder's.
fn own_name(taken: &mut BTreeSet<String>, name: Option<&str>, host: &Path) -> String {
    let name = name.or(host.file_name().and_then(|n| n.to_str())).unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(100).collect();
    let name = match name.trim_matches(['.', '-']) {
        "" => "root",
        name => name,
    };
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| taken.insert(name.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_folders_of_this_host_under_names_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let host = dir.path().canonicalize().unwrap().join("my data");
        std::fs::create_dir(&host).unwrap();
        std::fs::write(host.join("file"), "").unwrap();
        let text = format!("file://{}", host.to_str().unwrap().replace(' ', "%20"));
        let named = |name: &str| Root::new(text.clone()).with_name(name);
        let roots = [
            Root::new(text.clone()),
            Root::new(text.replace("file://", "file://localhost")),
            named("../../etc"),
            named("/"),
            Root::new(format!("{text}/file")),
            Root::new(format!("{text}/none")),
            Root::new("file://elsewhere/tmp"),
            Root::new("https://example.com/"),
            Root::new("/tmp"),
        ];
        let mounts = RootsMode::ReadOnly.mounts(&roots);
        let guests: Vec<&str> = mounts.iter().map(|m| &*m.guest).collect();
        assert_eq!(guests, ["/roots/my-data", "/roots/my-data-2", "/roots/etc", "/roots/root"]);
        assert!(mounts.iter().all(|m| m.host == host && !m.writable));
        assert!(RootsMode::Writable.mounts(&roots)[0].writable);
        assert!(RootsMode::Refused.mounts(&roots).is_empty());
    }
}
