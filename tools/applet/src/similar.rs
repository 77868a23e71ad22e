//! Commands that were probably meant by a name that does not exist.

use std::path::Path;

use crate::{AppletTable, program};

/// The maximum number of entries of one folder that are compared, because a guest can fill it.
const MOST_ENTRIES: usize = 5000;
/// The maximum number of suggestions.
const SHOWN: usize = 3;

/// Returns the names of commands that differ from `name` by one letter that is missing, added,
/// wrong or in the other order, sorted: those of the table, of the folders in `search` (a PATH
/// value) and of `others`. Names of less than three bytes have too many neighbours.
pub fn find_similar(
    name: &[u8],
    search: &[u8],
    table: &AppletTable,
    others: &[&str],
) -> Vec<String> {
    if name.len() < 3 || name.contains(&b'/') {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut consider = |candidate: &[u8]| {
        if candidate.len() > 1
            && is_neighbour(name, candidate)
            && let Ok(text) = std::str::from_utf8(candidate)
        {
            found.push(text.to_string());
        }
    };
    table.applets().iter().for_each(|a| consider(a.name.as_bytes()));
    table.programs().iter().for_each(|(program, _)| consider(program.as_bytes()));
    others.iter().for_each(|other| consider(other.as_bytes()));
    for dir in search.split(|c| *c == b':').filter(|d| d.starts_with(b"/")) {
        let dir = box_sys::path::from_bytes(dir);
        let Ok(entries) = std::fs::read_dir(dir) else { continue };
        for entry in entries.flatten().take(MOST_ENTRIES) {
            let file = entry.file_name();
            let candidate = box_sys::path::os_bytes(&file);
            if is_neighbour(name, candidate) && is_program(dir, candidate, table) {
                consider(candidate);
            }
        }
    }
    found.sort();
    found.dedup();
    found.truncate(SHOWN);
    found
}

fn is_program(dir: &Path, name: &[u8], table: &AppletTable) -> bool {
    table.is_program(name) || program::is_executable(&dir.join(box_sys::path::from_bytes(name)))
}

/// Returns whether one change makes `a` to `b`: a byte more, less or different, or two neighbours
/// in the other order.
fn is_neighbour(a: &[u8], b: &[u8]) -> bool {
    if a == b || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[start..], &b[start..]);
    match (a, b) {
        ([_, rest_a @ ..], [_, rest_b @ ..]) if a.len() == b.len() => {
            rest_a == rest_b
                || matches!((a, b), ([x, y, ..], [v, w, ..]) if x == w && y == v)
                    && a.get(2..) == b.get(2..)
        }
        _ if a.len() < b.len() => b.get(1..) == Some(a),
        _ => a.get(1..) == Some(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours() {
        for (a, b, expected) in [
            ("gti", "git", true),
            ("gt", "git", true),
            ("giit", "git", true),
            ("gat", "git", true),
            ("git", "git", false),
            ("tig", "git", false),
            ("sl", "ls", true),
            ("pyton3", "python3", true),
            ("phyton3", "python3", false),
            ("cat", "cattle", false),
        ] {
            assert_eq!(is_neighbour(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
    }

    #[test]
    fn suggestions_are_commands() {
        const TABLE: AppletTable = AppletTable::new(&[], &[("git", ""), ("gits", "")]);
        let find = |name: &str| find_similar(name.as_bytes(), b"/nosuchfolder", &TABLE, &["exit"]);
        assert_eq!(find("gti"), ["git"]);
        assert_eq!(find("gits_"), ["gits"]);
        assert_eq!(find("exot"), ["exit"]);
        assert!(find("gi").is_empty() && find("nosuchcommand").is_empty());
    }
}
