//! Checks that the paths of the checkout which `docs/*.md` and the READMEs mention exist, and that
//! names in parentheses after a file occur in it, as [`super::architecture`] does for
//! ARCHITECTURE.md.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::architecture::{is_name, path_exists};
use crate::env;
use crate::key::sorted;

/// The documents of the checkout's own folder.
const OWN: &[&str] = &["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"];

/// Folders with READMEs, in addition to the checkout's own.
const READMES: &[&str] = &["python-dist", "sdk/web", "tests/escape"];

/// Folders of the checkout that are created by building, so that a clean checkout lacks them.
const BUILT: &[&str] = &["dist", "target"];

/// Adds every violation in the documents to `out`.
///
/// # Errors
/// Returns an error if a document cannot be read.
pub fn check_documents(out: &mut Vec<String>) -> Result<()> {
    let root = env::root();
    let mut files: Vec<PathBuf> = OWN.iter().map(PathBuf::from).collect();
    files.extend(READMES.iter().map(|folder| Path::new(folder).join("README.md")));
    for name in sorted(&root.join("docs"))? {
        if name.ends_with(".md") {
            files.push(Path::new("docs").join(name));
        }
    }
    let folders: Vec<String> =
        sorted(&root)?.into_iter().filter(|name| root.join(name).is_dir()).collect();
    for file in files {
        let text = String::from_utf8_lossy(&env::read(&root.join(&file))?).into_owned();
        for (line, wrong) in wrong_paths(&root, &folders, &text) {
            out.push(format!("{}:{line}: {wrong}", file.display()));
        }
    }
    Ok(())
}

/// Returns the paths in a document that do not exist, and the names that do not occur in the file
/// before them, with line numbers. Blocks of code are skipped, because their paths are those of a
/// guest or of a reader's own folder.
fn wrong_paths(root: &Path, folders: &[String], text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let mut last = None;
        let mut pieces = line.split('`');
        while let (Some(between), Some(word)) = (pieces.next(), pieces.next()) {
            if is_of_checkout(folders, word) {
                if path_exists(root, word) {
                    last = Some(root.join(word)).filter(|path| path.is_file());
                } else {
                    out.push((number, format!("there is no {word}")));
                }
            } else if let Some(path) = last.as_ref().filter(|_| between == " (" && is_name(word))
                && !std::fs::read_to_string(path).unwrap_or_default().contains(word)
            {
                out.push((number, format!("{} does not name {word}", path.display())));
            }
        }
    }
    out
}

/// Returns whether a word is a path that begins with a folder of the checkout.
fn is_of_checkout(folders: &[String], word: &str) -> bool {
    let Some((first, rest)) = word.split_once('/') else { return false };
    let is_plain = !word.contains([' ', '$', '<', '=', ':', '(']);
    is_plain && !rest.is_empty() && !BUILT.contains(&first) && folders.iter().any(|f| f == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<(usize, String)> {
        wrong_paths(&env::root(), &["xtask".into(), "docs".into()], text)
    }

    #[test]
    fn paths_of_the_checkout_are_looked_up() {
        let none: Vec<(usize, String)> = Vec::new();
        assert_eq!(wrong("`xtask/src/tidy.rs`, `xtask/src/{env,key}.rs`, `docs/*.md`"), none);
        assert_eq!(wrong("a\n`xtask/no.rs`"), [(2, "there is no xtask/no.rs".to_string())]);
        assert_eq!(wrong("`xtask/src/env.rs` (`WorkspaceCrate`)"), none);
        let found = wrong("`xtask/src/env.rs` (`Nowhere`)");
        assert!(
            found.len() == 1 && found[0].1.ends_with("env.rs does not name Nowhere"),
            "{found:?}"
        );
    }

    #[test]
    fn other_paths_and_code_are_passed_over() {
        let none: Vec<(usize, String)> = Vec::new();
        assert_eq!(wrong("`/usr/no` `src/no.rs` `dist/no` `xtask/src $no`"), none);
        assert_eq!(wrong("```sh\ncat `xtask/no.rs`\n```"), none);
    }
}
