//! CPython for wasm32-wasip1, from pinned sources to a finished `python.wasm`.
//!
//! The data in `python-dist/` (`pins.toml`, `patches/`, `site/`, `recipe/`) describe what is built.
//! The stages of the build are here, one per file:
//!
//! ```text
//! pins       reads pins.toml
//! bootstrap  what every later stage builds with
//! fetch      a pinned file, from the first origin that has it; verified by SHA-256
//! workshop   steps: one folder per key, resumable, logged, with progress lines
//! host       what the machine must offer, and how programs are started
//! toolchain  the compiler wheel becomes clang + wasm-ld + a wasip1 sysroot
//! libs       zlib, bzip2, xz, SQLite as static archives
//! libm       elementary functions, from musl
//! native     an interpreter for this machine, to freeze and compile with
//! cpython    sources and patches; configure and make for wasm
//! posix      processes, signals, files: our layer over WASIX, what is compiled against it
//! curses     ncurses, and the modules over it
//! kit        the C++ library, Meson's and Cython's interpreter, compiler scripts
//! packages   packages with C parts: objects, Python files, headers
//! meson      how they are built
//! lapack     BLAS and LAPACK, for SciPy
//! rust       packages whose C part is Rust
//! notices    the licences of the crates in them
//! wheels     packages in Python alone
//! wasmobj    one module's object with one global name
//! link       one module out of all objects
//! library    /usr/lib/python3.x, /usr/share/zoneinfo, licences
//! science    what the profiles with SciPy change of that
//! finish     the finished folder, its SHA256SUMS, and their check
//! prebuilt   that folder as an archive in the checkout
//! sizes      what the parts of the result take
//! suite      the sources of tests, for `cargo xtask python-suite`
//! ```
//!
//! Invariants. A step's folder is named by a hash of everything that goes into
//! it: the sources' hashes, the flags, our files, the code of the stage, and the
//! keys of the steps it uses. A folder without its stamp is unfinished work: it
//! is continued (make) or started again. Nothing unpinned is downloaded, nothing
//! is installed outside the cache folder, and a finished result is checked
//! against its own sums before it is used again.
//!
//! Deliberately absent: prepared memory. The runner makes it from the finished module
//! (`site/snapshot.c`).

mod bootstrap;
mod cpython;
pub mod curses;
mod fetch;
mod finish;
mod host;
mod kit;
mod lapack;
mod libm;
mod library;
mod libs;
mod link;
mod meson;
mod native;
mod notices;
mod packages;
mod pins;
mod posix;
mod prebuilt;
mod rust;
mod science;
pub mod sizes;
pub mod suite;
#[cfg(test)]
mod tests;
mod toolchain;
mod wasmobj;
mod wheels;
mod workshop;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use pins::Pins;
pub use pins::{Profile, Source};
use prebuilt::Prebuilt;
use workshop::{Key, Workshop};

/// The finished build. All paths lie in the cache folder and stay until the recipe changes.
#[derive(Debug)]
pub struct PythonDist {
    /// The interpreter, stripped; imports `wasi_snapshot_preview1` and `wasix_32v1`.
    pub wasm: PathBuf,
    /// A tree to lay over the guest's `/`: `usr/lib/python3.x`, `usr/share/zoneinfo`.
    pub root: PathBuf,
    /// Licence texts: component name and file.
    pub licenses: Vec<(String, PathBuf)>,
    /// Everything that is part of the result: name, version, licence (SPDX).
    pub components: Vec<(String, String, String)>,
    /// SHA-256 of everything that determines the result (not of the result).
    pub hash: String,
}

/// The code of the stages. It is part of the recipe's hash, so any change of these files, even of a
/// comment, makes the archives in the checkout stale.
const CODE: &[&str] = &[
    include_str!("cpython.rs"),
    include_str!("curses.rs"),
    include_str!("finish.rs"),
    include_str!("host.rs"),
    include_str!("kit.rs"),
    include_str!("libm.rs"),
    include_str!("libs.rs"),
    include_str!("library.rs"),
    include_str!("link.rs"),
    include_str!("meson.rs"),
    include_str!("native.rs"),
    include_str!("packages.rs"),
    include_str!("posix.rs"),
    include_str!("toolchain.rs"),
    include_str!("wasmobj.rs"),
    include_str!("wheels.rs"),
];

