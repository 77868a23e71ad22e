//! The image's files by path, for code that reads a session without running it.

use crate::error::Error;
use serde_bytes::ByteBuf;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use wasibox_image::{EntryKind, Image, ImageDir, ImageError};
use wasibox_store::snapshot::export;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::setup::HOMES;

/// The files with which a session of an image begins, without devices and mounts. A directory is
/// read on first access.
pub struct ImageFiles {
    image: Arc<Image>,
    volumes: Vec<(Vec<ByteBuf>, ImageDir)>,
    known: Mutex<HashMap<Vec<ByteBuf>, Arc<ImageListing>>>,
}

/// The entries of a directory.
#[derive(Default)]
pub struct ImageListing {
    pub entries: BTreeMap<ByteBuf, ImageFile>,
    folders: HashMap<ByteBuf, Vec<ImageDir>>,
}

/// An entry of the image.
#[derive(Clone)]
pub enum ImageFile {
    Dir,
    File { bytes: wasibox_image::Bytes, mode: u16 },
    Symlink(Vec<u8>),
}

fn path_names(path: &str) -> Vec<ByteBuf> {
    path.split('/').filter(|n| !n.is_empty()).map(|n| ByteBuf::from(n.as_bytes())).collect()
}

impl ImageFiles {
    /// Opens the files of an image.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn new(image: Arc<Image>) -> Result<ImageFiles, Error> {
        let volumes = image.folders()?.into_iter().map(|f| (path_names(f.path()), f)).collect();
        Ok(ImageFiles { image, volumes, known: Mutex::default() })
    }

    /// Returns the image.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Returns the entries of a directory, or `None` if there is no such directory.
    ///
    /// # Errors
    /// If the image is damaged.
    pub fn list_dir(&self, path: &[ByteBuf]) -> Result<Option<Arc<ImageListing>>, Error> {
        let mut at = self.build_listing(&[], Vec::new())?;
        for n in 1..=path.len() {
            let name = &path[n - 1];
            if !matches!(at.entries.get(name), Some(ImageFile::Dir)) {
                return Ok(None);
            }
            let folders = at.folders.get(name).cloned().unwrap_or_default();
            at = self.build_listing(&path[..n], folders)?;
        }
        Ok(Some(at))
    }

    /// Returns the entry at a path.
    ///
    /// # Errors
    /// If the image is damaged.
    pub fn find_entry(&self, path: &[ByteBuf]) -> Result<Option<ImageFile>, Error> {
        let Some((name, dir)) = path.split_last() else { return Ok(Some(ImageFile::Dir)) };
        Ok(self.list_dir(dir)?.and_then(|dir| dir.entries.get(name).cloned()))
    }

    /// Returns the listing of the directory at `path`, which merges `folders` with the volumes'
    /// own.
    fn build_listing(
        &self,
        path: &[ByteBuf],
        folders: Vec<ImageDir>,
    ) -> Result<Arc<ImageListing>, Error> {
        let lock = || lock_mutex(&self.known);
        if let Some(known) = lock().get(path) {
            return Ok(known.clone());
        }
        let listing = Arc::new(self.read(path, folders)?);
        lock().insert(path.to_vec(), listing.clone());
        Ok(listing)
    }

    fn read(
        &self,
        path: &[ByteBuf],
        mut folders: Vec<ImageDir>,
    ) -> Result<ImageListing, ImageError> {
        let mut out = ImageListing::default();
        folders.extend(self.volumes.iter().filter(|(at, _)| at == path).map(|(_, f)| f.clone()));
        for folder in folders {
            for (entry, below) in folder.list()? {
                let name = entry.path.rsplit('/').next().unwrap_or_default();
                let name = ByteBuf::from(name.as_bytes());
                let kind = match entry.kind {
                    EntryKind::Dir => ImageFile::Dir,
                    EntryKind::File(bytes) => ImageFile::File { bytes, mode: entry.mode },
                    EntryKind::Symlink(to) => ImageFile::Symlink(to.into_bytes()),
                };
                out.folders.entry(name.clone()).or_default().extend(below);
                out.entries.insert(name, kind);
            }
        }
        if path == path_names("/bin") || path == path_names("/usr/bin") {
            for c in self.image.commands() {
                let Some(bytes) = self.image.atom_shared(&c.atom) else { continue };
                let name = ByteBuf::from(c.name.as_bytes());
                out.entries.entry(name).or_insert(ImageFile::File { bytes, mode: 0o755 });
            }
        }
        // The path components above a deeper volume or home are directories, too.
        let homes = HOMES.iter().map(|(path, _)| path_names(path));
        for deeper in self.volumes.iter().map(|(at, _)| at.clone()).chain(homes) {
            if deeper.len() > path.len() && deeper.starts_with(path) {
                out.entries.entry(deeper[path.len()].clone()).or_insert(ImageFile::Dir);
            }
        }
        Ok(out)
    }
}

impl export::ImageSource for ImageFiles {
    fn read_file(
        &self,
        path: &[ByteBuf],
        len: u64,
    ) -> Result<Vec<u8>, wasibox_store::snapshot::SnapshotError> {
        let missing = wasibox_store::snapshot::SnapshotError::Malformed("a file of the image");
        match self.find_entry(path) {
            Ok(Some(ImageFile::File { bytes, .. })) => {
                let bytes = (*bytes).as_ref();
                let len = usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes[..len].to_vec())
            }
            _ => Err(missing),
        }
    }
}
