//! Members back into files.
//!
//! A hostile archive cannot write outside the target directory: not by absolute names
//! (the slash is removed), by `..` (refused), or through a symbolic link of the same archive
//! (links are made last).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use box_applet::Ctx;
use box_sys::{FileKind, Stat, error_text, meta, path};
use tar::{Entry, EntryType};

use super::list::{ListLine, WIDTH, report_missing, wanted_members, write_verbose};
use super::options::{TarItem, TarOptions};
use super::{Outcome, TarFatal, damaged_archive, write_name};

/// One run over an archive: the places of members, and the work that must wait until all data is written.
struct Extraction<'r> {
    options: &'r TarOptions,
    target: PathBuf,
    symlinks: Vec<(PathBuf, Vec<u8>)>,
    /// Mode and time of directories: set after their content, which would change them.
    dirs: BTreeMap<PathBuf, (u16, u64)>,
    warned: bool,
}

/// A member that is to be made: its name in messages, its place, permission bits and modification time.
struct TarMember<'m> {
    name: &'m [u8],
    file: PathBuf,
    kind: EntryType,
    mode: u16,
    mtime: u64,
}

impl TarMember<'_> {
    /// Reports an error of the member; returns false.
    fn report_failure(&self, ctx: &mut Ctx<'_>, what: &str, e: &io::Error) -> bool {
        let text = format!(": {what}: {}", error_text(e));
        ctx.error_bytes(&[self.name, text.as_bytes()]);
        false
    }
}

/// Extracts an archive (`tar -x`).
pub fn extract_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    archive: &mut tar::Archive<Box<dyn Read>>,
) -> Outcome {
    let mut target = ctx.cwd.clone();
    for item in &options.items {
        if let TarItem::Directory(d) = item {
            target = path::resolve_path(&target, d);
            if let Err(e) = std::fs::read_dir(&target) {
                let d = String::from_utf8_lossy(d);
                return Err(TarFatal::Message(format!("{d}: Cannot open: {}", error_text(&e))));
            }
        }
    }
    let mut wanted = wanted_members(options);
    let mut extraction =
        Extraction { options, target, symlinks: Vec::new(), dirs: BTreeMap::new(), warned: false };
    let mut ok = true;
    let mut width = WIDTH;
    for entry in archive.entries().map_err(|e| damaged_archive(&e))? {
        let mut entry = entry.map_err(|e| damaged_archive(&e))?;
        let name = entry.path_bytes().into_owned();
        if !wanted.take_member(&name) || options.excludes.matches_name(&name) {
            continue;
        }
        let Some(name) = options.names.apply_to(&name) else { continue };
        if options.verbose > 0 {
            let mut line = Vec::new();
            if options.verbose > 1 {
                let link = entry.link_name_bytes().map(|l| l.into_owned());
                let shown = ListLine { name: &name, link: link.as_deref(), size: entry.size() };
                write_verbose(&mut line, options, entry.header(), &shown, &mut width)?;
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
                copy_member(&mut entry, &mut ctx.stdout)?;
            }
            continue;
        }
        ok &= extraction.extract_member(ctx, &name, &mut entry)?;
    }
    ok &= extraction.finish(ctx);
    Ok(report_missing(ctx, &wanted) && ok)
}

