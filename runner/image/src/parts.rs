//! An image in parts, for loading over a network: a page can start a shell after a few megabytes.
//!
//! The [`Catalog`] has all names, permission bits and lengths, and the part that holds each file's
//! bytes. Each program is a part of its own; the caller that splits the image assigns the files to
//! parts. A part is fetched when one of its bytes is needed. A directory of the catalog is decoded
//! when it is listed, because most of the thousands of directories of an image never are.
//!
//! # Deliberately absent
//! Digests of parts, because the code that fetches parts gets their digests from the parts' source.

use crate::{EntryKind, Image, ImageDir, ImageEntry, ImageError};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An image without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// The value of [`Image::identity`].
    pub identity: [u8; 32],
    /// The value of [`Image::time`].
    pub time: u64,
    /// The commands' names with the number of the program that implements each.
    pub commands: Vec<(String, u32)>,
    /// The programs, in the order of [`Image::atoms`]. They are the first parts.
    pub programs: Vec<CatalogProgram>,
    /// Lengths of all parts.
    pub parts: Vec<u32>,
    /// The root file system's directories by their mount paths.
    pub volumes: Vec<(String, CatalogDir)>,
    /// The encoded directories, one after another; subdirectories come before their parent.
    listings: ByteBuf,
}

/// A program of the image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogProgram {
    pub name: String,
    /// SHA-256.
    pub digest: [u8; 32],
}

/// A directory: the position of its entries in the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogDir {
    at: u32,
    len: u32,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogEntry {
    pub name: String,
    /// Permission bits.
    pub mode: u16,
    pub what: CatalogEntryKind,
}

/// The kind of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogEntryKind {
    Dir(CatalogDir),
    /// A range of bytes of a part.
    File {
        part: u32,
        at: u32,
        len: u32,
    },
    Symlink(String),
}

/// A part: its name and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePart {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Catalog {
    /// Encodes the catalog.
    ///
    /// # Errors
    /// Returns [`ImageError::Pack`] if it cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>, ImageError> {
        postcard::to_stdvec(self).map_err(|e| ImageError::Pack(e.to_string()))
    }

    /// Decodes a catalog.
    ///
    /// # Errors
    /// Returns [`ImageError::NotAnImage`] if the bytes are not a catalog, and
    /// [`ImageError::Damaged`] if its numbers are inconsistent.
    pub fn decode(bytes: &[u8]) -> Result<Catalog, ImageError> {
        let catalog: Catalog = match postcard::take_from_bytes(bytes) {
            Ok((catalog, [])) => catalog,
            _ => return Err(ImageError::NotAnImage { path: "the catalog".into() }),
        };
        let is_program = |n: &u32| (*n as usize) < catalog.programs.len();
        let fits = catalog.programs.len() <= catalog.parts.len()
            && catalog.commands.iter().all(|(_, n)| is_program(n));
        if fits { Ok(catalog) } else { Err(damaged_image("its programs")) }
    }

    /// Returns the entries of a directory.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the catalog has no such directory, if a file lies outside
    /// of its part, or if a subdirectory does not come before the directory.
    pub fn list_dir(&self, dir: CatalogDir) -> Result<Vec<CatalogEntry>, ImageError> {
        let range = dir.at as usize..dir.at as usize + dir.len as usize;
        let listing = self.listings.get(range).ok_or_else(|| damaged_image("a directory"))?;
        let items: Vec<CatalogEntry> = match postcard::take_from_bytes(listing) {
            Ok((items, [])) => items,
            _ => return Err(damaged_image("a directory")),
        };
        let fits = |item: &CatalogEntry| match &item.what {
            CatalogEntryKind::Dir(below) => {
                u64::from(below.at) + u64::from(below.len) <= dir.at.into()
            }
            CatalogEntryKind::File { part, at, len } => {
                let end = u64::from(*at) + u64::from(*len);
                self.parts.get(*part as usize).is_some_and(|part| end <= u64::from(*part))
            }
            CatalogEntryKind::Symlink(_) => true,
        };
        if items.iter().all(fits) { Ok(items) } else { Err(damaged_image("a directory's entries")) }
    }
}

