//! Runs a script with one shell, in a working directory that always looks the same.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::guest::{Guest, GuestFiles};
use anyhow::{Context, Result};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions};

/// The user that runs scripts if this program runs as root, because limits on processes do not
/// apply to root.
const NOBODY: u32 = 65534;
/// A folder that exists nowhere.
const HOME: &str = "/home/absent";
/// The name of the working directory. It is not the name of a command, because scripts run parts of
/// `PWD`.
pub const WORK: &str = "folder";
const PROCESSES: u64 = 400;
const MEMORY: u64 = 4_000_000_000;
const FILE_SIZE: u64 = 16 << 20;
const CPU_SECONDS: u64 = 10;
/// The maximum time for which a script's background commands may outlive it.
pub const LEFT_RUNNING: Duration = Duration::from_secs(1);

/// The shell that runs a script.
#[derive(Clone, Debug)]
pub enum Shell {
    /// Bash, called as `bash SCRIPT`.
    Bash(PathBuf),
    /// The multicall binary, called as `box bash SCRIPT`.
    Ours(PathBuf),
    /// The image, in a runner in which the place is mounted under its own path.
    Image { runner: PathBuf, image: PathBuf },
}

/// The outcome of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The exit status; 128 plus the signal's number if a signal ended the shell; `None` if the
    /// shell had to be stopped.
    pub status: Option<i32>,
    /// The files that the script left, by relative name. Directories have no content.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Outcome {
    /// Returns everything but error output.
    pub fn main(&self) -> (&[u8], Option<i32>, &BTreeMap<String, Vec<u8>>) {
        (&self.stdout, self.status, &self.files)
    }
}

/// A place for runs: the working directory, and next to it files for the script and the output.
pub struct Place {
    dir: tempfile::TempDir,
    as_nobody: bool,
    /// The working directory as it was prepared, and whether it still looks like that.
    pristine: RefCell<(BTreeMap<String, Vec<u8>>, bool)>,
    /// The runner of an image.
    guest: RefCell<Option<Guest>>,
}

impl Place {
    /// Creates the place, limits this process and its children, and adopts their orphans. The image
    /// enforces its own limits, and its memory is mainly address space.
    pub fn new(is_image: bool) -> Result<Place> {
        let dir = tempfile::Builder::new().prefix("differ-").tempdir().context("scratch folder")?;
        let limits = [
            (Resource::Nproc, PROCESSES),
            (Resource::As, MEMORY),
            (Resource::Fsize, FILE_SIZE),
            (Resource::Core, 0),
        ];
        for (what, most) in limits {
            if is_image && matches!(what, Resource::As | Resource::Nproc) {
                continue;
            }
            let limit = Rlimit { current: Some(most), maximum: Some(most) };
            rustix::process::setrlimit(what, limit).context("setrlimit")?;
        }
        // Orphans of a shell are reaped by this process, because zombies would seem to be still
        // running.
        let myself = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(myself)).context("child subreaper")?;
        open_to_all(dir.path())?;
        let as_nobody = rustix::process::getuid().is_root() && !is_image;
        Ok(Place { dir, as_nobody, pristine: RefCell::default(), guest: RefCell::default() })
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join(WORK)
    }

    /// Runs the script in a fresh working directory for at most `limit`.
    pub fn run(&self, shell: &Shell, script: &[u8], limit: Duration) -> Result<Outcome> {
        if !self.pristine.borrow().1 {
            self.prepare().context("working directory")?;
            let mut files = BTreeMap::new();
            list(&self.work(), "", &mut files)?;
            *self.pristine.borrow_mut() = (files, true);
        }
        let meta = self.dir.path();
        let (file, out, err) = (meta.join("s.sh"), meta.join("out"), meta.join("err"));
        fs::write(&file, script)?;
        let status = match shell {
            Shell::Image { runner, image } => {
                let files = GuestFiles { runner, image, place: meta };
                self.run_in_guest(&files, limit)?
            }
            Shell::Bash(program) => self.run_here(Command::new(program), limit)?,
            Shell::Ours(program) => {
                let mut command = Command::new(program);
                command.arg("bash");
                self.run_here(command, limit)?
            }
        };
        let mut files = BTreeMap::new();
        list(&self.work(), "", &mut files)?;
        let mut pristine = self.pristine.borrow_mut();
        pristine.1 = pristine.0 == files;
        Ok(Outcome { stdout: fs::read(&out)?, stderr: fs::read(&err)?, status, files })
    }

    /// Runs the script with a command of this machine. Returns its status.
    fn run_here(&self, mut command: Command, limit: Duration) -> Result<Option<i32>> {
        command.arg("../s.sh").current_dir(self.work()).env_clear().process_group(0);
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", HOME),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("PWD", &self.work().display().to_string()),
        ] {
            command.env(name, value);
        }
        if self.as_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = |name| File::create(self.dir.path().join(name));
        command.stdin(Stdio::null()).stdout(output("out")?).stderr(output("err")?);
        let child = command.spawn().with_context(|| format!("{command:?}"))?;
        let status = finish(child, limit)?;
        Ok(status.map(|s| s.code().or(s.signal().map(|n| 128 + n)).unwrap_or(-1)))
    }

    /// Runs the script in the image. Returns its status, or `None` if it had to be stopped.
    fn run_in_guest(&self, files: &GuestFiles<'_>, limit: Duration) -> Result<Option<i32>> {
        let mut place = self.guest.borrow_mut();
        let mut guest = match place.take().filter(|guest| !guest.is_spent()) {
            Some(guest) => guest,
            None => Guest::start(files)?,
        };
        let Ok(status) = guest.run_script(limit) else { return Ok(None) };
        *place = Some(guest);
        Ok(Some(status))
    }

    /// Creates the files that scripts find.
    fn prepare(&self) -> Result<()> {
        let work = self.work();
        if work.exists() {
            reopen(&work);
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir(&work)?;
        open_to_all(&work)?;
        for dir in ["sub", "sub/deep"] {
            fs::create_dir(work.join(dir))?;
            open_to_all(&work.join(dir))?;
        }
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        for (name, content) in [
            ("f1", "line one\nline two  x\n\nlast"),
            ("f2", "two\n"),
            ("f3.c", ""),
            (".hid", "hidden\n"),
            ("a b", "spaced\n"),
            ("B1", "x\n"),
            ("é1", "é\n"),
            ("sub/x", "in sub\n"),
            ("sub/y z", ""),
            ("sub/.dot", ""),
            ("sub/deep/x", ""),
        ] {
            let path = work.join(name);
            fs::write(&path, content)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
            File::options().write(true).open(&path)?.set_modified(old)?;
        }
        symlink("f1", work.join("link"))?;
        Ok(())
    }
}

