//! Finds the build under test: the checkout's `dist/`, or the one that `WASIBOX_DIST` names.
#![forbid(unsafe_code)]

use std::path::PathBuf;

/// Returns the checkout's root.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(PathBuf::from).unwrap_or(here)
}

fn built(name: &str) -> PathBuf {
    let dist = std::env::var_os("WASIBOX_DIST").map_or_else(|| root().join("dist"), PathBuf::from);
    let path = dist.join(name);
    assert!(path.exists(), "{} is missing: run cargo xtask dist", path.display());
    path
}

/// Returns the image.
///
/// # Panics
/// Panics if it is missing, because a test without its subject must not pass.
pub fn image() -> PathBuf {
    built("image.webc")
}

/// Returns the runner.
///
/// # Panics
/// The same as [`image`].
pub fn runner() -> PathBuf {
    built("runner")
}
