//! `cpio -p`: copies the listed files to a directory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use box_applet::Ctx;
use box_sys::{FileKind, Stat, meta, path};

use super::options::CpioOptions;
use super::{CpioError, CpioSummary, print_progress, read_names, report_failure};

/// The state of the copying.
struct CopyState {
    bytes: u64,
    ok: bool,
    /// The first copy of each file with several links.
    links: BTreeMap<(u64, u64), Vec<u8>>,
    /// The modes and times of directories, which are set last.
    dirs: BTreeMap<PathBuf, Stat>,
}

/// Copies the listed files.
pub fn copy_files(ctx: &mut Ctx<'_>, options: &CpioOptions) -> Result<CpioSummary, CpioError> {
    let mut state = CopyState { bytes: 0, ok: true, links: BTreeMap::new(), dirs: BTreeMap::new() };
    for name in read_names(ctx, options)? {
        let source = ctx.path(&name);
        let stat = match meta::stat(&source, options.dereferences) {
            Ok(stat) => stat,
            Err(e) => {
                report_failure(ctx, &name, "Cannot stat", &e);
                continue;
            }
        };
        let shown = path::join_path(&options.target, name.strip_prefix(b"/").unwrap_or(&name));
        let target = ctx.path(&shown);
        if options.makes_directories
            && let Some(parent) = target.parent()
        {
            let _ = std::fs::create_dir_all(parent);
        }
        if stat.kind != FileKind::Dir && is_kept(ctx, options, &stat, &target, &shown) {
            continue;
        }
        let key = (stat.dev, stat.ino);
        let first = state.links.get(&key).filter(|_| stat.nlink > 1).cloned();
        if let Err(e) = copy_file(ctx, options, &source, &shown, &stat, &mut state) {
            let what = if stat.kind == FileKind::Dir { "Cannot mkdir" } else { "Cannot open" };
            report_failure(ctx, &shown, what, &e);
            state.ok = false;
            continue;
        }
        if let Some(first) = first.filter(|_| options.verbose && !options.links) {
            ctx.error_bytes(&[&first, b" linked to ", &shown]);
        }
        print_progress(ctx, options, &shown);
    }
    for (dir, stat) in state.dirs.iter().rev() {
        set_metadata(options, dir, stat);
    }
    if options.has_dots {
        let _ = ctx.stderr.write_all(b"\n");
    }
    Ok(CpioSummary { bytes: state.bytes, ok: state.ok })
}

/// Returns whether an existing file that has the name of a copy is kept. Prints a message in that
/// case, and removes the file otherwise.
fn is_kept(
    ctx: &mut Ctx<'_>,
    options: &CpioOptions,
    stat: &Stat,
    target: &Path,
    shown: &[u8],
) -> bool {
    let Ok(old) = meta::stat(target, false) else { return false };
    if !options.replaces && old.mtime / 1_000_000_000 >= stat.mtime / 1_000_000_000 {
        ctx.error_bytes(&[shown, b" not created: newer or same age version exists"]);
        return true;
    }
    // A directory cannot be removed in this way; then the error is reported when the copy fails.
    let _ = std::fs::remove_file(target);
    false
}

/// Copies one file to the path `shown`.
fn copy_file(
    ctx: &Ctx<'_>,
    options: &CpioOptions,
    source: &Path,
    shown: &[u8],
    stat: &Stat,
    state: &mut CopyState,
) -> io::Result<()> {
    let place = ctx.path(shown);
    let target = place.as_path();
    match stat.kind {
        FileKind::Dir => {
            if let Err(e) = std::fs::create_dir(target)
                && !meta::stat(target, false).is_ok_and(|s| s.kind == FileKind::Dir)
            {
                return Err(e);
            }
            state.dirs.insert(target.to_path_buf(), *stat);
            return Ok(());
        }
        FileKind::Symlink => {
            let to = std::fs::read_link(source)?;
            meta::symlink(path::to_bytes(&to), target)?;
            if options.keeps_times {
                let _ = meta::set_times(target, None, Some(stat.mtime), false);
            }
            return Ok(());
        }
        FileKind::Fifo => return meta::mkfifo(target, stat.mode),
        _ => {}
    }
    if options.links && std::fs::hard_link(source, target).is_ok() {
        return Ok(());
    }
    let key = (stat.dev, stat.ino);
    if stat.nlink > 1
        && let Some(first) = state.links.get(&key)
    {
        return std::fs::hard_link(ctx.path(first), target);
    }
    let mut input = File::open(source)?;
    state.bytes += io::copy(&mut input, &mut File::create(target)?)?;
    if options.resets_access {
        let _ = meta::set_times(source, Some(stat.atime), None, true);
    }
    set_metadata(options, target, stat);
    state.links.insert(key, shown.to_vec());
    Ok(())
}

fn set_metadata(options: &CpioOptions, file: &Path, stat: &Stat) {
    let _ = meta::chmod(file, stat.mode);
    if options.keeps_times {
        let _ = meta::set_times(file, Some(stat.atime), Some(stat.mtime), true);
    }
}
