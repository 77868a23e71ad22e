//! Opens and reads an image.

use crate::ImageError;
use crate::manifest::{KEY, ManifestExtra};
use crate::source;
use crate::walk::{Claims, ImageWalk, WalkEntry, dir_entries};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use webc::metadata::AtomSignature;
use webc::v3::read::{DirEntry, OwnedReader, VolumeSection};

/// Bytes of the mapped image, shared without copying.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A command of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageCommand {
    /// Its name, which is also `argv[0]`.
    pub name: String,
    /// The atom that implements it.
    pub atom: String,
}

/// An entry of the root file system.
pub struct ImageEntry {
    /// Absolute path.
    pub path: String,
    /// Permission bits.
    pub mode: u16,
    /// Modification time in nanoseconds since the epoch.
    pub time: u64,
    pub kind: EntryKind,
}

/// The kind of an entry of the root file system.
pub enum EntryKind {
    Dir,
    File(Bytes),
    Symlink(String),
}

/// An opened image.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    reader: OwnedReader,
    extra: ManifestExtra,
    commands: Vec<ImageCommand>,
    digests: BTreeMap<String, [u8; 32]>,
    len: u64,
    /// The folders listed so far, by the positions of their names.
    listed: Mutex<Claims>,
}

impl Image {
    /// Maps the image and reads its manifest. No hash is computed. A file that another user can
    /// change is read into memory instead, see [`crate::source`].
    ///
    /// # Errors
    /// Returns [`ImageError::Io`] if the file cannot be read, [`ImageError::NotAnImage`] if it is
    /// not an image, [`ImageError::TooLarge`] if it had to be read and is too large for that, and
    /// [`ImageError::Damaged`] if its parts are inconsistent.
    #[cfg(unix)]
    pub fn open(path: &Path) -> Result<Image, ImageError> {
        Image::open_bytes(path, source::open_image(path)?)
    }

