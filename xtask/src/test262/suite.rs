//! Finds the tests, without those that the engine's own configuration excludes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::env;

/// One run of a test's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestRun {
    /// The path below the suite's folder: `test/language/...`.
    pub file: String,
    pub mode: TestMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestMode {
    Sloppy,
    Strict,
    Module,
    Raw,
}

impl TestMode {
    pub fn name(self) -> &'static str {
        match self {
            TestMode::Sloppy => "sloppy",
            TestMode::Strict => "strict",
            TestMode::Module => "module",
            TestMode::Raw => "raw",
        }
    }

    pub fn from_name(name: &str) -> Option<TestMode> {
        [TestMode::Sloppy, TestMode::Strict, TestMode::Module, TestMode::Raw]
            .into_iter()
            .find(|m| m.name() == name)
    }
}

/// The exclusions in `test262.conf` of QuickJS-NG: features that are in no edition of the language
/// yet, and files for which its authors give reasons.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    skipped: BTreeSet<String>,
    excluded: Vec<String>,
    included: Vec<String>,
}

impl Configuration {
    pub fn parse(text: &str) -> Configuration {
        let mut made = Configuration::default();
        let mut section = "";
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
                continue;
            }
            let path = |path: &str| path.strip_prefix("test262/").unwrap_or(path).to_string();
            match section {
                "features" => {
                    if let Some(name) = line.strip_suffix("=skip") {
                        made.skipped.insert(name.to_string());
                    }
                }
                "exclude" if line.starts_with('!') => made.included.push(path(&line[1..])),
                "exclude" if !line.is_empty() => made.excluded.push(path(line)),
                _ => {}
            }
        }
        made
    }

    fn is_excluded(&self, file: &str) -> bool {
        let among = |list: &[String]| list.iter().any(|p| file.starts_with(p.as_str()));
        among(&self.excluded) && !among(&self.included)
    }
}

/// Returns the cases below the given folders or files (all of `test` by default), and the number of
/// excluded files by reason.
pub fn find_cases(
    suite: &Path,
    patterns: &[String],
    configuration: &Configuration,
) -> Result<(Vec<TestRun>, BTreeMap<String, usize>)> {
    let mut files = Vec::new();
    walk_dir(&suite.join("test"), &mut files)?;
    let (mut cases, mut left_out) = (Vec::new(), BTreeMap::<String, usize>::new());
    for path in files {
        let file = path.strip_prefix(suite).unwrap_or(&path).to_string_lossy().into_owned();
        let inner = file.strip_prefix("test/").unwrap_or(&file);
        if !patterns.is_empty() && !patterns.iter().any(|p| inner.starts_with(p.as_str())) {
            continue;
        }
        if configuration.is_excluded(&file) {
            *left_out.entry("excluded".into()).or_default() += 1;
            continue;
        }
        let text = String::from_utf8_lossy(&env::read(&path)?).into_owned();
        let head = frontmatter(&text);
        if let Some(skip) =
            key_list(head, "features").into_iter().find(|f| configuration.skipped.contains(*f))
        {
            *left_out.entry(skip.to_string()).or_default() += 1;
            continue;
        }
        if let Some(why) = cannot_run(&text) {
            *left_out.entry(why.into()).or_default() += 1;
            continue;
        }
        let modes = modes_of(&text);
        cases.extend(modes.iter().map(|mode| TestRun { file: file.clone(), mode: *mode }));
    }
    Ok((cases, left_out))
}

/// Returns the feature that a test requires of its host and that a process with one thread lacks.
fn cannot_run(text: &str) -> Option<&'static str> {
    if text.contains("$262.agent.start(") {
        return Some("asks for other agents, which are threads");
    }
    let may_not_wait = key_list(frontmatter(text), "flags").contains(&"CanBlockIsFalse");
    may_not_wait.then_some("asks for a host that may not wait")
}

fn walk_dir(dir: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = std::fs::read_dir(dir)
        .with_context(|| dir.display().to_string())?
        .collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            walk_dir(&path, out)?;
        } else if name.ends_with(".js") && !name.contains("_FIXTURE") {
            out.push(path);
        }
    }
    Ok(())
}

/// Returns the text between `/*---` and `---*/`.
fn frontmatter(text: &str) -> &str {
    let Some((_, rest)) = text.split_once("/*---") else { return "" };
    rest.split_once("---*/").map_or("", |(head, _)| head)
}

/// Returns a key's list, which is `[a, b]` or one line for each item.
fn key_list<'t>(head: &'t str, key: &str) -> Vec<&'t str> {
    let mut lines = head.lines();
    for line in lines.by_ref() {
        let Some(rest) = line.strip_prefix(key).and_then(|r| r.strip_prefix(':')) else { continue };
        let rest = rest.trim();
        if let Some(list) = rest.strip_prefix('[') {
            // A list may extend over several lines.
            let begin = list.as_ptr() as usize - head.as_ptr() as usize;
            let list = head[begin..].split(']').next().unwrap_or_default();
            return list.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
        }
        return lines.map_while(|l| l.trim_start().strip_prefix("- ").map(str::trim)).collect();
    }
    Vec::new()
}

/// Returns the modes in which the test with this text has to be run.
pub fn modes_of(text: &str) -> &'static [TestMode] {
    test_modes(&key_list(frontmatter(text), "flags"))
}

/// Returns the modes by test262's `INTERPRETING.md`, "Strict Mode".
fn test_modes(flags: &[&str]) -> &'static [TestMode] {
    let has = |flag| flags.contains(&flag);
    if has("raw") {
        &[TestMode::Raw]
    } else if has("module") {
        &[TestMode::Module]
    } else if has("onlyStrict") {
        &[TestMode::Strict]
    } else if has("noStrict") {
        &[TestMode::Sloppy]
    } else {
        &[TestMode::Sloppy, TestMode::Strict]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_each_form() {
        let head =
            "\nflags: [module, async]\nfeatures:\n  - A.b\n  - c\nincludes: [x.js,\n  y.js]\n";
        assert_eq!(key_list(head, "flags"), ["module", "async"]);
        assert_eq!(key_list(head, "features"), ["A.b", "c"]);
        assert_eq!(key_list(head, "includes"), ["x.js", "y.js"]);
        assert!(key_list(head, "locale").is_empty());
    }

    #[test]
    fn modes_are_those_of_the_flags() {
        assert_eq!(test_modes(&[]), [TestMode::Sloppy, TestMode::Strict]);
        assert_eq!(test_modes(&["async", "noStrict"]), [TestMode::Sloppy]);
        assert_eq!(test_modes(&["raw"]), [TestMode::Raw]);
    }

    #[test]
    fn threads_are_left_out() {
        assert!(cannot_run("/*---\n---*/\n$262.agent.start(`x`);").is_some());
        assert!(cannot_run("/*---\nflags: [CanBlockIsFalse]\n---*/").is_some());
        assert!(
            cannot_run("/*---\nflags: [CanBlockIsTrue]\n---*/\n$262.agent.sleep(1);").is_none()
        );
    }

    #[test]
    fn a_configuration_leaves_out() {
        let made = Configuration::parse(
            "[config]\nmode=default\n[features]\nA\nB=skip # why\nC=!tcc\n[exclude]\n# none\n\
             test262/test/intl402/\ntest262/test/staging/\n!test262/test/staging/using/\n[tests]\n",
        );
        assert_eq!(made.skipped, ["B".to_string()].into());
        assert!(made.is_excluded("test/intl402/a.js"));
        assert!(made.is_excluded("test/staging/a.js"));
        assert!(!made.is_excluded("test/staging/using/a.js"));
    }
}
