//! Reading an image.

use crate::ImageError;
use crate::manifest::{Extra, KEY};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use webc::metadata::AtomSignature;
use webc::v3::read::{DirEntry, Directory, OwnedReader, VolumeSection};

/// Deepest directory and most files that an image may have; more means damage.
const MAX_DEPTH: usize = 64;
const MAX_ENTRIES: usize = 1_000_000;

/// Bytes of the mapped image, shared without copying.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A command of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name, which is `argv[0]` too.
    pub name: String,
    /// The atom that implements it.
    pub atom: String,
}

/// A path of the root file system.
pub struct Entry {
    /// Absolute path.
    pub path: String,
    /// Permission bits.
    pub mode: u16,
    /// Modification time in nanoseconds since the epoch.
    pub time: u64,
    pub kind: EntryKind,
}

/// What a path of the root file system is.
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
    extra: Extra,
    commands: Vec<Command>,
    digests: BTreeMap<String, [u8; 32]>,
    len: u64,
}

impl Image {
    /// Maps the image and reads its manifest. No hash is computed.
    ///
    /// # Errors
    /// [`ImageError::Io`] if it cannot be read, [`ImageError::NotAnImage`] if it is
    /// something else, [`ImageError::Damaged`] if its parts do not fit together.
    pub fn open(path: &Path) -> Result<Image, ImageError> {
        let io = |source| ImageError::Io { path: path.into(), source };
        let file = std::fs::File::open(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        if !meta.is_file() || meta.len() < 8 {
            return Err(ImageError::NotAnImage { path: path.into() });
        }
        let mut magic = [0; 8];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut magic, 0).map_err(io)?;
        if !magic.starts_with(&webc::MAGIC) {
            return Err(ImageError::NotAnImage { path: path.into() });
        }
        let reader = guarded(path, || OwnedReader::from_file(file).map_err(|e| chain(&e)))?;
        let damaged = |why: String| ImageError::Damaged { path: path.into(), why };
        let manifest = reader.manifest();
        let extra = match manifest.package_annotation::<Extra>(KEY) {
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
            commands.push(Command { name: name.clone(), atom });
        }
        Ok(Image { path: path.into(), extra, commands, digests, len: meta.len(), reader })
    }

    /// Where the image is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the image holds no program.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Package name and version.
    pub fn name_version(&self) -> (String, String) {
        let wapm = self.reader.manifest().wapm().ok().flatten();
        wapm.map_or_else(Default::default, |w| {
            (w.name.unwrap_or_default(), w.version.unwrap_or_default())
        })
    }

    /// Our annotation.
    pub fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Commands in the image's order.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The command that runs when none is named.
    pub fn entrypoint(&self) -> Option<&str> {
        self.reader.manifest().entrypoint.as_deref()
    }

    /// Atom names with the SHA-256 that the manifest claims for each.
    pub fn atoms(&self) -> &BTreeMap<String, [u8; 32]> {
        &self.digests
    }

    /// A program's bytes, not checked against its digest.
    pub fn atom(&self, name: &str) -> Option<&[u8]> {
        self.reader.get_atom(name).map(|(_, b)| b.as_slice())
    }

    /// A program's bytes, shared.
    pub fn atom_shared(&self, name: &str) -> Option<Bytes> {
        self.reader.get_atom(name).map(|(_, b)| Arc::new(b.clone()) as Bytes)
    }

    /// A program's bytes after checking them against the manifest's digest: what
    /// must be done before compiling them, because compiled code is kept under that
    /// digest.
    ///
    /// # Errors
    /// [`ImageError::Damaged`] if they differ or the atom is missing.
    pub fn checked_atom(&self, name: &str) -> Result<&[u8], ImageError> {
        let damaged = |why: String| ImageError::Damaged { path: self.path.clone(), why };
        let bytes = self.atom(name).ok_or_else(|| damaged(format!("no atom {name}")))?;
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        match self.digests.get(name) {
            Some(d) if *d == digest => Ok(bytes),
            _ => Err(damaged(format!("atom {name} differs from its digest"))),
        }
    }

