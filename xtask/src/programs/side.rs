//! One run of a suite, natively or in a guest, each in a fresh copy.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::list::ProgramSuite;
use crate::env;

/// The side that runs a suite.
pub enum SuiteSide<'a> {
    /// On this machine, with these folders first in PATH.
    Native { path: Option<&'a str> },
    /// In an image.
    Guest { image: &'a Path },
}

/// The folders of a suite's runs.
pub struct SuiteFolders<'a> {
    /// The folder of all suites.
    pub folder: &'a Path,
    /// The prepared suite, which is only copied.
    pub prepared: &'a Path,
    /// The folder of the results.
    pub out: &'a Path,
}

/// The result of a run.
pub struct SuiteRun {
    /// The output.
    pub text: String,
    /// The way the run ended.
    pub end: String,
    pub seconds: f64,
}

impl SuiteRun {
    /// Reads the result of an earlier run.
    pub fn read_kept(place: &SuiteFolders, side: &SuiteSide, file: &str) -> Result<SuiteRun> {
        let path = output_file(place, side, file);
        let text =
            std::fs::read(&path).with_context(|| format!("{}: no earlier run", path.display()))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let (seconds, text) = text.split_once('\n').context("an earlier run's file")?;
        let seconds = seconds.parse().context("an earlier run's seconds")?;
        Ok(SuiteRun { text: text.to_string(), end: String::new(), seconds })
    }
}

/// Copies a suite and runs its setup.
pub fn prepare_suite(
    suite: &ProgramSuite,
    folder: &Path,
    out: &Path,
    path: Option<&str>,
) -> Result<PathBuf> {
    let prepared = out.join("suite");
    copy_folder(&folder.join(suite.home()), &prepared)?;
    if let Some(setup) = &suite.setup {
        let mut command = Command::new("bash");
        command.args(["-ec", setup]).current_dir(&prepared).env("SUITES", folder);
        command.env("PATH", native_path(path));
        env::run(&mut command)?;
    }
    Ok(prepared)
}

/// Copies `from` to `to` with GNU cp, because it keeps modes, times and links.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| to.display().to_string())?;
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    env::run(Command::new("cp").arg("-a").args([from, to]))
}

fn native_path(first: Option<&str>) -> String {
    let rest = "/usr/local/bin:/usr/bin:/bin";
    first.map_or_else(|| rest.to_string(), |dirs| format!("{dirs}:{rest}"))
}

/// Runs a test file and stores its output.
pub fn run(
    suite: &ProgramSuite,
    place: &SuiteFolders,
    side: &SuiteSide,
    file: &str,
) -> Result<SuiteRun> {
    let path = output_file(place, side, file);
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    let errors = path.with_extension("err");
    let mut command = match side {
        SuiteSide::Native { path } => native_command(suite, place, *path)?,
        SuiteSide::Guest { image } => guest_command(suite, place, image)?,
    };
    for (name, value) in suite.env.iter().chain([(&"FILE".to_string(), &file.to_string())]) {
        match side {
            SuiteSide::Native { .. } => command.env(name, value),
            SuiteSide::Guest { .. } => command.arg("--env").arg(format!("{name}={value}")),
        };
    }
    if let SuiteSide::Guest { image } = side {
        // The suite runs in the guest's own file system rather than the host's, because that is
        // where scripts run.
        let text = format!("cp -a /suite suite && cd suite && {}", suite.command());
        command.arg(image).args(["--", "bash", "-c", &text]);
    }
    let stderr = std::fs::File::create(&errors).with_context(|| errors.display().to_string())?;
    let begin = Instant::now();
    let done = command.stdin(Stdio::null()).stderr(stderr).output();
    let done = done.context("cannot start; is there a dist/runner (cargo xtask dist)?")?;
    let seconds = begin.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let kept = format!("{seconds:.1}\n{text}");
    std::fs::write(&path, kept).with_context(|| path.display().to_string())?;
    let errors = std::fs::read(&errors).with_context(|| errors.display().to_string())?;
    let errors = String::from_utf8_lossy(&errors);
    let end = format!("{}; {}", done.status, errors.lines().last().unwrap_or_default());
    Ok(SuiteRun { text, end, seconds })
}

/// Returns the file with the output of a run.
fn output_file(place: &SuiteFolders, side: &SuiteSide, file: &str) -> PathBuf {
    let side = match side {
        SuiteSide::Native { .. } => "native",
        SuiteSide::Guest { .. } => "guest",
    };
    place.out.join(side).join(format!("{}.out", file.replace('/', ".")))
}

fn native_command(
    suite: &ProgramSuite,
    place: &SuiteFolders,
    path: Option<&str>,
) -> Result<Command> {
    let (home, tree) = (place.out.join("home"), place.out.join("home/suite"));
    copy_folder(place.prepared, &tree)?;
    let mut command = Command::new("timeout");
    command.args([&suite.timeout.to_string(), "bash", "-c", suite.command()]);
    command.env_clear().current_dir(tree).env("HOME", home).env("PATH", native_path(path));
    // This is the TERM of the image's environment, because the output of `tput` depends on it.
    command.env("LANG", "C.UTF-8").env("TERM", "dumb").env("DEPS", place.folder.join("deps"));
    Ok(command)
}

fn guest_command(suite: &ProgramSuite, place: &SuiteFolders, image: &Path) -> Result<Command> {
    let runner = env::dist().join("runner");
    ensure!(image.is_file(), "{} is missing; run cargo xtask dist", image.display());
    let mut command = Command::new(runner);
    command.args(["exec", "--no-stdin", "--memory", "3G", "--timeout", &suite.timeout.to_string()]);
    command.arg("--mount").arg(format!("{}:/suite:ro", place.prepared.display()));
    let deps = place.folder.join("deps");
    if deps.is_dir() {
        command.arg("--mount").arg(format!("{}:/deps:ro", deps.display()));
    }
    command.args(["--env", "DEPS=/deps"]);
    Ok(command)
}
