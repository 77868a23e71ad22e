//! Members back into files.
//!
//! What a hostile archive may not do: write outside the target directory by absolute names
//! (the slash is removed), by `..` (refused), or through a symbolic link of the same archive
//! (links are made last).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use box_applet::Ctx;
use box_sys::{Kind, meta, path, strerror};
use tar::{Entry, EntryType};

use super::list::{Line, WIDTH, report_missing, verbose, wanted};
use super::options::{Item, Options};
use super::{Fatal, Outcome, damaged, write_name};

/// Members whose effect must wait until all data is written.
#[derive(Default)]
struct Later {
    symlinks: Vec<(PathBuf, Vec<u8>)>,
    /// Mode and time of directories: set after their content, which would change them.
    dirs: BTreeMap<PathBuf, (u16, u64)>,
    warned: bool,
}

/// `tar -x`.
pub fn extract(
    ctx: &mut Ctx<'_>,
    options: &Options,
    archive: &mut tar::Archive<Box<dyn Read>>,
) -> Outcome {
    let mut target = ctx.cwd.clone();
    for item in &options.items {
        if let Item::Directory(d) = item {
            target = path::resolve(&target, d);
            if let Err(e) = std::fs::read_dir(&target) {
                let d = String::from_utf8_lossy(d);
                return Err(Fatal::Message(format!("{d}: Cannot open: {}", strerror(&e))));
            }
        }
    }
    let mut wanted = wanted(options);
    let mut later = Later::default();
    let mut ok = true;
    let mut width = WIDTH;
    for entry in archive.entries().map_err(|e| damaged(&e))? {
        let mut entry = entry.map_err(|e| damaged(&e))?;
        let name = entry.path_bytes().into_owned();
        if !wanted.take(&name) || options.excludes.matches(&name) {
            continue;
        }
        let Some(name) = options.names.apply(&name) else { continue };
        if options.verbose > 0 {
            let mut line = Vec::new();
            if options.verbose > 1 {
                let link = entry.link_name_bytes().map(|l| l.into_owned());
                let shown = Line { name: &name, link: link.as_deref(), size: entry.size() };
                verbose(&mut line, options, entry.header(), &shown, &mut width)?;
            } else {
                write_name(&mut line, &name)?;
                line.push(b'\n');
            }
            if options.to_stdout {
                ctx.stderr.write_all(&line)?
            } else {
                ctx.stdout.write_all(&line)?
            }
        }
        if options.to_stdout {
            if entry.header().entry_type().is_file() {
                copy(&mut entry, &mut ctx.stdout)?;
            }
            continue;
        }
        ok &= member(ctx, options, &target, &name, &mut entry, &mut later)?;
    }
    ok &= finish(ctx, options, later);
    Ok(report_missing(ctx, &wanted) && ok)
}

