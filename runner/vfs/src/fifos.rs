//! Named pipes on host mounts (`mkfifo(3)`).
//!
//! They are never created in the host's directory, because opening one there would block the host's
//! threads, and the guest could talk to processes of the host. Instead a pipe exists for the
//! session only, as a node of the tree that no directory of the tree lists; the path below the
//! mount leads to it. A host file that appears under the same name stays hidden as long as the pipe
//! exists.

use crate::node::Ino;
use std::collections::BTreeMap;

/// The name whose length is charged for a pipe's path. It is the longest possible one, because the
/// path may become longer when a directory above it is renamed.
pub(crate) const NAME: [u8; 4096] = [0; 4096];

/// The pipes by mount and path below it.
#[derive(Debug, Default)]
pub struct Fifos(BTreeMap<(usize, Vec<u8>), Ino>);

impl Fifos {
    /// Returns the pipe of that path.
    pub(crate) fn get(&self, mount: usize, rel: &[u8]) -> Option<Ino> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(mount, rel.to_vec())).copied()
    }

    /// Assigns a path to a pipe's node.
    pub(crate) fn insert_path(&mut self, mount: usize, rel: Vec<u8>, ino: Ino) {
        self.0.insert((mount, rel), ino);
    }

    /// Removes a pipe's path; returns its node.
    pub(crate) fn remove_path(&mut self, mount: usize, rel: &[u8]) -> Option<Ino> {
        self.0.remove(&(mount, rel.to_vec()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the paths and nodes below a directory at any depth.
    fn paths_below<'a>(
        &'a self,
        mount: usize,
        dir: &[u8],
    ) -> impl Iterator<Item = (&'a [u8], Ino)> {
        let prefix = join_path(dir, b"");
        let skip = prefix.clone();
        self.0
            .range((mount, prefix)..)
            .take_while(move |((m, rel), _)| *m == mount && rel.starts_with(&skip))
            .map(|((_, rel), ino)| (rel.as_slice(), *ino))
    }

    /// Returns the names and nodes in a directory.
    pub(crate) fn list_dir(&self, mount: usize, dir: &[u8]) -> Vec<(Vec<u8>, Ino)> {
        let skip = join_path(dir, b"").len();
        self.paths_below(mount, dir)
            .map(|(rel, ino)| (rel[skip..].to_vec(), ino))
            .filter(|(name, _)| !name.contains(&b'/'))
            .collect()
    }

    /// Returns whether a directory cannot be removed because it contains a pipe.
    pub(crate) fn any_below(&self, mount: usize, dir: &[u8]) -> bool {
        self.paths_below(mount, dir).next().is_some()
    }

    /// Renames a directory or pipe.
    pub(crate) fn rename_paths(&mut self, mount: usize, from: &[u8], to: &[u8]) {
        let mut moved: Vec<Vec<u8>> =
            self.paths_below(mount, from).map(|(rel, _)| rel.to_vec()).collect();
        moved.push(from.to_vec());
        for rel in moved {
            let new = [to, &rel[from.len()..]].concat();
            if let Some(ino) = self.0.remove(&(mount, rel)) {
                self.0.insert((mount, new), ino);
            }
        }
    }
}

/// Returns `dir/name`, where an empty `dir` is the mount's root.
pub(crate) fn join_path(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}
