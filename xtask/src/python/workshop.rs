//! Steps: each has a key, a folder named by it, a log, and two progress lines.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

pub use crate::key::{Key, sha256_file, sorted};

/// Written into a step's folder when the step is complete.
const STAMP: &str = ".complete";

/// The number of lines of a failed step's log that are shown, and the number of bytes that are read
/// for them.
const TAIL_LINES: usize = 30;
const TAIL_BYTES: u64 = 16 * 1024;

/// The treatment of a folder that an interrupted step has left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// The step continues where it was interrupted, as make does.
    Continue,
    /// The step starts again from the beginning.
    Discard,
}

/// A completed step: its folder, and the key that names it.
#[derive(Clone, Debug)]
pub struct Done {
    pub dir: PathBuf,
    pub key: String,
}

/// The place where steps run, and the output of their progress.
pub struct Workshop<'a> {
    /// The cache's `python` folder.
    pub base: PathBuf,
    /// `python-dist/`.
    pub recipe: PathBuf,
    say: &'a mut dyn FnMut(&str),
}

impl<'a> Workshop<'a> {
    /// Creates a workshop in `base` for the recipe in `recipe`.
    pub fn new(base: &Path, recipe: &Path, say: &'a mut dyn FnMut(&str)) -> Result<Workshop<'a>> {
        for name in ["logs", "sources", "steps"] {
            let dir = base.join(name);
            fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        Ok(Workshop { base: base.to_path_buf(), recipe: recipe.to_path_buf(), say })
    }

    /// Prints a progress line.
    pub fn say(&mut self, line: &str) {
        (self.say)(line);
    }

    /// Runs `work` in the step's folder, unless the step was completed before.
    pub fn step(
        &mut self,
        name: &str,
        key: Key,
        leftover: Leftover,
        work: impl FnOnce(&Bench) -> Result<()>,
    ) -> Result<Done> {
        let key = key.finish();
        let id = format!("{name}-{}", &key[..16]);
        let dir = self.base.join("steps").join(&id);
        let done = Done { dir: dir.clone(), key };
        if dir.join(STAMP).is_file() {
            self.say(&format!("python: {name}: cached"));
            return Ok(done);
        }
        if leftover == Leftover::Discard && dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        let bench = Bench { dir, log: self.base.join("logs").join(format!("{id}.log")) };
        self.say(&format!("python: {name} ..."));
        let started = Instant::now();
        work(&bench).with_context(|| format!("python: {name}"))?;
        fs::write(bench.dir.join(STAMP), &done.key)
            .with_context(|| bench.dir.display().to_string())?;
        self.say(&format!("python: {name}: {:.1} s", started.elapsed().as_secs_f64()));
        Ok(done)
    }
}

/// One step's place: its folder and its log.
pub struct Bench {
    pub dir: PathBuf,
    pub log: PathBuf,
}

impl Bench {
    /// Runs a command with its output going to the log.
    pub fn run(&self, command: &mut Command) -> Result<()> {
        let log = self.open_log(command)?;
        let errors = log.try_clone().with_context(|| self.log.display().to_string())?;
        let status = command
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .status()
            .with_context(|| format!("cannot start {}", command_text(command)))?;
        if !status.success() {
            bail!("{}: {status}\n{}", command_text(command), self.tail());
        }
        Ok(())
    }

    /// Runs a command and returns its standard output; errors go to the log.
    pub fn output(&self, command: &mut Command) -> Result<String> {
        let log = self.open_log(command)?;
        let output = command
            .stdin(Stdio::null())
            .stderr(log)
            .output()
            .with_context(|| format!("cannot start {}", command_text(command)))?;
        if !output.status.success() {
            bail!("{}: {}\n{}", command_text(command), output.status, self.tail());
        }
        String::from_utf8(output.stdout).with_context(|| command_text(command))
    }

    fn open_log(&self, command: &Command) -> Result<fs::File> {
        use std::io::Write;
        let mut log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log)
            .with_context(|| self.log.display().to_string())?;
        let args: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
        writeln!(log, "+ {} {}", command.get_program().to_string_lossy(), args.join(" "))
            .with_context(|| self.log.display().to_string())?;
        Ok(log)
    }

    fn tail(&self) -> String {
        let read = || -> std::io::Result<String> {
            let mut log = fs::File::open(&self.log)?;
            let end = log.seek(SeekFrom::End(0))?;
            log.seek(SeekFrom::Start(end.saturating_sub(TAIL_BYTES)))?;
            let mut bytes = Vec::new();
            log.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = read().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        format!("{last}\nfull log: {}", self.log.display())
    }
}

/// Returns the program and its first arguments, which are enough to recognise the command.
fn command_text(command: &Command) -> String {
    let args: Vec<_> = command.get_args().take(6).map(|a| a.to_string_lossy()).collect();
    format!("{} {}", command.get_program().to_string_lossy(), args.join(" "))
}
