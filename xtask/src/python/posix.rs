//! CPython's view of processes, signals and files: our layer over WASIX
//! (`python-dist/site/posix`), and the parts of CPython that are compiled against it.
//!
//! pyconfig.h, the packages and all other objects know plain preview 1 and its libc. Only
//! the files listed here see `site/posix/include`, and replace what the `cpython`
//! stage made of them; so a change of the layer compiles a dozen files, not all packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::bootstrap::Bootstrap;
use super::cpython::tree;
use super::host;
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};

/// The layer's folder in the recipe.
const LAYER: &str = "site/posix";

/// The layer's one file that is not C.
const THREAD_START: &str = "thread_start.s";

/// libc's code for time zones, in the compiler's wheel, and what it is compiled with.
const ZONE: &str = "zone/zone.c";
const ZONE_CODE: &str = "ziglang/lib/libc/musl/src/time";
const ZONE_FLAGS: &[&str] =
    &["-O2", "-g0", "-w", "-D_XOPEN_SOURCE=700", "-D_WASI_EMULATED_MMAN", "-Dhidden="];

const CODE: &str = include_str!("posix.rs");

/// Files of CPython whose objects are replaced.
const REPLACED: &[&str] = &[
    "Modules/_io/fileio.c",
    "Modules/_operator.c",
    "Modules/_threadmodule.c",
    "Modules/errnomodule.c",
    "Modules/main.c",
    "Modules/posixmodule.c",
    "Modules/selectmodule.c",
    "Modules/signalmodule.c",
    "Modules/socketmodule.c",
    "Modules/timemodule.c",
    "Objects/obmalloc.c",
    "Parser/pegen.c",
    "Parser/tokenizer/file_tokenizer.c",
    "Python/ceval.c",
    "Python/fileutils.c",
    "Python/pylifecycle.c",
];

/// What those include from beside them, where a patch changes it.
const INCLUDED: &[&str] = &["Python/generated_cases.c.h"];

/// CPython's stand-in for a libc without dup2.
const DUP2: &str = "Python/dup2.o";

/// Modules that the `cpython` stage leaves out.
const ADDED: &[(&str, &[&str])] = &[
    (
        "_ctypes",
        &[
            "Modules/_ctypes/_ctypes.c",
            "Modules/_ctypes/callbacks.c",
            "Modules/_ctypes/callproc.c",
            "Modules/_ctypes/cfield.c",
            "Modules/_ctypes/stgdict.c",
        ],
    ),
    ("_posixsubprocess", &["Modules/_posixsubprocess.c"]),
    ("fcntl", &["Modules/fcntlmodule.c"]),
    ("grp", &["Modules/grpmodule.c"]),
    ("pwd", &["Modules/pwdmodule.c"]),
    ("termios", &["Modules/termios.c"]),
];

/// What `_ctypes` rests on, in the layer: libffi's header, and calls into the program.
const FOREIGN: &str = "foreign";
const FOREIGN_CODE: &str = "foreign/foreign.c";

/// musl's headers in the compiler's wheel, after all others: those of terminals, which the `libc`
/// stage leaves out because plain preview 1 has none.
const HEADERS: &str = "ziglang/lib/libc/include/generic-musl";

/// The choice of what libc's headers show, as pyconfig.h makes it too late for us.
const DEFINES: &[&str] = &["-D_GNU_SOURCE=1", "-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_GETPID"];

/// The flags that make compiles built-in modules with.
const FLAGS_RULE: &str = "core-flags: ; @echo $(PY_BUILTIN_MODULE_CFLAGS)";

/// Returns the flags with which the layer's headers are found, and what libc's show then.
pub fn layer_flags(recipe: &Path, bootstrap: &Bootstrap) -> Vec<String> {
    let layer = recipe.join(LAYER);
    let folders = [layer.join("include"), layer.clone(), layer.join(FOREIGN)];
    let mut flags: Vec<String> = folders.iter().map(|dir| format!("-I{}", dir.display())).collect();
    flags.extend(DEFINES.iter().map(|define| (*define).to_string()));
    let headers = bootstrap.zig.dir.join(HEADERS);
    flags.extend(["-idirafter".to_string(), headers.display().to_string()]);
    flags
}

/// Returns the flags that include the layer's own header before everything else.
pub fn header_flags() -> [String; 2] {
    ["-include", "wasibox_posix.h"].map(str::to_string)
}

/// Returns the flags that make compiles CPython's built-in modules with.
pub fn core_flags(bench: &Bench, wasm: &Done) -> Result<String> {
    let mut make = host::tool("make", &wasm.dir);
    make.args(["--silent", "--no-print-directory", "--eval", FLAGS_RULE, "core-flags"]);
    bench.output(&mut make)
}

