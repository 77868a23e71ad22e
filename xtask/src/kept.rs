//! A cache of the programs that cargo builds from crates of this workspace, by the content of their
//! sources.
//!
//! Cargo identifies its inputs by path and time, so a fresh checkout rebuilds the workspace's
//! crates even if the same sources were built before; linking `box.wasm` alone takes a minute or
//! more. Here a finished program is stored in the cache folder, named by a hash of everything that
//! went into it. It is used only if its SHA-256, which is stored with it, is right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::env::{self, WorkspaceCrate};
use crate::key::{Key, sorted};

/// The number of cached results of one program; the least recently used ones are removed.
const GENERATIONS: usize = 6;

/// A program to build.
pub struct GuestProgram {
    /// Its crate.
    pub package: &'static str,
    /// Cargo's profile.
    pub profile: &'static str,
    /// The target triple; this machine's if absent.
    pub target: Option<&'static str>,
    /// The file that cargo builds.
    pub file: &'static str,
    /// Crates that are built in the same run, so that the program has their features and Wasmer is
    /// not compiled again.
    pub with: &'static [&'static str],
}

/// A built program.
pub struct BuiltProgram {
    pub bytes: Vec<u8>,
    /// Whether it was built before.
    pub kept: bool,
}

/// Returns the program, from the cache or from cargo.
///
/// # Errors
/// Returns an error if the build fails, or if the cache folder cannot be read or written. A damaged
/// entry is rebuilt.
pub fn build_program(program: &GuestProgram) -> Result<BuiltProgram> {
    build_with(program, || Ok(Vec::new()))
}

/// Builds as [`build_program`] does, with environment variables for cargo. They are computed only
/// if the program must be built.
///
/// # Errors
/// The same as [`build_program`].
pub fn build_with(
    program: &GuestProgram,
    variables: impl FnOnce() -> Result<Vec<(String, String)>>,
) -> Result<BuiltProgram> {
    let shelf = env::cache()?.join("built").join(program.package);
    let dir = shelf.join(program_key(program)?);
    if let Some(bytes) = kept_program(&dir, program.file) {
        // The folder's time orders the entries.
        env::write(&dir.join("used"), b"")?;
        return Ok(BuiltProgram { bytes, kept: true });
    }
    let mut cargo = env::cached_cargo()?;
    cargo.args(["build", "--locked", "--profile", program.profile, "-p", program.package]);
    for name in program.with {
        cargo.args(["-p", name]);
    }
    if let Some(target) = program.target {
        cargo.args(["--target", target]);
    }
    env::run(cargo.envs(variables()?))?;
    let made =
        env::cache()?.join("target").join(program.target.unwrap_or("")).join(program.profile);
    let bytes = env::read(&made.join(program.file))?;
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    env::write(&dir.join(program.file), &bytes)?;
    env::write(&dir.join("sha256"), env::sha256(&bytes).as_bytes())?;
    prune_shelf(&shelf)?;
    Ok(BuiltProgram { bytes, kept: false })
}

/// Returns the entry's program if it matches its checksum.
fn kept_program(dir: &Path, file: &str) -> Option<Vec<u8>> {
    let sum = std::fs::read_to_string(dir.join("sha256")).ok()?;
    let bytes = std::fs::read(dir.join(file)).ok()?;
    if sum == env::sha256(&bytes) {
        return Some(bytes);
    }
    eprintln!("      {}: damaged, built again", dir.display());
    None
}

/// Returns a hash of everything that goes into a program: the compiler, its settings, the versions
/// of foreign crates, and the program's workspace crates.
fn program_key(program: &GuestProgram) -> Result<String> {
    let root = env::root();
    let mut key = Key::new(program.package);
    key.text(program.profile);
    key.text(program.target.unwrap_or("host"));
    let mut rustc = std::process::Command::new("rustc");
    key.text(&env::command_output(rustc.arg("-vV").current_dir(&root))?);
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        key.text(&std::env::var(name).unwrap_or_default());
    }
    key.tree(&root, &["Cargo.toml", "Cargo.lock", ".cargo/config.toml"])?;
    let crates = env::workspace_crates()?;
    for name in program.with {
        key.text(name);
    }
    for name in crate_closure(&crates, program.package) {
        let package = crates.iter().find(|p| p.name == name).context("a crate of the closure")?;
        key.text(&name);
        let parts = sorted(package.dir())?;
        // No file in `tests` is linked.
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|p| *p != "tests").collect();
        key.tree(package.dir(), &parts)?;
    }
    Ok(key.finish())
}

/// Returns the workspace crates that `package` depends on, including itself.
fn crate_closure(crates: &[WorkspaceCrate], package: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut next = vec![package];
    while let Some(name) = next.pop() {
        let Some(found) = crates.iter().find(|p| p.name == name) else { continue };
        if all.insert(name.to_string()) {
            let linked = found.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
            next.extend(linked.map(|d| d.name.as_str()));
        }
    }
    all
}

/// Removes all entries except the newest.
fn prune_shelf(shelf: &Path) -> Result<()> {
    let mut entries: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for name in sorted(shelf)? {
        let dir = shelf.join(name);
        entries.push((std::fs::metadata(&dir)?.modified()?, dir));
    }
    entries.sort();
    for (_, dir) in entries.iter().rev().skip(GENERATIONS) {
        std::fs::remove_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, uses: &[(&str, Option<&str>)]) -> WorkspaceCrate {
        WorkspaceCrate {
            name: name.to_string(),
            manifest_path: PathBuf::from("/w").join(name).join("Cargo.toml"),
            dependencies: uses
                .iter()
                .map(|(name, kind)| env::CrateDependency {
                    name: name.to_string(),
                    kind: kind.map(str::to_string),
                })
                .collect(),
        }
    }

    #[test]
    fn closure_follows_linked_crates_only() {
        let crates = [
            package("box", &[("sh", None), ("toml", None), ("harness", Some("dev"))]),
            package("sh", &[("text", None), ("gen", Some("build"))]),
            package("text", &[]),
            package("gen", &[]),
            package("harness", &[]),
        ];
        let names: Vec<String> = crate_closure(&crates, "box").into_iter().collect();
        assert_eq!(names, ["box", "gen", "sh", "text"]);
    }

    #[test]
    fn an_entry_counts_only_with_its_sum() {
        let dir = std::env::temp_dir().join(format!("wasibox-kept-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("p"), b"program").unwrap();
        assert!(kept_program(&dir, "p").is_none());
        std::fs::write(dir.join("sha256"), env::sha256(b"program")).unwrap();
        assert_eq!(kept_program(&dir, "p").as_deref(), Some(&b"program"[..]));
        std::fs::write(dir.join("p"), b"prograM").unwrap();
        assert!(kept_program(&dir, "p").is_none());
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn each_program_has_its_own_key() {
        let here = program_key(&crate::dist::BOX).unwrap();
        assert_eq!(here, program_key(&crate::dist::BOX).unwrap());
        assert_ne!(here, program_key(&crate::dist::RUNNER).unwrap());
    }
}
