//! The bounds of a worker's report about one call.
//!
//! A worker may have been taken over by its guest. Its report costs the parent memory and time in
//! proportion to its bytes, and no more memory than the session's state may take.

use crate::error::Error;
use crate::local::Touched;
use std::collections::HashSet;
use wasibox_protocol::{FileChange, Outcome};
use wasibox_sandbox::Limits;
use wasibox_vfs::delta::{Delta, Id, NodeChange};

/// The maximum number of nodes in one message. The worker's own messages have half as many.
const NODES: usize = 1 << 15;
/// The maximum number of bytes of memory that the changes in one message take.
const PART_MEMORY: u64 = 32 << 20;
/// The maximum number of bytes of a line about progress, an error's text and other short texts.
const TEXT: usize = 16 << 10;
/// The maximum number of changed files in an outcome, and of bytes of their paths, as
/// [`Outcome::files`](crate::Outcome::files) promises.
const FILES: usize = 10_000;
const PATHS: usize = 4 << 20;
/// The maximum number of bytes of a file's type or digest.
const SHORT: usize = 256;
/// The maximum number of processes in a list of an outcome.
const PROCESSES: usize = 20;

/// The size of a worker's report about one call so far.
pub struct ReportBounds {
    /// The maximum number of bytes of memory.
    limit: u64,
    size: u64,
    /// The nodes that were mentioned. A node is removed at most once and before it is written,
    /// because a removal takes time in proportion to the node's known records.
    nodes: HashSet<Id>,
}

impl ReportBounds {
    /// Starts with nothing reported.
    pub fn new(limits: &Limits) -> ReportBounds {
        let limit = super::link::state_limit(limits).saturating_mul(2);
        ReportBounds { limit, size: 0, nodes: HashSet::new() }
    }

    /// Counts bytes; the limit is raised by `more` for this check.
    ///
    /// # Errors
    /// If they are too many.
    pub fn add_bytes(&mut self, bytes: usize, more: u64) -> Result<(), Error> {
        self.size = self.size.saturating_add(bytes as u64);
        if self.size > self.limit.saturating_add(more) { Err(too_much()) } else { Ok(()) }
    }

    /// Counts a part of the changes.
    ///
    /// # Errors
    /// If it is too large, or removes a node that was mentioned before.
    pub fn add_delta(&mut self, delta: &Delta) -> Result<(), Error> {
        let size = delta.memory_size();
        if delta.nodes.len() > NODES || size > PART_MEMORY {
            return Err(too_much());
        }
        self.add_bytes(size as usize, 0)?;
        for (id, change) in &delta.nodes {
            let is_new = self.nodes.insert(id.clone());
            if !is_new && !matches!(change, NodeChange::Is(_)) {
                return Err(Error::Worker("removed a file twice".into()));
            }
        }
        Ok(())
    }

    /// Counts original entries of the workspace.
    ///
    /// # Errors
    /// If they are too many.
    pub fn add_touched(&mut self, part: &Touched) -> Result<(), Error> {
        let size = part.iter().map(|(path, _)| path.len() + 128).sum();
        self.add_bytes(size, 0)
    }
}

/// Checks the lists of an outcome.
///
/// # Errors
/// If one is too long.
pub fn check_outcome(outcome: &Outcome) -> Result<(), Error> {
    let (files, processes) = (&outcome.files, [&outcome.ended, &outcome.background]);
    let texts = |file: &FileChange| {
        let more = [&file.mime_type, &file.sha256];
        let long = more.into_iter().flatten().map(String::len).max().unwrap_or(0);
        // Types and digests are short, and are not part of the limit.
        file.path.len() + if long > SHORT { PATHS } else { 0 }
    };
    let paths: usize = files.iter().map(texts).sum();
    if files.len() > FILES || paths > PATHS || processes.iter().any(|list| list.len() > PROCESSES) {
        return Err(too_much());
    }
    Ok(())
}

/// Cuts a worker's text to a length that can be shown to people.
pub fn cut_text(mut text: String) -> String {
    let mut end = text.len().min(TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn too_much() -> Error {
    Error::Worker("reported more than the session may hold".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_bytes::ByteBuf;
    use wasibox_vfs::delta::{NodeContent, TreeNode};

    fn delta(nodes: Vec<(Id, NodeChange)>) -> Delta {
        Delta { nodes, ..Delta::default() }
    }

    fn bounds() -> ReportBounds {
        ReportBounds::new(&Limits::default())
    }

    #[test]
    fn names_count_as_memory() {
        let deep = |n| Id::Given(vec![ByteBuf::new(); n]);
        assert!(bounds().add_delta(&delta(vec![(deep(2_000_000), NodeChange::Gone)])).is_err());
        let mut limits = Limits::default();
        (limits.disk.bytes, limits.disk.entries) = (1 << 20, 1000);
        let mut small = ReportBounds::new(&limits);
        let many =
            (1..100).map(|n| small.add_delta(&delta(vec![(deep(10_000 + n), NodeChange::Gone)])));
        assert!(many.collect::<Vec<_>>().iter().any(Result::is_err));
    }

    #[test]
    fn a_node_is_removed_once_and_first() {
        let node =
            TreeNode { mode: 0, nlink: 1, atime: 0, mtime: 0, ctime: 0, what: NodeContent::Fifo };
        let is = || (Id::Made(1), NodeChange::Is(node.clone()));
        let gone = || (Id::Made(1), NodeChange::Gone);
        assert!(bounds().add_delta(&delta(vec![gone(), is(), is()])).is_ok());
        for nodes in [
            vec![gone(), gone()],
            vec![is(), gone()],
            vec![gone(), (Id::Made(1), NodeChange::Given)],
        ] {
            assert!(bounds().add_delta(&delta(nodes)).is_err());
        }
        let mut twice = bounds();
        twice.add_delta(&delta(vec![is()])).unwrap();
        assert!(twice.add_delta(&delta(vec![gone()])).is_err());
        let many = (0..=NODES as u64).map(|n| (Id::Made(n), NodeChange::Gone)).collect();
        assert!(bounds().add_delta(&delta(many)).is_err());
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut_text("ä".repeat(TEXT)).len(), TEXT);
        assert_eq!(cut_text(format!("a{}", "ä".repeat(TEXT))).len(), TEXT - 1);
        assert_eq!(cut_text("short".into()), "short");
    }
}
