//! One digest for a whole root file system.

use sha2::{Digest, Sha256};

/// SHA-256 over a tree's entries, in the order of their paths: for each its path, kind, length
/// and content (a link's target), and in the end the files' common time. Equal digests mean that
/// a guest sees equal trees, but for permissions.
pub struct TreeDigest(Sha256);

impl TreeDigest {
    /// A digest of nothing yet; `time` as in [`crate::manifest::Extra`].
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

    /// Takes a regular file.
    pub fn add_file(&mut self, path: &str, content: &[u8]) {
        self.add_entry(b'f', path, content);
    }

    /// Takes a symbolic link.
    pub fn add_link(&mut self, path: &str, target: &str) {
        self.add_entry(b'l', path, target.as_bytes());
    }

    /// Takes a directory.
    pub fn add_dir(&mut self, path: &str) {
        self.add_entry(b'd', path, b"");
    }

    /// In lower-case hexadecimal.
    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}
