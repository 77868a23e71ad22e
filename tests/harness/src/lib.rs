//! The test harness: runs cases, which are data, natively and in WebAssembly, and helps end-to-end
//! tests.
//!
//! | file | content |
//! |---|---|
//! | `case` | the TOML format of `tests/cases/<area>/*.toml` |
//! | `run` | runs one case in bash, the native binary or the image |
//! | `exec` | runs `runner exec` in end-to-end tests |
//!
//! # Invariants
//! - Expected values come from an authority that the case file names. If that is bash or a GNU tool
//!   that this machine has, the test `oracle` runs every case with it, too.
//! - A case that no target runs is an error; it is not skipped.
#![forbid(unsafe_code)]

pub mod case;
pub mod exec;
pub mod run;

use std::path::PathBuf;

/// Returns the checkout's root.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(PathBuf::from).unwrap_or(here)
}

/// Returns a path that `cargo xtask test` passes in, or its default.
///
/// # Panics
/// Panics if the file does not exist, because a test without its subject must not pass.
pub fn given(variable: &str, default: &str) -> PathBuf {
    let path = std::env::var_os(variable).map_or_else(|| root().join(default), PathBuf::from);
    assert!(path.exists(), "{} is missing: run cargo xtask test", path.display());
    path
}

/// Returns the image.
pub fn image() -> PathBuf {
    given("WASIBOX_DIST", "dist").join("image.webc")
}

/// Returns the runner.
pub fn runner() -> PathBuf {
    given("WASIBOX_DIST", "dist").join("runner")
}

/// Returns the multicall binary for this machine.
pub fn native_box() -> PathBuf {
    given("WASIBOX_NATIVE_BOX", "target/debug/box")
}
