//! The format of the files in `tests/escape`: a header in comments, then the program.
//! `tests/escape/README.md` describes every key; a file that breaks the format is an error.

use std::path::{Path, PathBuf};

/// The language of a file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shell,
    Python,
    JavaScript,
    Module,
}

/// The use of the output streams of the host process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Output is read as it comes.
    #[default]
    Read,
    /// Pipes that are not read.
    Unread,
    /// Pipes whose reading ends are closed.
    Closed,
    /// A terminal.
    Terminal,
}

/// A host folder or file that is mounted. The host path is relative to the scratch folder unless it
/// is absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub host: String,
    pub guest: String,
    pub writable: bool,
    pub quota: Option<u64>,
}

/// One hostile program and the promises that must hold when it runs.
#[derive(Clone, Debug)]
pub struct Program {
    /// Path below `tests/escape`, or the name that a generator gives it.
    pub name: String,
    pub kind: Kind,
    pub text: String,
    pub attacks: String,
    pub finding: String,
    /// The accepted statuses. With `None`, any status is accepted that is not a crash of the host.
    pub status: Option<Vec<i32>>,
    pub limit: Option<String>,
    pub says: Vec<String>,
    pub never: Vec<String>,
    /// Bounds on the host's measurements.
    pub seconds: f64,
    pub grows: u64,
    pub threads: u64,
    pub descriptors: u64,
    /// The policy.
    pub timeout: f64,
    pub cpu: Option<f64>,
    pub memory: u64,
    pub disk: u64,
    pub output: u64,
    pub processes: u64,
    pub mounts: Vec<Mount>,
    pub env: Vec<(String, String)>,
    pub host_env: Vec<(String, String)>,
    pub json: bool,
    pub streams: Streams,
    /// Host commands (lines of `/bin/sh`) that run in the scratch folder.
    pub before: String,
    pub during: String,
    pub after: String,
    /// Host commands, such as `ulimit`, that run in the process that then becomes the runner.
    pub wrap: String,
    /// Two names that a host thread exchanges again and again.
    pub swap: Option<(String, String)>,
    pub image: Option<String>,
    /// The folder in the scratch folder whose contents become the files of a module's image.
    pub rootfs: Option<String>,
    /// The whole command line of `runner` instead of `exec ...`.
    pub runner: Option<Vec<String>>,
    /// The names of the targets that run the program; empty for all.
    pub targets: Vec<String>,
}

const MIB: u64 = 1 << 20;
/// The part of the host process's memory that no limit counts: the engine, stacks and the runner
/// itself.
const SLACK: u64 = 64 * MIB;
/// The delay, in seconds, that is accepted between a time limit and the end, because the machine
/// may be busy.
const NOISE: f64 = 3.0;
/// The host's own threads and descriptors, in addition to the guest's.
const OWN: u64 = 24;

impl Program {
    /// Returns a program with the suite's small limits that only has to end.
    pub fn new(name: &str, kind: Kind, text: String) -> Program {
        Program {
            name: name.into(),
            kind,
            text,
            attacks: String::new(),
            finding: String::new(),
            status: None,
            limit: None,
            says: Vec::new(),
            never: Vec::new(),
            seconds: 0.0,
            grows: 0,
            threads: 0,
            descriptors: 0,
            timeout: 2.0,
            cpu: None,
            // Interpreters start from their prepared memory only if it is a small part of this
            // limit.
            memory: if kind == Kind::Python { 320 } else { 128 } * MIB,
            disk: 8 * MIB,
            output: 4 * MIB,
            processes: 32,
            mounts: Vec::new(),
            env: Vec::new(),
            host_env: Vec::new(),
            json: false,
            streams: Streams::Read,
            before: String::new(),
            during: String::new(),
            after: String::new(),
            wrap: String::new(),
            swap: None,
            image: None,
            rootfs: None,
            runner: None,
            targets: Vec::new(),
        }
    }

    /// Derives the bounds that the header does not state from the limits.
    pub fn complete(mut self) -> Program {
        if self.seconds == 0.0 {
            self.seconds = self.timeout + NOISE;
        }
        if self.grows == 0 {
            self.grows = self.memory + self.disk + SLACK;
        }
        if self.threads == 0 {
            self.threads = self.processes + OWN;
        }
        if self.descriptors == 0 {
            self.descriptors = 512;
        }
        self
    }

