//! The key that authenticates kept machine code as ours.
//!
//! A digest beside the code shows that the code is complete, but not who wrote it: a process that
//! can write the code can write the digest as well, for example a guest whose writable mount holds
//! the cache, or a program that unpacks an archive there. So the records about kept files are
//! authenticated with a key that is kept in a different place and made once per user:
//! `$XDG_STATE_HOME/wasibox/key` or `~/.local/state/wasibox/key`. Without it (a new machine with an
//! old cache) code is compiled again. If no such place is available, the key lies in the cache, and
//! that is reported.

use crate::trusted;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A key for message authentication (BLAKE3's keyed mode).
pub struct ArtifactKey([u8; LEN]);

const LEN: usize = 32;
const NAME: &str = "key";

/// The directory of the key, if it is not the one that the environment names.
static PLACE: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Sets the place of the key, for a process without the user's environment. Must be called before
/// any other use.
pub fn use_dir(dir: Option<PathBuf>) {
    let _ = PLACE.set(dir);
}

/// Returns the place of the key: `$XDG_STATE_HOME/wasibox` or `~/.local/state/wasibox`.
pub fn default_dir() -> Option<PathBuf> {
    if let Some(place) = PLACE.get() {
        return place.clone();
    }
    let absolute = |v: &str| std::env::var_os(v).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("wasibox"))
}

impl ArtifactKey {
    /// Loads the key of `place`, or of `cache` if that is not possible; creates it if there is
    /// none. Calls `tell` if one is created in the cache.
    pub fn load(
        place: Option<&Path>,
        cache: &Path,
        report: &dyn Fn(&str),
    ) -> Result<ArtifactKey, String> {
        let found = match place {
            Some(dir) => trusted::private_dir(dir)
                .and_then(|()| ArtifactKey::of(dir).map_err(|e| e.to_string()))
                .map_err(|why| format!("{}: {why}", dir.display())),
            None => Err("no home directory is known".into()),
        };
        let why = match found {
            Ok((key, _)) => return Ok(key),
            Err(why) => why,
        };
        let (key, is_new) = ArtifactKey::of(cache).map_err(|e| e.to_string())?;
        if is_new {
            report(&format!(
                "the key of compiled code lies beside it in {}: {why}",
                cache.display()
            ));
        }
        Ok(key)
    }

    /// Returns the key in a private directory, and whether it was created just now.
    fn of(dir: &Path) -> io::Result<(ArtifactKey, bool)> {
        let path = dir.join(NAME);
        let mut fresh = true;
        match ArtifactKey::read(&path) {
            Ok(key) => return Ok((key, false)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            // A key that is incomplete, or that others could read once, is not used any more.
            Err(_) => fresh = false,
        }
        let mut bytes = [0; LEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        match trusted::put_file(&path, &bytes, fresh) {
            Ok(_) => Ok((ArtifactKey(bytes), true)),
            // Another process was faster.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                Ok((ArtifactKey::read(&path)?, false))
            }
            Err(e) => Err(e),
        }
    }

    fn read(path: &Path) -> io::Result<ArtifactKey> {
        let mut file = trusted::open_trusted(path)?;
        let m = file.metadata()?;
        if m.mode() & 0o077 != 0 || m.len() != LEN as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = [0; LEN];
        file.read_exact(&mut bytes)?;
        Ok(ArtifactKey(bytes))
    }

    /// Returns the code that authenticates `text` as a statement about `what`. Two codes must be
    /// compared as [`blake3::Hash`], which takes the same time wherever they differ.
    pub fn sign(&self, what: &str, text: &str) -> blake3::Hash {
        let mut h = blake3::Hasher::new_keyed(&self.0);
        h.update(&(what.len() as u64).to_le_bytes());
        h.update(what.as_bytes());
        h.update(text.as_bytes());
        h.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn it_is_made_once_and_renewed_if_it_is_no_secret() {
        let tmp = tempfile::tempdir().unwrap();
        let (state, cache) = (tmp.path().join("state"), tmp.path().join("cache"));
        std::fs::create_dir(&cache).unwrap();
        let load = || ArtifactKey::load(Some(&state), &cache, &|t| panic!("{t}")).unwrap().0;
        let first = load();
        assert_eq!(first, load());
        let file = state.join(NAME);
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        let second = load();
        assert_ne!(first, second);
        std::fs::write(&file, "short").unwrap();
        assert!(![first, second].contains(&load()));
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert_eq!(load(), load());
        assert!(!cache.join(NAME).exists());
    }

    #[test]
    fn without_a_folder_it_is_in_the_cache_and_that_is_reported_once() {
        let tmp = tempfile::tempdir().unwrap();
        let cache = tmp.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        let said = RefCell::new(Vec::new());
        let report = |t: &str| said.borrow_mut().push(t.to_owned());
        let a = ArtifactKey::load(None, &cache, &report).unwrap().0;
        // A file where the folder should be.
        std::fs::write(tmp.path().join("state"), "").unwrap();
        let b = ArtifactKey::load(Some(&tmp.path().join("state")), &cache, &report).unwrap().0;
        assert_eq!((a, said.borrow().len()), (b, 1));
    }

    #[test]
    fn what_is_said_about_one_thing_is_not_said_about_another() {
        let key = ArtifactKey([7; LEN]);
        assert_ne!(key.sign("a", "bc"), key.sign("ab", "c"));
        assert_ne!(key.sign("a", "b"), ArtifactKey([8; LEN]).sign("a", "b"));
        assert_eq!(key.sign("a", "b"), key.sign("a", "b"));
    }
}
