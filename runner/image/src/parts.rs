//! An image in parts, for who gets one over a network: a page has a shell when it has a few megabytes of it.
//!
//! The [`Catalog`] has all names, bits and lengths, and tells which part has a file's bytes. Programs are parts of their
//! own; the files are parts by whatever whoever splits the image says. A part is fetched when somebody wants a byte of it.
//!
//! # Deliberately absent
//! Digests of parts: whoever fetches them has them from where the parts come from.

use crate::{Entry, EntryKind, Folder, Image, ImageError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An image without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// [`Image::identity`].
    pub identity: [u8; 32],
    /// [`Image::time`].
    pub time: u64,
    /// Names with the number of the program that implements each.
    pub commands: Vec<(String, u32)>,
    /// [`Image::atoms`] in their order; they are the first parts.
    pub programs: Vec<Program>,
    /// Lengths of all parts.
    pub parts: Vec<u32>,
    /// The root file system's directories by their paths.
    pub volumes: Vec<(String, Arc<Dir>)>,
}

/// A program of the image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    /// SHA-256.
    pub digest: [u8; 32],
}

/// What is in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dir(pub Vec<Item>);

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub name: String,
    /// Permission bits.
    pub mode: u16,
    pub what: What,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    Dir(Arc<Dir>),
    /// So many bytes of a part, from there on.
    File {
        part: u32,
        at: u32,
        len: u32,
    },
    Symlink(String),
}

/// A part: its name and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Catalog {
    /// In bytes.
    ///
    /// # Errors
    /// [`ImageError::Pack`] if it cannot be written.
    pub fn encode(&self) -> Result<Vec<u8>, ImageError> {
        postcard::to_stdvec(self).map_err(|e| ImageError::Pack(e.to_string()))
    }

    /// From bytes.
    ///
    /// # Errors
    /// [`ImageError::NotAnImage`] if they are something else, [`ImageError::Damaged`] if its numbers do not fit each other.
    pub fn decode(bytes: &[u8]) -> Result<Catalog, ImageError> {
        let path = std::path::PathBuf::from("the catalog");
        let catalog: Catalog = match postcard::take_from_bytes(bytes) {
            Ok((catalog, [])) => catalog,
            _ => return Err(ImageError::NotAnImage { path }),
        };
        let is_program = |n: &u32| (*n as usize) < catalog.programs.len();
        let fits = catalog.programs.len() <= catalog.parts.len()
            && catalog.commands.iter().all(|(_, n)| is_program(n))
            && catalog.volumes.iter().all(|(_, dir)| catalog.fits(dir));
        if fits { Ok(catalog) } else { Err(ImageError::Damaged { path, why: "its parts".into() }) }
    }

    /// Whether the files below a directory lie in their parts.
    fn fits(&self, dir: &Dir) -> bool {
        dir.0.iter().all(|item| match &item.what {
            What::Dir(dir) => self.fits(dir),
            What::File { part, at, len } => {
                let end = at.checked_add(*len);
                let part = self.parts.get(*part as usize);
                part.zip(end).is_some_and(|(part, end)| end <= *part)
            }
            What::Symlink(_) => true,
        })
    }
}

/// Splits an image; `part_of` tells for a file's path which part it is of.
///
/// # Errors
/// [`ImageError::Damaged`] if the image is; [`ImageError::Pack`] if a part becomes too large.
pub fn split(
    image: &Arc<Image>,
    part_of: &dyn Fn(&str) -> String,
) -> Result<(Catalog, Vec<Part>), ImageError> {
    let names: Vec<&String> = image.atoms().keys().collect();
    let number = |atom: &str| names.iter().position(|name| *name == atom).unwrap_or(0) as u32;
    let mut parts = Vec::new();
    for name in &names {
        parts.push(Part { name: (*name).clone(), bytes: image.checked_atom(name)? });
    }
    let mut split = Split { part_of, parts, numbers: BTreeMap::new() };
    let mut volumes = Vec::new();
    for folder in image.folders()? {
        volumes.push((folder.path().to_owned(), Arc::new(split.dir(&folder)?)));
    }
    let programs =
        image.atoms().iter().map(|(name, d)| Program { name: name.clone(), digest: *d }).collect();
    let catalog = Catalog {
        identity: image.identity(),
        time: image.time(),
        commands: image.commands().iter().map(|c| (c.name.clone(), number(&c.atom))).collect(),
        programs,
        parts: split.parts.iter().map(|part| part.bytes.len() as u32).collect(),
        volumes,
    };
    Ok((catalog, split.parts))
}

struct Split<'a> {
    part_of: &'a dyn Fn(&str) -> String,
    parts: Vec<Part>,
    numbers: BTreeMap<String, u32>,
}

impl Split<'_> {
    fn dir(&mut self, folder: &Folder) -> Result<Dir, ImageError> {
        let mut out = Vec::new();
        for (entry, inner) in folder.list()? {
            let Entry { path, mode, kind, .. } = entry;
            let what = match (kind, inner) {
                (_, Some(inner)) => What::Dir(Arc::new(self.dir(&inner)?)),
                (EntryKind::File(bytes), _) => self.file(&path, (*bytes).as_ref())?,
                (EntryKind::Symlink(target), _) => What::Symlink(target),
                (EntryKind::Dir, None) => continue,
            };
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            out.push(Item { name, mode, what });
        }
        Ok(Dir(out))
    }

    fn file(&mut self, path: &str, bytes: &[u8]) -> Result<What, ImageError> {
        let name = (self.part_of)(path);
        let (next, parts) = (self.parts.len() as u32, &mut self.parts);
        let part = *self.numbers.entry(name).or_insert_with_key(|name| {
            parts.push(Part { name: name.clone(), bytes: Vec::new() });
            next
        });
        let into = &mut self.parts[part as usize].bytes;
        let too_large = || ImageError::Pack(format!("{path}: its part is too large"));
        let at = u32::try_from(into.len()).map_err(|_| too_large())?;
        let len = u32::try_from(bytes.len()).map_err(|_| too_large())?;
        at.checked_add(len).ok_or_else(too_large)?;
        into.extend_from_slice(bytes);
        Ok(What::File { part, at, len })
    }
}
