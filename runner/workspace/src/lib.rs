//! Workspaces: folders of a session that show a zip, or a folder of the host that must not be
//! changed.
//!
//! Both are the *base* of a folder in the session's tree ([`wasibox_vfs::BaseFile`]): their
//! contents are listed and read when a guest accesses them, and a guest's changes stay in the
//! session like all its files. So quota, history, undo and snapshots treat them like the image's
//! files.
//!
//! | topic | file |
//! |---|---|
//! | reading a zip: checks, names, the tree of its entries | `archive` |
//! | the bytes of an entry, kept within the session's memory | `entry` |
//! | writing the folder's current state as a zip | `write` |
//! | the original files of the first session, kept in a zip | `kept` |
//! | replacing a file at once: temporary file, flush, rename | `target` |
//! | a zip that is read and saved in one process | `zipped` |
//! | a folder of the host beneath the session's changes | `overlay` |
//! | the session's changes: as a diff, as operations | `changes` |
//! | applying operations on the host | `applier` |
//!
//! # Division of work
//! [`Archive`] and [`Overlay`] are used where the session's tree is, possibly in a jailed process:
//! they only read. [`ReplacementFile`] and [`Applier`] write, and are used where that is allowed,
//! in the parent. The data between them, the bytes of a zip and [`Operation`]s, is checked like
//! data from a guest.
//!
//! # Invariants
//! - A zip is refused as a whole, before any of it becomes visible, if the names, sizes or offsets
//!   of its entries are invalid.
//! - A saved zip is complete at every moment, and its folder `.wasibox` belongs to the host: guests
//!   do not see it.
//! - Nothing is written outside the folder that an [`Applier`] was made for: all paths are resolved
//!   from its descriptor as in mounts, and links that lead out are not made.
//! - Memory is bounded by the limits and by the session's budget.
//!
//! # Deliberately absent
//! Encryption, methods other than stored and deflated. Hard links: a file with two names is in the
//! zip twice.
#![forbid(unsafe_code)]

mod applier;
mod archive;
mod changes;
mod entry;
mod error;
mod kept;
mod overlay;
mod target;
mod write;
mod zipped;

pub use applier::{Applier, ApplyReport};
pub use archive::{Archive, HIDDEN, ZipLimits};
pub use changes::{Diff, Operation, OriginalEntry, WorkspaceChange};
pub use error::WorkspaceError;
pub use kept::KeepBase;
pub use overlay::Overlay;
pub use target::{FileLock, ReplacementFile, open_zip_file};
pub use write::ZipReport;
pub use zipped::ZipWorkspace;

/// Returns whether a symbolic link in the directory `dir` of a folder leads out of the folder: by
/// an absolute path, or upwards beyond its top.
fn leads_out(dir: &[u8], target: &[u8]) -> bool {
    if target.starts_with(b"/") {
        return true;
    }
    let mut depth = dir.split(|b| *b == b'/').filter(|p| !p.is_empty()).count();
    for part in target.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

/// Splits a path into its directory and its name.
fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|b| *b == b'/') {
        Some(cut) => (&path[..cut], &path[cut + 1..]),
        None => (b"", path),
    }
}

/// Returns a path for messages.
fn lossy_path(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::leads_out;

    #[test]
    fn links_that_lead_out() {
        for (dir, target, out) in [
            (&b""[..], &b"a"[..], false),
            (b"", b"..", true),
            (b"a", b"..", false),
            (b"a", b"../..", true),
            (b"a/b", b"../../c", false),
            (b"a", b"b/../../..", true),
            (b"a", b"x/../../y", false),
            (b"a", b"/etc", true),
            (b"a", b"./../a/../../b", true),
        ] {
            assert_eq!(leads_out(dir, target), out, "{dir:?} {target:?}");
        }
    }
}
