//! ncurses: the libraries for programs that draw on terminals, the descriptions of terminals, and
//! the small commands over these.
//!
//! Only `tic`, which compiles descriptions, knows their format. It is built for this machine first.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compile::{compile_files, discard, link_program};
use super::configure::Toolset;
use super::layer::{self, Layer};
use super::step::{Bench, StepResult, Workshop, jobs_option};
use super::sysroot::{self, Sysroot};
use super::{UpstreamProgram, entry_with_prefix, recipe_key, shared_file};
use crate::env;
use crate::js::copy_folder;
use crate::python::curses::{GUEST, LEFT_OUT};

const CODE: &[&str] = &[
    include_str!("ncurses.rs"),
    include_str!("../python/curses.rs"),
    include_str!("configure.rs"),
    include_str!("compile.rs"),
];

/// The terminals that people use, from the descriptions that ncurses has.
const TERMINALS: &str = "alacritty,ansi,contour,cygwin,dumb,Eterm,foot,gnome,gnome-256color,\
    iterm2,kitty,konsole,konsole-256color,linux,mintty,ms-terminal,nsterm,putty,putty-256color,\
    rxvt,rxvt-256color,screen,screen-256color,st,st-256color,tmux,tmux-256color,unknown,vt100,\
    vt102,vt220,vt52,vte,vte-256color,wezterm,xterm,xterm-16color,xterm-256color,xterm-color,\
    xterm-direct,xterm-kitty";

/// The commands, each of which is a program of its own in ncurses (`programs/ncurses/main.c`), and
/// what they share.
const PROGRAMS: &[&str] = &["clear", "infocmp", "tabs", "tput", "tset"];
const SHARED: &[&str] =
    &["clear_cmd", "dump_entry", "reset_cmd", "tparm_type", "transform", "tty_settings"];

/// The built libraries, for the recipes of other programs.
pub struct Ncurses {
    pub key: String,
    dir: PathBuf,
    archive: PathBuf,
}

impl Ncurses {
    /// Returns the folder of the headers.
    pub fn headers(&self) -> PathBuf {
        self.dir.join("include")
    }

    /// Returns the file with the source.
    pub fn archive(&self) -> PathBuf {
        self.archive.clone()
    }

    /// Returns the option with which the linker finds the libraries.
    pub fn link_option(&self) -> String {
        format!("-L{}", self.dir.join("lib").display())
    }
}

/// Builds the libraries, the descriptions and the commands.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<Ncurses> {
    let recipe = env::root().join("programs/ncurses");
    let (source, archive) = shared_file("ncurses", shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let key = recipe_key("ncurses", &recipe, &[&source.sha256, &sysroot.key, &layer.key], CODE)?;
    let StepResult { dir, key } = shop.step("ncurses", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "ncurses-")?;
        let native = describe_terminals(bench, &tree)?;
        let guest = bench.dir.join("guest");
        fs::create_dir_all(&guest).context("guest")?;
        let tools = Toolset::write(bench, &sysroot, &layer, &[])?;
        tools.configure(&tree.join("configure"), &guest, &[LEFT_OUT, GUEST].concat(), "")?;
        bench.run(tools.make(&guest, "").args(["-C", "include"]))?;
        bench.run(tools.make(&guest, "").args(["-C", "ncurses"]))?;
        for name in ["include", "lib"] {
            copy_folder(&guest.join(name), &bench.dir.join(name))?;
        }
        link_commands(bench, &recipe, &guest, &tools, &sysroot, &layer)?;
        discard(&[&tree, &native, &guest])
    })?;
    Ok(Ncurses { key, dir, archive })
}

/// Builds `tic` for this machine in the folder that is returned, and compiles the descriptions with
/// it.
fn describe_terminals(bench: &Bench, tree: &Path) -> Result<PathBuf> {
    let native = bench.dir.join("native");
    let database = bench.dir.join("root/usr/share/terminfo");
    for dir in [&native, &database] {
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    bench.run(bench.tool("sh", &native).arg(tree.join("configure")).args(LEFT_OUT))?;
    for part in [&["include"][..], &["ncurses"], &["progs", "tic"]] {
        bench.run(bench.tool("make", &native).arg(jobs_option()).arg("-C").args(part))?;
    }
    let mut tic = bench.tool(native.join("progs/tic"), &native);
    tic.args(["-x", "-e", TERMINALS, "-o"]).arg(&database);
    bench.run(tic.arg(tree.join("misc/terminfo.src")))?;
    Ok(native)
}

/// Links the commands to `ncurses.wasm`.
fn link_commands(
    bench: &Bench,
    recipe: &Path,
    guest: &Path,
    tools: &Toolset,
    sysroot: &Sysroot,
    layer: &Layer,
) -> Result<()> {
    let object = |name: &&str| format!("../objects/{name}.o");
    for name in PROGRAMS {
        let compiler = tools.compiler.display();
        let names = format!("-Dmain={name}_main -D_nc_progname={name}_progname");
        let mut make = tools.make(guest, "");
        bench
            .run(make.args(["-C", "progs", &object(name)]).arg(format!("CC={compiler} {names}")))?;
    }
    bench.run(tools.make(guest, "").args(["-C", "progs"]).args(SHARED.iter().map(object)))?;
    let own = [recipe.join("main.c")];
    let strict = ["-Wall", "-Wextra", "-Werror"];
    let mut objects = compile_files(bench, &tools.compiler, &own, &strict, "")?;
    let names = PROGRAMS.iter().chain(SHARED);
    objects.extend(names.map(|name| guest.join(format!("objects/{name}.o"))));
    objects.push(guest.join("lib/libtinfo.a"));
    link_program(bench, sysroot, layer, &objects, "ncurses.wasm").map(drop)
}

/// Returns the commands with the descriptions, as a program of the image.
pub fn commands(ncurses: &Ncurses) -> Result<UpstreamProgram> {
    let Ncurses { key, dir, .. } = ncurses;
    Ok(UpstreamProgram {
        name: "ncurses",
        module: env::read(&dir.join("ncurses.wasm"))?,
        commands: &["clear", "infocmp", "reset", "tabs", "tput", "tset"],
        root: Some(dir.join("root")),
        // Python has the library, too, and names it with its licence.
        licenses: Vec::new(),
        components: Vec::new(),
        sources: Vec::new(),
        key: key.clone(),
    })
}
