//! Reports of the files that a call has changed, with digests and types.

use sha2::{Digest, Sha256};
use wasibox_protocol::{FileChange, FileChangeKind};
use wasibox_vfs::{ChangeKind, Errno, FileKind, Loc, OpenFlags, OpenResult, ROOT, TreeChange, Vfs};

/// The maximum size of a file that is hashed, and the maximum number of bytes that are hashed in
/// all.
const HASH_FILE: u64 = 64 << 20;
const HASH_ALL: u64 = 256 << 20;

/// Returns the reports of changes.
pub fn describe_changes(vfs: &Vfs, changes: Vec<TreeChange>) -> Vec<FileChange> {
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
            if readable && let Ok(bytes) = read(vfs, &c.path) {
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

/// Returns the first bytes of a regular file.
fn read(vfs: &Vfs, path: &[u8]) -> Result<Vec<u8>, Errno> {
    let how = OpenFlags { read: true, ..OpenFlags::default() };
    let root = Loc::Tree(ROOT);
    if vfs.stat(&root, path, false)?.kind != FileKind::File {
        return Err(Errno::INVAL);
    }
    let OpenResult::File(file) = vfs.open(&root, path, how, 0)? else { return Err(Errno::INVAL) };
    let mut out = Vec::new();
    let mut buf = vec![0; 256 << 10];
    while (out.len() as u64) < HASH_FILE {
        let n = file.read(out.len() as u64, &mut buf)?;
        if n == 0 {
            break;
        }
        let room = (HASH_FILE - out.len() as u64).min(n as u64) as usize;
        out.extend_from_slice(&buf[..room]);
    }
    Ok(out)
}

fn mime_type(path: &str, bytes: &[u8]) -> String {
    if let Some(m) = mime_guess::from_path(path).first_raw() {
        return m.to_owned();
    }
    let head = &bytes[..bytes.len().min(4096)];
    // The end of the head may split a character.
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
