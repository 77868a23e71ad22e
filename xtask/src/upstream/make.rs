//! GNU make, by its own configure and its script that builds it without make.

use std::fs;

use anyhow::{Context, Result};

use super::compile::{apply_patches, copy_licences, discard, licence_texts, write_script};
use super::layer;
use super::step::{StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key};
use crate::env;
use crate::python;

const CODE: &[&str] = &[include_str!("make.rs"), include_str!("compile.rs")];

/// The answers that configure is given, because its tests declare functions by themselves and so do
/// not see the layer's header.
const ANSWERS: &[&str] = &[
    "--host=wasm32-wasi",
    "--build=x86_64-linux-gnu",
    "--prefix=/usr",
    "--disable-nls",
    "--disable-load",
    "--without-guile",
    "RANLIB=true",
    // bsd_signal() is libc's other name of signal(), which the layer replaces.
    "CFLAGS=-O2 -g0 -w -Dbsd_signal=signal",
    "ac_cv_have_decl_getloadavg=yes",
];

/// Builds make.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/make");
    let source = pinned_source("programs/pins.toml", "make")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let key = recipe_key("make", &recipe, &[&source.sha256, &sysroot.key, &layer.key], CODE)?;
    let StepResult { dir, key } = shop.step("make", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "make-")?;
        apply_patches(bench, &recipe, &tree)?;
        // The archive has no manual, for which configure looks.
        fs::create_dir_all(tree.join("doc")).context("doc")?;
        env::write(&tree.join("doc/Makefile.in"), b"")?;
        let clang = sysroot.program("clang");
        let (compiler, plain) = (bench.dir.join("cc"), bench.dir.join("plain-cc"));
        let flags = layer::compile_flags();
        write_script(&compiler, &clang, &flags, &[])?;
        let include: Vec<String> =
            flags.into_iter().filter(|f| f.starts_with("-I") || f.starts_with("-D")).collect();
        write_script(&plain, &clang, &include, &[])?;

        let objects = layer.objects()?;
        let objects: Vec<String> = objects.iter().map(|path| path.display().to_string()).collect();
        let link = |flags: &[&str]| format!("{} {}", objects.join(" "), flags.join(" "));
        // The functions of configure's tests have other types than the layer's.
        let lenient: Vec<String> =
            layer::LINK_FLAGS.iter().map(|flag| flag.replace(",--fatal-warnings", "")).collect();
        let lenient: Vec<&str> = lenient.iter().map(String::as_str).collect();
        let mut configure = bench.tool("sh", &tree);
        configure.arg("./configure").args(ANSWERS).arg(format!("CC={}", plain.display()));
        configure.arg(format!("AR={}", sysroot.program("ar").display()));
        bench.run(configure.arg(format!("LDFLAGS={}", link(&lenient))))?;
        // The script reads this file.
        let settings = tree.join("build.cfg");
        let mut text = fs::read_to_string(&settings).context("build.cfg")?;
        text.push_str(&format!(
            "CC='{}'\nLDFLAGS='{}'\n",
            compiler.display(),
            link(layer::LINK_FLAGS)
        ));
        env::write(&settings, text.as_bytes())?;
        bench.run(bench.tool("sh", &tree).arg("./build.sh"))?;
        fs::copy(tree.join("make"), bench.dir.join("make.wasm")).context("make")?;
        copy_licences(bench, &tree, &source.licence_files)?;
        discard(&[&tree])
    })?;
    let mut licenses = licence_texts(&dir, "make")?;
    licenses.push(("make".to_string(), recipe.join("SOURCE")));
    let root = env::root();
    let origin = |name: &str| (format!("make/{name}"), root.join(name));
    Ok(UpstreamProgram {
        name: "make",
        module: env::read(&dir.join("make.wasm"))?,
        commands: &["make", "gmake"],
        root: None,
        licenses,
        components: vec![("make".to_string(), source.version.clone(), source.licence)],
        sources: vec![
            (format!("make/make-{}.tar.xz", source.version), archive),
            origin("programs"),
            origin("guest/posix"),
            origin("python-dist/site"),
            origin("xtask/src/upstream"),
        ],
        key,
    })
}
