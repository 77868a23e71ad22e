//! Steps of a build: each has a key, a folder with that name, and a log.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::key::Key;

/// The file in the folder of a complete step.
const STAMP: &str = ".complete";

/// The number of lines of a failed step's log that are shown.
const TAIL: usize = 30;

/// The variables that a build inherits; others would be inputs that no key has.
const KEPT: &[&str] = &["PATH", "HOME", "TMPDIR"];

/// The date for everything that asks for one: 2026-01-01.
const EPOCH: &str = "1767225600";

/// The folder of steps and the receiver of progress lines.
pub struct Workshop<'a> {
    pub base: PathBuf,
    pub say: &'a mut dyn FnMut(&str),
}

/// A complete step: its folder and its key.
pub struct StepResult {
    pub dir: PathBuf,
    pub key: String,
}

/// A step that is being done.
pub struct Bench {
    pub dir: PathBuf,
    log: PathBuf,
}

impl Workshop<'_> {
    /// Does `work` in the step's folder, unless it was completed before.
    ///
    /// # Errors
    /// Returns the errors of `work`; an incomplete folder is discarded by the next attempt.
    pub fn step(
        &mut self,
        name: &str,
        key: Key,
        work: impl FnOnce(&Bench) -> Result<()>,
    ) -> Result<StepResult> {
        let key = key.finish();
        let dir = self.base.join(format!("{name}-{}", &key[..16]));
        let done = StepResult { dir: dir.clone(), key };
        if dir.join(STAMP).is_file() {
            return Ok(done);
        }
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        let log = dir.with_extension("log");
        (self.say)(&format!("{name} ..."));
        let started = Instant::now();
        let bench = Bench { dir, log };
        work(&bench).with_context(|| format!("{name}: full log {}", bench.log.display()))?;
        fs::write(bench.dir.join(STAMP), &done.key)
            .with_context(|| bench.dir.display().to_string())?;
        (self.say)(&format!("{name}: {:.1} s", started.elapsed().as_secs_f64()));
        Ok(done)
    }
}

impl Bench {
    /// Returns a command that runs in `dir` with low priority and a clean environment.
    pub fn tool(&self, program: impl AsRef<Path>, dir: &Path) -> Command {
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

    /// Runs a command; its output goes to the log.
    ///
    /// # Errors
    /// Returns an error with the end of the log if the command fails.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        let open = || -> Result<File> {
            let log = OpenOptions::new().create(true).append(true).open(&self.log);
            log.with_context(|| self.log.display().to_string())
        };
        let name = command_name(command);
        let status = command.stdin(Stdio::null()).stdout(open()?).stderr(open()?).status();
        let status = status.with_context(|| format!("cannot start {name}"))?;
        if !status.success() {
            let log = fs::read(&self.log).unwrap_or_default();
            let text = String::from_utf8_lossy(&log);
            let lines: Vec<&str> = text.lines().collect();
            bail!("{name}: {status}\n{}", lines[lines.len().saturating_sub(TAIL)..].join("\n"));
        }
        Ok(())
    }

    /// Unpacks a tar archive (`.crate`, too) in `dir`, with its dates, which make compares.
    pub fn unpack(&self, file: &Path, dir: &Path) -> Result<()> {
        let program = "import sys, tarfile\n\
                       with tarfile.open(sys.argv[1]) as t:\n\
                       \x20   t.extractall('.')";
        let mut python = self.tool("python3", dir);
        self.run(python.args(["-I", "-W", "ignore", "-c", program]).arg(file))
    }
}

/// Returns the number of jobs for make, as its option: `$WASIBOX_JOBS`, else one for each core.
pub fn jobs_option() -> String {
    let wanted = std::env::var("WASIBOX_JOBS").ok().and_then(|n| n.parse::<usize>().ok());
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    format!("-j{}", wanted.filter(|n| *n > 0).unwrap_or_else(cores))
}

/// Returns the program and its first arguments, without `nice`.
fn command_name(command: &Command) -> String {
    let words: Vec<_> = command.get_args().skip(2).take(5).map(|a| a.to_string_lossy()).collect();
    words.join(" ")
}
