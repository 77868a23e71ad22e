//! Writes an image's contents into a folder, and turns them into a specification again.

use crate::{EntryKind, Image, ImageError, ImageSpec};
use std::collections::HashSet;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// The folder of the programs, each as `NAME.wasm`, and that of the root file system.
pub const PROGRAMS: &str = "programs";
pub const ROOT: &str = "root";

impl Image {
    /// Checks the image, and writes its programs to `DIR/programs/NAME.wasm` and its root file
    /// system to `DIR/root`. `dir` is created and must not exist, because the names of a hostile
    /// image must not meet links of another origin.
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if the image differs from its digests or has names that do
    /// not belong into a folder, and [`ImageError::Io`] if something cannot be written. The part
    /// that was written by then is left.
    pub fn extract_to(&self, dir: &Path) -> Result<(), ImageError> {
        self.verify()?;
        self.check_tree()?;
        make_dir(dir)?;
        let programs = dir.join(PROGRAMS);
        make_dir(&programs)?;
        for name in self.atoms().keys() {
            let file = self.host_path(&programs, &format!("{name}.wasm"))?;
            write_file(&file, self.atom(name).unwrap_or_default(), 0o644)?;
        }
        let root = dir.join(ROOT);
        make_dir(&root)?;
        // Folders come before their entries, except those above a volume.
        let mut made = HashSet::from([root.clone()]);
        for entry in self.rootfs()? {
            let path = self.host_path(&root, &entry.path)?;
            if path.parent().is_none_or(|parent| !made.contains(parent)) {
                make_parents(&root, &path)?;
            }
            match entry.kind {
                EntryKind::Dir => {
                    make_dir(&path)?;
                    made.insert(path);
                }
                EntryKind::File(bytes) => {
                    write_file(&path, (*bytes).as_ref(), u32::from(entry.mode))?;
                }
                EntryKind::Symlink(target) => symlink(target, &path).map_err(at(&path))?,
            }
        }
        Ok(())
    }

    /// Returns the specification of an image like this one, whose root file system lies in `root`
    /// (see [`Image::extract_to`]).
    ///
    /// # Errors
    /// Returns [`ImageError::Damaged`] if a program differs from its digest.
    pub fn to_spec(&self, root: PathBuf) -> Result<ImageSpec, ImageError> {
        let (name, version) = self.name_version();
        let (description, license) = self.description_and_license();
        let extra = self.extra();
        let atoms = self.atoms().keys().map(|name| Ok((name.clone(), self.checked_atom(name)?)));
        let commands = self.commands().iter().map(|c| (c.name.clone(), c.atom.clone()));
        Ok(ImageSpec {
            name,
            version,
            description,
            license,
            atoms: atoms.collect::<Result<_, ImageError>>()?,
            commands: commands.collect(),
            entrypoint: self.entrypoint().map(str::to_owned),
            rootfs: vec![root],
            time: extra.time,
            versions: extra.versions.clone(),
            licenses: extra.licenses.clone(),
            annotations: extra.annotations.clone(),
        })
    }

    /// Returns the place of a path of the image beneath a folder of the host.
    fn host_path(&self, dir: &Path, path: &str) -> Result<PathBuf, ImageError> {
        let mut host = dir.to_path_buf();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if name == "." || name == ".." || name.contains('\0') {
                let why = format!("the name {path:?}");
                return Err(ImageError::Damaged { path: self.path().into(), why });
            }
            host.push(name);
        }
        Ok(host)
    }
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> ImageError + '_ {
    move |source| ImageError::Io { path: path.into(), source }
}

fn make_dir(path: &Path) -> Result<(), ImageError> {
    DirBuilder::new().mode(0o755).create(path).map_err(at(path))
}

/// Makes the folders between `root` and `path`, because volumes such as `/usr/lib` have none. A
/// link among them is an error, because it could lead out of `root`.
fn make_parents(root: &Path, path: &Path) -> Result<(), ImageError> {
    let parent = path.parent().and_then(|parent| parent.strip_prefix(root).ok());
    let mut dir = root.to_path_buf();
    for name in parent.into_iter().flatten() {
        dir.push(name);
        match DirBuilder::new().mode(0o755).create(&dir) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                if !dir.symlink_metadata().map_err(at(&dir))?.is_dir() {
                    return Err(at(&dir)(ErrorKind::NotADirectory.into()));
                }
            }
            Err(e) => return Err(at(&dir)(e)),
        }
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8], mode: u32) -> Result<(), ImageError> {
    let mut file = OpenOptions::new();
    let opened = file.write(true).create_new(true).mode(mode).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImageSpec, pack_image};
    use std::os::unix::fs::PermissionsExt;

    fn spec(rootfs: PathBuf) -> ImageSpec {
        ImageSpec {
            name: "a/b".into(),
            version: "1.2.3".into(),
            description: "an image".into(),
            license: "MIT".into(),
            atoms: vec![("p".into(), b"\0asm\x01\0\0\0".to_vec())],
            commands: vec![("z".into(), "p".into()), ("a".into(), "p".into())],
            entrypoint: Some("z".into()),
            rootfs: vec![rootfs],
            time: 7,
            ..ImageSpec::default()
        }
    }

    #[test]
    fn an_extracted_image_packs_to_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        std::fs::create_dir_all(from.join("usr/lib/x")).unwrap();
        std::fs::write(from.join("usr/lib/x/run"), "run").unwrap();
        std::fs::set_permissions(
            from.join("usr/lib/x/run"),
            std::fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        symlink("x/run", from.join("usr/lib/link")).unwrap();
        let bytes = pack_image(&spec(from)).unwrap();
        let image = Image::from_bytes("image", bytes.clone()).unwrap();
        let to = dir.path().join("to");
        image.extract_to(&to).unwrap();
        assert_eq!(std::fs::read(to.join("programs/p.wasm")).unwrap(), b"\0asm\x01\0\0\0");
        assert_eq!(std::fs::read(to.join("root/usr/lib/link")).unwrap(), b"run");
        let again = pack_image(&image.to_spec(to.join(ROOT)).unwrap()).unwrap();
        assert!(again == bytes);
        // A folder that exists is never written to.
        assert!(matches!(image.extract_to(&to), Err(ImageError::Io { .. })));
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        make_dir(&root).unwrap();
        make_dir(&outside).unwrap();
        symlink(&outside, root.join("usr")).unwrap();
        assert!(make_parents(&root, &root.join("usr/lib/file")).is_err());
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
        let image = Image::from_bytes("image", pack_image(&spec(outside)).unwrap()).unwrap();
        assert!(image.host_path(&root, "/a/../b").is_err());
        assert_eq!(image.host_path(&root, "/a//b").unwrap(), root.join("a/b"));
    }
}
