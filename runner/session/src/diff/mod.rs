//! The differences between the files of two commits, read from the store alone: nothing runs, and
//! the session may be in use.
//!
//! # Stages
//! 1. [`find_differences`] walks both trees at once, as far as a session has records of them, and
//!    reports each file, link and pipe that differs. The cost depends only on the number of files
//!    that the sessions have touched.
//! 2. [`text::write_unified`] shows a difference in the format of `git diff`.
//!
//! Only the image ([`ImageFiles`]) knows the bytes of its files, and whether a removed name was in
//! the image. Without it such files are reported without their bytes.
//!
//! # Deliberately absent
//! Directories without files, times, renames: a moved file is reported as one removed file and one
//! new file.

mod image;
mod list;
mod side;
pub mod text;

pub use image::{ImageFile, ImageFiles, ImageListing};
pub use list::list_names;

use crate::error::Error;
use side::{DiffSide, FileAt, SideEntry, is_same_content};
use std::collections::HashSet;
use wasibox_store::Store;
use wasibox_store::snapshot::delta::Id;
use wasibox_store::snapshot::tree::read::Differences;
use wasibox_store::snapshot::{FileTree, Objects, SnapshotError as Snapshot};

/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 4096;

/// A path that differs between the two states.
pub struct PathDifference<'a> {
    /// The absolute path.
    pub path: Vec<u8>,
    pub old: Option<DiffItem<'a>>,
    pub new: Option<DiffItem<'a>>,
}

/// The file, link or pipe at a path in one of the states.
pub struct DiffItem<'a> {
    /// The permission bits.
    pub mode: u16,
    /// The length in bytes of a file or of a link's target.
    pub size: u64,
    content: DiffContent<'a>,
}

enum DiffContent<'a> {
    File(DiffSide<'a>, FileAt),
    Symlink(Vec<u8>),
    Fifo,
}

