//! `cargo xtask dist`: builds everything a user needs from source into `dist/`.
//!
//! Steps: guest target, CPython, `box.wasm`, `js.wasm`, programs of others, root file system,
//! `image.webc`, preview 1 flavours, `runner`, AOT artifacts, checksums. A step is skipped if its
//! inputs are unchanged: the programs and CPython are cached by the content of their sources, the
//! image by the digests of its parts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use wasibox_image::{ImageSpec, License};

use crate::env::{self, sha256};
use crate::js::{self, JsDist};
use crate::kept::{self, GuestProgram};
use crate::key::Key;
use crate::progress::Steps;
use crate::python::{Order, Profile};
use crate::upstream::{self, UpstreamProgram};
use crate::{flavour, python, rootfs, sdk, web};

const GUEST: &str = "wasm32-wasip1";

/// The guest's multicall module.
pub const BOX: GuestProgram = GuestProgram {
    package: "box",
    profile: "guest",
    target: Some(GUEST),
    file: "box.wasm",
    with: &[],
};

/// The host's command line.
pub const RUNNER: GuestProgram = GuestProgram {
    package: "wasibox-cli",
    profile: "release",
    target: None,
    file: "runner",
    with: &[],
};

/// The files of `dist/`, in the order of SHA256SUMS.
const FILES: &[&str] = &["box.wasm", "image.webc", "python.wasm", "runner"];

/// Options of `cargo xtask dist`.
#[derive(Debug, Default, clap::Args)]
pub struct DistOptions {
    #[command(flatten)]
    python: PythonOptions,
    /// Leave git and make out.
    #[arg(long)]
    without_copyleft: bool,
    /// Build the packages for Python and Node in dist/sdk, too.
    #[arg(long)]
    sdk: bool,
    /// Build the package for pages in dist/web, too.
    #[arg(long)]
    web: bool,
}

/// Options that select the Python of an image.
#[derive(Debug, Default, clap::Args)]
pub struct PythonOptions {
    /// The Python packages: core, data, science or full. By default data if its archive is of this
    /// recipe, else core.
    #[arg(long, value_parser = parse_profile)]
    profile: Option<Profile>,
    /// Build Python from sources instead of unpacking the archive.
    #[arg(long)]
    from_source: bool,
}

impl PythonOptions {
    fn order(&self) -> Result<Order> {
        let profile = match self.profile {
            Some(profile) => profile,
            None => python::usual_profile()?,
        };
        Ok(Order { profile, prebuilt: !self.from_source })
    }
}

fn parse_profile(name: &str) -> Result<Profile, String> {
    let names = || Profile::ALL.map(|(name, _)| name).join(", ");
    Profile::named(name).ok_or_else(|| format!("profiles are {}", names()))
}

