//! `stat`, `ls`, `glob`.

use crate::pattern::PathPattern;
use crate::place::{FileCtx, lossy_text};
use crate::walk::{WalkStep, WalkedEntry, walk_tree};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wasibox_protocol::files::{FileAnswer, FileEntry, FileEntryKind, FilesError, GlobOf, LsOf};
use wasibox_vfs::{FileKind, Loc, Stat};

/// The number of entries and paths by default, and at most.
const ENTRIES: u64 = 1000;
const MOST: u64 = 100_000;
/// The maximum number of levels of a listing.
const DEPTH: u32 = 20;

fn make_entry(path: String, stat: &Stat, target: Option<Vec<u8>>) -> FileEntry {
    FileEntry {
        path,
        kind: entry_kind(stat.kind),
        size: if stat.kind == FileKind::Dir { 0 } else { stat.size },
        mode: stat.mode,
        modified: stat.mtime,
        target: target.map(|t| lossy_text(&t)),
    }
}

fn entry_kind(kind: FileKind) -> FileEntryKind {
    match kind {
        FileKind::File => FileEntryKind::File,
        FileKind::Dir => FileEntryKind::Directory,
        FileKind::Symlink => FileEntryKind::Symlink,
        FileKind::Fifo => FileEntryKind::Fifo,
        FileKind::Socket => FileEntryKind::Socket,
        FileKind::CharDevice | FileKind::BlockDevice => FileEntryKind::Device,
    }
}

/// Returns the entry of a path.
pub fn stat_path(ctx: &FileCtx<'_>, path: &str, follow: bool) -> Result<FileAnswer, FilesError> {
    let stat = ctx.stat_path(path, follow)?;
    let link = stat.kind == FileKind::Symlink;
    let target = link.then(|| ctx.vfs.read_link(ctx.base_of(), path.as_bytes()).ok()).flatten();
    Ok(FileAnswer::Stat(make_entry(ctx.absolute_path(path), &stat, target)))
}

/// Lists a directory.
pub fn list_dir(ctx: &FileCtx<'_>, l: &LsOf) -> Result<FileAnswer, FilesError> {
    let depth = l.depth.unwrap_or(1).clamp(1, DEPTH);
    let (entries, next_offset) = list_entries(ctx, &l.path, depth, l.hidden, l.offset, l.limit)?;
    Ok(FileAnswer::Entries { path: ctx.absolute_path(&l.path), entries, next_offset })
}

/// Returns a directory's entries from the `skip`th on, and the offset of the next ones.
pub fn list_entries(
    ctx: &FileCtx<'_>,
    path: &str,
    depth: u32,
    hidden: bool,
    skip: u64,
    limit: Option<u64>,
) -> Result<(Vec<FileEntry>, Option<u64>), FilesError> {
    let top = ctx.resolve_path(path)?;
    // This check makes a file, or a directory that cannot be read, an error.
    ctx.dir_names(&top).map_err(|e| ctx.error_at("list", path, e))?;
    let limit = limit.unwrap_or(ENTRIES).clamp(1, MOST);
    let (mut out, mut seen, mut next) = (Vec::new(), 0, None);
    walk_tree(ctx, top, "listing", &mut |_, _| (), &mut |met| {
        if !hidden && met.name.starts_with(b".") {
            return Ok(WalkStep::Past);
        }
        seen += 1;
        if seen > skip {
            if out.len() as u64 >= limit {
                next = Some(seen - 1);
                return Ok(WalkStep::Stop);
            }
            out.extend(describe_entry(ctx, &met));
        }
        let level = met.path.iter().filter(|b| **b == b'/').count() as u32 + 1;
        Ok(if level < depth { WalkStep::Into } else { WalkStep::Past })
    })?;
    Ok((out, next))
}

/// Returns the description of an entry, or `None` if it was removed meanwhile.
fn describe_entry(ctx: &FileCtx<'_>, met: &WalkedEntry<'_>) -> Option<FileEntry> {
    let stat = ctx.vfs.stat(met.dir, met.name, false).ok()?;
    let link = stat.kind == FileKind::Symlink;
    let target = link.then(|| ctx.vfs.read_link(met.dir, met.name).ok()).flatten();
    Some(make_entry(lossy_text(met.path), &stat, target))
}

/// Returns the files whose path matches a pattern.
pub fn glob_files(ctx: &FileCtx<'_>, g: &GlobOf) -> Result<FileAnswer, FilesError> {
    // An absolute pattern starts at the root.
    let (path, pattern) = match g.pattern.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => (g.path.as_str(), g.pattern.as_str()),
    };
    let pattern = PathPattern::new(pattern)?;
    let top: Loc = ctx.resolve_path(path)?;
    ctx.dir_names(&top).map_err(|e| ctx.error_at("list", path, e))?;
    let limit = g.limit.unwrap_or(ENTRIES).clamp(1, MOST) as usize;
    let above = ctx.absolute_path(path);
    let above = if above == "/" { String::new() } else { above };
    let full = |path: &[u8]| format!("{above}/{}", lossy_text(path));
    let mut paths: Vec<String> = Vec::new();
    // The newest files so far, with the oldest of them on top.
    let mut newest: BinaryHeap<Reverse<(u64, Reverse<String>)>> = BinaryHeap::new();
    let mut more = false;
    walk_tree(ctx, top, "glob", &mut |_, _| (), &mut |met| {
        let dir = met.kind == FileKind::Dir;
        if (!dir || g.directories) && pattern.fits(met.path, g.hidden) {
            if g.newest {
                let time = ctx.vfs.stat(met.dir, met.name, false).map_or(0, |s| s.mtime);
                newest.push(Reverse((time, Reverse(full(met.path)))));
                if newest.len() > limit {
                    newest.pop();
                    more = true;
                }
            } else if paths.len() >= limit {
                more = true;
                return Ok(WalkStep::Stop);
            } else {
                paths.push(full(met.path));
            }
        }
        let into = dir && pattern.may_fit_below(met.path, g.hidden);
        Ok(if into { WalkStep::Into } else { WalkStep::Past })
    })?;
    if g.newest {
        let sorted = newest.into_sorted_vec();
        paths = sorted.into_iter().map(|Reverse((_, Reverse(path)))| path).collect();
    }
    Ok(FileAnswer::Paths { paths, more })
}
