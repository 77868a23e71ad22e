//! SQLite's shell, with the library and the locks that Python's module has.
//!
//! The library's pin is Python's, so that both agree in every version and option. That archive does
//! not contain the shell, whose source comes from Debian.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compile::{
    apply_patches, compile_files, compile_zlib, copy_licences, discard, licence_texts,
    link_program, write_compiler,
};
use super::layer;
use super::step::{StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key, shared_file};
use crate::env;
use crate::python;

const CODE: &[&str] = &[include_str!("sqlite.rs"), include_str!("compile.rs")];

/// The options with which SQLite's authors build the shell, in addition to Python's, and the one for
/// `.archive`.
const SHELL_OPTIONS: &[&str] = &[
    "-DSQLITE_ENABLE_DBPAGE_VTAB",
    "-DSQLITE_ENABLE_DBSTAT_VTAB",
    "-DSQLITE_ENABLE_EXPLAIN_COMMENTS",
    "-DSQLITE_ENABLE_GEOPOLY",
    "-DSQLITE_ENABLE_OFFSET_SQL_FUNC",
    "-DSQLITE_ENABLE_STMTVTAB",
    "-DSQLITE_ENABLE_UNKNOWN_SQL_FUNCTION",
    "-DSQLITE_EXTRA_INIT=sqlite_shell_begin",
    "-DSQLITE_HAVE_ZLIB",
    "-w",
];

/// Builds the shell.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/sqlite3");
    let source = pinned_source("programs/pins.toml", "sqlite-shell")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let (library, library_archive) = shared_file("sqlite", shop.say)?;
    let (zlib, zlib_archive) = shared_file("zlib", shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let flags = library.flags.join(" ");
    let parts = [&source.sha256, &library.sha256, &flags, &zlib.sha256, &sysroot.key, &layer.key];
    let key = recipe_key("sqlite3", &recipe, &parts, CODE)?;
    let StepResult { dir, key } = shop.step("sqlite3", key, |bench| {
        for archive in [&archive, &library_archive, &zlib_archive] {
            bench.unpack(archive, &bench.dir)?;
        }
        let tree = entry_with_prefix(&bench.dir, "sqlite3-")?;
        let zlib_tree = entry_with_prefix(&bench.dir, "libz-sys-")?;
        let library_tree = entry_with_prefix(&bench.dir, "libsqlite3-sys-")?;
        let (zlib_dir, sqlite_dir) = (zlib_tree.join("src/zlib"), library_tree.join("sqlite3"));
        apply_patches(bench, &recipe, &tree)?;
        let shell = bench.dir.join("shell.c");
        env::write(&shell, combine_shell(&tree)?.as_bytes())?;

        let compiler = write_compiler(bench, &sysroot, &[&zlib_dir, &sqlite_dir])?;
        let options: Vec<&str> =
            library.flags.iter().map(String::as_str).chain(SHELL_OPTIONS.iter().copied()).collect();
        let mut objects = compile_zlib(bench, &compiler, &zlib_dir, &zlib.flags)?;
        objects.extend(compile_files(bench, &compiler, &[shell], &options, "")?);
        let own = [recipe.join("start.c")];
        objects.extend(compile_files(bench, &compiler, &own, &["-Wall", "-Werror"], "")?);
        // The library and its locks see libc as in Python's recipe.
        let clang = sysroot.program("clang");
        let file = [sqlite_dir.join("sqlite3.c")];
        let plain = [layer::DEFINES, &options].concat();
        objects.extend(compile_files(bench, &clang, &file, &plain, "")?);
        let include = format!("-I{}", sqlite_dir.display());
        let shared = layer::shared_flags();
        let mut shared: Vec<&str> = shared.iter().map(String::as_str).collect();
        shared.push(&include);
        let locks = [env::root().join("python-dist/site/posix/sqlite.c")];
        objects.extend(compile_files(bench, &clang, &locks, &shared, "locks-")?);
        link_program(bench, &sysroot, &layer, &objects, "sqlite3.wasm")?;
        copy_licences(bench, &tree, &source.licence_files)?;
        discard(&[&tree, &zlib_tree, &library_tree])
    })?;
    Ok(UpstreamProgram {
        name: "sqlite3",
        module: env::read(&dir.join("sqlite3.wasm"))?,
        commands: &["sqlite3"],
        root: None,
        licenses: licence_texts(&dir, "sqlite3")?,
        components: vec![("sqlite-shell".to_string(), source.version, source.licence)],
        sources: Vec::new(),
        key,
    })
}

/// Returns the source of the shell as one file: `src/shell.c.in`, with the files that its lines
/// INCLUDE name in place of these lines. Repeated typedefs are left out, as are the files' own
/// includes of files that are there already.
fn combine_shell(tree: &Path) -> Result<String> {
    let folder = tree.join("src");
    let read = |path: PathBuf| -> Result<String> {
        String::from_utf8(env::read(&path)?).with_context(|| path.display().to_string())
    };
    let mut combined = ShellText::default();
    for line in read(folder.join("shell.c.in"))?.lines() {
        match line.strip_prefix("INCLUDE ") {
            Some(name) => {
                for line in read(folder.join(name.trim()))?.lines() {
                    if !is_known_include(line) {
                        combined.push_line(&line.replace("__declspec(dllexport)", ""));
                    }
                }
            }
            None => combined.push_line(line),
        }
    }
    Ok(combined.text)
}

fn is_known_include(line: &str) -> bool {
    let name = line.strip_prefix('#').map(str::trim_start);
    let name = name.and_then(|rest| rest.strip_prefix("include \""));
    name.is_some_and(|name| name.starts_with("sqlite") || name.starts_with("test_windirent.h"))
}

/// The text of the shell so far.
#[derive(Default)]
struct ShellText {
    text: String,
    types: std::collections::BTreeSet<String>,
}

impl ShellText {
    /// Adds a line, unless it defines a type that is known.
    fn push_line(&mut self, line: &str) {
        let defined = line.strip_prefix("typedef ").and_then(|rest| rest.split(';').next());
        let name = defined
            .filter(|_| line.contains(';'))
            .and_then(|rest| rest.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next());
        let is_new = name.is_none_or(|name| name.is_empty() || self.types.insert(name.to_string()));
        if is_new {
            self.text.push_str(line);
        }
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_typedef_and_known_includes_are_left_out() {
        let mut shell = ShellText::default();
        for line in ["typedef unsigned char u8;", "int f(void);", "typedef unsigned char u8;"] {
            shell.push_line(line);
        }
        shell.push_line("typedef struct Mem {");
        assert_eq!(shell.text, "typedef unsigned char u8;\nint f(void);\n\ntypedef struct Mem {\n");
        assert!(is_known_include("#include \"sqlite3ext.h\""));
        assert!(is_known_include("# include \"sqlite3.h\""));
        assert!(!is_known_include("#include <stdio.h>"));
    }
}
