//! The C libraries behind zlib, bz2, lzma and sqlite3, as static archives.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::pins::Pins;
use super::toolchain::{Tools, find, unpack_tar};
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{fetch, host};

const CODE: &str = include_str!("libs.rs");

/// A library's sources inside its unpacked crate.
struct Library {
    /// Name in pins.toml.
    name: &'static str,
    /// The archive is `lib{archive}.a`.
    archive: &'static str,
    /// What the crate's folder name begins with.
    folder: &'static str,
    /// Folders whose C files are compiled, or single files.
    sources: &'static [&'static str],
    /// C files in those folders that are not: whole stems.
    not: &'static [&'static str],
    /// `-I` folders.
    include: &'static [&'static str],
    /// Public headers, or folders of them.
    headers: &'static [&'static str],
}

const LIBRARIES: &[Library] = &[
    Library {
        name: "zlib",
        archive: "z",
        folder: "libz-sys-",
        sources: &["src/zlib"],
        // stdio on compressed files: CPython has its own.
        not: &["gzclose", "gzlib", "gzread", "gzwrite"],
        include: &[],
        headers: &["src/zlib/zlib.h", "src/zlib/zconf.h"],
    },
    Library {
        name: "bzip2",
        archive: "bz2",
        folder: "bzip2-sys-",
        sources: &["bzip2-1.0.8"],
        // Programs and examples.
        not: &["bzip2", "bzip2recover", "dlltest", "mk251", "spewG", "unzcrash"],
        include: &[],
        headers: &["bzip2-1.0.8/bzlib.h"],
    },
    Library {
        name: "xz",
        archive: "lzma",
        folder: "liblzma-sys-",
        sources: &[
            "xz/src/liblzma/check",
            "xz/src/liblzma/common",
            "xz/src/liblzma/delta",
            "xz/src/liblzma/lz",
            "xz/src/liblzma/lzma",
            "xz/src/liblzma/rangecoder",
            "xz/src/liblzma/simple",
            "xz/src/common/tuklib_cpucores.c",
            "xz/src/common/tuklib_physmem.c",
        ],
        // Generators of the tables, the small variants, and the threaded coders.
        not: &[
            "crc32_small",
            "crc32_tablegen",
            "crc64_small",
            "crc64_tablegen",
            "crc_clmul_consts_gen",
            "fastpos_tablegen",
            "outqueue",
            "price_tablegen",
            "stream_decoder_mt",
            "stream_encoder_mt",
            "hardware_cputhreads",
        ],
        include: &[
            ".",
            "xz/src/common",
            "xz/src/liblzma/api",
            "xz/src/liblzma/check",
            "xz/src/liblzma/common",
            "xz/src/liblzma/delta",
            "xz/src/liblzma/lz",
            "xz/src/liblzma/lzma",
            "xz/src/liblzma/rangecoder",
            "xz/src/liblzma/simple",
        ],
        headers: &["xz/src/liblzma/api"],
    },
    Library {
        name: "sqlite",
        archive: "sqlite3",
        folder: "libsqlite3-sys-",
        sources: &["sqlite3/sqlite3.c"],
        not: &[],
        include: &[],
        headers: &["sqlite3/sqlite3.h", "sqlite3/sqlite3ext.h"],
    },
];

/// The built libraries.
pub struct Libs {
    pub key: String,
    /// Folders with `include/` and `lib/`, in the order of LIBRARIES.
    parts: Vec<(&'static str, Done)>,
}

impl Libs {
    /// `-I` of every library.
    pub fn include(&self) -> String {
        let flags: Vec<String> = self
            .parts
            .iter()
            .map(|(_, d)| format!("-I{}", d.dir.join("include").display()))
            .collect();
        flags.join(" ")
    }

    /// `-L` and `-l` of one library, by archive name.
    pub fn link(&self, archive: &str) -> String {
        let dir = self.parts.iter().find(|(a, _)| *a == archive).map(|(_, d)| d.dir.join("lib"));
        format!("-L{} -l{archive}", dir.unwrap_or_default().display())
    }
}

/// Builds all libraries.
pub fn build(shop: &mut Workshop, pins: &Pins, tools: &Tools) -> Result<Libs> {
    let mut all = Key::new("libs");
    let mut parts = Vec::new();
    for library in LIBRARIES {
        let source = pins.source(library.name)?;
        let file = fetch::fetch(shop, source)?;
        let mut key = Key::new(library.name);
        key.text(&tools.key);
        key.text(&source.sha256);
        source.flags.iter().for_each(|flag| key.text(flag));
        key.text(CODE);
        let done = shop.step(library.name, key, Leftover::Discard, |bench| {
            unpack_tar(bench, &file)?;
            compile(bench, tools, library, &source.flags)
        })?;
        all.text(&done.key);
        parts.push((library.archive, done));
    }
    Ok(Libs { key: all.finish(), parts })
}

fn compile(bench: &Bench, tools: &Tools, library: &Library, flags: &[String]) -> Result<()> {
    let root = find(&bench.dir, library.folder)?;
    let files = c_files(&root, library)?;
    for name in ["obj", "lib", "include"] {
        fs::create_dir_all(bench.dir.join(name))
            .with_context(|| bench.dir.display().to_string())?;
    }
    let objects = bench.dir.join("obj");
    // All files in one call would be one core's work: one call for each half.
    let halves: Vec<&[PathBuf]> = files.chunks(files.len().div_ceil(2).max(1)).collect();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = halves
            .iter()
            .map(|half| {
                let (root, objects) = (&root, &objects);
                scope.spawn(move || {
                    let mut clang = host::tool(tools.path("clang"), objects);
                    clang.args(["-O2", "-g0", "-w", "-DNDEBUG"]).args(flags);
                    clang.args(["-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_GETPID"]);
                    for dir in library.include {
                        clang.arg("-I").arg(root.join(dir));
                    }
                    bench.run(clang.arg("-c").args(*half))
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|w| w.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a compiler thread died"))))
            .collect()
    });
    results.into_iter().collect::<Result<()>>()?;

    let mut ar = host::tool(tools.path("ar"), &objects);
    ar.arg("rcs").arg(format!("../lib/lib{}.a", library.archive)).args(sorted(&objects)?);
    bench.run(&mut ar)?;
    for header in library.headers {
        let (from, to) = (root.join(header), bench.dir.join("include"));
        if from.is_dir() {
            super::toolchain::copy_tree(&from, &to)?;
        } else {
            let name = from.file_name().unwrap_or_default();
            fs::copy(&from, to.join(name)).with_context(|| from.display().to_string())?;
        }
    }
    Ok(())
}

fn c_files(root: &Path, library: &Library) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for source in library.sources {
        let path = root.join(source);
        if path.is_file() {
            files.push(path);
            continue;
        }
        for name in sorted(&path)? {
            if name.strip_suffix(".c").is_some_and(|stem| !library.not.contains(&stem)) {
                files.push(path.join(name));
            }
        }
    }
    Ok(files)
}
