//! The list of changed files with digests and types.

use crate::outcome::{FileChange, FileChangeKind};
use sha2::{Digest, Sha256};
use wasibox_sandbox::{Change, ChangeKind, Sandbox};

/// Largest file that is hashed, and how much is hashed in all.
const HASH_FILE: u64 = 64 << 20;
const HASH_ALL: u64 = 256 << 20;

/// Describes changes.
pub fn describe(sandbox: &Sandbox, changes: Vec<Change>) -> Vec<FileChange> {
    let mut left = HASH_ALL;
    changes
        .into_iter()
        .map(|c| {
            let path = String::from_utf8_lossy(&c.path).into_owned();
            let change = match c.kind {
                ChangeKind::Created => FileChangeKind::Created,
                ChangeKind::Modified => FileChangeKind::Modified,
                ChangeKind::Deleted => FileChangeKind::Deleted,
            };
            let mut out = FileChange { path, change, size: c.size, mime_type: None, sha256: None };
            let readable = c.kind != ChangeKind::Deleted && c.size <= HASH_FILE.min(left);
            if readable && let Ok(bytes) = sandbox.read_file(&c.path, HASH_FILE) {
                left = left.saturating_sub(c.size);
                let digest = Sha256::digest(&bytes);
                out.sha256 = Some(digest.iter().map(|b| format!("{b:02x}")).collect());
                out.mime_type = Some(mime_type(&out.path, &bytes));
            } else if c.kind != ChangeKind::Deleted {
                out.mime_type = mime_guess::from_path(&out.path).first_raw().map(str::to_owned);
            }
            out
        })
        .collect()
}

fn mime_type(path: &str, bytes: &[u8]) -> String {
    if let Some(m) = mime_guess::from_path(path).first_raw() {
        return m.to_owned();
    }
    let head = &bytes[..bytes.len().min(4096)];
    // A character may be cut at the end of the head.
    let text = !head.contains(&0)
        && match std::str::from_utf8(head) {
            Ok(_) => true,
            Err(e) => e.error_len().is_none(),
        };
    if text { "text/plain" } else { "application/octet-stream" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::mime_type;

    #[test]
    fn types_come_from_the_name_or_the_bytes() {
        assert_eq!(mime_type("/a/plot.png", b""), "image/png");
        assert_eq!(mime_type("/a/data.csv", b""), "text/csv");
        assert_eq!(mime_type("/a/README", "grün\n".as_bytes()), "text/plain");
        assert_eq!(mime_type("/a/blob", b"\0\x01"), "application/octet-stream");
    }
}