impl DiffItem<'_> {
    /// Returns the bytes of a file or of a link's target; `None` for more than `most` bytes, for
    /// bytes of an image that is not available, and for a pipe.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn read_bytes(&self, most: u64) -> Result<Option<Vec<u8>>, Error> {
        match &self.content {
            DiffContent::Symlink(to) => Ok(Some(to.clone())),
            DiffContent::File(side, file) if file.len <= most => {
                side.read(file, 0, usize::try_from(file.len).unwrap_or(usize::MAX))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether the entry is a symbolic link.
    pub fn is_symlink(&self) -> bool {
        matches!(self.content, DiffContent::Symlink(_))
    }

    /// Returns whether the entry is a named pipe.
    pub fn is_fifo(&self) -> bool {
        matches!(self.content, DiffContent::Fifo)
    }

    /// Returns the mode as Git writes it, for example `0o120000` for a symbolic link.
    pub fn git_mode(&self) -> u32 {
        let kind = match self.content {
            DiffContent::File(..) => 0o100_000,
            DiffContent::Symlink(_) => return 0o120_000,
            DiffContent::Fifo => 0o010_000,
        };
        kind | u32::from(self.mode & 0o7777)
    }
}

/// Calls `emit` for each path that differs between two states of a store's sessions, in order.
/// `emit` must not use the store.
///
/// # Errors
/// If the store or the image is damaged; the first error of `emit`.
pub fn find_differences(
    store: &Store,
    old: &FileTree,
    new: &FileTree,
    image: Option<&ImageFiles>,
    emit: &mut dyn FnMut(PathDifference<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    store.with_objects(|objects| {
        let sides = [old, new].map(|files| DiffSide { objects, files, image });
        DiffWalk {
            sides,
            changed: changed_nodes(objects, old, new)?,
            seen: Default::default(),
            emit,
        }
        .run()
    })
}

/// Returns the nodes whose records differ.
fn changed_nodes(
    objects: &dyn Objects,
    old: &FileTree,
    new: &FileTree,
) -> Result<HashSet<Id>, Error> {
    let fail = |e: Snapshot| Error::Store(e.into());
    let mut out = HashSet::new();
    let mut all = Differences::new(objects, &old.root, &new.root).map_err(fail)?;
    while let Some((key, _, _)) = all.next_difference().map_err(fail)? {
        out.insert(key.id);
    }
    Ok(out)
}

struct DiffWalk<'a, 'e> {
    sides: [DiffSide<'a>; 2],
    changed: HashSet<Id>,
    /// The directories that were visited, for each side.
    seen: [HashSet<Id>; 2],
    emit: &'e mut dyn FnMut(PathDifference<'_>) -> Result<(), Error>,
}

/// A place in both trees.
struct DiffPlace {
    path: Vec<u8>,
    depth: usize,
    found: [SideEntry; 2],
}

impl<'a> DiffWalk<'a, '_> {
    fn run(mut self) -> Result<(), Error> {
        let root = DiffPlace {
            path: Vec::new(),
            depth: 0,
            found: [0, 1].map(|_| SideEntry::Dir(Id::ROOT)),
        };
        let mut todo = vec![root];
        while let Some(place) = todo.pop() {
            self.emit_place(&place)?;
            todo.extend(self.places_below(&place)?);
        }
        Ok(())
    }

    /// Returns the place of each name in the directory at `place`, on either side, the last name
    /// first.
    fn places_below(&mut self, place: &DiffPlace) -> Result<Vec<DiffPlace>, Error> {
        let mut dirs = [None, None];
        for (side, found) in place.found.iter().enumerate() {
            let SideEntry::Dir(id) = found else { continue };
            if place.depth >= MAX_DEPTH || !self.seen[side].insert(id.clone()) {
                let why = Snapshot::Malformed("a directory that contains itself");
                return Err(Error::Store(why.into()));
            }
            dirs[side] = Some(id);
        }
        // Where both sides have the same directory of the image, the names that only the image has
        // cannot differ.
        let whole = dirs[0] != dirs[1];
        let (mut names, mut entries) = (std::collections::BTreeSet::new(), Vec::new());
        for (side, dir) in self.sides.iter().zip(dirs) {
            let Some(dir) = dir else {
                entries.push(None);
                continue;
            };
            names.extend(side.dir_names(dir, whole)?);
            entries.push(Some(side.dir_entries(dir)?));
        }
        let mut out = Vec::with_capacity(names.len());
        for name in names.into_iter().rev() {
            let get = |side: usize| {
                let entries = entries[side].as_ref();
                entries.map_or(Ok(SideEntry::Nothing), |e| e.get(&name))
            };
            let found = [get(0)?, get(1)?];
            let path = [&place.path, b"/".as_slice(), &name].concat();
            out.push(DiffPlace { path, depth: place.depth + 1, found });
        }
        Ok(out)
    }

    fn emit_place(&mut self, place: &DiffPlace) -> Result<(), Error> {
        let is_same = match &place.found {
            [
                SideEntry::Nothing | SideEntry::Dir(_) | SideEntry::Other,
                SideEntry::Nothing | SideEntry::Dir(_) | SideEntry::Other,
            ] => true,
            [SideEntry::File(a), SideEntry::File(b)] if a.mode == b.mode => {
                let untouched = a.id == b.id && !self.changed.contains(&a.id);
                let sides = &self.sides;
                untouched || is_same_content((&sides[0], a), (&sides[1], b))?.unwrap_or(false)
            }
            [SideEntry::Symlink(a), SideEntry::Symlink(b)] => a == b,
            [SideEntry::Fifo(a), SideEntry::Fifo(b)] => a == b,
            _ => false,
        };
        if is_same {
            return Ok(());
        }
        let [old, new] = [0, 1].map(|n| diff_item(self.sides[n], &place.found[n]));
        (self.emit)(PathDifference { path: place.path.clone(), old, new })
    }
}

fn diff_item<'a>(side: DiffSide<'a>, found: &SideEntry) -> Option<DiffItem<'a>> {
    match found {
        SideEntry::Nothing | SideEntry::Dir(_) | SideEntry::Other => None,
        SideEntry::File(file) => Some(DiffItem {
            mode: file.mode,
            size: file.len,
            content: DiffContent::File(side, file.clone()),
        }),
        SideEntry::Symlink(to) => {
            let (size, content) = (to.len() as u64, DiffContent::Symlink(to.clone()));
            Some(DiffItem { mode: 0o777, size, content })
        }
        SideEntry::Fifo(mode) => {
            Some(DiffItem { mode: *mode, size: 0, content: DiffContent::Fifo })
        }
    }
}
