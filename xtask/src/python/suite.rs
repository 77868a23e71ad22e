//! Provides what the packages' own tests need: their pinned sources, and pytest.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::pins::Pins;
use super::toolchain::{find, unpack_tar, unpack_zip};
use super::workshop::{Key, Leftover, Workshop};
use super::{cpython, enter, fetch, host, native};

/// pytest, and the packages that it and the suites import.
const PYTEST: &[&str] =
    &["pytest", "pluggy", "iniconfig", "pygments", "hypothesis", "sortedcontainers"];

/// Returns the folder of CPython's `Lib/test`.
///
/// # Errors
/// The same as [`super::build`].
pub fn cpython_tests(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let (recipe, base, _lock) = enter(cache, say)?;
    let pins = Pins::read(&recipe.join("pins.toml"))?;
    let mut shop = Workshop::new(&base, &recipe, say)?;
    let source = cpython::source(&mut shop, &pins)?;
    Ok(cpython::tree(&source.dir).join("Lib/test"))
}

/// Returns a package's sources as they were published, and a folder with pytest.
///
/// # Errors
/// The same as [`super::build`].
pub fn package_tests(
    cache: &Path,
    package: &str,
    say: &mut dyn FnMut(&str),
) -> Result<(PathBuf, PathBuf)> {
    let (recipe, base, _lock) = enter(cache, say)?;
    let pins = Pins::read(&recipe.join("pins.toml"))?;
    let mut shop = Workshop::new(&base, &recipe, say)?;
    let source = pins.source(package)?;
    let file = fetch::fetch(&mut shop, source)?;
    let mut key = Key::new("suite");
    key.text(&source.sha256);
    let sources = shop.step(&format!("{package}-suite"), key, Leftover::Discard, |bench| {
        unpack_tar(bench, &file)
    })?;
    // pytest gets bytecode, because it is imported again for each file of tests.
    let tree = cpython::source(&mut shop, &pins)?;
    let native = native::build(&mut shop, &tree)?;
    let mut key = Key::new("pytest");
    key.text(&native.key);
    let mut wheels = Vec::new();
    for name in PYTEST {
        let source = pins.source(name)?;
        key.text(&source.sha256);
        wheels.push(fetch::fetch(&mut shop, source)?);
    }
    let pytest = shop.step("pytest", key, Leftover::Discard, |bench| {
        wheels.iter().try_for_each(|wheel| unpack_zip(bench, wheel))?;
        let mut python = host::tool(native.dir.join("python"), &bench.dir);
        python.args(["-I", "-S", "-m", "compileall", "-q", "--invalidation-mode"]);
        bench.run(python.args(["unchecked-hash", "."]))
    })?;
    Ok((find(&sources.dir, &format!("{}-", package.replace('-', "_")))?, pytest.dir))
}