/// The code of the stages that only the profiles with SciPy have.
const SCIENCE_CODE: &[&str] = &[include_str!("lapack.rs"), include_str!("science.rs")];

/// The code of the stages that only the profile `full` has.
const FULL_CODE: &[&str] = &[include_str!("notices.rs"), include_str!("rust.rs")];

/// Returns the recipe's folder, the builds' folder, and the lock that makes this process the only
/// builder. The system releases the lock when the process ends.
fn enter(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<(PathBuf, PathBuf, std::fs::File)> {
    let recipe = recipe()?;
    let base = cache.join("python");
    std::fs::create_dir_all(&base).with_context(|| base.display().to_string())?;
    let lock = std::fs::File::create(base.join("lock")).context("the Python cache's lock")?;
    if lock.try_lock().is_err() {
        say("python: waiting for another build to finish");
        lock.lock().context("the Python cache's lock")?;
    }
    Ok((recipe, base, lock))
}

/// Returns CPython's patched sources, its version, and the named packages as `name==version`.
///
/// # Errors
/// The same as [`build`].
pub fn source(
    cache: &Path,
    packages: &[&str],
    say: &mut dyn FnMut(&str),
) -> Result<(PathBuf, String, Vec<String>)> {
    let (recipe, base, _lock) = enter(cache, say)?;
    let pins = Pins::read(&recipe.join("pins.toml"))?;
    let mut shop = Workshop::new(&base, &recipe, say)?;
    let source = cpython::source(&mut shop, &pins)?;
    let named = |name: &&str| Ok(format!("{name}=={}", pins.source(name)?.version));
    let packages = packages.iter().map(named).collect::<Result<_>>()?;
    Ok((cpython::tree(&source.dir), pins.python.clone(), packages))
}

/// Unpacks the compiler, and returns the folder with `zig` and its `lib`.
///
/// # Errors
/// The same as [`build`].
pub fn compiler(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let (recipe, base, _lock) = enter(cache, say)?;
    let pins = Pins::read(&recipe.join("pins.toml"))?;
    let mut shop = Workshop::new(&base, &recipe, say)?;
    Ok(toolchain::unpack(&mut shop, &pins)?.dir.join("ziglang"))
}

/// Fetches and verifies a pinned file of another recipe.
///
/// # Errors
/// The same as [`build`].
pub fn pinned(cache: &Path, source: &Source, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let (recipe, base, _lock) = enter(cache, say)?;
    fetch::fetch(&mut Workshop::new(&base, &recipe, say)?, source)
}

/// The request for a build.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub profile: Profile,
    /// Whether an archive in the checkout may replace a build from sources.
    pub prebuilt: bool,
}

/// Builds what is not in `cache` yet. Passes the progress lines to `say`.
///
/// # Errors
/// If a program is missing, an origin cannot be reached, a hash is wrong (the error names the
/// expected and the actual one), a step fails (the error shows the end and the path of its log), or
/// a build from sources differs from the archive of the same recipe.
pub fn build(cache: &Path, order: Order, say: &mut dyn FnMut(&str)) -> Result<PythonDist> {
    let Order { profile, prebuilt } = order;
    let (recipe, base, _lock) = enter(cache, say)?;
    let mut pins = Pins::read(&recipe.join("pins.toml"))?;
    pins.choose(profile);
    let hash = hash(&recipe, &pins, profile)?;
    let archive = Prebuilt::for_profile(&recipe, profile);
    let built = base.join(format!("{hash}-{}", std::env::consts::ARCH));
    let unpacked = base.join(&hash);
    let mut finished = |dist: &Path| match finish::check(dist) {
        Ok(true) => {
            say(&format!("python {}: finished before, sums verified", pins.python));
            true
        }
        Ok(false) => false,
        Err(why) => {
            say(&format!("python: the finished build is damaged ({why:#}); making it again"));
            false
        }
    };
    let dist = if prebuilt && finished(&unpacked) {
        unpacked
    } else if finished(&built) {
        built
    } else if prebuilt && archive.unpack(&hash, &unpacked, say)? {
        unpacked
    } else {
        make(&mut Workshop::new(&base, &recipe, say)?, &pins, profile, &built)?;
        built
    };
    if !prebuilt && archive.compare(&hash, &dist)?.is_some() {
        say(&format!("python {}: the bytes of the prebuilt archive", pins.python));
    }
    Ok(PythonDist {
        wasm: dist.join("python.wasm"),
        root: dist.join("root"),
        licenses: finish::licenses(&dist)?,
        components: pins
            .sources
            .iter()
            .filter(|source| pins.ships(profile, source))
            .map(|s| (s.name.clone(), s.version.clone(), s.licence.clone()))
            .collect(),
        hash,
    })
}

