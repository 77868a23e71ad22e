//! What differs between the files of two commits, from the store alone: nothing runs, and no session
//! need be held.
//!
//! # Stages
//! 1. [`differences`] goes through both trees at once, as far as a session has records of them, and tells
//!    of each file, link and pipe that is not the same. It costs what the sessions have touched.
//! 2. [`text::unified`] shows one as `git diff` does.
//!
//! What a session has of the image's bytes, and whether a name that is gone was the image's, only the image
//! tells ([`ImageFiles`]). Without it such files are told of without bytes.
//!
//! # Deliberately absent
//! Directories without files, times, renames: a file that was moved is one that is gone and one that is new.

mod image;
mod list;
mod side;
pub mod text;

pub use image::{Entry, ImageFiles, Listing};
pub use list::list;

use crate::session::Error;
use side::{FileAt, Found, Side, same};
use std::collections::HashSet;
use wasibox_store::Store;
use wasibox_store::snapshot::delta::Id;
use wasibox_store::snapshot::tree::read::Differences;
use wasibox_store::snapshot::{Error as Snapshot, Files, Objects};

/// Directories within each other.
const MAX_DEPTH: usize = 4096;

/// A path that is not the same in both states.
pub struct Difference<'a> {
    /// Absolute.
    pub path: Vec<u8>,
    pub old: Option<Item<'a>>,
    pub new: Option<Item<'a>>,
}

/// What a path is in one of them.
pub struct Item<'a> {
    /// Permission bits.
    pub mode: u16,
    /// Bytes of a file or of a link's target.
    pub size: u64,
    content: Content<'a>,
}

enum Content<'a> {
    File(Side<'a>, FileAt),
    Symlink(Vec<u8>),
    Fifo,
}

impl Item<'_> {
    /// The bytes of a file or of a link's target; none if they are more than `most`, if the image has them
    /// and is not at hand, or for a pipe.
    ///
    /// # Errors
    /// If the store is damaged.
    pub fn bytes(&self, most: u64) -> Result<Option<Vec<u8>>, Error> {
        match &self.content {
            Content::Symlink(to) => Ok(Some(to.clone())),
            Content::File(side, file) if file.len <= most => {
                side.read(file, 0, usize::try_from(file.len).unwrap_or(usize::MAX))
            }
            _ => Ok(None),
        }
    }

    /// Whether it is a symbolic link.
    pub fn is_symlink(&self) -> bool {
        matches!(self.content, Content::Symlink(_))
    }

    /// Whether it is a named pipe.
    pub fn is_fifo(&self) -> bool {
        matches!(self.content, Content::Fifo)
    }

    /// The mode as Git writes it.
    pub fn git_mode(&self) -> u32 {
        let kind = match self.content {
            Content::File(..) => 0o100_000,
            Content::Symlink(_) => return 0o120_000,
            Content::Fifo => 0o010_000,
        };
        kind | u32::from(self.mode & 0o7777)
    }
}

