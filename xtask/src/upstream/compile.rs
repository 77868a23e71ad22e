//! Steps of several recipes: patches, the compiler as a script, objects, the link.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::layer::{self, Layer};
use super::step::Bench;
use super::sysroot::Sysroot;
use crate::env;
use crate::key::sorted;

/// The objects of zlib.
const ZLIB: &[&str] = &[
    "adler32", "compress", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees",
    "uncompr", "zutil",
];

/// Applies the patches of a recipe, in the order of their names.
pub fn apply_patches(bench: &Bench, recipe: &Path, tree: &Path) -> Result<()> {
    for name in sorted(recipe)?.iter().filter(|name| name.ends_with(".patch")) {
        let mut patch = bench.tool("patch", tree);
        bench.run(patch.args(["-p1", "--fuzz=0", "--input"]).arg(recipe.join(name)))?;
    }
    Ok(())
}

/// Writes a script that runs `command` with these words before and after its own arguments.
pub fn write_script(
    path: &Path,
    command: &Path,
    before: &[String],
    after: &[String],
) -> Result<()> {
    let quoted = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| format!("'{word}'")).collect()
    };
    let (before, after) = (quoted(before).join(" "), quoted(after).join(" "));
    let text = format!("#!/bin/sh\nexec '{}' {before} \"$@\" {after}\n", command.display());
    env::write(path, text.as_bytes())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .with_context(|| path.display().to_string())
}

/// Writes the script that compiles for the guest with the layer's headers and those of these
/// folders.
pub fn write_compiler(bench: &Bench, sysroot: &Sysroot, folders: &[&Path]) -> Result<PathBuf> {
    let mut flags = layer::compile_flags();
    flags.extend(folders.iter().map(|dir| format!("-I{}", dir.display())));
    let path = bench.dir.join("cc");
    write_script(&path, &sysroot.program("clang"), &flags, &[])?;
    Ok(path)
}

/// Compiles files to objects in the step's folder, whose names are those of the files after
/// `prefix`; returns them.
pub fn compile_files(
    bench: &Bench,
    compiler: &Path,
    files: &[PathBuf],
    flags: &[&str],
    prefix: &str,
) -> Result<Vec<PathBuf>> {
    let compile = |file: &PathBuf| -> Result<PathBuf> {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let object = bench.dir.join(format!("{prefix}{stem}.o"));
        let mut cc = bench.tool(compiler, &bench.dir);
        bench
            .run(cc.args(["-O2", "-g0"]).args(flags).arg("-c").arg(file).arg("-o").arg(&object))?;
        Ok(object)
    };
    files.iter().map(compile).collect()
}

/// Compiles the files of `dir` with zlib's functions that programs use.
pub fn compile_zlib(
    bench: &Bench,
    compiler: &Path,
    dir: &Path,
    flags: &[String],
) -> Result<Vec<PathBuf>> {
    let files: Vec<PathBuf> = ZLIB.iter().map(|name| dir.join(format!("{name}.c"))).collect();
    let mut all = vec!["-w"];
    all.extend(flags.iter().map(String::as_str));
    compile_files(bench, compiler, &files, &all, "zlib-")
}

/// Links objects and the layer to a program of the step's folder; returns its path.
pub fn link_program(
    bench: &Bench,
    sysroot: &Sysroot,
    layer: &Layer,
    objects: &[PathBuf],
    name: &str,
) -> Result<PathBuf> {
    let program = bench.dir.join(name);
    let mut link = bench.tool(sysroot.program("clang"), &bench.dir);
    link.args(objects).args(layer.objects()?).args(layer::LINK_FLAGS);
    bench.run(link.arg("-o").arg(&program))?;
    Ok(program)
}

/// Copies the licence files of an unpacked source to the folder `licences` of the step.
pub fn copy_licences(bench: &Bench, tree: &Path, names: &[String]) -> Result<()> {
    let to = bench.dir.join("licences");
    fs::create_dir_all(&to).with_context(|| to.display().to_string())?;
    for name in names {
        let from = tree.join(name);
        let file = from.file_name().with_context(|| format!("a licence file named {name}"))?;
        fs::copy(&from, to.join(file)).with_context(|| from.display().to_string())?;
    }
    Ok(())
}

/// Returns the files in the folder `licences` of a finished step, as those of `component`.
pub fn licence_texts(dir: &Path, component: &str) -> Result<Vec<(String, PathBuf)>> {
    let from = dir.join("licences");
    let mut texts = Vec::new();
    for name in sorted(&from)? {
        let path = from.join(&name);
        if path.is_dir() {
            let within = format!("{component}/{name}");
            texts.extend(sorted(&path)?.iter().map(|file| (within.clone(), path.join(file))));
        } else {
            texts.push((component.to_string(), path));
        }
    }
    Ok(texts)
}

/// Deletes folders of the step that only its work needed.
pub fn discard(folders: &[&Path]) -> Result<()> {
    folders
        .iter()
        .try_for_each(|dir| fs::remove_dir_all(dir).with_context(|| dir.display().to_string()))
}
