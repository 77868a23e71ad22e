//! Programs in Rust: cargo with the project's toolchain, the crates of a program, their licences.
//!
//! A program's own `Cargo.lock` pins its crates, and cargo verifies them. `cargo vendor` puts their
//! sources beside the program, so that they can be patched; cargo's list of the hashes of a patched
//! crate's files is emptied, because it accepts an empty list, while its lock stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::compile::write_script;
use super::layer::{self, Layer};
use super::step::{Bench, jobs_option};
use super::sysroot::Sysroot;
use crate::env;
use crate::key::sorted;

/// The target, with the processor's features that the image's other modules use, too.
const TARGET: &str = "wasm32-wasip1";
const FEATURES: &str = "-Ctarget-feature=+simd128,+bulk-memory";

/// The beginnings of the names of licence files, in capitals.
const LICENCE_NAMES: &[&str] = &["COPYING", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE"];

/// Settings of cargo with which crates come from the folder `vendor`.
const VENDORED: &[&str] = &[
    "--config",
    "source.crates-io.replace-with=\"vendored\"",
    "--config",
    "source.vendored.directory=\"vendor\"",
];

/// Returns the version of the compiler: another one makes another program.
pub fn compiler_version() -> Result<String> {
    let output = Command::new(program("rustc")).arg("-vV").output().context("rustc -vV")?;
    ensure!(output.status.success(), "rustc -vV: {}", output.status);
    String::from_utf8(output.stdout).context("rustc -vV")
}

/// Returns the path of a program of the toolchain, beside the cargo that runs this one.
fn program(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    let beside = cargo.map(|cargo| cargo.with_file_name(name)).filter(|path| path.is_file());
    beside.unwrap_or_else(|| PathBuf::from(name))
}

/// Returns a command of cargo that runs in `tree`.
fn cargo(bench: &Bench, tree: &Path) -> Command {
    let mut cargo = bench.tool(program("cargo"), tree);
    for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            cargo.env(name, value);
        }
    }
    // No file of the machine's is part of the program, not even a repository's commit around it.
    cargo
        .env("RUSTC", program("rustc"))
        .env("RUSTUP_AUTO_INSTALL", "0")
        .env("GIT_DIR", "/dev/null");
    cargo
}

/// Puts the sources of all crates of the program at `tree` into its folder `vendor`.
///
/// # Errors
/// Returns an error if cargo's registry cannot be reached, or a crate is not that of `Cargo.lock`.
pub fn vendor_crates(bench: &Bench, tree: &Path) -> Result<()> {
    bench.run(cargo(bench, tree).args(["vendor", "--locked", "--quiet", "vendor"]))
}

/// Has cargo accept that files of these crates are patched.
pub fn accept_patches(tree: &Path, crates: &[&str]) -> Result<()> {
    for name in crates {
        let path = tree.join("vendor").join(name).join(".cargo-checksum.json");
        let mut sums: serde_json::Value = serde_json::from_slice(&env::read(&path)?)
            .with_context(|| path.display().to_string())?;
        sums["files"] = serde_json::json!({});
        env::write(&path, sums.to_string().as_bytes())?;
    }
    Ok(())
}

/// The parts of a program that are built.
pub struct CargoBuild<'a> {
    pub tree: &'a Path,
    pub profile: &'a str,
    pub features: &'a str,
    /// Objects that are linked before the layer.
    pub objects: &'a [PathBuf],
}

impl CargoBuild<'_> {
    /// Builds the program, linked with the layer; returns the folder with the result.
    pub fn run(&self, bench: &Bench, sysroot: &Sysroot, layer: &Layer) -> Result<PathBuf> {
        let words = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.display().to_string()).collect()
        };
        let before = [words(self.objects), words(&layer.objects()?)].concat();
        let after: Vec<String> = layer::LINK_FLAGS.iter().map(|f| (*f).to_string()).collect();
        // cargo knows the kind of linker by this name.
        let linker = bench.dir.join("linker/clang");
        fs::create_dir_all(bench.dir.join("linker")).context("the linker's folder")?;
        write_script(&linker, &sysroot.program("clang"), &before, &after)?;

        let target = bench.dir.join("target");
        let mut flags = vec![
            FEATURES.to_string(),
            format!("-Clinker={}", linker.display()),
            "-Clink-self-contained=no".to_string(),
            "-Cdefault-linker-libraries=yes".to_string(),
            format!("--remap-path-prefix={}=/build", bench.dir.display()),
        ];
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        if let Some(home) = home {
            flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
        }
        let mut cargo = cargo(bench, self.tree);
        cargo.args(VENDORED).args(["build", "--locked", "--offline", "--target", TARGET]);
        cargo.args(["--profile", self.profile, "--features", self.features]).arg(jobs_option());
        cargo.arg("--target-dir").arg(&target);
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        cargo.env("CC_wasm32_wasip1", sysroot.program("clang"));
        cargo.env("AR_wasm32_wasip1", sysroot.program("ar"));
        bench.run(&mut cargo)?;
        Ok(target.join(TARGET).join(self.profile))
    }

    /// Copies the licence texts of all crates that the program is linked from, without its own, to
    /// `to/CRATE-VERSION`.
    ///
    /// # Errors
    /// Returns an error if a crate has no such text.
    pub fn copy_crate_licences(&self, bench: &Bench, to: &Path) -> Result<()> {
        let mut cargo = cargo(bench, self.tree);
        cargo.args(VENDORED).args(["tree", "--locked", "--offline", "--target", TARGET]);
        cargo.args(["--features", self.features, "--edges", "normal,no-proc-macro"]);
        cargo.args(["--prefix", "none", "--format", "{p}"]);
        let output = cargo.stdin(Stdio::null()).output().context("cannot start cargo tree")?;
        let messages = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo tree: {}\n{messages}", output.status);
        let text = String::from_utf8(output.stdout).context("cargo tree")?;
        for (name, version) in linked_crates(&text) {
            let from = self.tree.join("vendor").join(&name);
            let into = to.join(format!("{name}-{version}"));
            fs::create_dir_all(&into).with_context(|| into.display().to_string())?;
            let is_licence = |file: &String| {
                let capitals = file.to_uppercase();
                LICENCE_NAMES.iter().any(|start| capitals.starts_with(start))
            };
            let files: Vec<String> = sorted(&from)?.into_iter().filter(is_licence).collect();
            ensure!(!files.is_empty(), "{name} {version}: no licence text");
            for file in files {
                fs::copy(from.join(&file), into.join(&file)).with_context(|| file.clone())?;
            }
        }
        Ok(())
    }
}

/// Returns the names and versions of the crates in a list of `cargo tree`, without the first.
fn linked_crates(list: &str) -> BTreeSet<(String, String)> {
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        Some((name.to_string(), version.strip_prefix('v')?.to_string()))
    };
    list.lines().skip(1).filter_map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_crates_are_listed_once_and_without_the_program() {
        let list = "rg v15.2.0 (/build/rg)\nanyhow v1.0.1\nbstr v1.13.0\nmemchr v2.8.3\n\
                    bstr v1.13.0 (*)\n";
        let names: Vec<String> =
            linked_crates(list).into_iter().map(|(name, version)| name + " " + &version).collect();
        assert_eq!(names, ["anyhow 1.0.1", "bstr 1.13.0", "memchr 2.8.3"]);
    }
}