    /// Mount paths of the root file system's volumes.
    pub fn volumes(&self) -> Vec<String> {
        self.reader.volume_names().map(str::to_owned).collect()
    }

    /// Every path of the root file system, directories before what is in them.
    ///
    /// # Errors
    /// [`ImageError::Damaged`].
    pub fn rootfs(&self) -> Result<Vec<Entry>, ImageError> {
        let time = self.time();
        guarded(&self.path, || {
            let mut out = Vec::new();
            for (at, volume) in self.mounted()? {
                let root = volume.root().map_err(|e| chain(&e))?;
                let path = at.clone();
                out.push(Entry { path, mode: 0o755, time, kind: EntryKind::Dir });
                self.gather(&mut out, &root, &at, 0)?;
            }
            Ok(out)
        })
    }

    /// The root file system's volumes and where they lie, to be listed directory by directory.
    ///
    /// # Errors
    /// [`ImageError::Damaged`].
    pub fn folders(self: &Arc<Image>) -> Result<Vec<Folder>, ImageError> {
        let folder = |(path, volume)| Folder {
            image: self.clone(),
            volume: Arc::new(volume),
            path,
            inner: Vec::new(),
        };
        guarded(&self.path, || Ok(self.mounted()?.into_iter().map(folder).collect()))
    }

    /// The files' common modification time, in nanoseconds since the epoch.
    pub fn time(&self) -> u64 {
        self.extra.time.saturating_mul(1_000_000_000)
    }

    fn mounted(&self) -> Result<Vec<(String, VolumeSection)>, String> {
        let mut out = Vec::new();
        for volume in self.reader.iter_volumes() {
            let (at, volume) = volume.map_err(|e| chain(&e))?;
            if !at.starts_with('/') || at.contains("/.") || at.contains('\0') {
                return Err(format!("volume {at:?}"));
            }
            out.push((at.to_owned(), volume));
        }
        Ok(out)
    }

    fn gather(
        &self,
        out: &mut Vec<Entry>,
        dir: &Directory<'_>,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        self.each(dir, at, depth, |entry, dir| {
            if out.len() >= MAX_ENTRIES {
                return Err("too many files".into());
            }
            let path = entry.path.clone();
            out.push(entry);
            dir.map_or(Ok(()), |d| self.gather(out, d, &path, depth + 1))
        })
    }

    /// Calls `take` with each entry of a directory at the path `at`, and with the directory that the
    /// entry is, if it is one.
    fn each(
        &self,
        dir: &Directory<'_>,
        at: &str,
        depth: usize,
        mut take: impl FnMut(Entry, Option<&Directory<'_>>) -> Result<(), String>,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("directories nest too deeply".into());
        }
        for entry in dir.entries() {
            let (name, _, entry) = entry.map_err(|e| chain(&e))?;
            if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
                return Err(format!("file name {name:?}"));
            }
            let path = format!("{at}/{name}");
            let (kind, usual, dir) = match &entry {
                DirEntry::Dir(d) => (EntryKind::Dir, 0o755, Some(d)),
                DirEntry::File(f) => (EntryKind::File(Arc::new(f.bytes().clone())), 0o644, None),
                DirEntry::Symlink(s) => (EntryKind::Symlink(s.target().to_owned()), 0o777, None),
            };
            let mode = self.extra.modes.get(&path).map_or(usual, |m| m & 0o777);
            take(Entry { path, mode, time: self.time(), kind }, dir)?;
        }
        Ok(())
    }

    /// Digest of the root file system as the manifest claims it, see [`crate::TreeDigest`].
    pub fn tree(&self) -> &str {
        &self.extra.tree
    }

    /// Computes the digest of the root file system and compares it with the claim: what must be
    /// done before anything is kept under it.
    ///
    /// # Errors
    /// [`ImageError::Damaged`].
    pub fn check_tree(&self) -> Result<(), ImageError> {
        let mut tree = crate::TreeDigest::new(self.extra.time);
        for e in self.rootfs()? {
            match e.kind {
                EntryKind::Dir => tree.dir(&e.path),
                EntryKind::Symlink(t) => tree.link(&e.path, &t),
                EntryKind::File(bytes) => tree.file(&e.path, (*bytes).as_ref()),
            }
        }
        if tree.finish() == self.extra.tree {
            Ok(())
        } else {
            let why = "its files differ from their digest".into();
            Err(ImageError::Damaged { path: self.path.clone(), why })
        }
    }

    /// SHA-256 of the whole file.
    ///
    /// # Errors
    /// [`ImageError::Io`].
    pub fn digest(&self) -> Result<[u8; 32], ImageError> {
        let io = |source| ImageError::Io { path: self.path.clone(), source };
        let mut file = std::fs::File::open(&self.path).map_err(io)?;
        let mut hash = Sha256::new();
        let mut buf = vec![0; 1 << 20];
        loop {
            match std::io::Read::read(&mut file, &mut buf).map_err(io)? {
                0 => return Ok(hash.finalize().into()),
                n => hash.update(&buf[..n]),
            }
        }
    }

    /// Checks every atom and every file against the digests in the image.
    ///
    /// # Errors
    /// [`ImageError::Damaged`] naming the first that differs.
    pub fn verify(&self) -> Result<(), ImageError> {
        for name in self.digests.keys() {
            self.checked_atom(name)?;
        }
        guarded(&self.path, || {
            for volume in self.reader.iter_volumes() {
                let (at, volume) = volume.map_err(|e| chain(&e))?;
                verify_dir(&volume.root().map_err(|e| chain(&e))?, at, 0)?;
            }
            Ok(())
        })
    }
}

