//! The digest of a whole root file system.

use sha2::{Digest, Sha256};

/// SHA-256 over the files' common time, and then a tree's entries in the order of their paths: the
/// kind, path and content (or a link's target) of each, with their lengths. If two digests are
/// equal, a guest sees equal trees, except for permissions.
pub struct TreeDigest(Sha256);

impl TreeDigest {
    /// Creates the digest of an empty tree whose files have the time `time` (see
    /// [`crate::manifest::ManifestExtra`]).
    pub fn new(time: u64) -> TreeDigest {
        TreeDigest(Sha256::new_with_prefix(time.to_le_bytes()))
    }

    fn add_entry(&mut self, kind: u8, path: &str, content: &[u8]) {
        self.0.update([kind]);
        for part in [path.as_bytes(), content] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
    }

    /// Adds a regular file.
    pub fn add_file(&mut self, path: &str, content: &[u8]) {
        self.add_entry(b'f', path, content);
    }

    /// Adds a symbolic link.
    pub fn add_link(&mut self, path: &str, target: &str) {
        self.add_entry(b'l', path, target.as_bytes());
    }

    /// Adds a directory.
    pub fn add_dir(&mut self, path: &str) {
        self.add_entry(b'd', path, b"");
    }

    /// Returns the digest in lower-case hexadecimal.
    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}
