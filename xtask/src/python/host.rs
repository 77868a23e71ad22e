//! The machine the build runs on: programs it must have, and how they are started.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Variables a build step sees; all others would be unpinned input.
const KEPT: &[&str] = &["PATH", "HOME", "TMPDIR", "CC"];

/// A fixed date for everything that asks for one.
const EPOCH: &str = "1767225600";

/// Fails with one line per missing program, each with the package that has it.
pub fn require() -> Result<()> {
    let mut missing = Vec::new();
    let mut need = |what: &str, package: &str, command: &mut Command| {
        let found = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if !found.status().is_ok_and(|s| s.success()) {
            missing.push(format!("  {what} (Debian: apt-get install {package})"));
        }
    };
    need("a C compiler, as `cc` or $CC", "gcc libc6-dev", Command::new(cc()).arg("--version"));
    need("make", "make", Command::new("make").arg("--version"));
    need("patch", "patch", Command::new("patch").arg("--version"));
    need("Python 3", "python3", Command::new("python3").args(["-c", "import lzma, zipfile"]));
    need("pip for Python 3", "python3-pip", Command::new("python3").args(["-m", "pip", "-V"]));
    need("cargo", "cargo", Command::new(cargo()).arg("--version"));
    if missing.is_empty() {
        return Ok(());
    }
    bail!("building Python needs:\n{}", missing.join("\n"))
}

/// The host's C compiler.
pub fn cc() -> String {
    std::env::var("CC").ok().filter(|v| !v.is_empty()).unwrap_or_else(|| "cc".to_string())
}

/// The machine's Python by its full name: builds put another of that name on their path.
pub fn python() -> Result<PathBuf> {
    let output = Command::new("python3")
        .args(["-I", "-c", "import sys; print(sys.executable)"])
        .output()
        .context("cannot start python3")?;
    let name = String::from_utf8(output.stdout).context("python3's name")?;
    Ok(PathBuf::from(name.trim()))
}

/// The cargo that runs us, or the one on the path.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// A program of the build: in `dir`, polite, with a clean environment.
pub fn tool(program: impl AsRef<Path>, dir: &Path) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "5"]).arg(program.as_ref()).current_dir(dir).env_clear();
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env("SOURCE_DATE_EPOCH", EPOCH);
    command
}

/// `-jN` for make: `$WASIBOX_JOBS`, else one job per core.
pub fn jobs() -> String {
    let asked = std::env::var("WASIBOX_JOBS").ok().and_then(|n| n.parse::<usize>().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    format!("-j{}", asked.filter(|n| *n > 0).unwrap_or_else(cores))
}
