//! The walk: folders in the order of their names, what is left out, loops of links.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use box_applet::Ctx;
use box_sys::meta::{FileKind, Stat};
use box_sys::{error_text, meta, path};
use regex_automata::meta::Regex;

use super::ignored::{FolderRules, GlobalRules, Verdict};
use super::options::{FdOptions, SearchRoot};
use super::print_error;
use super::results::{Continuation, Results};

/// A file of the walk.
pub(crate) struct FoundFile<'a> {
    pub name: &'a [u8],
    /// Its absolute path.
    pub path: &'a Path,
    /// Its path as it is shown, with the root's words.
    pub shown: &'a [u8],
    pub kind: FileKind,
    /// Whether metadata are those of a link's target.
    pub follow: bool,
}

/// A folder that is walked, with those above it for finding loops.
struct Folder<'a> {
    path: &'a Path,
    shown: &'a [u8],
    depth: usize,
    rules: Rc<FolderRules>,
    /// Device and number of this folder and those above; filled only if links are followed.
    trail: &'a [(u64, u64)],
    device: Option<u64>,
}

struct Walk<'a> {
    options: &'a FdOptions,
    patterns: &'a [Regex],
    global: GlobalRules,
}

/// Walks all roots until the results want no more.
pub(crate) fn walk_roots(
    ctx: &mut Ctx<'_>,
    options: &FdOptions,
    patterns: &[Regex],
    results: &mut Results,
) {
    let global = match GlobalRules::read(ctx, options) {
        Ok(global) => global,
        Err(fault) => {
            print_error(ctx, &fault.0);
            results.fail();
            return;
        }
    };
    let walk = Walk { options, patterns, global };
    for root in &options.roots {
        if walk.walk_root(ctx, root, results) == Continuation::Stop {
            return;
        }
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.dev, stat.ino)
}

impl Walk<'_> {
    fn walk_root(
        &self,
        ctx: &mut Ctx<'_>,
        root: &SearchRoot,
        results: &mut Results,
    ) -> Continuation {
        let options = self.options;
        if self.holds_marker(&root.path) {
            return Continuation::More;
        }
        let stat = meta::stat(&root.path, true).ok();
        let trail: Vec<(u64, u64)> = stat.iter().filter(|_| options.follow).map(identity).collect();
        let folder = Folder {
            path: &root.path,
            shown: &root.shown,
            depth: 0,
            rules: FolderRules::read_root(&root.path, options),
            trail: &trail,
            device: stat.filter(|_| options.one_file_system).map(|stat| stat.dev),
        };
        self.walk_folder(ctx, &folder, results)
    }

    fn holds_marker(&self, folder: &Path) -> bool {
        let markers = &self.options.ignore_contain;
        markers.iter().any(|name| folder.join(path::from_bytes(name)).exists())
    }

    fn walk_folder(
        &self,
        ctx: &mut Ctx<'_>,
        folder: &Folder<'_>,
        results: &mut Results,
    ) -> Continuation {
        let options = self.options;
        if options.max_depth.is_some_and(|most| folder.depth >= most) {
            return Continuation::More;
        }
        let mut entries: Vec<(Vec<u8>, Option<fs::FileType>)> = match fs::read_dir(folder.path) {
            Ok(list) => list
                .flatten()
                .map(|e| (path::os_into_bytes(e.file_name()), e.file_type().ok()))
                .collect(),
            Err(e) => {
                if options.shows_errors {
                    let name = String::from_utf8_lossy(folder.shown).into_owned();
                    print_error(ctx, &format!("{name}: {}", error_text(&e)));
                }
                return Continuation::More;
            }
        };
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in entries {
            if self.visit(ctx, folder, &name, kind, results) == Continuation::Stop {
                return Continuation::Stop;
            }
        }
        Continuation::More
    }

    fn visit(
        &self,
        ctx: &mut Ctx<'_>,
        folder: &Folder<'_>,
        name: &[u8],
        listed: Option<fs::FileType>,
        results: &mut Results,
    ) -> Continuation {
        let options = self.options;
        let own = folder.path.join(path::from_bytes(name));
        let mut kind = kind_of(&own, listed);
        // A link that leads nowhere stays a link.
        let target = (options.follow && kind == FileKind::Symlink)
            .then(|| meta::stat(&own, true).ok())
            .flatten();
        if let Some(stat) = &target {
            kind = stat.kind;
        }
        let is_dir = kind == FileKind::Dir;
        let verdict = self.global.judge(&folder.rules, options, &own, is_dir);
        let is_hidden = name.first() == Some(&b'.') && !options.hidden;
        if verdict == Verdict::Left || (is_hidden && verdict != Verdict::Taken) {
            return Continuation::More;
        }
        if is_dir && self.holds_marker(&own) {
            return Continuation::More;
        }
        let shown = path::join_path(folder.shown, name);
        let depth = folder.depth + 1;
        let follow = options.follow && (target.is_some() || kind != FileKind::Symlink);
        let file = FoundFile { name, path: &own, shown: &shown, kind, follow };
        let found =
            depth >= options.min_depth && self.matches(&file) && options.filter.accepts(&file);
        if found && results.take(ctx, options, &file) == Continuation::Stop {
            return Continuation::Stop;
        }
        if !is_dir || (found && options.prune) {
            return Continuation::More;
        }
        let mut trail = folder.trail.to_vec();
        if options.follow || folder.device.is_some() {
            let Ok(stat) = meta::stat(&own, true) else { return Continuation::More };
            if folder.device.is_some_and(|device| device != stat.dev) {
                return Continuation::More;
            }
            if target.is_some() && trail.contains(&identity(&stat)) {
                if options.shows_errors {
                    let text = String::from_utf8_lossy(&shown).into_owned();
                    print_error(
                        ctx,
                        &format!("File system loop found: {text} points to an ancestor"),
                    );
                }
                return Continuation::More;
            }
            trail.push(identity(&stat));
        }
        let rules = FolderRules::read(&own, options, Some(folder.rules.clone()));
        let inner = Folder {
            path: &own,
            shown: &shown,
            depth,
            rules,
            trail: &trail,
            device: folder.device,
        };
        self.walk_folder(ctx, &inner, results)
    }

    fn matches(&self, file: &FoundFile<'_>) -> bool {
        if self.options.full_path {
            let whole = path::to_bytes(file.path);
            return self.patterns.iter().all(|p| p.is_match(whole));
        }
        self.patterns.iter().all(|p| p.is_match(file.name))
    }
}

/// Returns a file's kind, from the folder's list where that has one.
fn kind_of(own: &Path, listed: Option<fs::FileType>) -> FileKind {
    match listed {
        Some(t) if t.is_file() => FileKind::File,
        Some(t) if t.is_dir() => FileKind::Dir,
        Some(t) if t.is_symlink() => FileKind::Symlink,
        _ => meta::stat(own, false).map_or(FileKind::File, |stat| stat.kind),
    }
}
