//! The link: CPython's objects, our entry, the packages' modules.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::bootstrap::Bootstrap;
use super::cpython::tree;
use super::curses::Curses;
use super::host;
use super::kit::Kit;
use super::libm;
use super::packages::{Package, entry};
use super::posix::Posix;
use super::workshop::{Done, Key, Leftover, Workshop};

/// Our part of the program.
const SITE: &[&str] = &[
    "site/cell.c",
    "site/main.c",
    "site/modules.h",
    "site/snapshot.c",
    "site/snapshot.h",
    "site/wasix.c",
    "site/wasix.h",
    "site/fenv.c",
    "site/alone.c",
    "site/answers.c",
    "site/strings.c",
    "site/hashes.c",
    "site/locales.c",
];

/// The modules that are part of it.
const MODULES: &[&str] = &["_wasibox_hash"];

/// The flags of `site/strings.c`, whose loops must not become calls of the functions they are.
const STRINGS_FLAGS: &[&str] = &["-msimd128", "-fno-builtin"];

const CODE: &str = include_str!("link.rs");

/// Everything a link of the interpreter consists of, as make knows it.
const LINK_RULE: &str = "link-inputs: ; @echo $(LIBRARY_OBJS) $(MODLIBS) $(LIBS) $(SYSLIBS)";

/// What is linked, besides our own entry.
pub struct Inputs {
    pub libm: Done,
    /// CPython's objects.
    pub wasm: Done,
    pub posix: Posix,
    pub curses: Curses,
    pub kit: Kit,
    pub packages: Vec<Package>,
}

/// Links `python.wasm` with our own entry.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap, inputs: &Inputs) -> Result<PathBuf> {
    let Bootstrap { pins, source, tools, .. } = bootstrap;
    let Inputs { libm, wasm, posix, curses, kit, packages } = inputs;
    let (recipe, site) = (shop.recipe.clone(), shop.recipe.join("site"));
    let mut key = Key::new("link");
    key.text(&libm.key);
    key.text(&wasm.key);
    key.text(&posix.key);
    key.text(&curses.key);
    key.text(&kit.key);
    let mut modules = Vec::new();
    for package in packages {
        key.text(&package.done.key);
        modules.extend(package.modules()?);
    }
    key.tree(&shop.recipe, SITE)?;
    key.text(&format!("{:?}", pins.link));
    key.text(CODE);
    let tree = tree(&source.dir);
    let done = shop.step("link", key, Leftover::Discard, |bench| {
        let mut make = host::tool("make", &wasm.dir);
        make.args(["--silent", "--no-print-directory", "--eval", LINK_RULE, "link-inputs"]);
        let named = bench.output(&mut make)?;
        if !named.contains("Modules/config.o") {
            bail!("make names no link inputs: {named}");
        }
        let core = posix.objects(&named.split_whitespace().collect::<Vec<_>>())?;
        let out = bench.dir.join("python.wasm");
        let mut objects = Vec::new();
        let table = bench.dir.join("modules.c");
        fs::write(&table, inittab(&modules)).with_context(|| table.display().to_string())?;
        let files = SITE.iter().filter(|name| name.ends_with(".c"));
        let files: Vec<PathBuf> = files.map(|name| recipe.join(name)).collect();
        for (n, file) in files.iter().chain([&table]).enumerate() {
            let object = bench.dir.join(format!("{n}.o"));
            let mut clang = host::tool(tools.path("clang"), &wasm.dir);
            clang.args(["-O2", "-g0", "-DNDEBUG", "-Wall", "-Werror", "-I."]);
            if file.ends_with("strings.c") {
                clang.args(STRINGS_FLAGS);
            }
            clang.arg("-I").arg(tree.join("Include")).arg("-c").arg("-o").arg(&object);
            bench.run(clang.arg("-I").arg(&site).arg(file))?;
            objects.push(object);
        }
        let mut clang = host::tool(tools.path("clang"), &wasm.dir);
        clang.arg("-o").arg(&out).args(&objects).args(libm::objects(libm)?).args(&core);
        clang.args(curses.objects());
        clang.args(modules.iter().map(|(_, object)| object)).arg(kit.cxx());
        clang.arg("-z").arg(format!("stack-size={}", pins.link.stack));
        clang.arg(format!("-Wl,--initial-memory={}", pins.link.initial_memory));
        // snapshot.c has its own end for a process that began prepared.
        clang.args(["-Wl,--wrap=Py_FinalizeEx", "-Wl,--wrap=Py_Exit"]);
        // The kernel reads which variables each thread has for itself (posix/threads.c).
        clang.arg("-Wl,--export=wasibox_thread_locals");
        // answers.c has better ones.
        clang.args(["-Wl,--wrap=strerror", "-Wl,--wrap=__wasi_poll_oneoff"]);
        clang.arg("-Wl,--wrap=setlocale");
        // Every "function signature mismatch" is a trap when the guest gets there.
        clang.args(["-Wl,--stack-first", "-Wl,--strip-all", "-Wl,--fatal-warnings"]);
        bench.run(&mut clang)
    })?;
    Ok(done.dir.join("python.wasm"))
}

/// C that registers the modules. Their entries' names are no C names, hence the labels.
fn inittab(modules: &[(String, PathBuf)]) -> String {
    let mut text = "#include \"modules.h\"\n".to_string();
    let mut table = String::new();
    for module in Posix::modules().chain(Curses::modules()).chain(MODULES.iter().copied()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "extern PyObject *PyInit_{module}(void);");
        let _ = writeln!(table, "    {{\"{module}\", PyInit_{module}}},");
    }
    for (n, (module, _)) in modules.iter().enumerate() {
        let symbol = entry(module);
        let _ = writeln!(text, "extern PyObject *entry_{n}(void) __asm__(\"{symbol}\");");
        let _ = writeln!(table, "    {{\"{module}\", entry_{n}}},");
    }
    let _ =
        write!(text, "struct _inittab wasibox_modules[] = {{\n{table}    {{NULL, NULL}},\n}};\n");
    text
}