/// Starts this program again without inherited files and ignored signals, because scripts would see
/// them.
pub fn without_inherited_state() -> Result<()> {
    const DONE: &str = "WASIBOX_DIFFER_CLOSED";
    const CLOSE: &str = r#"for f in /proc/$$/fd/*; do
        f=${f##*/}; [ "$f" -gt 2 ] && [ "$f" -lt 255 ] && eval "exec $f>&-"
    done; exec env --default-signal "$@""#;
    if std::env::var_os(DONE).is_some() {
        return Ok(());
    }
    let program = std::env::current_exe()?;
    let mut command = Command::new("/bin/bash");
    command.args(["-c", CLOSE, "differ"]).arg(program).args(std::env::args_os().skip(1));
    Err(command.env(DONE, "1").exec()).context("/bin/bash")
}

fn open_to_all(dir: &Path) -> Result<()> {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).context("permissions")
}

/// Makes directories accessible that a script's umask closed, so that they can be removed.
fn reopen(dir: &Path) {
    // If a folder cannot be opened, its removal fails.
    let _ = open_to_all(dir);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            reopen(&entry.path());
        }
    }
}

/// Waits for a child. Kills it and everything that it started when the time is over.
fn finish(mut child: Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let pid = Pid::from_child(&child);
    let most = Rlimit { current: Some(CPU_SECONDS), maximum: Some(CPU_SECONDS) };
    // The child may have ended already.
    let _ = rustix::process::prlimit(Some(pid), Resource::Cpu, most);
    let start = Instant::now();
    let mut pause = Duration::from_micros(100);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > limit {
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(2));
    };
    // Background processes may still print. Those that do not end are then killed.
    let start = Instant::now();
    while status.is_some()
        && rustix::process::test_kill_process_group(pid).is_ok()
        && start.elapsed() < LEFT_RUNNING
    {
        if !reap(pid) {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    if status.is_none() {
        child.wait()?;
    }
    while reap(pid) {}
    Ok(status)
}

/// Reaps a process of the group if one has ended. Returns whether there was one.
fn reap(group: Pid) -> bool {
    matches!(rustix::process::waitpgid(group, WaitOptions::NOHANG), Ok(Some(_)))
}

fn list(dir: &Path, prefix: &str, out: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(&entry.path(), &format!("{name}/"), out)?;
            out.insert(format!("{name}/"), Vec::new());
        } else if kind.is_file() {
            out.insert(name, fs::read(entry.path())?);
        } else {
            out.insert(name, Vec::new());
        }
    }
    Ok(())
}
