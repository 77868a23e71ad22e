//! Commands of the image, or of the folders in PATH, with a similar name to one that does not exist.

use std::path::Path;

use box_advice::neighbour::NeighbourNames;

use crate::{AppletTable, program};

/// The maximum number of entries of one folder that are compared, because a guest can fill it.
const MOST_ENTRIES: usize = 5000;

/// Returns the names of commands that differ from `name` by one letter, sorted: those of the table,
/// of the folders in `search` (a PATH value) and of `others`.
pub fn find_similar(
    name: &[u8],
    search: &[u8],
    table: &AppletTable,
    others: &[&str],
) -> Vec<String> {
    let mut names = NeighbourNames::new(name);
    table.applets().iter().for_each(|a| names.consider(a.name.as_bytes()));
    table.programs().iter().for_each(|(program, _)| names.consider(program.as_bytes()));
    others.iter().for_each(|other| names.consider(other.as_bytes()));
    for dir in search.split(|c| *c == b':').filter(|d| d.starts_with(b"/")) {
        let dir = box_sys::path::from_bytes(dir);
        let Ok(entries) = std::fs::read_dir(dir) else { continue };
        for entry in entries.flatten().take(MOST_ENTRIES) {
            let file = entry.file_name();
            let candidate = box_sys::path::os_bytes(&file);
            if names.is_match(candidate) && is_program(dir, candidate, table) {
                names.consider(candidate);
            }
        }
    }
    names.into_names()
}

fn is_program(dir: &Path, name: &[u8], table: &AppletTable) -> bool {
    table.is_program(name) || program::is_executable(&dir.join(box_sys::path::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
