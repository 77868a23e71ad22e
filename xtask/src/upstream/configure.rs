//! Programs that have a configure script.
//!
//! The tests of such a script declare functions by themselves, with other types than the layer's.
//! They are therefore compiled without the layer's header, and linked with warnings; the program
//! itself is compiled as all others are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::compile::{write_compiler, write_script};
use super::layer::{self, Layer};
use super::step::{Bench, jobs_option};
use super::sysroot::Sysroot;

/// The answers that all scripts get.
const ANSWERS: &[&str] =
    &["--host=wasm32-wasi", "--build=x86_64-linux-gnu", "--prefix=/usr", "--sysconfdir=/etc"];

/// What scripts and makefiles compile with.
pub struct Toolset<'a> {
    bench: &'a Bench,
    /// The compiler of programs.
    pub compiler: PathBuf,
    /// The compiler of the script's tests.
    plain: PathBuf,
    ar: String,
    ranlib: String,
    /// The objects of the layer, which each link begins with.
    objects: String,
}

impl<'a> Toolset<'a> {
    /// Writes the compilers of a step, which find headers in these folders.
    pub fn write(
        bench: &'a Bench,
        sysroot: &Sysroot,
        layer: &Layer,
        folders: &[&Path],
    ) -> Result<Toolset<'a>> {
        let compiler = write_compiler(bench, sysroot, folders)?;
        let plain = bench.dir.join("plain-cc");
        let mut flags: Vec<String> = layer::compile_flags()
            .into_iter()
            .filter(|flag| flag.starts_with("-I") || flag.starts_with("-D"))
            .collect();
        flags.extend(folders.iter().map(|dir| format!("-I{}", dir.display())));
        write_script(&plain, &sysroot.program("clang"), &flags, &[])?;
        let objects = layer.objects()?;
        let objects: Vec<String> = objects.iter().map(|path| path.display().to_string()).collect();
        Ok(Toolset {
            bench,
            compiler,
            plain,
            ar: format!("AR={}", sysroot.program("ar").display()),
            ranlib: format!("RANLIB={}", sysroot.program("ranlib").display()),
            objects: objects.join(" "),
        })
    }

    /// Returns the words of a link, with those of `more` at their end.
    fn link_words(&self, flags: &[String], more: &str) -> String {
        format!("LDFLAGS={} {} {more}", self.objects, flags.join(" "))
    }

    /// Runs the script at `script` in `dir`, with further answers. `link` has options of each link.
    pub fn configure(&self, script: &Path, dir: &Path, answers: &[&str], link: &str) -> Result<()> {
        let lenient: Vec<String> =
            layer::LINK_FLAGS.iter().map(|flag| flag.replace(",--fatal-warnings", "")).collect();
        let mut configure = self.bench.tool("sh", dir);
        configure.arg(script).args(ANSWERS).arg(format!("CC={}", self.plain.display()));
        configure.args([&self.ar, &self.ranlib, "CFLAGS=-O2 -g0 -w"]);
        configure.arg(self.link_words(&lenient, link)).args(answers);
        self.bench.run(&mut configure)
    }

    /// Returns a command of make in `dir` that compiles for the guest.
    pub fn make(&self, dir: &Path, link: &str) -> Command {
        let flags: Vec<String> = layer::LINK_FLAGS.iter().map(|flag| (*flag).to_string()).collect();
        let mut make = self.bench.tool("make", dir);
        make.arg(jobs_option()).arg(format!("CC={}", self.compiler.display()));
        make.args([&self.ar, &self.ranlib]).arg(self.link_words(&flags, link));
        make
    }
}
