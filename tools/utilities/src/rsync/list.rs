//! The entries of the sources, in the order in which rsync names them: in each folder first files,
//! then folders, both by name.

use std::io::Write;
use std::path::{Path, PathBuf};

use box_applet::Ctx;
use box_sys::{FileKind, Stat, error_text, meta, path};

use super::options::Plan;

/// A file, link or folder to copy.
pub(super) struct Entry {
    /// The path below the destination; empty for the destination itself.
    pub name: Vec<u8>,
    pub source: PathBuf,
    pub stat: Stat,
}

/// All entries of the sources.
pub(super) struct Listing {
    pub entries: Vec<Entry>,
    /// A source could not be read; that was reported.
    pub failed: bool,
    /// The only source is one file, so that the destination may be its new name.
    pub one_file: bool,
    /// Lines about sources that are not copied.
    pub skipped: Vec<String>,
}

impl Listing {
    fn report(&mut self, ctx: &mut Ctx<'_>, what: &str, source: &Path, e: &std::io::Error) {
        let _ = ctx.stdout.flush();
        let number = super::error_number(e);
        let (shown, reason) = (source.display(), error_text(e));
        let _ = writeln!(ctx.stderr, "rsync: [sender] {what} \"{shown}\" failed: {reason}{number}");
        self.failed = true;
    }
}

/// Lists the sources.
pub(super) fn list_sources(ctx: &mut Ctx<'_>, plan: &Plan, sources: &[Vec<u8>]) -> Listing {
    let mut listing =
        Listing { entries: Vec::new(), failed: false, one_file: false, skipped: Vec::new() };
    for operand in sources {
        let source = ctx.path(operand);
        let contents_only = operand.ends_with(b"/") || operand == b"." || operand.ends_with(b"/.");
        let stat = match meta::stat(&source, plan.copy_links || contents_only) {
            Ok(stat) => stat,
            Err(e) => {
                listing.report(ctx, "link_stat", &source, &e);
                continue;
            }
        };
        let is_folder = stat.kind == FileKind::Dir;
        let base = operand.strip_suffix(b"/").unwrap_or(operand);
        let base = base.rsplit(|c| *c == b'/').next().unwrap_or_default();
        let name =
            if is_folder && (contents_only || base == b"..") { Vec::new() } else { base.to_vec() };
        if is_folder && !plan.recursive {
            let shown = String::from_utf8_lossy(operand).into_owned();
            let _ = writeln!(ctx.stdout, "skipping directory {shown}");
            continue;
        }
        listing.one_file = sources.len() == 1 && !is_folder;
        if !name.is_empty() && !plan.filter.allows(&name, is_folder) {
            continue;
        }
        add_entry(ctx, plan, &mut listing, Entry { name, source, stat }, 0);
    }
    listing
}

/// Adds an entry and, for a folder, its contents.
fn add_entry(ctx: &mut Ctx<'_>, plan: &Plan, listing: &mut Listing, entry: Entry, depth: usize) {
    /// A folder that links lead back to has no end.
    const DEEPEST: usize = 200;
    let skipped = match entry.stat.kind {
        FileKind::File | FileKind::Dir => false,
        FileKind::Symlink => !plan.links,
        FileKind::Fifo => !plan.specials,
        _ => true,
    };
    if skipped {
        if !plan.quiet {
            let shown = String::from_utf8_lossy(&entry.name).into_owned();
            listing.skipped.push(format!("skipping non-regular file \"{shown}\""));
        }
        return;
    }
    let (is_folder, name, source) =
        (entry.stat.kind == FileKind::Dir, entry.name.clone(), entry.source.clone());
    listing.entries.push(entry);
    if !is_folder || depth >= DEEPEST {
        return;
    }
    let items = match ctx.procs.read_dir(&source) {
        Ok(items) => items,
        Err(e) => return listing.report(ctx, "opendir", &source, &e),
    };
    let mut children = Vec::new();
    for item in items {
        if item.name == b"." || item.name == b".." {
            continue;
        }
        let file = source.join(path::from_bytes(&item.name));
        let stat = match meta::stat(&file, plan.copy_links) {
            Ok(stat) => stat,
            Err(e) => {
                listing.report(ctx, "link_stat", &file, &e);
                continue;
            }
        };
        let full =
            if name.is_empty() { item.name } else { [&name, b"/".as_slice(), &item.name].concat() };
        if plan.filter.allows(&full, stat.kind == FileKind::Dir) {
            children.push(Entry { name: full, source: file, stat });
        }
    }
    children.sort_by(|a, b| {
        let is_folder = |e: &Entry| e.stat.kind == FileKind::Dir;
        is_folder(a).cmp(&is_folder(b)).then_with(|| a.name.cmp(&b.name))
    });
    for child in children {
        add_entry(ctx, plan, listing, child, depth + 1);
    }
}
