//! CPython itself: the sources and the wasm objects.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::bootstrap::Bootstrap;
use super::pins::Pins;
use super::toolchain::unpack_tar;
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{fetch, host};

const CODE: &str = include_str!("cpython.rs");

/// Static archives that built-in modules need; make does not build them for our target alone.
const MODULE_ARCHIVES: &[&str] = &[
    "Modules/_decimal/libmpdec/libmpdec.a",
    "Modules/expat/libexpat.a",
    "Modules/_hacl/libHacl_Hash_SHA2.a",
];

/// Written when configure went through; make goes on from there.
pub const CONFIGURED: &str = ".configured";

/// Unpacks and patches the sources.
pub fn source(shop: &mut Workshop, pins: &Pins) -> Result<Done> {
    let source = pins.source("cpython")?;
    let file = fetch::fetch(shop, source)?;
    let recipe = shop.recipe.clone();
    let mut key = Key::new("cpython-source");
    key.text(&source.sha256);
    key.tree(&recipe, &["patches"])?;
    let unpacked = format!("Python-{}", pins.python);
    shop.step("cpython-source", key, Leftover::Discard, |bench| {
        unpack_tar(bench, &file)?;
        fs::rename(bench.dir.join(&unpacked), tree(&bench.dir)).context(unpacked)?;
        for patch in sorted(&recipe.join("patches"))?.iter().filter(|p| p.ends_with(".patch")) {
            let mut command = host::tool("patch", &tree(&bench.dir));
            command.args(["-p1", "--fuzz=0", "--input"]).arg(recipe.join("patches").join(patch));
            bench.run(&mut command).with_context(|| patch.clone())?;
        }
        Ok(())
    })
}

/// The source tree's name in the step's folder.
const SOURCE: &str = "Python";

/// The source tree in the step's folder.
pub fn tree(dir: &Path) -> PathBuf {
    dir.join(SOURCE)
}

/// Configures and compiles for wasm32-wasip1.
pub fn cross(shop: &mut Workshop, bootstrap: &Bootstrap) -> Result<Done> {
    let Bootstrap { pins, source, native, tools, libs, .. } = bootstrap;
    let mut key = Key::new("wasm");
    for part in [&source.key, &native.key, &tools.key, &libs.key, &pins.cpython.optimise] {
        key.text(part);
    }
    pins.cpython.configure.iter().chain(&pins.cpython.cache).for_each(|arg| key.text(arg));
    key.text(CODE);
    let tree = tree(&source.dir);
    shop.step("cpython-wasm", key, Leftover::Continue, |bench| {
        if !bench.dir.join(CONFIGURED).is_file() {
            configure(bench, &tree, bootstrap)?;
            fs::write(bench.dir.join(CONFIGURED), "").context(CONFIGURED)?;
        }
        let mut make = host::tool("make", &bench.dir);
        let library = format!("libpython{}.a", pins.series());
        make.args([&host::jobs(), &library]).arg("pybuilddir.txt").args(MODULE_ARCHIVES);
        bench.run(&mut make)
    })
}

fn configure(bench: &Bench, tree: &Path, bootstrap: &Bootstrap) -> Result<()> {
    let Bootstrap { pins, native, tools, libs, .. } = bootstrap;
    let mut guess = host::tool("sh", &bench.dir);
    let build = bench.output(guess.arg(tree.join("config.guess")))?;
    let include = libs.include();
    let clang = tools.path("clang");
    // Named from here, not from the root: the name gets into getpath.o, and
    // equal inputs must give equal bytes wherever the cache folder is.
    let step = tree.parent().and_then(Path::file_name).context("the source step's folder")?;
    let relative = Path::new("..").join(step).join(SOURCE).join("configure");
    let mut configure = host::tool(relative, &bench.dir);
    configure
        .env("CONFIG_SITE", tree.join("Tools/wasm/config.site-wasm32-wasi"))
        .env("CC", &clang)
        .env("CXX", "/bin/false")
        .env("CPP", format!("{} -E", clang.display()))
        .env("AR", tools.path("ar"))
        .env("RANLIB", tools.path("ranlib"))
        .env("PKG_CONFIG", "/bin/false")
        .env("HOSTRUNNER", "/bin/false")
        .env("CPPFLAGS", &include)
        .env("OPT", format!("{} -g0 -DNDEBUG -Wall", pins.cpython.optimise));
    for (variable, archive) in
        [("ZLIB", "z"), ("BZIP2", "bz2"), ("LIBLZMA", "lzma"), ("LIBSQLITE3", "sqlite3")]
    {
        configure.env(format!("{variable}_CFLAGS"), &include);
        configure.env(format!("{variable}_LIBS"), libs.link(archive));
    }
    configure.args(["--config-cache", "--host=wasm32-wasip1"]);
    configure.arg(format!("--build={}", build.trim()));
    configure.arg(format!("--with-build-python={}", native.dir.join("python").display()));
    bench.run(configure.args(&pins.cpython.configure).args(&pins.cpython.cache))
}
