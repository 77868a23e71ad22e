//! The target folder in the cache, which checkouts share so that Wasmer is compiled once.
//!
//! Cargo considers a crate of the workspace up to date if its files are older than the build of a
//! crate with that name and place in its workspace, even if that build was of another checkout with
//! other sources. Tests also have the path of the checkout compiled into them. So the builds of the
//! workspace's own crates are discarded as soon as another checkout uses the folder.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};

use crate::env;

/// The file with the name of the checkout that built last.
const OWNER: &str = "checkout";

/// Crates of this project that are not members of the workspace: the guest that tests build.
const OUTSIDE: &[&str] = &["guest"];

/// Makes `target` the folder of the checkout at `root`: crates named by `own` that another checkout
/// has built will be rebuilt.
///
/// # Errors
/// Returns an error if the folder cannot be read or written, and the errors of `own`.
pub fn claim_target(
    target: &Path,
    root: &Path,
    own: impl FnOnce() -> Result<BTreeSet<String>>,
) -> Result<()> {
    let (file, root) = (target.join(OWNER), root.as_os_str().as_encoded_bytes());
    if std::fs::read(&file).is_ok_and(|owner| owner == root) {
        return Ok(());
    }
    std::fs::create_dir_all(target).with_context(|| target.display().to_string())?;
    let mut own = own()?;
    own.extend(OUTSIDE.iter().map(|name| (*name).to_string()));
    forget_fingerprints(target, &own)?;
    env::write(&file, root)
}

/// The file that cargo locks while it builds a profile.
const CARGO_LOCK: &str = ".cargo-lock";

/// Removes cargo's fingerprints of these crates, everywhere below `dir`. Waits for a build there,
/// because cargo fails if its fingerprints vanish.
fn forget_fingerprints(dir: &Path, own: &BTreeSet<String>) -> Result<()> {
    let here = || dir.display().to_string();
    let lock = dir.join(CARGO_LOCK);
    let lock = lock.is_file().then(|| File::open(lock)).transpose().with_context(here)?;
    // The lock ends when the file is closed, at the end of this function.
    if let Some(lock) = &lock {
        lock.lock().with_context(here)?;
    }
    for entry in std::fs::read_dir(dir).with_context(here)? {
        let entry = entry.with_context(here)?;
        if !entry.file_type().with_context(here)?.is_dir() {
            continue;
        }
        let (name, path) = (entry.file_name(), entry.path());
        match name.to_str() {
            // These folders are large and have no fingerprints.
            Some("deps" | "build" | "incremental" | "examples") => {}
            // The entries are named `NAME-HASH`.
            Some(".fingerprint") => {
                for name in crate::key::sorted(&path)? {
                    if name.rsplit_once('-').is_some_and(|(package, _)| own.contains(package)) {
                        let entry = path.join(name);
                        std::fs::remove_dir_all(&entry)
                            .with_context(|| entry.display().to_string())?;
                    }
                }
            }
            _ => forget_fingerprints(&path, own)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_checkout_builds_its_own_crates_again() {
        let dir = std::env::temp_dir().join(format!("wasibox-shared-{}", std::process::id()));
        let prints = ["release/.fingerprint", "tmp/guest/wasm32-wasip1/release/.fingerprint"];
        let make = || {
            for (place, name) in [(0, "box-abi-01"), (0, "wasmer-02"), (1, "guest-03")] {
                std::fs::create_dir_all(dir.join(prints[place]).join(name)).unwrap();
            }
        };
        let own = || Ok(BTreeSet::from(["box-abi".to_string()]));
        let left = |place: &str| crate::key::sorted(&dir.join(place)).unwrap();
        make();
        claim_target(&dir, Path::new("/a"), own).unwrap();
        assert_eq!(left(prints[0]), ["wasmer-02"]);
        assert!(left(prints[1]).is_empty());
        make();
        claim_target(&dir, Path::new("/a"), || unreachable!()).unwrap();
        assert_eq!(left(prints[0]), ["box-abi-01", "wasmer-02"]);
        claim_target(&dir, Path::new("/b"), own).unwrap();
        assert_eq!(left(prints[0]), ["wasmer-02"]);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