/// A directory of the root file system, which is read when it is listed.
#[derive(Clone)]
pub struct Folder {
    image: Arc<Image>,
    volume: Arc<VolumeSection>,
    path: String,
    /// Names from the volume's root to it.
    inner: Vec<String>,
}

impl Folder {
    /// Absolute path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is in it, and for each directory how to list that.
    ///
    /// # Errors
    /// [`ImageError::Damaged`].
    pub fn list(&self) -> Result<Vec<(Entry, Option<Folder>)>, ImageError> {
        guarded(&self.image.path, || {
            let mut dir = self.volume.root().map_err(|e| chain(&e))?;
            for name in &self.inner {
                let found = dir.find(name).map_err(|e| chain(&e))?;
                let found = found.and_then(|(_, entry)| entry.into_dir());
                dir = found.ok_or_else(|| format!("{} is missing", self.path))?;
            }
            let mut out = Vec::new();
            self.image.each(&dir, &self.path, self.inner.len(), |entry, dir| {
                let folder = dir.map(|_| self.child(&entry.path));
                out.push((entry, folder));
                Ok(())
            })?;
            Ok(out)
        })
    }

    fn child(&self, path: &str) -> Folder {
        let name = path.get(self.path.len() + 1..).unwrap_or_default().to_owned();
        let inner = self.inner.iter().cloned().chain([name]).collect();
        Folder { path: path.to_owned(), inner, ..self.clone() }
    }
}

fn verify_dir(dir: &Directory<'_>, at: &str, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("directories nest too deeply".into());
    }
    for entry in dir.entries() {
        let (name, hash, entry) = entry.map_err(|e| chain(&e))?;
        let path = format!("{at}/{name}");
        match &entry {
            DirEntry::Dir(d) => verify_dir(d, &path, depth + 1)?,
            DirEntry::File(f) => {
                let digest: [u8; 32] = Sha256::digest(f.bytes().as_slice()).into();
                if digest != hash || digest != f.checksum() {
                    return Err(format!("{path} differs from its digest"));
                }
            }
            DirEntry::Symlink(_) => {}
        }
    }
    Ok(())
}

/// Runs `f`; an error or a panic means damage. The reader slices by the offsets it
/// finds and panics if they are reversed.
fn guarded<T>(path: &Path, f: impl FnOnce() -> Result<T, String>) -> Result<T, ImageError> {
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    r.unwrap_or_else(|_| Err("its parts overlap".into()))
        .map_err(|why| ImageError::Damaged { path: path.into(), why })
}

fn chain(e: &dyn std::error::Error) -> String {
    let mut out = e.to_string();
    let mut at = e.source();
    while let Some(e) = at {
        out = format!("{out}: {e}");
        at = e.source();
    }
    out
}
