//! Vim with its normal features, as `vim`, `vi`, `view`, `ex` and `vimdiff`.
//!
//! Of its runtime files there are those for start-up, and syntax, indentation and settings of the
//! languages in [`LANGUAGES`]. Commands are started by `system()` (`USE_SYSTEM`), because there is no
//! fork.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::compile::{apply_patches, copy_licences, discard, licence_texts};
use super::configure::Toolset;
use super::layer;
use super::ncurses::Ncurses;
use super::step::{Bench, StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key};
use crate::env;
use crate::python;

const CODE: &[&str] =
    &[include_str!("vim.rs"), include_str!("configure.rs"), include_str!("compile.rs")];

/// What is left out, and the answers to tests that configure runs.
const ANSWERS: &[&str] = &[
    "--with-features=normal",
    "--with-tlib=tinfo",
    "--without-x",
    "--without-wayland",
    "--disable-gui",
    "--disable-nls",
    "--disable-gpm",
    "--disable-sysmouse",
    "--disable-selinux",
    "--disable-acl",
    "--disable-xattr",
    "--disable-netbeans",
    "--disable-channel",
    "--disable-terminal",
    "--disable-canberra",
    "--disable-libsodium",
    "--enable-multibyte",
    "ac_cv_func_setitimer=no",
    "ac_cv_func_dlopen=no",
    "ac_cv_func_dlsym=no",
    "ac_cv_small_wchar_t=no",
    "vim_cv_toupper_broken=no",
    "vim_cv_terminfo=yes",
    "vim_cv_tgetent=zero",
    "vim_cv_getcwd_broken=no",
    "vim_cv_stat_ignores_slash=no",
    "vim_cv_memmove_handles_overlap=yes",
    "vim_cv_bcopy_handles_overlap=yes",
    "vim_cv_memcpy_handles_overlap=yes",
    "vim_cv_uname_output=WASI",
    "vim_cv_uname_r_output=1",
    "vim_cv_uname_m_output=wasm32",
    "vim_cv_tty_group=world",
    "vim_cv_tty_mode=0620",
    "vim_cv_timer_create=no",
    "vim_cv_timer_create_with_lrt=no",
    "vim_cv_ipv4_networking=no",
    "vim_cv_ipv6_networking=no",
];

/// Files that Vim's Makefile would make: declarations that libc's headers have, and a file of ours.
const GIVEN: &[&str] = &["auto/osdef.h", "auto/pathdef.c"];

/// Runtime files for start-up, below `runtime`.
const BASE: &[&str] = &[
    "autoload/dist/ft.vim",
    "autoload/dist/script.vim",
    "autoload/dist/vimindent.vim",
    "colors/lists/default.vim",
    "defaults.vim",
    "filetype.vim",
    "ftoff.vim",
    "ftplugin.vim",
    "ftplugof.vim",
    "indent.vim",
    "indoff.vim",
    "plugin/matchparen.vim",
    "scripts.vim",
    "syntax/nosyntax.vim",
    "syntax/shared/typescriptcommon.vim",
    "syntax/syncolor.vim",
    "syntax/synload.vim",
    "syntax/syntax.vim",
];

/// The languages, each with the files of its name in these folders.
const FOLDERS: &[&str] = &["ftplugin", "indent", "syntax"];
const LANGUAGES: &[&str] = &[
    "awk",
    "bash",
    "c",
    "conf",
    "config",
    "cpp",
    "css",
    "diff",
    "dockerfile",
    "dosini",
    "git",
    "gitcommit",
    "gitconfig",
    "gitignore",
    "gitrebase",
    "go",
    "html",
    "java",
    "javascript",
    "javascriptreact",
    "json",
    "jsonc",
    "lua",
    "make",
    "markdown",
    "mysql",
    "php",
    "python",
    "rst",
    "ruby",
    "rust",
    "sh",
    "sql",
    "text",
    "toml",
    "typescript",
    "typescriptreact",
    "vb",
    "vim",
    "xml",
    "yaml",
];

/// Builds Vim.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop, ncurses: &Ncurses) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/vim");
    let source = pinned_source("programs/pins.toml", "vim")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let parts = [&source.sha256, &sysroot.key, &layer.key, &ncurses.key];
    let key = recipe_key("vim", &recipe, &parts, CODE)?;
    let StepResult { dir, key } = shop.step("vim", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "vim-")?;
        apply_patches(bench, &recipe, &tree)?;
        let code = tree.join("src");
        let tools = Toolset::write(bench, &sysroot, &layer, &[&ncurses.headers()])?;
        let link = ncurses.link_option();
        tools.configure(Path::new("./configure"), &code, ANSWERS, &link)?;
        env::write(&code.join(GIVEN[0]), b"")?;
        fs::copy(recipe.join("pathdef.c"), code.join(GIVEN[1])).context("pathdef.c")?;
        let mut make = tools.make(&code, &link);
        make.args(GIVEN.iter().flat_map(|name| ["-o", name]));
        // With USE_SYSTEM Vim does not include this header, which it nevertheless needs.
        let compiler = tools.compiler.display();
        make.arg(format!("CC={compiler} -DUSE_SYSTEM -include sys/wait.h"));
        bench.run(make.arg("vim"))?;
        fs::copy(code.join("vim"), bench.dir.join("vim.wasm")).context("vim")?;
        collect_runtime(bench, &tree)?;
        copy_licences(bench, &tree, &source.licence_files)?;
        discard(&[&tree])
    })?;
    Ok(UpstreamProgram {
        name: "vim",
        module: env::read(&dir.join("vim.wasm"))?,
        commands: &["ex", "rview", "rvim", "vi", "view", "vim", "vimdiff"],
        root: Some(dir.join("root")),
        licenses: licence_texts(&dir, "vim")?,
        components: vec![("vim".to_string(), source.version, source.licence)],
        sources: Vec::new(),
        key,
    })
}

/// Copies the runtime files to `root`.
fn collect_runtime(bench: &Bench, tree: &Path) -> Result<()> {
    let (from, to) = (tree.join("runtime"), bench.dir.join("root/usr/share/vim/vim91"));
    let copy = |name: &str| -> Result<()> {
        let target = to.join(name);
        let dir = target.parent().context("a folder")?;
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        fs::copy(from.join(name), &target).with_context(|| name.to_string())?;
        Ok(())
    };
    BASE.iter().try_for_each(|name| copy(name))?;
    for folder in FOLDERS {
        for language in LANGUAGES {
            let name = format!("{folder}/{language}.vim");
            if from.join(&name).is_file() {
                copy(&name)?;
            }
        }
    }
    Ok(())
}
