//! Folders that the client names as its roots, as mounts of its sessions, where whoever began the server has allowed that.
//!
//! The protocol means to part with roots (SEP-2577); clients have them, and will for long.
#![allow(deprecated)]

use rmcp::model::Root;
use rmcp::service::{Peer, RoleServer};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wasibox::MountSpec;

/// Most roots that are mounted.
const MOST: usize = 32;

/// Whether a client's roots are mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootsMode {
    #[default]
    Refused,
    ReadOnly,
    Writable,
}

/// Where they are for guests.
pub const FOLDER: &str = "/roots";

/// How long a client may take to name its roots.
const PATIENCE: Duration = Duration::from_secs(5);

impl RootsMode {
    /// Mounts for the roots that a client names, if it answers.
    pub(crate) async fn asked(self, peer: &Peer<RoleServer>) -> Option<Vec<MountSpec>> {
        let list = tokio::time::timeout(PATIENCE, peer.list_roots()).await.ok()?.ok()?;
        Some(self.mounts(&list.roots))
    }

    /// Mounts for roots that are folders of this host; others are left out.
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
            _ => folders.take(MOST).map(mount).collect(),
        }
    }
}

/// The folder that a `file:` URI (RFC 8089) names, if it is there.
fn root_folder(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    let path = PathBuf::from(path.into_owned());
    (path.is_absolute() && path.is_dir()).then(|| path.canonicalize().ok())?
}

/// A name that no other root has, made of the root's or its folder's.
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
