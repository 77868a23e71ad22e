//! A CPython for this machine. It freezes modules, generates files and compiles
//! the library, and is made cheaply: hardly any extension modules, -O1.

use std::fs;

use anyhow::{Context, Result};

use super::cpython::{self, CONFIGURED};
use super::host;
use super::workshop::{Done, Key, Leftover, Workshop};

const CODE: &str = include_str!("native.rs");

/// The interpreter that runs on this machine; at `python` in the folder.
pub fn build(shop: &mut Workshop, source: &Done) -> Result<Done> {
    let setup = shop.recipe.join("recipe/native-modules.setup");
    let mut key = Key::new("native");
    key.text(&source.key);
    key.tree(&shop.recipe, &["recipe/native-modules.setup"])?;
    key.text(&host::cc());
    key.text(CODE);
    let tree = cpython::tree(&source.dir);
    shop.step("cpython-native", key, Leftover::Continue, |bench| {
        if !bench.dir.join(CONFIGURED).is_file() {
            let modules = bench.dir.join("Modules");
            fs::create_dir_all(&modules).with_context(|| modules.display().to_string())?;
            fs::copy(&setup, modules.join("Setup.local")).context("Setup.local")?;
            let mut configure = host::tool(tree.join("configure"), &bench.dir);
            configure.env("OPT", "-O1 -g0 -DNDEBUG").env("PKG_CONFIG", "/bin/false");
            configure.args(["--quiet", "--disable-test-modules", "--with-ensurepip=no"]);
            bench.run(configure.arg("--without-doc-strings"))?;
            fs::write(bench.dir.join(CONFIGURED), "").context(CONFIGURED)?;
        }
        bench.run(host::tool("make", &bench.dir).args([&host::jobs(), "python"]))
    })
}
