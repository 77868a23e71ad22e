//! `cargo xtask web --cases`: what needs no folder of the host's, in Node or in a page: the harness's cases, and the tasks of several
//! steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::env;

/// They need more stack than browsers give a worker. The shell says so, at another level than bash (docs/deviations.md).
const DEEP: &[&str] = &[
    "an expression may refer to itself many times",
    "the variable that a chain of expressions ends at",
];

/// A file with the list of what Node runs: all that the image must pass.
pub(super) fn for_node() -> Result<PathBuf> {
    written("web-cases.json", &[])
}

/// The same for a page of a browser.
pub(super) fn for_pages() -> Result<PathBuf> {
    written("web-cases-pages.json", DEEP)
}

/// The part of `tests/harness/src/case.rs` that a case's run takes.
#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize, Serialize)]
struct Case {
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

/// All but those of some names, as a file of JSON.
fn written(name: &str, but: &[&str]) -> Result<PathBuf> {
    let mut list = harness()?;
    list.extend(tasks()?);
    list.retain(|case| !but.contains(&case.name.as_str()));
    let json = env::cache()?.join(name);
    env::write(&json, &serde_json::to_vec(&list)?)?;
    Ok(json)
}

fn harness() -> Result<Vec<Case>> {
    let mut list = Vec::new();
    let folder = env::root().join("tests/cases");
    for file in files(&folder, "toml")? {
        let Cases { case } = read(&file)?;
        let name = file.strip_prefix(&folder)?.display().to_string();
        for case in case.into_iter().filter(|c| c.targets.iter().any(|t| t == "wasm")) {
            list.push(Case { file: name.clone(), ..case });
        }
    }
    Ok(list)
}

/// Their output and status are in the file beside them (`tests/harness/tests/tasks.rs`).
fn tasks() -> Result<Vec<Case>> {
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

fn case(file: &str, name: String, script: String, stdout: String, status: i32) -> Case {
    let (file, targets) = (file.to_owned(), every_target());
    let (stdin, files, stderr) = (String::new(), BTreeMap::new(), None);
    Case { file, name, script, stdin, files, stdout, stderr, status, targets }
}

fn text(file: &Path) -> Result<String> {
    String::from_utf8(env::read(file)?).with_context(|| file.display().to_string())
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T> {
    toml::from_str(&text(file)?).with_context(|| file.display().to_string())
}

/// Those with an ending, below a folder.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path, ending)?),
            false if path.extension().is_some_and(|e| e == ending) => found.push(path),
            false => {}
        }
    }
    found.sort();
    Ok(found)
}