/// Copies a member's data; a short archive is fatal.
fn copy_member(entry: &mut Entry<'_, Box<dyn Read>>, out: &mut dyn Write) -> Result<(), TarFatal> {
    let mut buf = vec![0u8; 1 << 16];
    let mut left = entry.size();
    while left > 0 {
        match entry.read(&mut buf) {
            Ok(0) => return Err(TarFatal::Message("Unexpected EOF in archive".to_string())),
            Ok(n) => {
                out.write_all(&buf[..n])?;
                left = left.saturating_sub(n as u64);
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(damaged_archive(&e)),
        }
    }
    Ok(())
}

impl Extraction<'_> {
    /// Extracts one member; returns false after a message.
    fn extract_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        entry: &mut Entry<'_, Box<dyn Read>>,
    ) -> Result<bool, TarFatal> {
        let Some(relative) = self.safe_name(ctx, name) else { return Ok(false) };
        let header = entry.header().clone();
        let mode = (header.mode().unwrap_or(0o644) & 0o7777) as u16;
        let m = TarMember {
            name,
            file: path::resolve_path(&self.target, &relative),
            kind: header.entry_type(),
            mode: if self.options.preserve_mode { mode } else { mode & 0o755 },
            mtime: header.mtime().unwrap_or(0).saturating_mul(1_000_000_000),
        };
        let existing = meta::stat(&m.file, false).ok();
        let is_dir = existing.is_some_and(|old| old.kind == FileKind::Dir);
        if let Some(old) = existing
            && !(m.kind == EntryType::Directory && is_dir)
            && let Err(done) = self.make_room(ctx, &m, &old)
        {
            return Ok(done);
        }
        if let Some(parent) = m.file.parent()
            && let Err(e) = std::fs::create_dir_all(parent)
        {
            return Ok(m.report_failure(ctx, "Cannot open", &e));
        }
        let link = |entry: &Entry<'_, Box<dyn Read>>| {
            entry.link_name_bytes().map(|l| l.into_owned()).unwrap_or_default()
        };
        match m.kind {
            EntryType::Directory => {
                if !is_dir && let Err(e) = std::fs::create_dir(&m.file) {
                    return Ok(m.report_failure(ctx, "Cannot mkdir", &e));
                }
                self.dirs.insert(m.file, (m.mode, m.mtime));
            }
            EntryType::Symlink => self.symlinks.push((m.file, link(entry))),
            EntryType::Link => return Ok(self.hard_link(ctx, m, &link(entry))),
            EntryType::Fifo => {
                if let Err(e) = meta::mkfifo(&m.file, m.mode) {
                    return Ok(m.report_failure(ctx, "Cannot mkfifo", &e));
                }
            }
            EntryType::Char | EntryType::Block => {
                ctx.error_bytes(&[name, b": Cannot mknod: Operation not permitted"]);
                return Ok(false);
            }
            _ => return self.extract_regular(ctx, &m, entry),
        }
        Ok(true)
    }

    /// Removes the file that is in a member's place. `Err` means that the member is not made, and holds
    /// whether that counts as success.
    fn make_room(&self, ctx: &mut Ctx<'_>, m: &TarMember<'_>, old: &Stat) -> Result<(), bool> {
        let options = self.options;
        if options.skip_old || (options.keep_newer && old.mtime >= m.mtime) {
            return Err(true);
        }
        if options.keep_old {
            ctx.error_bytes(&[m.name, b": Cannot open: File exists"]);
            return Err(false);
        }
        // `--overwrite` writes into a regular file, whose other names show it too.
        if options.overwrite && old.kind == FileKind::File && m.kind.is_file() {
            return Ok(());
        }
        let removed = match old.kind {
            FileKind::Dir => std::fs::remove_dir(&m.file),
            _ => std::fs::remove_file(&m.file),
        };
        removed.map_err(|e| m.report_failure(ctx, "Cannot unlink", &e))
    }

    /// Makes another name of a member that was extracted; returns false after a message.
    fn hard_link(&mut self, ctx: &mut Ctx<'_>, m: TarMember<'_>, to: &[u8]) -> bool {
        let Some(to) = self.options.names.apply_to(to).and_then(|t| self.safe_name(ctx, &t)) else {
            return false;
        };
        let source = path::resolve_path(&self.target, &to);
        let Err(e) = std::fs::hard_link(&source, &m.file) else { return true };
        // The link's target may be one that waits.
        let waiting = self.symlinks.iter().find(|(p, _)| *p == source).map(|(_, t)| t.clone());
        match waiting {
            Some(target) => {
                self.symlinks.push((m.file, target));
                true
            }
            None => {
                let what = format!("Cannot hard link to '{}'", String::from_utf8_lossy(&to));
                m.report_failure(ctx, &what, &e)
            }
        }
    }

    /// Writes a file's data, mode and time; returns false after a message.
    fn extract_regular(
        &self,
        ctx: &mut Ctx<'_>,
        m: &TarMember<'_>,
        entry: &mut Entry<'_, Box<dyn Read>>,
    ) -> Result<bool, TarFatal> {
        let out = match File::create(&m.file) {
            Ok(f) => f,
            Err(e) => return Ok(m.report_failure(ctx, "Cannot open", &e)),
        };
        let mut out = io::BufWriter::with_capacity(1 << 16, out);
        match copy_member(entry, &mut out).and_then(|()| Ok(out.flush()?)) {
            Ok(()) => {}
            Err(TarFatal::Io(e)) => return Ok(m.report_failure(ctx, "Cannot write", &e)),
            Err(other) => return Err(other),
        }
        drop(out);
        if m.mode != 0o644 {
            let _ = meta::chmod(&m.file, m.mode);
        }
        if !self.options.touch {
            let _ = meta::set_times(&m.file, None, Some(m.mtime), true);
        }
        Ok(true)
    }

    /// Returns the name below the target directory; `None`, after a message, if the name leads out of it.
    fn safe_name(&mut self, ctx: &mut Ctx<'_>, name: &[u8]) -> Option<Vec<u8>> {
        if self.options.absolute {
            return Some(name.to_vec());
        }
        if name.split(|&c| c == b'/').any(|part| part == b"..") {
            ctx.error_bytes(&[name, b": Member name contains '..'"]);
            return None;
        }
        let at = name.iter().position(|&c| c != b'/').unwrap_or(name.len());
        if at > 0 && !self.warned {
            self.warned = true;
            ctx.error("Removing leading `/' from member names");
        }
        let rest = &name[at..];
        Some(if rest.is_empty() { b".".to_vec() } else { rest.to_vec() })
    }

    /// Makes links, then sets directory modes and times, deepest first.
    fn finish(self, ctx: &mut Ctx<'_>) -> bool {
        let mut ok = true;
        for (file, to) in self.symlinks {
            if let Err(e) = meta::symlink(&to, &file) {
                let text = format!(
                    ": Cannot create symlink to '{}': {}",
                    String::from_utf8_lossy(&to),
                    error_text(&e)
                );
                ctx.error_bytes(&[path::to_bytes(&file), text.as_bytes()]);
                ok = false;
            }
        }
        for (dir, (mode, mtime)) in self.dirs.iter().rev() {
            if *mode != 0o755 {
                let _ = meta::chmod(dir, *mode);
            }
            if !self.options.touch {
                let _ = meta::set_times(dir, None, Some(*mtime), true);
            }
        }
        ok
    }
}
