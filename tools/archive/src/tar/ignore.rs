//! `--exclude-ignore`: files in directories that name what is left out there.

use std::io;
use std::path::Path;
use std::rc::Rc;

use box_sys::path;

use super::select::{Excludes, PatternRules};

/// An option that names such files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreFile {
    pub name: Vec<u8>,
    /// Whether the patterns also hold in the directories below.
    pub is_recursive: bool,
}

/// The patterns that hold in one directory.
#[derive(Clone, Default)]
pub struct IgnoredNames {
    lists: Vec<Rc<Excludes>>,
    /// The number of lists that also hold in the directories below. These lists come first.
    inherited: usize,
}

impl IgnoredNames {
    /// Returns the patterns that hold in a directory, given those of the directory above. An error
    /// comes with the name of the file that cannot be read.
    pub fn for_directory(
        above: &IgnoredNames,
        files: &[IgnoreFile],
        dir: &Path,
    ) -> Result<IgnoredNames, (Vec<u8>, io::Error)> {
        let mut lists = above.lists[..above.inherited].to_vec();
        let mut own = Vec::new();
        for file in files {
            let text = match std::fs::read(dir.join(path::from_bytes(&file.name))) {
                Ok(text) => text,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err((file.name.clone(), e)),
            };
            let excludes = Rc::new(parse_patterns(&text));
            if file.is_recursive {
                lists.push(excludes);
            } else {
                own.push(excludes);
            }
        }
        let inherited = lists.len();
        lists.extend(own);
        Ok(IgnoredNames { lists, inherited })
    }

    /// Returns whether a file of the directory is left out: a pattern matches its whole name, that
    /// name without `./`, or its last part.
    pub fn matches_name(&self, name: &[u8]) -> bool {
        let mut relative = name;
        while let Some(rest) = relative.strip_prefix(b"./") {
            relative = rest;
        }
        let last = name.rsplit(|c| *c == b'/').next().unwrap_or(name);
        self.lists.iter().any(|list| [name, relative, last].iter().any(|n| list.matches_name(n)))
    }
}

/// Parses a list of patterns, one in each line.
fn parse_patterns(text: &[u8]) -> Excludes {
    let rules = PatternRules { anchored: true, match_slash: false, ..PatternRules::for_excludes() };
    let mut excludes = Excludes::default();
    for line in text.split(|c| *c == b'\n').map(<[u8]>::trim_ascii_end).filter(|l| !l.is_empty()) {
        excludes.add_pattern(line, rules);
    }
    excludes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(patterns: &[u8]) -> IgnoredNames {
        IgnoredNames { lists: vec![Rc::new(parse_patterns(patterns))], inherited: 1 }
    }

    /// Expected values: `tar --exclude-ignore-recursive` of GNU tar 1.34.
    #[test]
    fn a_pattern_matches_a_name_or_its_last_part() {
        let ignored = names(b"*.o \n\nsub/c.d\n#x\n/top\n");
        for name in ["a.o", "./a.o", "s/sub/a.o", "./sub/c.d", "sub/c.d", "#x"] {
            assert!(ignored.matches_name(name.as_bytes()), "{name}");
        }
        for name in ["a.oo", "s/sub/c.d", "top", "s/top", "a.o/b"] {
            let is_inside = name == "a.o/b";
            assert_eq!(ignored.matches_name(name.as_bytes()), is_inside, "{name}");
        }
    }
}
