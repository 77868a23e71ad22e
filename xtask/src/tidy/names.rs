//! Checks the names of types. A type is a noun, so bare participles (`Told`), pronouns and adverbs
//! (`What`, `Here`) are refused. docs/glossary.md may name only types that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::env::{self, WorkspaceCrate};
use crate::key::sorted;

/// Participles that do not end in `ed`.
const IRREGULAR: &[&str] = &[
    "Begun", "Bound", "Broken", "Built", "Chosen", "Done", "Drawn", "Found", "Given", "Gone",
    "Got", "Held", "Kept", "Known", "Left", "Lost", "Made", "Meant", "Put", "Read", "Said", "Seen",
    "Sent", "Shown", "Shut", "Spent", "Split", "Taken", "Told", "Written",
];
/// Nouns that end in `ed`.
const NOUNS: &[&str] = &["Embed", "Feed", "Need", "Red", "Reed", "Seed", "Shed", "Speed"];
/// Pronouns and adverbs.
const PRONOUNS: &[&str] = &[
    "After", "Again", "All", "Around", "Before", "Here", "How", "Last", "Late", "Many", "Most",
    "Much", "Next", "Now", "Other", "Rest", "Some", "Then", "There", "Wants", "Was", "What",
    "Where", "Which", "Who", "Whole", "Why", "Wish",
];
/// Names that stay, each with its reason: objects of the package for Node, whose names are public,
/// and a name in files whose text is part of the digest of `python-dist/prebuilt`.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("sdk/node/src/session.rs", "Told"),
    ("sdk/node/src/session.rs", "Applied"),
    ("sdk/node/src/session.rs", "Left"),
    ("xtask/src/python/workshop.rs", "Done"),
];

/// Adds to `out` every type of these crates whose name is not a noun, and every type that
/// docs/glossary.md names and that none of them declares. Tests may name their types as they like.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn check_names(crates: &[WorkspaceCrate], out: &mut Vec<String>) -> Result<()> {
    let root = env::root();
    let mut declared = BTreeSet::new();
    let mut paths: Vec<PathBuf> = crates.iter().map(|c| c.dir().join("src")).collect();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(sorted(&path)?.into_iter().map(|name| path.join(name)));
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = String::from_utf8_lossy(&env::read(&path)?).into_owned();
            let file = path.strip_prefix(&root).unwrap_or(&path);
            check_file(file, &text, &mut declared, out);
        }
    }
    let text = String::from_utf8_lossy(&env::read(&root.join("docs/glossary.md"))?).into_owned();
    let missing = glossary_types(&text).filter(|(_, name)| !declared.contains(*name));
    out.extend(missing.map(|(line, name)| format!("docs/glossary.md:{line}: no type is `{name}`")));
    Ok(())
}

fn check_file(file: &Path, text: &str, declared: &mut BTreeSet<String>, out: &mut Vec<String>) {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for (line, name) in declared_types(code) {
        let is_exception = EXCEPTIONS.iter().any(|(f, n)| Path::new(f) == file && *n == name);
        let is_of_tests = file.ends_with("tests.rs");
        if !is_noun(name) && !is_exception && !is_of_tests {
            out.push(format!("{}:{line}: `{name}` is no noun: name its object", file.display()));
        }
        declared.insert(name.to_owned());
    }
}

/// Returns whether a type name is a noun, as far as its form shows it.
pub fn is_noun(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(|c| c.is_ascii_lowercase());
    let is_participle = is_one_word && name.ends_with("ed") && !NOUNS.contains(&name);
    !is_participle && !IRREGULAR.contains(&name) && !PRONOUNS.contains(&name)
}

/// Returns the structs, enums and traits that a file declares, with their lines.
pub fn declared_types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub(") {
            Some(rest) => rest.split_once(") ")?.1,
            None => line.strip_prefix("pub ").unwrap_or(line),
        };
        let (kind, rest) = line.split_once(' ')?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (["struct", "enum", "trait"].contains(&kind) && end > 0).then(|| (number, &rest[..end]))
    })
}

/// Returns the types in the third column of the glossary's table, with their lines.
fn glossary_types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let rows = (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("| **"));
    rows.flat_map(|(number, line)| {
        let column = line.split('|').nth(3).unwrap_or_default();
        column.split('`').skip(1).step_by(2).map(move |name| (number, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_differ_from_participles_and_pronouns() {
        for name in ["CallResult", "Seed", "WorkerPool", "Id", "UsedBytes"] {
            assert!(is_noun(name), "{name}");
        }
        for name in ["Told", "Watched", "Kept", "What", "Here", "Parsed"] {
            assert!(!is_noun(name), "{name}");
        }
    }

    #[test]
    fn declarations_are_found_with_their_lines() {
        let text = "// struct No;\npub struct A<'a> {\n    pub(crate) enum B {\ntrait C: D {}\nfn e() {}\n";
        let found: Vec<_> = declared_types(text).collect();
        assert_eq!(found, [(2, "A"), (3, "B"), (4, "C")]);
    }

    #[test]
    fn the_glossary_names_types_in_its_third_column() {
        let text = "| noun | meaning | type |\n| **a** | not `x` | `A`; the builder `B` | `c` |\n";
        assert_eq!(glossary_types(text).collect::<Vec<_>>(), [(2, "A"), (2, "B")]);
    }
}
