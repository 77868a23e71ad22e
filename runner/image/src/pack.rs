//! Creates an image.

use crate::manifest::{KEY, License, ManifestExtra};
use crate::{ImageError, TreeDigest};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use webc::PathSegment;
use webc::indexmap::IndexMap;
use webc::metadata::annotations as notes;
use webc::metadata::{Annotation, Atom, AtomSignature, Command, Manifest};
use webc::v3::write::{DirEntry, Directory, FileEntry, SymlinkEntry, Writer};
use webc::v3::{ChecksumAlgorithm, SignatureAlgorithm, Timestamps};

/// Wasmer's identifier for a WebAssembly module.
const ATOM_KIND: &str = "https://webc.org/kind/wasm";

/// The contents of an image.
#[derive(Clone, Debug, Default)]
pub struct ImageSpec {
    /// Package name, `namespace/name`.
    pub name: String,
    /// Semantic version.
    pub version: String,
    /// One line about the image.
    pub description: String,
    /// SPDX expression of the whole.
    pub license: String,
    /// WebAssembly modules by name.
    pub atoms: Vec<(String, Vec<u8>)>,
    /// Command name and the atom that implements it. The command's name is `argv[0]`.
    pub commands: Vec<(String, String)>,
    /// The command that runs when none is named.
    pub entrypoint: Option<String>,
    /// Directories that are overlaid to form the root file system, the last on top. They must not
    /// contain `/bin` or `/usr/bin`, because the commands appear there.
    pub rootfs: Vec<PathBuf>,
    /// Modification time of everything in the image, in seconds since the epoch. It is fixed so
    /// that equal inputs give equal images.
    pub time: u64,
    /// Components with their versions.
    pub versions: BTreeMap<String, String>,
    /// Components with their licences.
    pub licenses: Vec<License>,
    /// Free text for `runner inspect`.
    pub annotations: BTreeMap<String, String>,
}

/// Returns the image as bytes. Equal specifications and equal files give equal bytes.
///
/// # Errors
/// Returns [`ImageError::Pack`] for a command without an atom, a duplicate, a name that the format
/// cannot hold, a `rootfs` with `/bin` or `/usr/bin`, or a symbolic link that leaves its volume;
/// [`ImageError::Io`] for a file that cannot be read.
pub fn pack_image(spec: &ImageSpec) -> Result<Vec<u8>, ImageError> {
    let mut extra = ManifestExtra {
        schema: 1,
        time: spec.time,
        versions: spec.versions.clone(),
        licenses: spec.licenses.clone(),
        annotations: spec.annotations.clone(),
        ..ManifestExtra::default()
    };
    let mut root = PackDir::default();
    for dir in &spec.rootfs {
        collect_dir(&mut root, dir, "", &mut extra)?;
    }
    let volumes = split_volumes(root)?;
    let mut tree = TreeDigest::new(spec.time);
    for (path, dir) in &volumes {
        tree.add_dir(path);
        dir.digest_into(path, &mut tree)?;
    }
    extra.tree = tree.finish();
    let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(spec.time);
    let stamps = Timestamps { modified: time };
    let manifest = build_manifest(spec, &extra, &volumes)?;
    let mut atoms = BTreeMap::new();
    for (name, bytes) in &spec.atoms {
        let entry = FileEntry::borrowed(bytes, stamps);
        if atoms.insert(path_segment(name)?, entry).is_some() {
            return Err(ImageError::Pack(format!("atom {name} is given twice")));
        }
    }
    let format = |e: &dyn std::fmt::Display| ImageError::Pack(e.to_string());
    let mut writer = Writer::new(ChecksumAlgorithm::Sha256)
        .write_manifest(&manifest)
        .map_err(|e| format(&e))?
        .write_atoms(atoms)
        .map_err(|e| format(&e))?;
    for (path, dir) in volumes {
        let dir = dir.into_webc(stamps)?;
        writer.write_volume(&path, dir).map_err(|e| format(&e))?;
    }
    let bytes = writer.finish(SignatureAlgorithm::None).map_err(|e| format(&e))?;
    Ok(bytes.to_vec())
}