    /// Opens an image in memory, for example in a browser page, which has no files. `name` stands
    /// for its path in messages.
    ///
    /// # Errors
    /// The same as [`Image::open`], except for the errors of files.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Image, ImageError> {
        let name = name.as_ref();
        Image::open_bytes(name, source::check_image(name, bytes.into())?)
    }

    fn open_bytes(path: &Path, bytes: source::Buffer) -> Result<Image, ImageError> {
        let len = bytes.len() as u64;
        guard_panic(path, || Ok(Image::read(path, bytes, len)))?
    }

    fn read(path: &Path, bytes: source::Buffer, len: u64) -> Result<Image, ImageError> {
        let damaged = |why: String| ImageError::Damaged { path: path.into(), why };
        let reader = OwnedReader::parse(bytes).map_err(|e| damaged(error_chain(&e)))?;
        let manifest = reader.manifest();
        let extra = match manifest.package_annotation::<ManifestExtra>(KEY) {
            Ok(Some(e)) => e,
            Ok(None) => return Err(ImageError::NotAnImage { path: path.into() }),
            Err(e) => return Err(damaged(e.to_string())),
        };
        let mut digests = BTreeMap::new();
        for (name, atom) in &manifest.atoms {
            let AtomSignature::Sha256(d) = AtomSignature::from_str(&atom.signature)
                .map_err(|e| damaged(format!("atom {name}: {e}")))?;
            if reader.get_atom(name).is_none() {
                return Err(damaged(format!("atom {name} is missing")));
            }
            digests.insert(name.clone(), d);
        }
        let mut commands = Vec::with_capacity(manifest.commands.len());
        for (name, c) in &manifest.commands {
            let atom = c.atom().ok().flatten().map(|a| a.name).unwrap_or_default();
            if !digests.contains_key(&atom) || name.is_empty() || name.contains(['/', '\0']) {
                return Err(damaged(format!("command {name:?} names no atom")));
            }
            commands.push(ImageCommand { name: name.clone(), atom });
        }
        let listed = Mutex::default();
        Ok(Image { path: path.into(), extra, commands, digests, len, reader, listed })
    }

    /// Returns the image's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the image has no program.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Returns the package's name and version.
    pub fn name_version(&self) -> (String, String) {
        let wapm = self.reader.manifest().wapm().ok().flatten();
        wapm.map_or_else(Default::default, |w| {
            (w.name.unwrap_or_default(), w.version.unwrap_or_default())
        })
    }

    /// Returns the package's description and its licence, as an SPDX expression.
    pub fn description_and_license(&self) -> (String, String) {
        let wapm = self.reader.manifest().wapm().ok().flatten();
        wapm.map_or_else(Default::default, |w| {
            (w.description.unwrap_or_default(), w.license.unwrap_or_default())
        })
    }

    /// Returns Wasibox's annotation.
    pub fn extra(&self) -> &ManifestExtra {
        &self.extra
    }

    /// Returns the commands in the image's order.
    pub fn commands(&self) -> &[ImageCommand] {
        &self.commands
    }

    /// Returns the command that runs by default.
    pub fn entrypoint(&self) -> Option<&str> {
        self.reader.manifest().entrypoint.as_deref()
    }

    /// Returns the atoms' names with the SHA-256 that the manifest claims for each.
    pub fn atoms(&self) -> &BTreeMap<String, [u8; 32]> {
        &self.digests
    }

    /// Returns a program's bytes, without checking their digest.
    pub fn atom(&self, name: &str) -> Option<&[u8]> {
        self.reader.get_atom(name).map(|(_, b)| b.as_slice())
    }

    /// Returns a program's bytes, shared.
    pub fn atom_shared(&self, name: &str) -> Option<Bytes> {
        self.reader.get_atom(name).map(|(_, b)| Arc::new(b.clone()) as Bytes)
    }

    /// Returns a copy of a program's bytes whose digest matches the manifest. A program must be
    /// compiled from this copy, because compiled code is cached under the digest, and the hash is
    /// that of the copy.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the digests differ or the atom is missing.
    pub fn checked_atom(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        let missing = || self.damaged_error(format!("no atom {name}"));
        let bytes = self.atom(name).ok_or_else(missing)?.to_vec();
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        match self.digests.get(name) {
            Some(d) if *d == digest => Ok(bytes),
            _ => Err(self.damaged_error(format!("atom {name} differs from its digest"))),
        }
    }

    /// Returns the mount paths of the root file system's volumes.
    pub fn volumes(&self) -> Vec<String> {
        self.reader.volume_names().map(str::to_owned).collect()
    }

    /// Returns every entry of the root file system, directories before their contents.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the image is damaged.
    pub fn rootfs(&self) -> Result<Vec<ImageEntry>, ImageError> {
        let time = self.time();
        guard_panic(&self.path, || {
            let mut out = Vec::new();
            let mut walk = ImageWalk::default();
            for (path, volume) in self.mounted_volumes()? {
                let root = volume.root().map_err(|e| error_chain(&e))?;
                let at = path.clone();
                out.push(ImageEntry { path, mode: 0o755, time, kind: EntryKind::Dir });
                walk.visit_all(&root, &at, 0, &mut |found| {
                    out.push(self.make_entry(found));
                    Ok(())
                })?;
            }
            Ok(out)
        })
    }

    /// Returns the root file system's volumes with their mount paths, for listing directory by
    /// directory.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the image is damaged.
    pub fn folders(self: &Arc<Image>) -> Result<Vec<ImageDir>, ImageError> {
        let folder = |(path, volume)| ImageDir {
            image: self.clone(),
            volume: Arc::new(volume),
            path,
            inner: Vec::new(),
        };
        guard_panic(&self.path, || Ok(self.mounted_volumes()?.into_iter().map(folder).collect()))
    }

    /// Returns the files' common modification time, in nanoseconds since the epoch.
    pub fn time(&self) -> u64 {
        self.extra.time.saturating_mul(1_000_000_000)
    }

    fn mounted_volumes(&self) -> Result<Vec<(String, VolumeSection)>, String> {
        let mut out = Vec::new();
        for volume in self.reader.iter_volumes() {
            let (at, volume) = volume.map_err(|e| error_chain(&e))?;
            if !at.starts_with('/') || at.contains("/.") || at.contains('\0') {
                return Err(format!("volume {at:?}"));
            }
            out.push((at.to_owned(), volume));
        }
        Ok(out)
    }

    /// Converts an entry to a guest's view of it.
    fn make_entry(&self, found: WalkEntry<'_>) -> ImageEntry {
        let (kind, usual) = match found.entry {
            DirEntry::Dir(_) => (EntryKind::Dir, 0o755),
            DirEntry::File(f) => (EntryKind::File(Arc::new(f.bytes().clone())), 0o644),
            DirEntry::Symlink(s) => (EntryKind::Symlink(s.target().to_owned()), 0o777),
        };
        let mode = self.extra.modes.get(&found.path).map_or(usual, |m| m & 0o777);
        ImageEntry { path: found.path, mode, time: self.time(), kind }
    }

    /// Returns the digest of the root file system that the manifest claims, see
    /// [`crate::TreeDigest`].
    pub fn tree(&self) -> &str {
        &self.extra.tree
    }

    /// Computes the digest of the root file system and compares it with the claim. This is required
    /// before anything is stored under the digest.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the digests differ or the image is damaged.
    pub fn check_tree(&self) -> Result<(), ImageError> {
        let mut tree = crate::TreeDigest::new(self.extra.time);
        let mut content = self.len;
        for e in self.rootfs()? {
            match e.kind {
                EntryKind::Dir => tree.add_dir(&e.path),
                EntryKind::Symlink(t) => tree.add_link(&e.path, &t),
                EntryKind::File(bytes) => {
                    let bytes = (*bytes).as_ref();
                    content =
                        remaining_len(content, bytes).map_err(|why| self.damaged_error(why))?;
                    tree.add_file(&e.path, bytes);
                }
            }
        }
        if tree.finish() == self.extra.tree {
            Ok(())
        } else {
            Err(self.damaged_error("its files differ from their digest".into()))
        }
    }

    fn damaged_error(&self, why: String) -> ImageError {
        ImageError::Damaged { path: self.path.clone(), why }
    }

    /// Returns a value that identifies the image, computed from the digests in it: of its programs,
    /// its files and the names of its commands. This is cheap. An image without a digest of its
    /// files is identified by [`Image::digest`].
    pub fn identity(&self) -> [u8; 32] {
        if self.extra.tree.is_empty() {
            return self.digest();
        }
        let mut h = Sha256::new_with_prefix("wasibox image 1\0");
        let mut part = |bytes: &[u8]| {
            h.update((bytes.len() as u64).to_le_bytes());
            h.update(bytes);
        };
        for (name, digest) in &self.digests {
            part(name.as_bytes());
            part(digest);
        }
        for c in self.commands() {
            part(c.name.as_bytes());
            part(c.atom.as_bytes());
        }
        part(self.extra.tree.as_bytes());
        for (path, mode) in &self.extra.modes {
            part(path.as_bytes());
            part(&mode.to_le_bytes());
        }
        h.finalize().into()
    }

    /// Returns the SHA-256 of the whole file, as it was opened.
    pub fn digest(&self) -> [u8; 32] {
        self.reader.webc_hash().unwrap_or_default()
    }

    /// Checks every atom and every file against the digests in the image.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`], which names the first difference.
    pub fn verify(&self) -> Result<(), ImageError> {
        for name in self.digests.keys() {
            self.checked_atom(name)?;
        }
        guard_panic(&self.path, || {
            let mut content = self.len;
            let mut walk = ImageWalk::default();
            for volume in self.reader.iter_volumes() {
                let (at, volume) = volume.map_err(|e| error_chain(&e))?;
                let root = volume.root().map_err(|e| error_chain(&e))?;
                walk.visit_all(&root, at, 0, &mut |found| {
                    let DirEntry::File(f) = found.entry else { return Ok(()) };
                    content = remaining_len(content, f.bytes())?;
                    let digest: [u8; 32] = Sha256::digest(f.bytes().as_slice()).into();
                    if digest != found.hash || digest != f.checksum() {
                        return Err(format!("{} differs from its digest", found.path));
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })
    }
}

/// Returns the length left for other files. A valid image does not hold more bytes than its own
/// length, whereas an image whose files share their bytes could make a reader hash for days.
fn remaining_len(left: u64, file: &[u8]) -> Result<u64, String> {
    left.checked_sub(file.len() as u64).ok_or_else(|| "its files overlap".into())
}

/// A directory of the root file system, which is read when it is listed.
#[derive(Clone)]
pub struct ImageDir {
    image: Arc<Image>,
    volume: Arc<VolumeSection>,
    path: String,
    /// The names on the way from the volume's root to the directory.
    inner: Vec<String>,
}

impl ImageDir {
    /// Returns the absolute path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the entries, with an [`ImageDir`] for each directory.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the image is damaged.
    pub fn list(&self) -> Result<Vec<(ImageEntry, Option<ImageDir>)>, ImageError> {
        guard_panic(&self.image.path, || {
            let mut dir = self.volume.root().map_err(|e| error_chain(&e))?;
            for name in &self.inner {
                let found = dir.find(name).map_err(|e| error_chain(&e))?;
                let found = found.and_then(|(_, entry)| entry.into_dir());
                dir = found.ok_or_else(|| format!("{} is missing", self.path))?;
            }
            let (found, span) = dir_entries(&dir, &self.path, self.inner.len())?;
            self.image
                .listed
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .add_names(span, &self.path)?;
            let out = found.into_iter().map(|found| {
                let folder = matches!(found.entry, DirEntry::Dir(_));
                let folder = folder.then(|| self.child(&found.path));
                (self.image.make_entry(found), folder)
            });
            Ok(out.collect())
        })
    }

    fn child(&self, path: &str) -> ImageDir {
        let name = path.get(self.path.len() + 1..).unwrap_or_default().to_owned();
        let inner = self.inner.iter().cloned().chain([name]).collect();
        ImageDir { path: path.to_owned(), inner, ..self.clone() }
    }
}

/// Runs `f` and converts an error or a panic to [`ImageError::Damaged`], because the reader slices
/// by the offsets it finds and panics if they are reversed.
fn guard_panic<T>(path: &Path, f: impl FnOnce() -> Result<T, String>) -> Result<T, ImageError> {
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    r.unwrap_or_else(|_| Err("its parts overlap".into()))
        .map_err(|why| ImageError::Damaged { path: path.into(), why })
}

/// Returns the text of an error and its causes. It is cut, because it may contain strings of the
/// image.
pub(crate) fn error_chain(e: &dyn std::error::Error) -> String {
    const MAX_TEXT: usize = 400;
    let mut out = e.to_string();
    let mut at = e.source();
    while let Some(e) = at.filter(|_| out.len() < MAX_TEXT) {
        out = format!("{out}: {e}");
        at = e.source();
    }
    out.truncate(out.floor_char_boundary(MAX_TEXT));
    out
}
