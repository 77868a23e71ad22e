//! The C layer below the programs, as objects: that of CPython (`python-dist/site/posix`) and its
//! completion in `guest/posix`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::step::Workshop;
use super::sysroot::Sysroot;
use crate::env;
use crate::key::{Key, sorted};

const CODE: &str = include_str!("layer.rs");

/// The files of CPython's layer that are compiled for programs, too: not those that only its own
/// modules use.
const SHARED: &[&str] = &[
    "site/answers.c",
    "site/posix/actions.c",
    "site/posix/copies.c",
    "site/posix/descriptors.c",
    "site/posix/files.c",
    "site/posix/locks.c",
    "site/posix/names.c",
    "site/posix/process.c",
    "site/posix/resources.c",
    "site/posix/signals.c",
    "site/posix/sockets.c",
    "site/posix/spawn.c",
    "site/posix/temporary.c",
    "site/posix/terminals.c",
    "site/posix/threads.c",
    "site/posix/timers.c",
    "site/posix/users.c",
    "site/posix/waiting.c",
    "site/wasix.c",
];

/// Assembler code, which has no C headers.
const THREAD_START: &str = "site/posix/thread_start.s";

/// libc's code for time zones, which is in the wheel and which wasi-libc leaves out.
const ZONE: &str = "site/posix/zone";
const ZONE_CODE: &str = "lib/libc/musl/src/time";
const ZONE_FLAGS: &[&str] =
    &["-O2", "-g0", "-w", "-D_XOPEN_SOURCE=700", "-D_WASI_EMULATED_MMAN", "-Dhidden="];

/// What libc's headers show.
pub const DEFINES: &[&str] = &[
    "-D_GNU_SOURCE=1",
    "-D_WASI_EMULATED_SIGNAL",
    "-D_WASI_EMULATED_GETPID",
    "-D_WASI_EMULATED_PROCESS_CLOCKS",
];

const FLAGS: &[&str] = &["-O2", "-g0", "-DNDEBUG", "-Wall", "-Werror"];

/// Options of every link: `answers.c` has better functions than libc; the kernel reads which
/// variables each thread has for itself; a mismatch of signatures would be a trap at run time.
pub const LINK_FLAGS: &[&str] = &[
    "-Wl,--wrap=strerror,--wrap=__wasi_poll_oneoff",
    "-Wl,--export=wasibox_thread_locals",
    "-Wl,--stack-first,--strip-all,--fatal-warnings",
    "-Wl,-z,stack-size=8388608",
];

/// The compiled layer.
pub struct Layer {
    pub key: String,
    dir: PathBuf,
}

impl Layer {
    /// Returns the objects, which must come before libc.
    pub fn objects(&self) -> Result<Vec<PathBuf>> {
        let names = sorted(&self.dir)?.into_iter().filter(|name| name.ends_with(".o"));
        Ok(names.map(|name| self.dir.join(name)).collect())
    }
}

/// Returns the options with which programs are compiled.
pub fn compile_flags() -> Vec<String> {
    let (root, python_dist) = (env::root(), env::root().join("python-dist"));
    let include = |dir: PathBuf| format!("-I{}", dir.display());
    let mut flags = vec![
        include(root.join("guest/posix/include")),
        include(python_dist.join("site/posix/include")),
        include(python_dist.join("site/posix")),
    ];
    flags.extend(DEFINES.iter().map(|define| (*define).to_string()));
    flags.extend(["-include", "guest_posix.h"].map(str::to_string));
    flags
}

/// Returns the options with which the files of CPython's layer are compiled. They see its own names
/// of the functions.
pub fn shared_flags() -> Vec<String> {
    let python_dist = env::root().join("python-dist");
    let folders = ["site/posix/include", "site/posix", "site"];
    let mut flags: Vec<String> =
        folders.iter().map(|dir| format!("-I{}", python_dist.join(dir).display())).collect();
    let words = DEFINES.iter().chain(&["-include", "wasibox_posix.h"]).chain(FLAGS);
    flags.extend(words.map(|word| (*word).to_string()));
    flags
}

/// Compiles the layer.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop, sysroot: &Sysroot) -> Result<Layer> {
    let (root, python_dist) = (env::root(), env::root().join("python-dist"));
    let mut key = Key::new("layer");
    key.text(&sysroot.key);
    key.tree(&root, &["guest/posix"])?;
    key.tree(&python_dist, &["site"])?;
    key.text(CODE);
    let clang = sysroot.program("clang");
    let own: Vec<String> =
        sorted(&root.join("guest/posix"))?.into_iter().filter(|n| n.ends_with(".c")).collect();
    let done = shop.step("layer", key, |bench| {
        let compile = |file: &Path, flags: &[String]| -> Result<()> {
            let name = file.file_name().unwrap_or_default().to_string_lossy().replace('.', "-");
            let mut command = bench.tool(&clang, &bench.dir);
            command.args(flags).arg("-c").arg(file).arg("-o").arg(format!("{name}.o"));
            bench.run(&mut command)
        };
        let include = |dir: &str| format!("-I{}", python_dist.join(dir).display());
        let words = |flags: &[&str]| flags.iter().map(|f| (*f).to_string()).collect::<Vec<_>>();
        let shared = shared_flags();
        for file in SHARED {
            // The two files beside the layer are written for libc as it is.
            let plain = [&[include("site")], &words(FLAGS)[..]].concat();
            let flags = if file.starts_with("site/posix/") { &shared } else { &plain };
            compile(&python_dist.join(file), flags)?;
        }
        compile(&python_dist.join(THREAD_START), &[])?;
        let zone_code = format!("-I{}", sysroot.wheel.join(ZONE_CODE).display());
        let zone = [&words(ZONE_FLAGS)[..], &[include(ZONE), zone_code]].concat();
        compile(&python_dist.join(ZONE).join("zone.c"), &zone)?;
        let flags = [&compile_flags()[..], &words(FLAGS)].concat();
        own.iter().try_for_each(|name| compile(&root.join("guest/posix").join(name), &flags))
    })?;
    Ok(Layer { key: done.key, dir: done.dir })
}