/// Options of `cargo xtask run`.
#[derive(Debug, clap::Args)]
pub struct RunOptions {
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// Options of `cargo xtask python`.
#[derive(Debug, clap::Args)]
pub struct PythonTaskOptions {
    #[command(flatten)]
    python: PythonOptions,
    /// Keep the result in python-dist/prebuilt.
    #[arg(long)]
    write_prebuilt: bool,
    /// Print the sizes of the parts.
    #[arg(long, conflicts_with = "write_prebuilt")]
    sizes: bool,
}

impl DistOptions {
    /// Returns the options that build the packages for Python and Node, too.
    pub fn with_sdk() -> DistOptions {
        DistOptions { sdk: true, ..DistOptions::default() }
    }
}

/// Builds `dist/`.
pub fn run(options: &DistOptions) -> Result<ExitCode> {
    let order = options.python.order()?;
    let dist = env::dist();
    std::fs::create_dir_all(&dist).with_context(|| dist.display().to_string())?;
    let mut steps = Steps::new(10);

    steps.begin_step("toolchain: wasm32-wasip1");
    steps.end_step(env::ensure_target(GUEST)?);

    steps.begin_step("CPython for WASI");
    let py = python::build(&env::cache()?, order, &mut |line| eprintln!("      {line}"))?;
    steps.end_step("python.wasm and its library");

    steps.begin_step("box.wasm: shell and tools");
    let built = kept::build_program(&BOX)?;
    let box_wasm = built.bytes;
    steps.end_step(&format!("{:.1} MB{}", box_wasm.len() as f64 / 1e6, kept_prefix(built.kept)));

    steps.begin_step("js.wasm: QuickJS and Node's library");
    let js = js::build_js(&mut |line| eprintln!("      {line}"))?;
    steps.end_step(&format!(
        "{:.1} MB{}",
        js.program.bytes.len() as f64 / 1e6,
        kept_prefix(js.program.kept)
    ));

    steps.begin_step("programs of others");
    let programs = upstream::build_programs(!options.without_copyleft, &mut |line| {
        eprintln!("      {line}");
    })?;
    write_sources(&dist, &programs)?;
    let bytes: usize = programs.iter().map(|program| program.module.len()).sum();
    let names: Vec<&str> = programs.iter().map(|program| program.name).collect();
    steps.end_step(&format!("{}: {:.1} MB", names.join(", "), bytes as f64 / 1e6));

    steps.begin_step("runner: Wasmer and the command line (the first build takes a while)");
    let kept = build_runner(&dist)?;
    steps.end_step(&format!("dist/runner{}", kept_prefix(kept)));

    steps.begin_step("image.webc");
    let python_wasm = env::read(&py.wasm)?;
    let scripts =
        upstream::scripts::build(&py, &dist.join("runner"), &mut |line| eprintln!("      {line}"))?;
    let key = image_key(&box_wasm, &py.hash, &js, &programs, &scripts.key)?;
    let image = dist.join("image.webc");
    let stamp = dist.join(".image.key");
    let fresh = image.is_file() && std::fs::read_to_string(&stamp).is_ok_and(|k| k == key);
    if fresh {
        steps.end_step("unchanged");
    } else {
        // The name has the process's number, because builds of several checkouts may share the
        // cache at the same time.
        let root = env::cache()?.join(format!("rootfs-{}", std::process::id()));
        let mut licenses = [&py.licenses[..], &js.licenses[..], &scripts.licenses[..]].concat();
        let mut components =
            [&py.components[..], &js.components[..], &scripts.components[..]].concat();
        let mut trees: Vec<&Path> = vec![&py.root, &js.root, &scripts.root];
        for program in &programs {
            licenses.extend_from_slice(&program.licenses);
            components.extend_from_slice(&program.components);
            trees.extend(program.root.as_deref());
        }
        rootfs::assemble_rootfs(&root, &trees, &licenses)?;
        let modules =
            ImageModules { boxed: &box_wasm, python: &python_wasm, js: &js, programs: &programs };
        let spec = image_spec(root.clone(), &modules, &components, &dist)?;
        wasibox_image::pack_to(&spec, &image)?;
        std::fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
        env::write(&stamp, key.as_bytes())?;
        steps.end_step(&size_text(&image)?);
    }

    steps.begin_step("preview 1 flavours");
    let (boxed, pythoned) = (dist.join("box.wasm"), dist.join("python.wasm"));
    if fresh && boxed.is_file() && pythoned.is_file() {
        steps.end_step("unchanged");
    } else {
        env::write(&boxed, &flavour::preview1_module(&box_wasm)?)?;
        env::write(&pythoned, &flavour::preview1_module(&python_wasm)?)?;
        steps.end_step("box.wasm, python.wasm");
    }

    steps.begin_step("native code for this machine");
    env::run(Command::new(dist.join("runner")).arg("compile").arg(&image))?;
    steps.end_step("ready");

    steps.begin_step("SHA256SUMS");
    write_sums(&dist)?;
    steps.end_step("written");
    steps.finish_task("dist/ is complete");
    if options.sdk {
        sdk::build_packages()?;
    }
    if options.web {
        web::build_package()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `cargo xtask run [--] CMD...`: a command in the image, with the checkout mounted at /src.
pub fn exec_in_image(options: &RunOptions) -> Result<ExitCode> {
    let dist = env::dist();
    let mount = format!("{}:/src:ro", env::root().display());
    let mut cmd = Command::new(dist.join("runner"));
    cmd.args(["exec", "--mount", &mount])
        .arg(dist.join("image.webc"))
        .arg("--")
        .args(&options.command);
    let status = cmd.status().context("no dist/runner; run cargo xtask dist first")?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}

/// Runs `cargo xtask python`.
pub fn python_only(options: &PythonTaskOptions) -> Result<ExitCode> {
    let order = options.python.order()?;
    let mut say = |line: &str| eprintln!("{line}");
    let made = if options.write_prebuilt {
        python::write_prebuilt(&env::cache()?, order.profile, &mut say)?
    } else {
        python::build(&env::cache()?, order, &mut say)?.wasm
    };
    println!("{}", made.display());
    if options.sizes {
        print!("{}", python::sizes::sizes_table(made.parent().context("the finished folder")?)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the runner into `dist/`; returns whether it was built before.
fn build_runner(dist: &Path) -> Result<bool> {
    let built = kept::build_program(&RUNNER)?;
    let target = dist.join("runner");
    if std::fs::read(&target).unwrap_or_default() != built.bytes {
        // The file is replaced rather than rewritten, because the old one may be running.
        env::write(&target, &built.bytes)?;
        std::fs::set_permissions(&target, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    Ok(built.kept)
}

/// Returns one digest of everything that the image depends on.
fn image_key(
    box_wasm: &[u8],
    python: &str,
    js: &JsDist,
    programs: &[UpstreamProgram],
    scripts: &str,
) -> Result<String> {
    let mut key = Key::new("image");
    key.text(&sha256(box_wasm));
    key.text(python);
    key.text(&sha256(&js.program.bytes));
    key.text(&js.library);
    key.text(scripts);
    for program in programs {
        key.text(&program.key);
        key.text(&sha256(&program.module));
    }
    key.text(env!("CARGO_PKG_VERSION"));
    key.tree(&env::root(), &["tools/box/rootfs", "runner/image/src", "xtask/src", "js/licences"])?;
    Ok(key.finish())
}

/// The programs of an image.
struct ImageModules<'a> {
    boxed: &'a [u8],
    python: &'a [u8],
    js: &'a JsDist,
    programs: &'a [UpstreamProgram],
}

/// Returns the specification of the image with these modules and the tree at `root`; `dist` has the
/// runner.
fn image_spec(
    root: PathBuf,
    modules: &ImageModules,
    components: &[(String, String, String)],
    dist: &Path,
) -> Result<ImageSpec> {
    let mut commands: Vec<(String, String)> =
        applet_names(dist, modules.boxed)?.into_iter().map(|n| (n, "box".to_string())).collect();
    for name in ["python", "python3", "python3.13"] {
        commands.push((name.to_string(), "python".to_string()));
    }
    commands.extend(js::COMMANDS.iter().map(|name| ((*name).to_string(), "js".to_string())));
    let mut atoms = vec![
        ("box".to_string(), modules.boxed.to_vec()),
        ("python".to_string(), modules.python.to_vec()),
        ("js".to_string(), modules.js.program.bytes.clone()),
    ];
    for program in modules.programs {
        atoms.push((program.name.to_string(), program.module.clone()));
        let names = program.commands.iter();
        commands.extend(names.map(|name| ((*name).to_string(), program.name.to_string())));
    }
    let version = env!("CARGO_PKG_VERSION").to_string();
    let license = |component: &str, license: &str| License {
        component: component.to_string(),
        license: license.to_string(),
    };
    Ok(ImageSpec {
        name: "wasibox/wasibox".to_string(),
        version: version.clone(),
        description: "Shell, Unix tools, Python and JavaScript as WebAssembly".to_string(),
        license: "MIT OR Apache-2.0".to_string(),
        atoms,
        commands,
        entrypoint: Some("bash".to_string()),
        rootfs: vec![root],
        // The date is 2026-01-01. It is fixed, so that equal inputs give equal images.
        time: 1_767_225_600,
        versions: [("wasibox".to_string(), version)]
            .into_iter()
            .chain(components.iter().map(|(name, version, _)| (name.clone(), version.clone())))
            .collect(),
        licenses: [license("wasibox", "MIT OR Apache-2.0")]
            .into_iter()
            .chain(components.iter().map(|(name, _, spdx)| license(name, spdx)))
            .collect(),
        ..ImageSpec::default()
    })
}

/// Puts the complete sources of copyleft programs into `dist/sources`.
fn write_sources(dist: &Path, programs: &[UpstreamProgram]) -> Result<()> {
    let dir = dist.join("sources");
    if dir.exists() {
        std::fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    }
    for (name, from) in programs.iter().flat_map(|program| &program.sources) {
        let to = dir.join(name);
        if from.is_dir() {
            js::copy_folder(from, &to)?;
        } else {
            let parent = to.parent().context("a folder")?;
            std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
            std::fs::copy(from, &to).with_context(|| from.display().to_string())?;
        }
    }
    Ok(())
}

/// Returns the names of all applets, which the module prints in an image that has only `box`.
fn applet_names(dist: &Path, box_wasm: &[u8]) -> Result<Vec<String>> {
    let image = env::cache()?.join("box-only.webc");
    let spec = ImageSpec {
        name: "wasibox/box".to_string(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        atoms: vec![("box".to_string(), box_wasm.to_vec())],
        commands: vec![("box".to_string(), "box".to_string())],
        ..ImageSpec::default()
    };
    wasibox_image::pack_to(&spec, &image)?;
    let mut list = Command::new(dist.join("runner"));
    let text = env::command_output(list.arg("exec").arg(&image).args(["--", "box", "--list"]))?;
    let names: Vec<String> =
        text.lines().filter_map(|l| Some(l.split_whitespace().next()?.to_string())).collect();
    if names.is_empty() {
        bail!("box --list printed no applets");
    }
    Ok(names)
}

fn kept_prefix(kept: bool) -> &'static str {
    if kept { ", built before" } else { "" }
}

fn size_text(path: &Path) -> Result<String> {
    Ok(format!("{:.1} MB", std::fs::metadata(path)?.len() as f64 / 1e6))
}

fn write_sums(dist: &Path) -> Result<()> {
    let mut text = String::new();
    for name in FILES {
        text.push_str(&format!("{}  {name}\n", sha256(&env::read(&dist.join(name))?)));
    }
    env::write(&dist.join("SHA256SUMS"), text.as_bytes())
}
