//! Walks through an image's directories safely, even if its bytes are hostile.
//!
//! A directory is a list of names with offsets, and the format permits two directories that point
//! to the same list. For example, 45 folders that each contain the next one twice have 2^45 paths
//! in 5 KB. So each list belongs to the directory that is visited first, and another directory that
//! claims it, or a part of it, is damage. A walk is then never longer than the image.

use crate::open::error_chain;
use std::collections::BTreeMap;
use std::ops::Range;
use webc::v3::read::{DirEntry, Directory};

/// The limits of an image: the depth of directories, the number of files, the length of a path, and
/// the length of all paths together. An image that exceeds them is damaged.
const MAX_DEPTH: usize = 64;
const MAX_ENTRIES: usize = 1_000_000;
const MAX_PATH: usize = 4096;
const MAX_PATHS: usize = 256 << 20;

/// An entry of a directory.
pub struct WalkEntry<'a> {
    /// Absolute path.
    pub path: String,
    /// The digest that the directory claims for it.
    pub hash: [u8; 32],
    pub entry: DirEntry<'a>,
}

/// The owners of the lists of names: the end of each list and its directory's path, by the list's
/// start. Names are not copied from the image, so their addresses show their positions.
#[derive(Debug, Default)]
pub struct Claims(BTreeMap<usize, (usize, String)>);

impl Claims {
    /// Records the names of a directory.
    pub fn add_names(&mut self, names: Range<usize>, path: &str) -> Result<(), String> {
        if names.is_empty() {
            return Ok(());
        }
        let before = self.0.range(..names.end).next_back();
        match before.filter(|(_, (end, _))| *end > names.start) {
            Some((begin, (_, owner))) if *begin == names.start && owner == path => Ok(()),
            Some((_, (_, owner))) => Err(format!("{path} and {owner} are one directory")),
            None => {
                self.0.insert(names.start, (names.end, path.to_owned()));
                Ok(())
            }
        }
    }
}

/// Returns the entries of the directory at the path `at`, and the position of its names.
pub fn dir_entries<'a>(
    dir: &Directory<'a>,
    at: &str,
    depth: usize,
) -> Result<(Vec<WalkEntry<'a>>, Range<usize>), String> {
    if depth > MAX_DEPTH {
        return Err("directories nest too deeply".into());
    }
    let mut out: Vec<WalkEntry<'a>> = Vec::new();
    let mut span = 0..0;
    let mut last = "";
    for entry in dir.entries() {
        let (name, hash, entry) = entry.map_err(|e| error_chain(&e))?;
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
            let shown: String = name.chars().take(100).collect();
            return Err(format!("file name {shown:?}"));
        }
        if name <= last {
            return Err(format!("names in {at} are not in their order"));
        }
        if out.len() >= MAX_ENTRIES {
            return Err("too many files".into());
        }
        if at.len() + name.len() >= MAX_PATH {
            return Err("a path is too long".into());
        }
        let begin = name.as_ptr() as usize;
        span = if last.is_empty() { begin } else { span.start }..begin + name.len();
        last = name;
        out.push(WalkEntry { path: format!("{at}/{name}"), hash, entry });
    }
    Ok((out, span))
}

/// A walk through all directories.
#[derive(Default)]
pub struct ImageWalk {
    claims: Claims,
    entries: usize,
    paths: usize,
}

impl ImageWalk {
    /// Calls `take` for everything below the directory at the path `at`, directories before their
    /// contents.
    pub fn visit_all<'a>(
        &mut self,
        dir: &Directory<'a>,
        at: &str,
        depth: usize,
        take: &mut dyn FnMut(WalkEntry<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        let (found, span) = dir_entries(dir, at, depth)?;
        self.claims.add_names(span, at)?;
        for f in found {
            self.entries += 1;
            self.paths += f.path.len();
            if self.entries > MAX_ENTRIES || self.paths > MAX_PATHS {
                return Err("too many files".into());
            }
            let (path, inner) = match &f.entry {
                DirEntry::Dir(d) => (f.path.clone(), Some(d.clone())),
                _ => (String::new(), None),
            };
            take(f)?;
            if let Some(inner) = inner {
                self.visit_all(&inner, &path, depth + 1, take)?;
            }
        }
        Ok(())
    }
}
