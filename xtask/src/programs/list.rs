//! The list of suites: `tests/programs/suites.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::results::ResultsFormat;
use crate::env;

/// The path of the list, from the checkout's root.
pub const PATH: &str = "tests/programs/suites.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteList {
    suite: Vec<ProgramSuite>,
}

/// A suite.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSuite {
    pub name: String,
    /// Its folder, if that differs from the name.
    folder: Option<String>,
    /// Shell text that prepares a copy on the host before the tests run; `$SUITES` is the folder of
    /// all suites.
    pub setup: Option<String>,
    /// Test files: paths with `*` in the last part. Each runs separately, as `$FILE`. Without any
    /// there is one run.
    #[serde(default)]
    files: Vec<String>,
    /// Test files that are skipped, with the reason.
    #[serde(default)]
    pub without: BTreeMap<String, String>,
    /// Shell text that runs `$FILE` in a copy; by default [`PYTEST`]. `$DEPS` has the Python
    /// packages that tests need.
    run: Option<String>,
    /// The format of the results.
    pub results: ResultsFormat,
    /// The environment on both sides.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The time limit for one file in seconds.
    #[serde(default = "usual_timeout")]
    pub timeout: u64,
}

fn usual_timeout() -> u64 {
    600
}

/// Runs one test file under pytest, which prints every test as it ends.
const PYTEST: &str = r#"PYTHONPATH="$DEPS:$PWD/src:$PWD" python3 -m pytest -v --tb=short -rfE -p no:cacheprovider -p no:randomly "$FILE" 2>&1"#;

impl ProgramSuite {
    /// Returns the name of the suite's folder in the folder of all suites.
    pub fn home(&self) -> &str {
        self.folder.as_deref().unwrap_or(&self.name)
    }

    pub fn command(&self) -> &str {
        self.run.as_deref().unwrap_or(PYTEST)
    }

    /// Returns the test files of a copy, sorted. A suite without a list is one run, named `all`.
    pub fn files(&self, copy: &Path) -> Result<Vec<String>> {
        if self.files.is_empty() {
            return Ok(vec!["all".to_string()]);
        }
        let mut all = Vec::new();
        for pattern in &self.files {
            let (dir, last) = pattern.rsplit_once('/').unwrap_or((".", pattern));
            let found = copy.join(dir);
            for entry in std::fs::read_dir(&found).with_context(|| found.display().to_string())? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                if !name.starts_with('.') && pattern_matches(last, &name) {
                    all.push(if dir == "." { name } else { format!("{dir}/{name}") });
                }
            }
        }
        all.retain(|file| !self.without.contains_key(file));
        all.sort();
        all.dedup();
        Ok(all)
    }
}

/// Returns whether a name matches a pattern with any number of `*`.
fn pattern_matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(tail) = name.strip_prefix(head) else { return false };
    (0..=tail.len()).any(|at| tail.get(at..).is_some_and(|tail| pattern_matches(rest, tail)))
}

/// Returns all suites, in the list's order.
pub fn read() -> Result<Vec<ProgramSuite>> {
    let path = env::root().join(PATH);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let list: SuiteList = toml::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(list.suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_well_formed() {
        let suites = read().expect("reads");
        let names: std::collections::BTreeSet<&str> =
            suites.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names.len(), suites.len(), "two suites have one name");
    }

    #[test]
    fn stars_match_any_text() {
        assert!(pattern_matches("*.bats", "a.bats"));
        assert!(pattern_matches("test_*.py", "test_.py"));
        assert!(!pattern_matches("test_*.py", "a_test_b.py"));
        assert!(!pattern_matches("a", "ab"));
    }
}
