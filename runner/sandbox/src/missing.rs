//! Advice about a command that was not found, which the shell gives where there is one.

use box_advice::missing::find_advice;
use box_advice::neighbour::NeighbourNames;
use wasibox_vfs::{Loc, Vfs};

/// The maximum number of entries of one folder that are compared, because a guest can fill it.
const MOST_ENTRIES: usize = 5000;

/// Returns what serves instead of the command, or the commands with a similar name in the folders of
/// `path`, if any.
pub(crate) fn advice_for(vfs: &Vfs, name: &[u8], path: &[u8]) -> Option<String> {
    if let Some(line) = find_advice(name) {
        return Some(line.text.to_string());
    }
    let root = Loc::Tree(wasibox_vfs::tree::ROOT);
    let mut names = NeighbourNames::new(name);
    for dir in path.split(|b| *b == b':').filter(|dir| dir.starts_with(b"/")) {
        let listed = vfs.chdir(&root, dir).and_then(|(loc, _)| vfs.list(&loc));
        for found in listed.unwrap_or_default().iter().take(MOST_ENTRIES) {
            let file = [dir, b"/", &found.name].concat();
            if names.is_match(&found.name)
                && wasibox_kernel::find_program(vfs, &root, &file).is_ok()
            {
                names.consider(&found.name);
            }
        }
    }
    let names = names.into_names();
    (!names.is_empty()).then(|| format!("similar: {}", names.join(", ")))
}
