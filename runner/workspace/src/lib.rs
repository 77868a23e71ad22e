//! Workspaces: folders of a session that are a zip, or a folder of the host that is not to be changed.
//!
//! Both are the *base* of a folder in the session's tree ([`wasibox_vfs::BaseFile`]): what is in them is listed and
//! fetched when a guest looks, what a guest changes stays in the session as all its files do. So quota, history,
//! undo and snapshots treat them like the image's files.
//!
//! | what | file |
//! |---|---|
//! | a zip that is read: checks, names, the tree of its entries | `archive` |
//! | the bytes of an entry, kept within the session's memory | `entry` |
//! | the zip that the folder is now | `write` |
//! | what a zip keeps of what the first session began with | `kept` |
//! | a file replaced at once: temporary file, flush, rename | `target` |
//! | the three together, for one process | `zipped` |
//! | a folder of the host beneath the session's changes | `overlay` |
//! | what the session has changed: as a diff, as operations | `changes` |
//! | carrying operations out on the host | `applier` |
//!
//! # Who does what
//! [`Archive`] and [`Overlay`] go where the session's tree is, a jailed process perhaps: they only read. [`ReplacementFile`] and
//! [`Applier`] write, and go where that is allowed, the parent. What goes between them, the bytes of a zip and
//! [`Operation`]s, is checked as what comes from a guest.
//!
//! # Invariants
//! - A zip is refused as a whole before anything of it is seen, if names, sizes or places of its entries
//!   are not what they should be.
//! - A zip that is saved is whole at every moment, and the folder `.wasibox` in it is the host's: guests do not see it.
//! - Nothing is written outside of the folder that an [`Applier`] was made for: all goes down from its descriptor as in
//!   mounts, and links that lead out are not made.
//! - Memory is bounded by the limits and by the session's budget.
//!
//! # Deliberately absent
//! Encryption, methods other than stored and deflated. Hard links: a file with two names is in the zip twice.
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
pub use target::{FileLock, ReplacementFile};
pub use write::ZipReport;
pub use zipped::ZipWorkspace;

/// Whether a symbolic link in the directory `dir` of a folder leads out of the folder: by an absolute path, or up beyond
/// its top.
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

/// The directory of a path, and the name in it.
fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|b| *b == b'/') {
        Some(cut) => (&path[..cut], &path[cut + 1..]),
        None => (b"", path),
    }
}

/// A path in messages.
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