/// Builds from sources and keeps the result as the profile's archive in the checkout.
///
/// # Errors
/// The same as [`build`], or if the archive would be too large.
pub fn write_prebuilt(
    cache: &Path,
    profile: Profile,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf> {
    let recipe = recipe()?;
    let archive = Prebuilt::for_profile(&recipe, profile);
    archive.forget()?;
    let built = build(cache, Order { profile, prebuilt: false }, say)?;
    let dist = built.wasm.parent().context("the finished folder")?;
    archive.write(&built.hash, dist)
}

/// Returns the profile to build if none is named: `data` if the checkout has an archive of it for
/// this recipe, otherwise `core`, because building the packages of `data` from sources takes most
/// of an hour.
///
/// # Errors
/// If the recipe or the archive's record cannot be read.
pub fn usual_profile() -> Result<Profile> {
    let recipe = recipe()?;
    let pins = Pins::read(&recipe.join("pins.toml"))?;
    let hash = hash(&recipe, &pins, Profile::Data)?;
    let kept = Prebuilt::for_profile(&recipe, Profile::Data).is_of(&hash)?;
    Ok(if kept { Profile::Data } else { Profile::Core })
}

fn recipe() -> Result<PathBuf> {
    let recipe = crate::env::root().join("python-dist");
    recipe.canonicalize().with_context(|| recipe.display().to_string())
}

/// Returns the hash of everything that determines the profile's result, except the machine. A
/// smaller profile's hash does not depend on what only larger profiles have.
fn hash(recipe: &Path, pins: &Pins, profile: Profile) -> Result<String> {
    let mut key = Key::new("python");
    key.tree(recipe, &["pins.toml"])?;
    for name in workshop::sorted(&recipe.join("packages"))? {
        if profile.has_science() || !pins.is_science(&name) {
            key.tree(recipe, &[&format!("packages/{name}")])?;
        }
    }
    key.tree(recipe, &["patches", "site", "recipe"])?;
    CODE.iter().for_each(|code| key.text(code));
    if profile.has_science() {
        key.tree(recipe, &["science"])?;
        SCIENCE_CODE.iter().for_each(|code| key.text(code));
    }
    if profile == Profile::Full {
        key.tree(recipe, &["full"])?;
        FULL_CODE.iter().for_each(|code| key.text(code));
    }
    key.text(profile.name());
    Ok(key.finish())
}

fn make(shop: &mut Workshop, pins: &Pins, profile: Profile, dist: &Path) -> Result<()> {
    let started = Instant::now();
    host::require()?;
    let bootstrap = bootstrap::build_bootstrap(shop, pins, profile)?;
    let libm = libm::build(shop, pins, &bootstrap.tools)?;
    let wasm = cpython::cross(shop, &bootstrap)?;
    let posix = posix::build(shop, &bootstrap, &wasm)?;
    let curses = curses::build(shop, &bootstrap, &wasm, &posix)?;
    let kit = kit::build(shop, &bootstrap, &wasm)?;
    let mut packages = packages::build(shop, &bootstrap, &kit)?;
    if profile.has_science() {
        let lapack = lapack::build(shop, &bootstrap, &kit)?;
        lapack::join(shop, &bootstrap, &lapack, &mut packages)?;
    }
    packages.extend(rust::build(shop, &bootstrap)?);
    let mut sites: Vec<PathBuf> = packages.iter().map(packages::Package::site).collect();
    sites.extend(wheels::build(shop, &bootstrap)?);
    let mut library = library::build(shop, &bootstrap, &wasm)?;
    if profile.has_science() {
        library = science::library(shop, &bootstrap, &library)?;
    }
    let inputs = link::Inputs { libm, wasm, posix, curses, kit, packages };
    let module = link::build(shop, &bootstrap, &inputs)?;
    finish::assemble(shop, pins, &finish::Parts { module, library, sites }, dist)?;
    shop.say(&format!("python {}: built in {:.0} s", pins.python, started.elapsed().as_secs_f64()));
    Ok(())
}