/// The layer's objects.
pub struct Posix {
    pub key: String,
    dir: PathBuf,
}

impl Posix {
    /// Modules by name, for the table of modules.
    pub fn modules() -> impl Iterator<Item = &'static str> {
        ADDED.iter().map(|(name, _)| *name)
    }

    /// Returns the objects of the layer itself.
    pub fn layer_objects(&self) -> Result<Vec<PathBuf>> {
        let names = sorted(&self.dir)?;
        let names = names.iter().filter(|n| n.starts_with("0-") && n.ends_with(".o"));
        Ok(names.map(|n| self.dir.join(n)).collect())
    }

    /// What to link: `objects` (names as make gives them) with those that are replaced, the
    /// layer's own first so that they are found before libc's.
    pub fn objects(&self, objects: &[&str]) -> Result<Vec<PathBuf>> {
        let mut all: Vec<PathBuf> = sorted(&self.dir)?
            .iter()
            .filter(|n| n.ends_with(".o"))
            .map(|n| self.dir.join(n))
            .collect();
        for file in REPLACED {
            let object = file.replace(".c", ".o");
            ensure!(objects.contains(&object.as_str()), "make does not link {object}");
        }
        let stays = |name: &&&str| {
            **name != DUP2 && !REPLACED.iter().any(|file| file.replace(".c", ".o") == **name)
        };
        all.extend(objects.iter().filter(stays).map(PathBuf::from));
        Ok(all)
    }
}

/// Compiles the layer and what is compiled against it.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap, wasm: &Done) -> Result<Posix> {
    let Bootstrap { zig, source, tools, libs, .. } = bootstrap;
    let recipe = shop.recipe.clone();
    let layer = recipe.join(LAYER);
    let mut key = Key::new("posix");
    key.text(&wasm.key);
    key.tree(&shop.recipe, &[LAYER])?;
    key.text(CODE);
    let tree = tree(&source.dir);
    let done = shop.step("posix", key, Leftover::Discard, |bench| {
        let flags = core_flags(bench, wasm)?;
        let seen = layer_flags(&recipe, bootstrap);
        let compile = |file: &Path, object: &str, flags: &[&str]| -> Result<()> {
            let mut clang = host::tool(tools.path("clang"), &wasm.dir);
            clang.args(&seen).args(header_flags());
            clang.args(libs.include().split_whitespace());
            clang.args(flags).arg("-c").arg(file).arg("-o").arg(bench.dir.join(object));
            bench.run(&mut clang)
        };
        for name in sorted(&layer)?.iter().filter(|name| name.ends_with(".c")) {
            let object = format!("0-{name}.o");
            compile(&layer.join(name), &object, &["-O2", "-g0", "-DNDEBUG", "-Wall", "-Werror"])?;
        }
        let mut clang = host::tool(tools.path("clang"), &wasm.dir);
        clang.arg("-c").arg(layer.join(THREAD_START)).arg("-o");
        bench.run(clang.arg(bench.dir.join("0-thread_start.o")))?;
        let mut clang = host::tool(tools.path("clang"), &wasm.dir);
        clang.args(ZONE_FLAGS).arg("-I").arg(layer.join("zone")).arg("-I");
        clang.arg(zig.dir.join(ZONE_CODE)).arg("-c").arg(layer.join(ZONE));
        bench.run(clang.arg("-o").arg(bench.dir.join("0-zone.o")))?;
        let copies = bench.dir.join("Python");
        let added = ADDED.iter().flat_map(|(_, files)| files.iter().copied());
        let files = REPLACED.iter().copied().chain(added);
        for file in files.clone().chain(INCLUDED.iter().copied()) {
            let to = copies.join(file);
            let folder = to.parent().context("a folder")?;
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            fs::copy(tree.join(file), &to).with_context(|| to.display().to_string())?;
        }
        for patch in sorted(&layer)?.iter().filter(|name| name.ends_with(".patch")) {
            let mut command = host::tool("patch", &copies);
            command.args(["-p1", "--fuzz=0", "--input"]).arg(layer.join(patch));
            bench.run(&mut command).with_context(|| patch.clone())?;
        }
        for file in files {
            // Headers beside the file are found where it was copied from.
            let beside = tree.join(file);
            let beside = format!("-iquote{}", beside.parent().context("a folder")?.display());
            let mut all: Vec<&str> = flags.split_whitespace().collect();
            all.push(&beside);
            compile(&copies.join(file), &format!("1-{}.o", file.replace('/', "-")), &all)?;
        }
        let all: Vec<&str> = flags.split_whitespace().collect();
        compile(&layer.join(FOREIGN_CODE), "1-foreign.o", &all)?;
        Ok(())
    })?;
    Ok(Posix { key: done.key, dir: done.dir })
}
