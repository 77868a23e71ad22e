//! Paths of the project, and functions that run programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Returns the root of the checkout that `cargo xtask` was called in.
///
/// `cargo run` sets the package's folder at run time. The path from compile time comes second,
/// because a checkout can be copied or moved together with its target folder, and cargo then
/// considers the program of the old place up to date.
pub fn root() -> PathBuf {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        package.parent().unwrap_or(&package).to_path_buf()
    });
    ROOT.clone()
}

/// Parses the path of a folder that exists.
pub fn parse_folder(text: &str) -> Result<PathBuf, String> {
    std::fs::canonicalize(text).map_err(|why| why.to_string())
}

/// Returns the cache folder: `${XDG_CACHE_HOME:-~/.cache}/wasibox`.
pub fn cache() -> Result<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(std::env::var_os("HOME").context("HOME is not set")?).join(".cache"),
    };
    let dir = base.join("wasibox");
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    Ok(dir)
}

/// Returns the workspace's crates, as `cargo metadata` lists them.
pub fn workspace_crates() -> Result<Vec<WorkspaceCrate>> {
    let text = command_output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: WorkspaceMetadata = serde_json::from_str(&text).context("cargo metadata")?;
    Ok(metadata.packages)
}

#[derive(Deserialize)]
struct WorkspaceMetadata {
    packages: Vec<WorkspaceCrate>,
}

/// A crate of the workspace.
#[derive(Deserialize)]
pub struct WorkspaceCrate {
    pub name: String,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<CrateDependency>,
}

impl WorkspaceCrate {
    /// Returns the crate's folder.
    pub fn dir(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("/"))
    }
}

/// A dependency of a crate; `kind` is absent for ordinary ones, otherwise `dev` or `build`.
#[derive(Deserialize)]
pub struct CrateDependency {
    pub name: String,
    pub kind: Option<String>,
}

/// Returns `dist/`, the folder of the finished files.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Returns cargo with the target folder for crates that are built once for all checkouts, such as
/// Wasmer.
pub fn cached_cargo() -> Result<Command> {
    cargo_in("target")
}

/// Returns cargo with a target folder of this name in the cache folder, which checkouts share.
pub fn cargo_in(folder: &str) -> Result<Command> {
    let target = cache()?.join(folder);
    crate::shared::claim_target(&target, &root(), || {
        Ok(workspace_crates()?.into_iter().map(|c| c.name).collect())
    })?;
    let mut cmd = cargo();
    cmd.env("CARGO_TARGET_DIR", target);
    Ok(cmd)
}

/// Installs the standard library of a target if needed; returns a note about it.
pub fn ensure_target(target: &str) -> Result<&'static str> {
    let sysroot =
        command_output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(target).is_dir() {
        return Ok("installed");
    }
    run(Command::new("rustup").args(["target", "add", target]).current_dir(root()))?;
    Ok("added")
}

/// Returns cargo with the checkout's own target folder. Signals have their default effect in it and
/// in the tests that it starts, even if this program was started with some of them ignored (by
/// `nohup`, or as a background job). This needs an `env` with the option `--default-signal`.
pub fn cargo() -> Command {
    static RESETS: LazyLock<bool> = LazyLock::new(|| {
        Command::new("env")
            .args(["--default-signal", "true"])
            .output()
            .is_ok_and(|o| o.status.success())
    });
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cmd = if *RESETS {
        let mut cmd = Command::new("env");
        cmd.arg("--default-signal").arg(cargo);
        cmd
    } else {
        Command::new(cargo)
    };
    cmd.current_dir(root());
    // The outer `cargo run` sets these variables; they would misdirect the inner one.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MANIFEST_PATH"] {
        cmd.env_remove(name);
    }
    cmd
}

/// Runs a command; returns an error with its name if it cannot start or its status is not 0.
pub fn run(cmd: &mut Command) -> Result<()> {
    let name = display_command(cmd);
    let status = cmd.status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name}: {status}");
    }
    Ok(())
}

/// Runs a command as `run` does, with a time limit: at the limit it gets SIGTERM, and ten seconds
/// later SIGKILL. The command has to end its own child processes.
pub fn run_within(cmd: &Command, limit: Duration) -> Result<()> {
    // The library has no way to send SIGTERM.
    let mut timeout = Command::new("timeout");
    timeout.args(["--foreground", "--kill-after=10", &limit.as_secs().to_string()]);
    timeout.arg(cmd.get_program()).args(cmd.get_args());
    for (name, value) in cmd.get_envs() {
        match value {
            Some(value) => timeout.env(name, value),
            None => timeout.env_remove(name),
        };
    }
    if let Some(folder) = cmd.get_current_dir() {
        timeout.current_dir(folder);
    }
    let status = timeout.status().context("cannot start timeout")?;
    match status.code() {
        Some(0) => Ok(()),
        Some(124 | 137) => bail!("{}: not within {} s", display_command(cmd), limit.as_secs()),
        _ => bail!("{}: {status}", display_command(cmd)),
    }
}

/// Runs a command and returns its standard output.
pub fn command_output(cmd: &mut Command) -> Result<String> {
    let name = display_command(cmd);
    let out = cmd.output().with_context(|| format!("cannot start {name}"))?;
    if !out.status.success() {
        bail!("{name}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    String::from_utf8(out.stdout).with_context(|| format!("{name}: output is not UTF-8"))
}

fn display_command(cmd: &Command) -> String {
    let args: Vec<_> = cmd.get_args().map(OsStr::to_string_lossy).collect();
    format!("{} {}", cmd.get_program().to_string_lossy(), args.join(" "))
}

/// Returns the SHA-256 in hexadecimal.
pub fn sha256(data: &[u8]) -> String {
    crate::key::hex(&Sha256::digest(data))
}

/// Reads a file; an error names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| path.display().to_string())
}

/// Writes a file completely or not at all; an error names it.
pub fn write(path: &Path, data: &[u8]) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    std::fs::write(&part, data).with_context(|| part.display().to_string())?;
    std::fs::rename(&part, path).with_context(|| path.display().to_string())
}
