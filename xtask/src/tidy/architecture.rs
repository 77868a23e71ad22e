//! Checks the statements of ARCHITECTURE.md that can be checked: its files exist, the words in
//! parentheses after a file occur in it, crates are in the folders of its table, and no row occurs
//! twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::env::{self, WorkspaceCrate};

/// Folders of packages that are not in the table of crates: tests and tasks, which the text below
/// it lists.
const NOT_IN_TABLE: &[&str] = &["tests", "xtask"];

/// Adds every violation in the document.
pub fn check_architecture(packages: &[WorkspaceCrate], out: &mut Vec<String>) -> Result<()> {
    let text =
        String::from_utf8_lossy(&env::read(&env::root().join("ARCHITECTURE.md"))?).into_owned();
    let rows: Vec<Vec<&str>> = text.lines().filter_map(table_cells).collect();
    let mut seen = BTreeSet::new();
    for row in &rows {
        let [what, rest @ ..] = row.as_slice() else { continue };
        if !seen.insert(what) && *what != "crate" {
            out.push(format!("ARCHITECTURE.md: a row occurs twice: {what}"));
        }
        for wrong in wrong_places(&env::root(), &rest.join(" ")) {
            out.push(format!("ARCHITECTURE.md: {what}: {wrong}"));
        }
    }
    find_unnamed_crates(packages, &rows, out);
    Ok(())
}

/// Returns the cells of a table's row.
fn table_cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.strip_prefix("| ")?.strip_suffix('|')?;
    Some(inside.split(" | ").map(str::trim).collect())
}

/// Finds crates of the workspace that no row names with their folder.
fn find_unnamed_crates(packages: &[WorkspaceCrate], rows: &[Vec<&str>], out: &mut Vec<String>) {
    for package in packages {
        let dir = package.dir();
        let dir = dir.strip_prefix(env::root()).unwrap_or(dir);
        let (name, folder) = (format!("`{}`", package.name), format!("`{}`", dir.display()));
        let is_listed =
            rows.iter().any(|r| r.first() == Some(&&*name) && r.get(1) == Some(&&*folder));
        if !is_listed && !NOT_IN_TABLE.iter().any(|n| dir.starts_with(n)) {
            out.push(format!("ARCHITECTURE.md: no row for the crate {name} in {folder}"));
        }
    }
}

/// Returns the files in a text that do not exist, and the words in parentheses that do not occur in
/// the file before them. A path may begin at the root, in the folder of the previous path, or in a
/// folder above that; `NAME` matches anything, `{a,b}` means both.
fn wrong_places(root: &Path, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut last = PathBuf::new();
    let mut pieces = text.split('`');
    while let (Some(between), Some(word)) = (pieces.next(), pieces.next()) {
        if is_path(word) {
            let folders = std::iter::once(Path::new("")).chain(last.ancestors());
            match folders.map(|f| f.join(word)).find(|p| path_exists(root, &p.to_string_lossy())) {
                Some(found) => last = found,
                None => out.push(format!("there is no {word}")),
            }
        } else if between.ends_with('(') && is_name(word) && root.join(&last).is_file() {
            let text = std::fs::read_to_string(root.join(&last)).unwrap_or_default();
            if !text.contains(word) {
                out.push(format!("{} does not name {word}", last.display()));
            }
        }
    }
    out
}

fn is_path(word: &str) -> bool {
    let plain = !word.starts_with('/') && !word.contains(' ');
    let ends = [".rs", ".js", ".ts", ".c", ".py", ".md", ".toml", ".cjs", ".mjs", ".cts", "}", "/"];
    plain && (ends.iter().any(|e| word.ends_with(e)) || word.contains('/') && word.contains('.'))
}

pub(super) fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || c == '_') && word.starts_with(char::is_uppercase)
}

/// Returns whether a file of that name exists, or one for each choice in braces; `NAME` and `*`
/// match anything.
pub(super) fn path_exists(root: &Path, path: &str) -> bool {
    if let Some((before, rest)) = path.split_once('{')
        && let Some((choices, after)) = rest.split_once('}')
    {
        return choices.split(',').all(|c| path_exists(root, &format!("{before}{c}{after}")));
    }
    let mut found = vec![root.to_path_buf()];
    for part in path.split('/').filter(|p| !p.is_empty()) {
        let (start, end) = match part.split_once("NAME").or_else(|| part.split_once('*')) {
            Some(ends) => ends,
            None => {
                found.iter_mut().for_each(|p| p.push(part));
                found.retain(|p| p.exists());
                continue;
            }
        };
        let entries = found.iter().filter_map(|p| std::fs::read_dir(p).ok()).flatten().flatten();
        let named = entries.filter(|e| {
            let name = e.file_name();
            let name = name.to_string_lossy();
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        });
        found = named.map(|e| e.path()).collect();
    }
    !found.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_looked_up() {
        let wrong = |text: &str| wrong_places(&env::root(), text);
        let none: Vec<String> = Vec::new();
        assert_eq!(wrong("`xtask/src/tidy.rs`, its files `tidy/NAME.rs`; `main.rs`"), none);
        assert_eq!(wrong("`xtask/src/{tidy,main}.rs` and `xtask/src/tidy/`"), none);
        assert_eq!(wrong("`xtask/src/env.rs` (`WorkspaceCrate`)"), none);
        assert_eq!(
            wrong("`xtask/src/env.rs` (`Nowhere`)"),
            ["xtask/src/env.rs does not name Nowhere"]
        );
        assert_eq!(wrong("`xtask/src/{tidy,no}.rs`"), ["there is no xtask/src/{tidy,no}.rs"]);
        assert_eq!(wrong("`main` and `/.box` are no paths"), none);
    }

    #[test]
    fn rows_are_split_into_cells() {
        assert_eq!(table_cells("| a | `b` |"), Some(vec!["a", "`b`"]));
        assert_eq!(table_cells("no row"), None);
    }
}