/// Copies a member's data; a short archive is fatal.
fn copy(entry: &mut Entry<'_, Box<dyn Read>>, out: &mut dyn Write) -> Result<(), Fatal> {
    let mut buf = vec![0u8; 1 << 16];
    let mut left = entry.size();
    while left > 0 {
        match entry.read(&mut buf) {
            Ok(0) => return Err(Fatal::Message("Unexpected EOF in archive".to_string())),
            Ok(n) => {
                out.write_all(&buf[..n])?;
                left = left.saturating_sub(n as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(damaged(&e)),
        }
    }
    Ok(())
}

/// Extracts one member; false after a message.
fn member(
    ctx: &mut Ctx<'_>,
    options: &Options,
    target: &Path,
    name: &[u8],
    entry: &mut Entry<'_, Box<dyn Read>>,
    later: &mut Later,
) -> Result<bool, Fatal> {
    let Some(relative) = safe_name(ctx, options, name, later) else { return Ok(false) };
    let file = path::resolve(target, &relative);
    let header = entry.header().clone();
    let kind = header.entry_type();
    let mode = (header.mode().unwrap_or(0o644) & 0o7777) as u16;
    let mode = if options.preserve_mode { mode } else { mode & 0o755 };
    let mtime = header.mtime().unwrap_or(0).saturating_mul(1_000_000_000);
    let fail = |ctx: &mut Ctx<'_>, what: &str, e: &io::Error| {
        let text = format!(": {what}: {}", strerror(e));
        ctx.error_bytes(&[name, text.as_bytes()]);
        Ok(false)
    };
    let existing = meta::stat(&file, false).ok();
    if let Some(old) = existing
        && !(kind == EntryType::Directory && old.kind == Kind::Dir)
    {
        if options.skip_old || (options.keep_newer && old.mtime >= mtime) {
            return Ok(true);
        }
        if options.keep_old {
            ctx.error_bytes(&[name, b": Cannot open: File exists"]);
            return Ok(false);
        }
        // `--overwrite` writes into a regular file, whose other names show it too.
        let kept = options.overwrite && old.kind == Kind::File && kind.is_file();
        let removed = if kept {
            Ok(())
        } else if old.kind == Kind::Dir {
            std::fs::remove_dir(&file)
        } else {
            std::fs::remove_file(&file)
        };
        if let Err(e) = removed {
            return fail(ctx, "Cannot unlink", &e);
        }
    }
    if let Some(parent) = file.parent()
        && let Err(e) = std::fs::create_dir_all(parent)
    {
        return fail(ctx, "Cannot open", &e);
    }
    match kind {
        EntryType::Directory => {
            if existing.is_none_or(|o| o.kind != Kind::Dir)
                && let Err(e) = std::fs::create_dir(&file)
            {
                return fail(ctx, "Cannot mkdir", &e);
            }
            later.dirs.insert(file, (mode, mtime));
        }
        EntryType::Symlink => {
            let to = entry.link_name_bytes().map(|l| l.into_owned()).unwrap_or_default();
            later.symlinks.push((file, to));
        }
        EntryType::Link => {
            let to = entry.link_name_bytes().map(|l| l.into_owned()).unwrap_or_default();
            let Some(to) =
                options.names.apply(&to).and_then(|t| safe_name(ctx, options, &t, later))
            else {
                return Ok(false);
            };
            let source = path::resolve(target, &to);
            if let Err(e) = std::fs::hard_link(&source, &file) {
                // The link's target may be one that waits.
                let waiting =
                    later.symlinks.iter().find(|(p, _)| *p == source).map(|(_, t)| t.clone());
                match waiting {
                    Some(t) => later.symlinks.push((file, t)),
                    None => {
                        let text = format!(
                            ": Cannot hard link to '{}': {}",
                            String::from_utf8_lossy(&to),
                            strerror(&e)
                        );
                        ctx.error_bytes(&[name, text.as_bytes()]);
                        return Ok(false);
                    }
                }
            }
        }
        EntryType::Fifo => {
            if let Err(e) = meta::mkfifo(&file, mode) {
                return fail(ctx, "Cannot mkfifo", &e);
            }
        }
        EntryType::Char | EntryType::Block => {
            ctx.error_bytes(&[name, b": Cannot mknod: Operation not permitted"]);
            return Ok(false);
        }
        _ => {
            let out = match File::create(&file) {
                Ok(f) => f,
                Err(e) => return fail(ctx, "Cannot open", &e),
            };
            let mut out = io::BufWriter::with_capacity(1 << 16, out);
            match copy(entry, &mut out).and_then(|()| Ok(out.flush()?)) {
                Ok(()) => {}
                Err(Fatal::Io(e)) => return fail(ctx, "Cannot write", &e),
                Err(other) => return Err(other),
            }
            drop(out);
            if mode != 0o644 {
                let _ = meta::chmod(&file, mode);
            }
            if !options.touch {
                let _ = meta::set_times(&file, None, Some(mtime), true);
            }
        }
    }
    Ok(true)
}

/// The name below the target directory; `None` after a message if it leaves it.
fn safe_name(
    ctx: &mut Ctx<'_>,
    options: &Options,
    name: &[u8],
    later: &mut Later,
) -> Option<Vec<u8>> {
    if options.absolute {
        return Some(name.to_vec());
    }
    if name.split(|&c| c == b'/').any(|part| part == b"..") {
        ctx.error_bytes(&[name, b": Member name contains '..'"]);
        return None;
    }
    let at = name.iter().position(|&c| c != b'/').unwrap_or(name.len());
    if at > 0 && !later.warned {
        later.warned = true;
        ctx.error("Removing leading `/' from member names");
    }
    let rest = &name[at..];
    Some(if rest.is_empty() { b".".to_vec() } else { rest.to_vec() })
}

/// Links, then directory modes and times, deepest first.
fn finish(ctx: &mut Ctx<'_>, options: &Options, later: Later) -> bool {
    let mut ok = true;
    for (file, to) in later.symlinks {
        if let Err(e) = meta::symlink(&to, &file) {
            let text = format!(
                ": Cannot create symlink to '{}': {}",
                String::from_utf8_lossy(&to),
                strerror(&e)
            );
            ctx.error_bytes(&[path::to_bytes(&file), text.as_bytes()]);
            ok = false;
        }
    }
    for (dir, (mode, mtime)) in later.dirs.iter().rev() {
        if *mode != 0o755 {
            let _ = meta::chmod(dir, *mode);
        }
        if !options.touch {
            let _ = meta::set_times(dir, None, Some(*mtime), true);
        }
    }
    ok
}