/// Writes the image to `path`, atomically. Returns its SHA-256.
///
/// # Errors
/// The same as [`pack_image`], and [`ImageError::Io`] for `path`.
pub fn pack_to(spec: &ImageSpec, path: &Path) -> Result<[u8; 32], ImageError> {
    let bytes = pack_image(spec)?;
    let part = path.with_extension("webc.part");
    let io = |source| ImageError::Io { path: path.into(), source };
    std::fs::write(&part, &bytes).map_err(io)?;
    std::fs::rename(&part, path).map_err(io)?;
    Ok(Sha256::digest(&bytes).into())
}

fn build_manifest(
    spec: &ImageSpec,
    extra: &ManifestExtra,
    volumes: &[(String, PackDir)],
) -> Result<Manifest, ImageError> {
    let mut m = Manifest { entrypoint: spec.entrypoint.clone(), ..Manifest::default() };
    let mut wapm = notes::Wapm::new(
        Some(spec.name.clone()),
        Some(spec.version.clone()),
        Some(spec.description.clone()),
    );
    wapm.license = Some(spec.license.clone());
    m.package.insert(notes::Wapm::KEY.into(), annotation_value(&wapm)?);
    m.package.insert(KEY.into(), annotation_value(extra)?);
    let mappings = volumes
        .iter()
        .map(|(path, _)| notes::FileSystemMapping {
            from: None,
            volume_name: path.clone(),
            host_path: None,
            mount_path: path.clone(),
        })
        .collect();
    m.package.insert(
        notes::FileSystemMappings::KEY.into(),
        annotation_value(&notes::FileSystemMappings(mappings))?,
    );
    for (name, bytes) in &spec.atoms {
        let signature = AtomSignature::Sha256(Sha256::digest(bytes).into()).to_string();
        let kind = ATOM_KIND.parse().map_err(|_| ImageError::Pack("kind of atom".into()))?;
        let atom = Atom { kind, signature, annotations: IndexMap::new() };
        m.atoms.insert(name.clone(), atom);
    }
    let mut seen = BTreeSet::new();
    for (name, atom) in &spec.commands {
        if !spec.atoms.iter().any(|(a, _)| a == atom) {
            return Err(ImageError::Pack(format!("command {name} names no atom: {atom}")));
        }
        if name.is_empty() || name.contains('/') || !seen.insert(name) {
            return Err(ImageError::Pack(format!("bad or repeated command name: {name:?}")));
        }
        let mut annotations = IndexMap::new();
        annotations
            .insert(notes::Atom::KEY.into(), annotation_value(&notes::Atom::new(atom, None))?);
        let mut wasi = notes::Wasi::new(atom);
        wasi.exec_name = Some(name.clone());
        annotations.insert(notes::Wasi::KEY.into(), annotation_value(&wasi)?);
        let runner = notes::WASI_RUNNER_URI.to_string();
        m.commands.insert(name.clone(), Command { runner, annotations });
    }
    if let Some(e) = &spec.entrypoint
        && !seen.contains(e)
    {
        return Err(ImageError::Pack(format!("the entry point is no command: {e}")));
    }
    Ok(m)
}

fn annotation_value<T: serde::Serialize>(v: &T) -> Result<Annotation, ImageError> {
    ciborium::Value::serialized(v).map_err(|e| ImageError::Pack(e.to_string()))
}

fn path_segment(name: &str) -> Result<PathSegment, ImageError> {
    name.parse().map_err(|_| ImageError::Pack(format!("the format cannot hold the name {name:?}")))
}

/// A directory to pack. Files are read late, so that only one of them is in memory twice.
#[derive(Default)]
struct PackDir(BTreeMap<String, PackNode>);

