//! The changes of the session's files in a commit, with their texts, for a page that displays them.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wasibox_protocol::{FileChangeKind, Refusal, RefusalKind};
use wasibox_snapshot::delta::{Id, NodeContent, TreeNode};
use wasibox_snapshot::files::{self, walk};
use wasibox_snapshot::journal::JournalState;
use wasibox_snapshot::{FileTree, MemoryObjects, SnapshotError};

/// Maximum number of reported files, and maximum bytes of each that are shown.
const MAX_FILES: usize = 200;
const MAX_TEXT: u64 = 256 << 10;

/// A file that a commit has changed.
#[derive(Serialize)]
pub struct ShownChange {
    path: String,
    change: &'static str,
    /// The file's text before and after; `None` if the file does not exist, is not text, is too
    /// long, or is partly the image's.
    before: Option<String>,
    after: Option<String>,
}

/// The files of a state that belong to the session itself.
struct SessionTree<'a> {
    objects: &'a MemoryObjects,
    files: FileTree,
    found: BTreeMap<Vec<u8>, (Id, TreeNode)>,
}

impl SessionTree<'_> {
    fn read_tree(
        objects: &MemoryObjects,
        files: FileTree,
    ) -> Result<SessionTree<'_>, SnapshotError> {
        let mut found = BTreeMap::new();
        walk::walk_tree(objects, &files.root, &mut |at: walk::TreeEntry<'_>| {
            if let Some(node) =
                at.node.filter(|n| !matches!(n.what, NodeContent::Dir { .. } | NodeContent::Same))
            {
                found.insert(at.path.to_vec(), (at.id.clone(), node.clone()));
            }
            Ok::<_, SnapshotError>(())
        })?;
        Ok(SessionTree { objects, files, found })
    }

    fn text_at(&self, path: &[u8]) -> Option<String> {
        let (id, node) = self.found.get(path)?;
        match &node.what {
            NodeContent::Symlink(target) => Some(format!("-> {}", String::from_utf8_lossy(target))),
            NodeContent::File { len, base, .. }
                if *len <= MAX_TEXT && base.is_none_or(|base| base == 0) =>
            {
                let root = &self.files.root;
                let bytes =
                    files::read(self.objects, root, id, node, 0, *len as usize, &[]).ok()?;
                String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
            }
            _ => None,
        }
    }
}

/// Returns the changes of a commit.
pub fn changes_of(
    objects: &MemoryObjects,
    now: &JournalState<'_>,
    number: u64,
) -> Result<Vec<ShownChange>, Refusal> {
    let none = || Refusal::new(RefusalKind::Missing, format!("there is no commit {number}"));
    let commit = now.commits.get(&number).ok_or_else(none)?;
    let parent = commit.parent.and_then(|parent| now.commits.get(&parent));
    let before =
        SessionTree::read_tree(objects, parent.map(|p| p.state.files).unwrap_or_default())?;
    let after = SessionTree::read_tree(objects, commit.state.files)?;
    let differs = |path: &&Vec<u8>| {
        let of = |tree: &SessionTree<'_>| {
            tree.found.get(*path).map(|(_, n)| (n.mtime, n.mode, n.what.clone()))
        };
        of(&before) != of(&after)
    };
    let mut paths: BTreeSet<Vec<u8>> =
        before.found.keys().chain(after.found.keys()).filter(differs).cloned().collect();
    // A removed file of the image leaves no trace in the tree, but the call's record has it.
    let changed_paths = commit.call.changed_paths(objects).unwrap_or_default();
    paths.extend(changed_paths.iter().map(|changed| changed.path.to_vec()));
    let shown = |path: Vec<u8>| {
        let kind =
            changed_paths.iter().find(|changed| changed.path == path).map(|changed| changed.kind);
        let change = match (before.found.contains_key(&path), after.found.contains_key(&path), kind)
        {
            (_, _, Some(FileChangeKind::Created)) => "created",
            (_, _, Some(FileChangeKind::Deleted)) | (true, false, None) => "deleted",
            (false, true, None) => "created",
            _ => "modified",
        };
        let name = String::from_utf8_lossy(&path).into_owned();
        ShownChange {
            path: name,
            change,
            before: before.text_at(&path),
            after: after.text_at(&path),
        }
    };
    Ok(paths.into_iter().take(MAX_FILES).map(shown).collect())
}
