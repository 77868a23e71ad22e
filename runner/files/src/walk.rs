//! Walks a directory tree, in the order of paths, within limits.

use crate::place::FileCtx;
use wasibox_protocol::files::FilesError;
use wasibox_vfs::walk::LastComponent;
use wasibox_vfs::{FileKind, Loc};

/// The maximum number of levels of directories.
const DEPTH: usize = 200;

/// An entry that the walk visits.
pub struct WalkedEntry<'a> {
    /// The directory that contains it.
    pub dir: &'a Loc,
    pub name: &'a [u8],
    /// Its path relative to the start of the walk.
    pub path: &'a [u8],
    pub kind: FileKind,
}

/// The next step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkStep {
    /// Enters the entry, if it is a directory.
    Into,
    /// Skips the entry's contents.
    Past,
    Stop,
}

/// A directory of the current path, with the entries that are left.
struct WalkLevel {
    at: Loc,
    todo: std::vec::IntoIter<(Vec<u8>, FileKind)>,
    /// The length of its path.
    len: usize,
}

/// Calls `each` for everything below `top`, and `failed` for a directory that cannot be read.
pub fn walk_tree(
    ctx: &FileCtx<'_>,
    top: Loc,
    what: &str,
    failed: &mut dyn FnMut(&[u8], wasibox_vfs::Errno),
    each: &mut dyn FnMut(WalkedEntry<'_>) -> Result<WalkStep, FilesError>,
) -> Result<(), FilesError> {
    let mut path: Vec<u8> = Vec::new();
    let names = match ctx.dir_names(&top) {
        Ok(names) => names,
        Err(e) => {
            failed(b"", e);
            return Ok(());
        }
    };
    let mut levels = vec![WalkLevel { at: top, todo: names.into_iter(), len: 0 }];
    while let Some(now) = levels.last_mut() {
        ctx.check_time(what)?;
        path.truncate(now.len);
        let Some((name, kind)) = now.todo.next() else {
            levels.pop();
            continue;
        };
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(&name);
        match each(WalkedEntry { dir: &now.at, name: &name, path: &path, kind })? {
            WalkStep::Stop => return Ok(()),
            WalkStep::Past => continue,
            WalkStep::Into if kind != FileKind::Dir => continue,
            WalkStep::Into => {}
        }
        if levels.len() >= DEPTH {
            failed(&path, wasibox_vfs::Errno::NAMETOOLONG);
            continue;
        }
        let Some(now) = levels.last() else { break };
        let found = ctx
            .vfs
            .resolve_path(&now.at, &name, LastComponent::Keep)
            .and_then(|w| w.existing_loc());
        match found.and_then(|at| ctx.dir_names(&at).map(|names| (at, names))) {
            Ok((at, names)) => {
                levels.push(WalkLevel { at, todo: names.into_iter(), len: path.len() })
            }
            Err(e) => failed(&path, e),
        }
    }
    Ok(())
}
