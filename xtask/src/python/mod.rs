//! CPython for wasm32-wasip1, from pinned sources to a finished `python.wasm`.
//!
//! What is built is data in `python-dist/` (`pins.toml`, `patches/`, `site/`,
//! `recipe/`); how it is built is here, one stage per file:
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
//! Deliberately absent: snapshots. The runner makes them from the finished module (`site/snapshot.c`).

mod bootstrap;
mod cpython;
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

/// The code of the stages, part of the recipe's hash.
const CODE: &[&str] = &[
    include_str!("cpython.rs"),
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

/// The recipe's folder, the builds' folder, and the lock that makes this the only builder; the lock
/// goes with the process.
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

/// CPython's sources as they are built, its version, and the named packages as `name==version`.
///
/// # Errors
/// As [`build_bootstrap`].
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

/// The compiler, unpacked: the folder with `zig` and its `lib`.
///
/// # Errors
/// As [`build_bootstrap`].
pub fn compiler(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let (recipe, base, _lock) = enter(cache, say)?;
    let pins = Pins::read(&recipe.join("pins.toml"))?;
    let mut shop = Workshop::new(&base, &recipe, say)?;
    Ok(toolchain::unpack(&mut shop, &pins)?.dir.join("ziglang"))
}

/// A pinned file of another recipe, fetched and verified.
///
/// # Errors
/// As [`build_bootstrap`].
pub fn pinned(cache: &Path, source: &Source, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let (recipe, base, _lock) = enter(cache, say)?;
    fetch::fetch(&mut Workshop::new(&base, &recipe, say)?, source)
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub profile: Profile,
    /// Whether an archive in the checkout is as good as a build.
    pub prebuilt: bool,
}

/// Makes what is not in `cache` yet; `say` gets the progress lines.
///
/// # Errors
/// A missing program, an origin that cannot be reached, a wrong hash (names the
/// expected and the actual one), a failed step (shows its log's tail and path), a build from
/// sources that differs from the archive of the same recipe.
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
/// As [`build_bootstrap`]; an archive that would be too large.
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

/// The profile where none is named: `data` if the checkout has this recipe's archive of it,
/// else `core`, since its packages take most of an hour from sources.
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

/// The hash of everything that determines the profile's result, but for the machine. What a smaller
/// profile has not, its hash does not depend on.
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
    let inputs = link::Inputs { libm, wasm, posix, kit, packages };
    let module = link::build(shop, &bootstrap, &inputs)?;
    finish::assemble(shop, pins, &finish::Parts { module, library, sites }, dist)?;
    shop.say(&format!("python {}: built in {:.0} s", pins.python, started.elapsed().as_secs_f64()));
    Ok(())
}