    /// Returns whether the target of that name runs the program.
    pub fn runs_on(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|t| t == target)
    }

    /// Reads one file.
    pub fn parse(name: &str, text: String) -> Result<Program, String> {
        let (kind, mark) = match Path::new(name).extension().and_then(|e| e.to_str()) {
            Some("sh") => (Kind::Shell, "#:"),
            Some("py") => (Kind::Python, "#:"),
            Some("js") => (Kind::JavaScript, "//:"),
            Some("wat") => (Kind::Module, ";;:"),
            _ => return Err("not a .sh, .py, .js or .wat file".into()),
        };
        let mut p = Program::new(name, kind, String::new());
        let mut stated = false;
        for line in text.lines().filter_map(|l| l.strip_prefix(mark)) {
            let (key, value) = line.split_once('=').ok_or_else(|| format!("no '=' in {line:?}"))?;
            let (key, value) = (key.trim(), value.trim());
            stated |= key == "status";
            p.set(key, value).ok_or_else(|| format!("bad header line: {key} = {value}"))?;
        }
        if p.attacks.is_empty() || !stated {
            return Err("the header lacks 'attacks' or 'status'".into());
        }
        p.text = if kind == Kind::Module { repeated(&text)? } else { text };
        Ok(p.complete())
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let words = || value.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let pair = |s: &str| s.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let line = |lines: &mut String| lines.push_str(&format!("{value}\n"));
        match key {
            "attacks" => self.attacks = value.into(),
            "finding" => self.finding = value.into(),
            "status" if value == "any" => self.status = None,
            "status" => {
                let all = value.split_whitespace().map(|s| s.parse().ok());
                self.status = Some(all.collect::<Option<Vec<i32>>>().filter(|s| !s.is_empty())?);
            }
            "limit" => self.limit = Some(value.into()),
            "says" => self.says.push(unescaped(value)),
            "never" => self.never.push(unescaped(value)),
            "seconds" => self.seconds = value.parse().ok()?,
            "grows" => self.grows = size(value)?,
            "threads" => self.threads = value.parse().ok()?,
            "descriptors" => self.descriptors = value.parse().ok()?,
            "timeout" => self.timeout = value.parse().ok()?,
            "cpu" => self.cpu = Some(value.parse().ok()?),
            "memory" => self.memory = size(value)?,
            "disk" => self.disk = size(value)?,
            "output" => self.output = size(value)?,
            "processes" => self.processes = value.parse().ok()?,
            "mount" => {
                let (value, quota) = match value.split_once(",quota=") {
                    Some((value, quota)) => (value, Some(size(quota)?)),
                    None => (value, None),
                };
                let (rest, mode) = value.rsplit_once(':')?;
                let (host, guest) = rest.rsplit_once(':')?;
                let writable = ["ro", "rw"].iter().position(|m| *m == mode)? == 1;
                self.mounts.push(Mount { host: host.into(), guest: guest.into(), writable, quota });
            }
            "env" => self.env.push(pair(value)?),
            "host-env" => self.host_env.push(pair(value)?),
            "json" => self.json = value == "yes",
            "streams" => {
                self.streams = match value {
                    "unread" => Streams::Unread,
                    "closed" => Streams::Closed,
                    "terminal" => Streams::Terminal,
                    _ => return None,
                }
            }
            "before" => line(&mut self.before),
            "during" => line(&mut self.during),
            "after" => line(&mut self.after),
            "wrap" => line(&mut self.wrap),
            "rootfs" => self.rootfs = Some(value.into()),
            "swap" => self.swap = value.split_once(' ').map(|(a, b)| (a.into(), b.into())),
            "image" => self.image = Some(value.into()),
            "runner" => self.runner = Some(words().iter().map(|w| unescaped(w)).collect()),
            "targets" => self.targets = words(),
            _ => return None,
        }
        Some(())
    }
}

/// Reads every file below `dir`. A file that is not a program is an error, except README.md.
pub fn load(dir: &Path) -> Result<Vec<Program>, String> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(at) = dirs.pop() {
        let entries = std::fs::read_dir(&at).map_err(|e| format!("{}: {e}", at.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() { dirs.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    let (mut programs, mut wrong) = (Vec::new(), Vec::new());
    for path in found {
        let name = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string());
        match text.and_then(|t| Program::parse(&name, t)) {
            Ok(p) => programs.push(p),
            Err(e) => wrong.push(format!("{name}: {e}")),
        }
    }
    if wrong.is_empty() { Ok(programs) } else { Err(wrong.join("\n")) }
}

/// Parses a number of bytes with an optional `K`, `M` or `G`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Decodes `\e` and `\a` in texts, because control characters of terminals cannot be in a source
/// file.
fn unescaped(text: &str) -> String {
    text.replace("\\e", "\x1b").replace("\\a", "\x07")
}

/// Expands a module's text: a line `;;* N TEXT` becomes N lines of TEXT, in which `%` is the line's
/// number. So programs that are hostile because of their size stay small in the source tree.
fn repeated(text: &str) -> Result<String, String> {
    let mut out = String::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix(";;*") else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let wrong = || format!("not ';;* N TEXT': {line}");
        let (n, text) = rest.trim_start().split_once(' ').ok_or_else(wrong)?;
        for i in 0..n.parse::<u64>().map_err(|_| wrong())? {
            out.push_str(&text.replace('%', &i.to_string()));
            out.push('\n');
        }
    }
    Ok(out)
}
