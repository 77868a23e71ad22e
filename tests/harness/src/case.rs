//! The format of case files.
//!
//! ```toml
//! authority = "bash 5.2"            # who gave the expected values
//!
//! [[case]]
//! name = "last stage runs on a copy"
//! script = 'x=1; echo 2 | read x; echo $x'
//! stdout = "1\n"
//! # optional: stdin, stderr, status (0), files = { "name" = "content" },
//! # targets = ["native", "wasm"], deviation = "why ours differs from the authority"
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// The source of the expected values, such as `bash 5.2` or `GNU sed 4.9`.
    pub authority: String,
    pub case: Vec<Case>,
}

/// One script with its expected output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    pub script: String,
    #[serde(default)]
    pub stdin: String,
    /// Files in the working directory, by relative name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    pub stdout: String,
    /// Compared only if given.
    pub stderr: Option<String>,
    #[serde(default)]
    pub status: i32,
    #[serde(default = "all")]
    pub targets: Vec<Target>,
    /// The reason why the expected values differ from the authority's, which docs/deviations.md
    /// lists.
    pub deviation: Option<String>,
}

/// The build in which a case runs.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Native,
    Wasm,
}

fn all() -> Vec<Target> {
    vec![Target::Native, Target::Wasm]
}

/// Returns all case files below a folder, with their paths.
///
/// # Panics
/// Panics if a file does not parse or is empty, or if a case has no target.
pub fn load(dir: &Path) -> Vec<(PathBuf, CaseFile)> {
    let mut out = Vec::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        for entry in entries {
            let path = entry.expect("readable folder").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                let text = std::fs::read_to_string(&path).expect("readable case file");
                let file: CaseFile =
                    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                assert!(!file.case.is_empty(), "{}: no cases", path.display());
                for c in &file.case {
                    assert!(!c.targets.is_empty(), "{}: {}: no target", path.display(), c.name);
                }
                out.push((path, file));
            }
        }
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!out.is_empty(), "no case files below {}", dir.display());
    out
}
