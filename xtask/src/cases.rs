//! `cargo xtask cases`: runs the cases of `tests/cases` and the tasks of `tests/tasks` through all
//! interfaces for users, each script in a session of its own. Also writes lists of them for Node
//! and pages (`cargo xtask web --cases`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::{env, sdk};

/// The interfaces that `tests/doors/cases.py` supports. Pages have a task of their own.
const DOORS: &[&str] = &["session", "mcp", "http", "python", "threads", "node"];
/// Cases that differ in a session. Most are about a shell that reads a file, whereas a session's
/// shell reads its script as `bash -c` does: `$-` has `c`, an error that ends the script is status
/// 127, messages within functions begin with `environment`, and the last line needs no newline. The
/// last case is about `kv` without a session.
const OTHERWISE_IN_SESSIONS: &[&str] = &[
    "a backslash at the end of a script",
    "a nameref that cannot be leaves no variable",
    "a script ends after the command that sets -t",
    "an assignment before a command in POSIX mode",
    "expressions of test, and what is wrong with them",
    "listings without the assignments before them",
    "nounset ends the script",
    "options of set, checked first and then applied one by one",
    "set -u and elements of no array",
    "set -v within substitutions",
    "suspend needs job control",
    "the RETURN and DEBUG traps of a sourced file",
    "without a session's history; what makes no sense",
];
/// The size of the sample in the test command; an interface takes 5 to 15 seconds for it.
const SAMPLE: usize = 60;

/// Options of `cargo xtask cases`. For cases in a page: `cargo xtask web --cases --browser chromium`.
#[derive(Debug, clap::Args)]
pub struct CasesOptions {
    /// The interfaces; all by default.
    #[arg(value_name = "DOOR", value_parser = DOORS.to_vec())]
    doors: Vec<String>,
    /// Run a sample of N cases.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Run the cases with this text in their file's name or their own.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// Runs `cargo xtask cases`.
pub fn run(options: &CasesOptions) -> Result<ExitCode> {
    let asked: Vec<&str> = options.doors.iter().map(String::as_str).collect();
    let doors = if asked.is_empty() { DOORS } else { &asked };
    through_doors(doors, options.sample, &options.only)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a sample of the cases through all interfaces; the packages must be installed (`sdk::test`).
pub fn sample() -> Result<()> {
    through_doors(DOORS, Some(SAMPLE), "")
}

fn through_doors(doors: &[&str], sample: Option<usize>, only: &str) -> Result<()> {
    let mut list = all()?;
    list.retain(|case| case.file.contains(only) || case.name.contains(only));
    list.retain(|case| !OTHERWISE_IN_SESSIONS.contains(&case.name.as_str()));
    ensure!(!list.is_empty(), "no case has {only:?} in its file's name or its own");
    let json = env::cache()?.join("door-cases.json");
    env::write(&json, &serde_json::to_vec(&list)?)?;
    let dist = env::dist();
    let mut failed = Vec::new();
    for door in doors {
        let python = match *door {
            "python" | "threads" => sdk::installed_python()?,
            _ => PathBuf::from("python3"),
        };
        let mut cases = Command::new(python);
        cases.arg(env::root().join("tests/doors/cases.py"));
        cases.args([&dist.join("runner"), &dist.join("image.webc"), &json]).arg(door);
        cases.args(sample.map(|n| n.to_string()));
        if *door == "node" {
            cases.current_dir(sdk::node::installed_folder()?);
        }
        if !cases.status().context("python3")?.success() {
            failed.push(*door);
        }
    }
    ensure!(failed.is_empty(), "cases differ through {}", failed.join(", "));
    Ok(())
}

/// Cases that need more stack than browsers give a worker. The shell reports the overflow, but at a
/// different depth than bash (docs/deviations.md).
const DEEP: &[&str] = &[
    "an expression may refer to itself many times",
    "the variable that a chain of expressions ends at",
];

/// Writes the list of cases for Node, which are all that the image must pass. Returns the file's
/// path.
pub fn for_node() -> Result<PathBuf> {
    written("web-cases.json", &[])
}

/// Writes the list of cases for a page of a browser. Returns the file's path.
pub fn for_pages() -> Result<PathBuf> {
    written("web-cases-pages.json", DEEP)
}

/// A file of cases, with those fields of `tests/harness/src/case.rs` that are needed to run a case.
#[derive(Deserialize)]
struct Cases {
    case: Vec<HarnessCase>,
}

#[derive(Deserialize, Serialize)]
struct HarnessCase {
    #[serde(skip_deserializing)]
    file: String,
    name: String,
    script: String,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    stdout: String,
    stderr: Option<String>,
    #[serde(default)]
    status: i32,
    #[serde(default = "every_target", skip_serializing)]
    targets: Vec<String>,
}

fn every_target() -> Vec<String> {
    vec!["wasm".into()]
}

/// Writes all cases except the named ones to a file of JSON.
fn written(name: &str, but: &[&str]) -> Result<PathBuf> {
    let mut list = all()?;
    list.retain(|case| !but.contains(&case.name.as_str()));
    let json = env::cache()?.join(name);
    env::write(&json, &serde_json::to_vec(&list)?)?;
    Ok(json)
}

fn all() -> Result<Vec<HarnessCase>> {
    let mut list = harness()?;
    list.extend(tasks()?);
    Ok(list)
}

fn harness() -> Result<Vec<HarnessCase>> {
    let mut list = Vec::new();
    let folder = env::root().join("tests/cases");
    for file in files(&folder, "toml")? {
        let Cases { case } = read(&file)?;
        let name = file.strip_prefix(&folder)?.display().to_string();
        for case in case.into_iter().filter(|c| c.targets.iter().any(|t| t == "wasm")) {
            list.push(HarnessCase { file: name.clone(), ..case });
        }
    }
    Ok(list)
}

/// Returns the tasks, whose output and status are in the files beside them
/// (`tests/harness/tests/tasks.rs`).
fn tasks() -> Result<Vec<HarnessCase>> {
    let mut list = Vec::new();
    for file in files(&env::root().join("tests/tasks"), "sh")? {
        let wanted = text(&file.with_extension("out"))?;
        let (stdout, status) = wanted
            .trim_end()
            .rsplit_once("status ")
            .with_context(|| format!("{}: no status", file.display()))?;
        let name = file.file_stem().unwrap_or_default().display().to_string();
        list.push(case("tasks", name, text(&file)?, stdout.into(), status.parse()?));
    }
    Ok(list)
}

fn case(file: &str, name: String, script: String, stdout: String, status: i32) -> HarnessCase {
    let (file, targets) = (file.to_owned(), every_target());
    let (stdin, files, stderr) = (String::new(), BTreeMap::new(), None);
    HarnessCase { file, name, script, stdin, files, stdout, stderr, status, targets }
}

fn text(file: &Path) -> Result<String> {
    String::from_utf8(env::read(file)?).with_context(|| file.display().to_string())
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T> {
    toml::from_str(&text(file)?).with_context(|| file.display().to_string())
}

/// Returns all files below a folder that have the extension `ending`, sorted.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
