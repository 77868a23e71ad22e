//! Machine code that was made elsewhere: what a package carries beside its image, so that the first start compiles
//! nothing.
//!
//! It is as trusted as the program that takes it in: whoever installs a package runs its native code. Here it is
//! written into the store and signed with this user's key, like code that was compiled here; from then on all that
//! `artifact` says holds for it.
//!
//! # Invariants
//! - Code counts only with the [`identity`] that it was made for: engine, target, CPU features. Its key says so once
//!   more, so that other code would never be found.

use super::{Files, Key, Store, program_files, snapshot_files};
use crate::{engine, key, snapshot, trusted};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use wasibox_image::Image;

/// What of the machine and the engine decides whether code is of use.
pub fn identity() -> String {
    engine::identity()
}

/// A program's code and its memory's template, or the snapshot of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    Program { key: String, code: Vec<u8>, template: Vec<u8> },
    Snapshot { key: String, memory: Vec<u8> },
}

/// All code that is kept in a folder for an image; `None` if some is not there or not as it was written.
///
/// # Errors
/// If it cannot be read.
pub fn take(image: &Image, dir: &Path) -> std::io::Result<Option<Vec<Carried>>> {
    let store = Store { dir: Some(dir.to_owned()), progress: &|_| {} };
    let Some((dir, secret)) = store.place(false) else { return Ok(None) };
    let mut all = Vec::new();
    for digest in image.atoms().values() {
        let key = super::key(digest);
        let Some([code, template]) = program_files(dir, &key).open(&secret, &|_| {}) else {
            return Ok(None);
        };
        all.push(Carried::Program { key, code: read(code)?, template: read(template)? });
        let key = snapshot::key(digest, image.tree());
        // Only some programs have one.
        if let Some([memory]) = snapshot_files(dir, &key).open(&secret, &|_| {}) {
            all.push(Carried::Snapshot { key, memory: read(memory)? });
        }
    }
    Ok(Some(all))
}

/// The memory of each program of an image that is kept prepared in a folder, by the program's name, as
/// [`wasibox_kernel::parked::Prepared`] describes it: a head that fills a page, then the content.
///
/// # Errors
/// If it cannot be read.
pub fn memories(image: &Image, dir: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let store = Store { dir: Some(dir.to_owned()), progress: &|_| {} };
    let Some((dir, secret)) = store.place(false) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for (name, digest) in image.atoms() {
        let files = snapshot_files(dir, &snapshot::key(digest, image.tree()));
        if let Some([memory]) = files.open(&secret, &|_| {}) {
            all.push((name.clone(), read(memory)?));
        }
    }
    Ok(all)
}

fn read(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A folder that takes code in.
pub struct Into {
    dir: PathBuf,
    key: Key,
}

impl Into {
    /// The folder of that name, made if need be.
    ///
    /// # Errors
    /// Why it cannot be trusted.
    pub fn dir(dir: &Path) -> Result<Into, String> {
        trusted::private_dir(dir)?;
        let key = Key::load(key::default_dir().as_deref(), dir, &|_| {})?;
        Ok(Into { dir: dir.to_owned(), key })
    }

    /// Keeps something, unless it is there already.
    ///
    /// # Errors
    /// If its name is none, or it cannot be written.
    pub fn put(&self, carried: &Carried) -> std::io::Result<()> {
        match carried {
            Carried::Program { key, code, template } => {
                self.add(key, program_files, [code, template])
            }
            Carried::Snapshot { key, memory } => self.add(key, snapshot_files, [memory]),
        }
    }

    fn add<const N: usize>(
        &self,
        key: &str,
        files: impl Fn(&Path, &str) -> Files<N>,
        contents: [&[u8]; N],
    ) -> std::io::Result<()> {
        if key.len() != 64 || !key.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let files = files(&self.dir, key);
        match files.open(&self.key, &|_| {}) {
            Some(_) => Ok(()),
            None => files.put(&self.key, contents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_taken_in_is_found() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("aot");
        let into = Into::dir(&dir).unwrap();
        let key = "0123456789abcdef".repeat(4);
        let (code, template) = (b"code".to_vec(), b"template".to_vec());
        let carried = Carried::Program { key: key.clone(), code, template };
        into.put(&carried).unwrap();
        let [code, template] = program_files(&dir, &key).open(&into.key, &|_| {}).unwrap();
        assert_eq!(
            (read(code).unwrap(), read(template).unwrap()),
            (b"code".to_vec(), b"template".to_vec())
        );
        // Once there, it stays as it is.
        let stamp = |name: &str| std::fs::metadata(dir.join(name)).unwrap().modified().unwrap();
        let name = format!("{key}.aot");
        let before = stamp(&name);
        into.put(&carried).unwrap();
        assert_eq!(stamp(&name), before);
        let snapshot = Carried::Snapshot { key: key.clone(), memory: vec![7; 10] };
        into.put(&snapshot).unwrap();
        assert!(snapshot_files(&dir, &key).open(&into.key, &|_| {}).is_some());
    }

    #[test]
    fn names_and_folders_are_looked_at() {
        let tmp = tempfile::tempdir().unwrap();
        let into = Into::dir(&tmp.path().join("aot")).unwrap();
        for key in ["", "../../../../etc/passwd", &"g".repeat(64), &"a".repeat(63)] {
            let carried = Carried::Snapshot { key: key.to_owned(), memory: vec![] };
            assert!(into.put(&carried).is_err(), "{key}");
        }
        let open = tmp.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Into::dir(&open).is_err());
    }
}
