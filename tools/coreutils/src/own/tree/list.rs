//! Lists the entries of directories that are shown.

use std::collections::HashMap;

use box_applet::Ctx;
use box_sys::path::names_in;
use box_sys::{FileKind, Stat, meta};

use super::{TreeFlag, TreeLevel, TreeOptions};
use crate::common::paths;
use crate::own::sort::compare_version;

/// An entry of a directory.
pub(super) struct TreeItem {
    pub name: Vec<u8>,
    pub stat: Stat,
    /// The text of a link, and the status of its target if it exists.
    pub target: Option<(Vec<u8>, Option<Stat>)>,
}

impl TreeItem {
    pub(super) fn is_entered(&self, follow: bool) -> bool {
        self.stat.kind == FileKind::Dir || follow && self.to_dir()
    }

    pub(super) fn to_dir(&self) -> bool {
        self.target.as_ref().is_some_and(|t| t.1.is_some_and(|s| s.kind == FileKind::Dir))
    }
}

/// Returns the entries of a directory that are shown, in the order in which they are shown.
pub(super) fn list_entries(
    ctx: &Ctx<'_>,
    o: &TreeOptions,
    dir: &[u8],
) -> std::io::Result<Vec<TreeItem>> {
    let mut items = Vec::new();
    for name in names_in(&ctx.path(dir))? {
        if name.starts_with(b".") && !o.p.has_option(TreeFlag::All) {
            continue;
        }
        let path = ctx.path(&paths::join_path(dir, &name));
        let Ok(mut stat) = meta::stat(&path, false) else { continue };
        if let Some(sum) = o.sums.get(&paths::join_path(dir, &name)) {
            stat.size = *sum;
        }
        let mut target = None;
        if stat.kind == FileKind::Symlink {
            let text = std::fs::read_link(&path)
                .map(|t| box_sys::path::to_bytes(&t).to_vec())
                .unwrap_or_default();
            target = Some((text, meta::stat(&path, true).ok()));
        }
        let item = TreeItem { name, stat, target };
        let dir_like = item.stat.kind == FileKind::Dir || item.to_dir();
        if o.p.has_option(TreeFlag::Directories) && !dir_like {
            continue;
        }
        if o.ignore.iter().any(|p| p.is_match(&item.name)) {
            continue;
        }
        let filtered = !o.only.is_empty()
            && (item.stat.kind != FileKind::Dir || o.p.has_option(TreeFlag::Matchdirs));
        if filtered && !o.only.iter().any(|p| p.is_match(&item.name)) {
            continue;
        }
        items.push(item);
    }
    sort_items(o, &mut items);
    if o.p.has_option(TreeFlag::Prune) {
        items.retain(|i| {
            i.stat.kind != FileKind::Dir || holds_files(ctx, o, &paths::join_path(dir, &i.name))
        });
    }
    if o.p.has_option(TreeFlag::Reverse) {
        items.reverse();
    }
    if o.p.has_option(TreeFlag::Dirsfirst) {
        items.sort_by_key(|i| i.stat.kind != FileKind::Dir && !i.to_dir());
    } else if o.p.has_option(TreeFlag::Filesfirst) {
        items.sort_by_key(|i| i.stat.kind == FileKind::Dir || i.to_dir());
    }
    Ok(items)
}

/// Returns the size of each directory that is shown, by path. It includes the entries that are
/// shown below the directory.
pub(super) fn sums(ctx: &Ctx<'_>, o: &TreeOptions) -> HashMap<Vec<u8>, u64> {
    let mut sums = HashMap::new();
    for root in &o.p.operands {
        let Some(stat) = super::directory_stat(ctx, root) else { continue };
        let entries = list_entries(ctx, o, root).unwrap_or_default();
        let mut stack = vec![(TreeLevel { path: root.clone(), entries, next: 0 }, stat.size)];
        while let Some((top, sum)) = stack.last_mut() {
            let Some(item) = top.entries.get(top.next) else {
                let (path, sum) = (std::mem::take(&mut top.path), *sum);
                stack.pop();
                if let Some((_, above)) = stack.last_mut() {
                    *above += sum;
                }
                sums.insert(path, sum);
                continue;
            };
            top.next += 1;
            let (is_dir, size) = (item.stat.kind == FileKind::Dir, item.stat.size);
            if is_dir {
                let path = paths::join_path(&top.path, &item.name);
                let is_entered = stack.len() < o.level;
                let entries = if is_entered { list_entries(ctx, o, &path) } else { Ok(Vec::new()) };
                let entries = entries.unwrap_or_default();
                stack.push((TreeLevel { path, entries, next: 0 }, size));
            } else {
                *sum += size;
            }
        }
    }
    sums
}

fn sort_items(o: &TreeOptions, items: &mut [TreeItem]) {
    let how = o.p.last_value(TreeFlag::Sort);
    if o.p.has_option(TreeFlag::ByTime) || how == Some(b"mtime") {
        items.sort_by_key(|i| i.stat.mtime);
    } else if o.p.has_option(TreeFlag::ByChange) || how == Some(b"ctime") {
        items.sort_by_key(|i| i.stat.ctime);
    } else if o.p.has_option(TreeFlag::ByVersion) || how == Some(b"version") {
        items.sort_by(|a, b| compare_version(&a.name, &b.name));
    } else if how == Some(b"size") {
        items.sort_by_key(|i| std::cmp::Reverse(i.stat.size));
    }
}

/// Returns whether anything other than a directory is shown below a directory (`--prune`).
fn holds_files(ctx: &Ctx<'_>, o: &TreeOptions, dir: &[u8]) -> bool {
    let mut todo = vec![dir.to_vec()];
    while let Some(d) = todo.pop() {
        for name in names_in(&ctx.path(&d)).unwrap_or_default() {
            if name.starts_with(b".") && !o.p.has_option(TreeFlag::All)
                || o.ignore.iter().any(|p| p.is_match(&name))
            {
                continue;
            }
            let path = paths::join_path(&d, &name);
            match meta::stat(&ctx.path(&path), false) {
                Ok(s) if s.kind == FileKind::Dir => todo.push(path),
                Ok(_) if o.only.is_empty() || o.only.iter().any(|p| p.is_match(&name)) => {
                    return true;
                }
                _ => {}
            }
        }
    }
    false
}