fn damaged_image(why: &str) -> ImageError {
    ImageError::Damaged { path: "the catalog".into(), why: why.into() }
}

/// Splits an image; `part_of` returns the name of the part that gets the file at a path.
///
/// # Errors
/// Returns [`ImageError::Damaged`] if the image is damaged, and [`ImageError::Pack`] if a part
/// becomes too large.
pub fn split_image(
    image: &Arc<Image>,
    part_of: &dyn Fn(&str) -> String,
) -> Result<(Catalog, Vec<ImagePart>), ImageError> {
    let names: Vec<&String> = image.atoms().keys().collect();
    let number = |atom: &str| names.iter().position(|name| *name == atom).unwrap_or(0) as u32;
    let mut parts = Vec::new();
    for name in &names {
        parts.push(ImagePart { name: (*name).clone(), bytes: image.checked_atom(name)? });
    }
    let mut split =
        CatalogBuilder { part_of, parts, numbers: BTreeMap::new(), listings: Vec::new() };
    let mut volumes = Vec::new();
    for folder in image.folders()? {
        volumes.push((folder.path().to_owned(), split.add_dir(&folder)?));
    }
    let programs = image
        .atoms()
        .iter()
        .map(|(name, d)| CatalogProgram { name: name.clone(), digest: *d })
        .collect();
    let catalog = Catalog {
        identity: image.identity(),
        time: image.time(),
        commands: image.commands().iter().map(|c| (c.name.clone(), number(&c.atom))).collect(),
        programs,
        parts: split.parts.iter().map(|part| part.bytes.len() as u32).collect(),
        volumes,
        listings: split.listings.into(),
    };
    Ok((catalog, split.parts))
}

struct CatalogBuilder<'a> {
    part_of: &'a dyn Fn(&str) -> String,
    parts: Vec<ImagePart>,
    numbers: BTreeMap<String, u32>,
    listings: Vec<u8>,
}

impl CatalogBuilder<'_> {
    fn add_dir(&mut self, folder: &ImageDir) -> Result<CatalogDir, ImageError> {
        let mut out = Vec::new();
        for (entry, inner) in folder.list()? {
            let ImageEntry { path, mode, kind, .. } = entry;
            let what = match (kind, inner) {
                (_, Some(inner)) => CatalogEntryKind::Dir(self.add_dir(&inner)?),
                (EntryKind::File(bytes), _) => self.add_file(&path, (*bytes).as_ref())?,
                (EntryKind::Symlink(target), _) => CatalogEntryKind::Symlink(target),
                (EntryKind::Dir, None) => continue,
            };
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            out.push(CatalogEntry { name, mode, what });
        }
        let listing = postcard::to_stdvec(&out).map_err(|e| ImageError::Pack(e.to_string()))?;
        let number = |n| u32::try_from(n).map_err(|_| ImageError::Pack("too many names".into()));
        let (at, len) = (number(self.listings.len())?, number(listing.len())?);
        self.listings.extend(listing);
        Ok(CatalogDir { at, len })
    }

    fn add_file(&mut self, path: &str, bytes: &[u8]) -> Result<CatalogEntryKind, ImageError> {
        let name = (self.part_of)(path);
        let (next, parts) = (self.parts.len() as u32, &mut self.parts);
        let part = *self.numbers.entry(name).or_insert_with_key(|name| {
            parts.push(ImagePart { name: name.clone(), bytes: Vec::new() });
            next
        });
        let into = &mut self.parts[part as usize].bytes;
        let too_large = || ImageError::Pack(format!("{path}: its part is too large"));
        let at = u32::try_from(into.len()).map_err(|_| too_large())?;
        let len = u32::try_from(bytes.len()).map_err(|_| too_large())?;
        at.checked_add(len).ok_or_else(too_large)?;
        into.extend_from_slice(bytes);
        Ok(CatalogEntryKind::File { part, at, len })
    }
}
