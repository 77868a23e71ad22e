//! Programs of others that are modules of the image, from pinned sources in `programs/`.
//!
//! ```text
//! step      one folder per key in the cache, with a log
//! sysroot   the compiler wheel becomes clang, wasm-ld and a libc for wasm32-wasip1
//! layer     the C layer below the programs: `guest/posix` over that of CPython
//! compile   steps of several recipes: patches, objects, the link
//! crates    programs in Rust: cargo, their crates
//! configure programs with a configure script
//! ncurses   libraries for programs on terminals, the terminals' descriptions, small commands
//! git       git, its helper for HTTP, its scripts
//! less, lua, make, nano, ripgrep, sqlite, vim
//! scripts   programs that Python or Node of the image run
//! ```
//!
//! Invariants. A step's folder is named by a hash of everything that goes into it. A result is used
//! only if it is complete. What is copyleft is a module of its own, comes with its licence and its
//! complete source, and can be left out.
//!
//! Deliberately absent: changes to `python-dist`. The layer's files are compiled where they are, so
//! that CPython's recipe keeps its bytes.

mod compile;
mod configure;
mod crates;
mod git;
mod layer;
mod less;
mod lua;
mod make;
mod nano;
mod ncurses;
mod ripgrep;
pub mod scripts;
mod sqlite;
mod step;
mod sysroot;
mod vim;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::env;
use crate::key::Key;
use crate::python::{self, Source};

/// A program that is ready for the image.
pub struct UpstreamProgram {
    /// The name of its module.
    pub name: &'static str,
    pub module: Vec<u8>,
    /// The commands that it implements.
    pub commands: &'static [&'static str],
    /// The tree that is copied to the guest's `/`, if it has files apart from the program.
    pub root: Option<PathBuf>,
    /// Licence texts: component and file.
    pub licenses: Vec<(String, PathBuf)>,
    /// Name, version and licence of each component.
    pub components: Vec<(String, String, String)>,
    /// The files of its complete source if it is copyleft, which are distributed with the image: each
    /// with its path in `dist/sources`.
    pub sources: Vec<(String, PathBuf)>,
    /// The hash of everything that determines the result.
    pub key: String,
}

#[derive(Deserialize)]
struct ProgramPins {
    source: Vec<Source>,
}

/// Builds the programs that are not cached, those under a copyleft licence only if `copyleft`. `say`
/// gets progress lines.
///
/// # Errors
/// Returns an error if a file cannot be fetched or has another digest, or if a step fails; the
/// message has the end of the step's log.
pub fn build_programs(copyleft: bool, say: &mut dyn FnMut(&str)) -> Result<Vec<UpstreamProgram>> {
    let base = folder()?;
    let lock = std::fs::File::create(base.join("lock")).context("the lock of the programs")?;
    lock.lock().context("the lock of the programs")?;
    let mut shop = step::Workshop { base, say };
    let ncurses = ncurses::build(&mut shop)?;
    let mut programs = vec![
        less::build(&mut shop, &ncurses)?,
        lua::build(&mut shop)?,
        ncurses::commands(&ncurses)?,
        ripgrep::build(&mut shop)?,
        sqlite::build(&mut shop)?,
        vim::build(&mut shop, &ncurses)?,
    ];
    if copyleft {
        programs.extend([
            git::build(&mut shop)?,
            make::build(&mut shop)?,
            nano::build(&mut shop, &ncurses)?,
        ]);
    }
    Ok(programs)
}

/// Returns the folder of finished steps.
fn folder() -> Result<PathBuf> {
    let base = env::cache()?.join("upstream");
    std::fs::create_dir_all(&base).with_context(|| base.display().to_string())?;
    Ok(base)
}

/// Returns the key of a program: the files of its recipe at `path`, `parts`, and the code that
/// builds it.
fn recipe_key(name: &str, path: &Path, parts: &[&String], code: &[&str]) -> Result<Key> {
    let mut key = Key::new(name);
    parts.iter().for_each(|part| key.text(part));
    let file = path.file_name().with_context(|| path.display().to_string())?.to_string_lossy();
    key.tree(path.parent().unwrap_or(path), &[&file])?;
    code.iter().for_each(|text| key.text(text));
    Ok(key)
}

/// Returns the source of this name that `pins`, a file of the checkout, lists.
fn pinned_source(pins: &str, name: &str) -> Result<Source> {
    let path = env::root().join(pins);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let pins: ProgramPins = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let found = pins.source.into_iter().find(|source| source.name == name);
    found.with_context(|| format!("{} lists no {name}", path.display()))
}

/// Returns the file of a source that CPython's recipe pins and the programs use, too.
fn shared_file(name: &str, say: &mut dyn FnMut(&str)) -> Result<(Source, PathBuf)> {
    let source = pinned_source("python-dist/pins.toml", name)?;
    let file = python::pinned(&env::cache()?, &source, say)?;
    Ok((source, file))
}

/// Returns the one entry of `dir` whose name begins with `prefix`.
fn entry_with_prefix(dir: &Path, prefix: &str) -> Result<PathBuf> {
    let names = crate::key::sorted(dir)?;
    let name = names.iter().find(|name| name.starts_with(prefix));
    Ok(dir.join(name.with_context(|| format!("{}: no {prefix}*", dir.display()))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_pinned_and_named_in_the_offer() {
        let names =
            ["git", "less", "lua", "make", "nano", "ripgrep", "sqlite-shell", "vim", "yaqpy"];
        let own = names.map(|name| pinned_source("programs/pins.toml", name).unwrap());
        let shared = ["dlmalloc", "ncurses", "sqlite", "zlib"]
            .map(|name| pinned_source("python-dist/pins.toml", name).unwrap());
        for source in own.iter().chain(&shared) {
            assert!(source.sha256.len() == 64 && !source.origins.is_empty(), "{}", source.name);
        }
        for (source, title) in [(&own[0], "git"), (&own[3], "GNU make"), (&own[4], "GNU nano")] {
            let path = format!("programs/{}/SOURCE", source.name);
            let offer = String::from_utf8(env::read(&env::root().join(path)).unwrap()).unwrap();
            let named = format!("is {title} {} under", source.version);
            assert!(offer.split_whitespace().collect::<Vec<_>>().join(" ").contains(&named));
        }
        assert!(pinned_source("programs/pins.toml", "nothing").is_err());
    }
}
