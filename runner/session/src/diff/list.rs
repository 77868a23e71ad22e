//! The names in a directory of a kept state: for completion, without running anything.

use super::image::ImageFiles;
use super::side::{DiffSide, SideEntry};
use crate::error::Error;
use serde_bytes::ByteBuf;
use wasibox_store::Store;
use wasibox_store::snapshot::FileTree;
use wasibox_store::snapshot::delta::Id;

/// Maximum number of symbolic links on the way to a directory, as in Linux.
const MAX_LINKS: usize = 40;

/// Returns the names in the directory at an absolute path, each with a flag that marks directories;
/// `None` if there is no such directory. Devices and mounts are not included.
///
/// # Errors
/// If the store or the image is damaged.
pub fn list_names(
    store: &Store,
    files: &FileTree,
    image: Option<&ImageFiles>,
    path: &[u8],
) -> Result<Option<Vec<(Vec<u8>, bool)>>, Error> {
    store.with_objects(|objects| {
        let side = DiffSide { objects, files, image };
        let Some(dir) = find_dir(&side, path)? else { return Ok(None) };
        let entries = side.dir_entries(&dir)?;
        let mut out = Vec::new();
        for name in side.dir_names(&dir, true)? {
            match entries.get(&name)? {
                SideEntry::Nothing => {}
                found => out.push((name.into_vec(), matches!(found, SideEntry::Dir(_)))),
            }
        }
        Ok(Some(out))
    })
}

/// Returns the directory at a path.
fn find_dir(side: &DiffSide<'_>, path: &[u8]) -> Result<Option<Id>, Error> {
    let words = |path: &[u8]| -> Vec<ByteBuf> {
        let words = path.split(|b| *b == b'/').filter(|w| !matches!(*w, b"" | b"."));
        words.rev().map(ByteBuf::from).collect()
    };
    let (mut todo, mut above, mut links) = (words(path), vec![Id::ROOT], 0);
    while let Some(name) = todo.pop() {
        if name.as_slice() == b".." {
            above.truncate(above.len().saturating_sub(1).max(1));
            continue;
        }
        let Some(at) = above.last() else { return Ok(None) };
        match side.dir_entries(at)?.get(&name)? {
            SideEntry::Dir(id) => above.push(id),
            SideEntry::Symlink(to) if links < MAX_LINKS => {
                links += 1;
                if to.first() == Some(&b'/') {
                    above.truncate(1);
                }
                todo.extend(words(&to));
            }
            _ => return Ok(None),
        }
    }
    Ok(above.pop())
}