enum PackNode {
    Dir(PackDir),
    File(PathBuf),
    Link(String),
}

fn collect_dir(
    into: &mut PackDir,
    dir: &Path,
    at: &str,
    extra: &mut ManifestExtra,
) -> Result<(), ImageError> {
    let io = |source| ImageError::Io { path: dir.into(), source };
    for entry in std::fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let path = entry.path();
        let name = entry
            .file_name()
            .into_string()
            .map_err(|n| ImageError::Pack(format!("the format cannot hold the name {n:?}")))?;
        let meta = path.symlink_metadata().map_err(io)?;
        let full = format!("{at}/{name}");
        let node = if meta.is_dir() {
            let mut sub = match into.0.remove(&name) {
                Some(PackNode::Dir(d)) => d,
                _ => PackDir::default(),
            };
            collect_dir(&mut sub, &path, &full, extra)?;
            PackNode::Dir(sub)
        } else if meta.is_symlink() {
            let target = std::fs::read_link(&path).map_err(io)?;
            let target = target.into_os_string().into_string();
            PackNode::Link(target.map_err(|t| ImageError::Pack(format!("link target {t:?}")))?)
        } else if meta.is_file() {
            extra.modes.remove(&full);
            if meta.permissions().mode() & 0o111 != 0 {
                extra.modes.insert(full, 0o755);
            }
            PackNode::File(path)
        } else {
            return Err(ImageError::Pack(format!("{}: not a file", path.display())));
        };
        into.0.insert(name, node);
    }
    Ok(())
}

/// Splits the root into one volume per directory, and `/usr` into one per directory of it, because
/// other runtimes mount volumes read-only and must still be able to create `/usr/bin`.
fn split_volumes(root: PackDir) -> Result<Vec<(String, PackDir)>, ImageError> {
    let mut out = Vec::new();
    for (name, node) in root.0 {
        match (name.as_str(), node) {
            ("bin", _) => return Err(ImageError::Pack("/bin belongs to the commands".into())),
            ("usr", PackNode::Dir(usr)) => {
                for (name, node) in usr.0 {
                    match (name.as_str(), node) {
                        ("bin", _) => {
                            return Err(ImageError::Pack(
                                "/usr/bin belongs to the commands".into(),
                            ));
                        }
                        (_, PackNode::Dir(d)) => out.push((format!("/usr/{name}"), d)),
                        _ => return Err(ImageError::Pack(format!("/usr/{name}: not a directory"))),
                    }
                }
            }
            (_, PackNode::Dir(d)) => out.push((format!("/{name}"), d)),
            _ => return Err(ImageError::Pack(format!("/{name}: not a directory"))),
        }
    }
    Ok(out)
}

impl PackDir {
    fn digest_into(&self, at: &str, into: &mut TreeDigest) -> Result<(), ImageError> {
        for (name, node) in &self.0 {
            let path = format!("{at}/{name}");
            match node {
                PackNode::Dir(d) => {
                    into.add_dir(&path);
                    d.digest_into(&path, into)?;
                }
                PackNode::Link(t) => into.add_link(&path, t),
                PackNode::File(from) => into.add_file(&path, &read(from)?),
            }
        }
        Ok(())
    }

    fn into_webc(self, stamps: Timestamps) -> Result<Directory<'static>, ImageError> {
        let mut children = BTreeMap::new();
        for (name, node) in self.0 {
            let entry = match node {
                PackNode::Dir(d) => DirEntry::Dir(d.into_webc(stamps)?),
                PackNode::Link(t) => DirEntry::Symlink(SymlinkEntry::owned(t, stamps)),
                PackNode::File(path) => DirEntry::File(FileEntry::owned(read(&path)?, stamps)),
            };
            children.insert(path_segment(&name)?, entry);
        }
        Ok(Directory::new(children, stamps))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ImageError> {
    std::fs::read(path).map_err(|source| ImageError::Io { path: path.into(), source })
}