/// Tells `emit` of every path that differs between two states of a store's sessions, in order. `emit`
/// must not use the store.
///
/// # Errors
/// If store or image are damaged; what `emit` says first.
pub fn differences(
    store: &Store,
    old: &Files,
    new: &Files,
    image: Option<&ImageFiles>,
    emit: &mut dyn FnMut(Difference<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    store.with_objects(|objects| {
        let sides = [old, new].map(|files| Side { objects, files, image });
        Walk { sides, changed: changed(objects, old, new)?, seen: Default::default(), emit }.run()
    })
}

/// The nodes whose records differ.
fn changed(objects: &dyn Objects, old: &Files, new: &Files) -> Result<HashSet<Id>, Error> {
    let fail = |e: Snapshot| Error::Store(e.into());
    let mut out = HashSet::new();
    let mut all = Differences::new(objects, &old.root, &new.root).map_err(fail)?;
    while let Some((key, _, _)) = all.advance().map_err(fail)? {
        out.insert(key.id);
    }
    Ok(out)
}

struct Walk<'a, 'e> {
    sides: [Side<'a>; 2],
    changed: HashSet<Id>,
    /// Directories that were looked into, of either side.
    seen: [HashSet<Id>; 2],
    emit: &'e mut dyn FnMut(Difference<'_>) -> Result<(), Error>,
}

/// A place in both trees.
struct Place {
    path: Vec<u8>,
    depth: usize,
    found: [Found; 2],
}

impl<'a> Walk<'a, '_> {
    fn run(mut self) -> Result<(), Error> {
        let root =
            Place { path: Vec::new(), depth: 0, found: [0, 1].map(|_| Found::Dir(Id::ROOT)) };
        let mut todo = vec![root];
        while let Some(place) = todo.pop() {
            self.tell(&place)?;
            todo.extend(self.below(&place)?);
        }
        Ok(())
    }

    /// What is below a place where a directory is, the last name first.
    fn below(&mut self, place: &Place) -> Result<Vec<Place>, Error> {
        let mut dirs = [None, None];
        for (side, found) in place.found.iter().enumerate() {
            let Found::Dir(id) = found else { continue };
            if place.depth >= MAX_DEPTH || !self.seen[side].insert(id.clone()) {
                let why = Snapshot::Malformed("a directory that is in itself");
                return Err(Error::Store(why.into()));
            }
            dirs[side] = Some(id);
        }
        // Of one directory of the image in both, what only the image has is the same.
        let whole = dirs[0] != dirs[1];
        let (mut names, mut entries) = (std::collections::BTreeSet::new(), Vec::new());
        for (side, dir) in self.sides.iter().zip(dirs) {
            let Some(dir) = dir else {
                entries.push(None);
                continue;
            };
            names.extend(side.names(dir, whole)?);
            entries.push(Some(side.entries(dir)?));
        }
        let mut out = Vec::with_capacity(names.len());
        for name in names.into_iter().rev() {
            let get = |side: usize| {
                let entries = entries[side].as_ref();
                entries.map_or(Ok(Found::Nothing), |e| e.get(&name))
            };
            let found = [get(0)?, get(1)?];
            let path = [&place.path, b"/".as_slice(), &name].concat();
            out.push(Place { path, depth: place.depth + 1, found });
        }
        Ok(out)
    }

    fn tell(&mut self, place: &Place) -> Result<(), Error> {
        let is_same = match &place.found {
            [
                Found::Nothing | Found::Dir(_) | Found::Other,
                Found::Nothing | Found::Dir(_) | Found::Other,
            ] => true,
            [Found::File(a), Found::File(b)] if a.mode == b.mode => {
                let untouched = a.id == b.id && !self.changed.contains(&a.id);
                let sides = &self.sides;
                untouched || same((&sides[0], a), (&sides[1], b))?.unwrap_or(false)
            }
            [Found::Symlink(a), Found::Symlink(b)] => a == b,
            [Found::Fifo(a), Found::Fifo(b)] => a == b,
            _ => false,
        };
        if is_same {
            return Ok(());
        }
        let [old, new] = [0, 1].map(|n| item(self.sides[n], &place.found[n]));
        (self.emit)(Difference { path: place.path.clone(), old, new })
    }
}

fn item<'a>(side: Side<'a>, found: &Found) -> Option<Item<'a>> {
    match found {
        Found::Nothing | Found::Dir(_) | Found::Other => None,
        Found::File(file) => Some(Item {
            mode: file.mode,
            size: file.len,
            content: Content::File(side, file.clone()),
        }),
        Found::Symlink(to) => {
            let (size, content) = (to.len() as u64, Content::Symlink(to.clone()));
            Some(Item { mode: 0o777, size, content })
        }
        Found::Fifo(mode) => Some(Item { mode: *mode, size: 0, content: Content::Fifo }),
    }
}
