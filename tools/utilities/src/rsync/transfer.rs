//! Compares the entries with the destination, copies those that differ and deletes the rest.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use box_applet::{Ctx, create_beside};
use box_sys::{FileKind, Stat, error_text, meta, path};

use super::list::{Entry, Listing};
use super::options::Plan;

/// The work on one destination.
pub(super) struct Transfer<'p> {
    plan: &'p Plan,
    target: PathBuf,
    /// The destination is the new name of the only file.
    renames: bool,
    pub failed: bool,
    copied_files: u64,
    copied_bytes: u64,
    created: u64,
    deleted: u64,
}

/// The differences between an entry and the destination.
#[derive(Default)]
struct Difference {
    new: bool,
    content: bool,
    /// The contents were compared.
    checked: bool,
    size: bool,
    time: bool,
    perms: bool,
}

impl Difference {
    fn any_attribute(&self) -> bool {
        self.time || self.perms
    }
}

impl<'p> Transfer<'p> {
    pub(super) fn new(plan: &'p Plan, target: PathBuf) -> Transfer<'p> {
        Transfer {
            plan,
            target,
            renames: false,
            failed: false,
            copied_files: 0,
            copied_bytes: 0,
            created: 0,
            deleted: 0,
        }
    }

    /// Copies all entries; returns false if the destination cannot be created.
    pub(super) fn run(&mut self, ctx: &mut Ctx<'_>, listing: &Listing, shown: &[u8]) -> bool {
        let there = meta::stat(&self.target, true).ok();
        let is_folder = there.as_ref().is_some_and(|s| s.kind == FileKind::Dir);
        self.renames = listing.one_file && !is_folder && !shown.ends_with(b"/");
        if self.plan.make_path && !self.plan.dry_run {
            let parent =
                if self.renames { self.target.parent() } else { Some(self.target.as_path()) };
            if let Some(e) = parent.and_then(|p| std::fs::create_dir_all(p).err()) {
                self.report(ctx, "mkpath", &self.target.clone(), &e);
                return false;
            }
        }
        if !self.renames && !is_folder && !listing.entries.is_empty() {
            if !self.plan.dry_run
                && let Err(e) = std::fs::create_dir(&self.target)
                && e.kind() != io::ErrorKind::AlreadyExists
            {
                self.report(ctx, "mkdir", &self.target.clone(), &e);
                return false;
            }
            if (self.plan.verbose || self.plan.itemize) && !self.plan.quiet {
                let name = shown.strip_suffix(b"/").unwrap_or(shown);
                let _ = ctx.stdout.write_all(&[b"created directory ", name, b"\n"].concat());
            }
        }
        for line in &listing.skipped {
            let _ = writeln!(ctx.stdout, "{line}");
        }
        if self.plan.deletes {
            self.delete_extra(ctx, listing);
        }
        let fresh = !is_folder && !self.renames;
        let mut folders = Vec::new();
        for entry in &listing.entries {
            let place = self.place_of(entry);
            if entry.stat.kind == FileKind::Dir {
                self.handle_folder(ctx, entry, &place, fresh);
                folders.push((place, &entry.stat));
            } else {
                self.handle_file(ctx, entry, &place);
            }
        }
        if !self.plan.dry_run && self.plan.times && self.plan.folder_times {
            for (place, stat) in folders.into_iter().rev() {
                let _ = meta::set_times(&place, None, Some(stat.mtime), true);
            }
        }
        true
    }

    fn report(&mut self, ctx: &mut Ctx<'_>, what: &str, place: &Path, e: &io::Error) {
        let _ = ctx.stdout.flush();
        let number = super::error_number(e);
        let (shown, reason) = (place.display(), error_text(e));
        let _ =
            writeln!(ctx.stderr, "rsync: [receiver] {what} \"{shown}\" failed: {reason}{number}");
        self.failed = true;
    }

    fn place_of(&self, entry: &Entry) -> PathBuf {
        if self.renames || entry.name.is_empty() {
            return self.target.clone();
        }
        self.target.join(path::from_bytes(&entry.name))
    }

    /// Prints a name with the marks of `-i`, or alone.
    fn show(&self, ctx: &mut Ctx<'_>, marks: &str, name: &[u8], tail: &[u8]) {
        if self.plan.quiet || !(self.plan.verbose || self.plan.itemize) {
            return;
        }
        let lead = if self.plan.itemize { format!("{marks} ") } else { String::new() };
        let _ = ctx.stdout.write_all(&[lead.as_bytes(), name, tail, b"\n"].concat());
    }

    fn find_attributes(&self, entry: &Stat, old: &Stat) -> Difference {
        Difference {
            time: self.plan.times && entry.mtime != old.mtime,
            perms: self.plan.perms && entry.mode & 0o7777 != old.mode & 0o7777,
            ..Difference::default()
        }
    }

    fn handle_folder(&mut self, ctx: &mut Ctx<'_>, entry: &Entry, place: &Path, fresh: bool) {
        let shown: &[u8] = if entry.name.is_empty() { b"." } else { &entry.name };
        let old = meta::stat(place, false).ok().filter(|_| !(fresh && entry.name.is_empty()));
        match old {
            Some(old) if old.kind == FileKind::Dir => {
                let mut diff = self.find_attributes(&entry.stat, &old);
                diff.time &= self.plan.folder_times;
                if diff.any_attribute() && self.plan.itemize {
                    let marks = marks(".d", &diff);
                    self.show(ctx, &marks, shown, b"/");
                }
                if diff.perms && !self.plan.dry_run {
                    let _ = meta::chmod(place, entry.stat.mode & 0o7777);
                }
            }
            other => {
                if self.plan.existing {
                    return;
                }
                self.show(ctx, "cd+++++++++", shown, b"/");
                self.created += 1;
                if self.plan.dry_run {
                    return;
                }
                if other.is_some()
                    && let Err(e) = std::fs::remove_file(place)
                {
                    return self.report(ctx, "delete_file", place, &e);
                }
                match std::fs::create_dir(place) {
                    Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                        self.report(ctx, "mkdir", place, &e);
                    }
                    _ => {
                        // The folder must be writable for its entries.
                        let mode = if self.plan.perms { entry.stat.mode | 0o700 } else { return };
                        let _ = meta::chmod(place, mode & 0o7777);
                    }
                }
            }
        }
    }

    fn handle_file(&mut self, ctx: &mut Ctx<'_>, entry: &Entry, place: &Path) {
        let old = meta::stat(place, false).ok();
        if old.is_none() && self.plan.existing || old.is_some() && self.plan.ignore_existing {
            return;
        }
        let diff = match self.compare(entry, old.as_ref(), place) {
            Ok(diff) => diff,
            Err(e) => return self.report(ctx, "open", &entry.source, &e),
        };
        let newer =
            old.as_ref().is_some_and(|o| o.kind == FileKind::File && o.mtime > entry.stat.mtime);
        if self.plan.update && newer {
            return;
        }
        let is_link = entry.stat.kind == FileKind::Symlink;
        if !(diff.new || diff.content) {
            if diff.any_attribute() && !is_link {
                if self.plan.itemize {
                    self.show(ctx, &marks(".f", &diff), &entry.name, b"");
                }
                if !self.plan.dry_run {
                    self.set_attributes(entry, place, false);
                }
            }
            self.remove_source(entry);
            return;
        }
        let kind = match entry.stat.kind {
            FileKind::Symlink => "cL",
            FileKind::Fifo => "cS",
            _ => ">f",
        };
        let mut tail = Vec::new();
        if is_link && let Ok(to) = std::fs::read_link(&entry.source) {
            tail = [b" -> ", path::to_bytes(&to)].concat();
        }
        self.show(ctx, &marks(kind, &diff), &entry.name, &tail);
        self.created += u64::from(diff.new);
        if entry.stat.kind == FileKind::File {
            self.copied_files += 1;
            self.copied_bytes += entry.stat.size;
        }
        if self.plan.dry_run {
            return;
        }
        match self.copy(ctx, entry, place, old.as_ref()) {
            Ok(()) => self.remove_source(entry),
            Err(e) => self.report(ctx, "copy", place, &e),
        }
    }

    fn compare(&self, entry: &Entry, old: Option<&Stat>, place: &Path) -> io::Result<Difference> {
        let Some(old) = old.filter(|o| o.kind == entry.stat.kind) else {
            return Ok(Difference { new: true, ..Difference::default() });
        };
        let mut diff = self.find_attributes(&entry.stat, old);
        match entry.stat.kind {
            FileKind::Symlink => {
                diff.perms = false;
                diff.checked = std::fs::read_link(&entry.source)? != std::fs::read_link(place)?;
                diff.content = diff.checked;
            }
            FileKind::File => {
                diff.size = entry.stat.size != old.size;
                let late = entry.stat.mtime != old.mtime;
                diff.content = if diff.size || self.plan.ignore_times {
                    true
                } else if self.plan.size_only {
                    false
                } else if self.plan.checksum {
                    diff.checked = !is_same_content(&entry.source, place)?;
                    diff.checked
                } else {
                    late
                };
                // A copy without -t gets a new time.
                diff.time |= diff.content && late;
            }
            _ => {}
        }
        Ok(diff)
    }

    fn copy(
        &mut self,
        ctx: &Ctx<'_>,
        entry: &Entry,
        place: &Path,
        old: Option<&Stat>,
    ) -> io::Result<()> {
        if let Some(old) = old {
            let backup = self.plan.backup.as_ref().filter(|_| old.kind != FileKind::Dir);
            if let Some(suffix) = backup {
                let name = [path::to_bytes(place), suffix.as_slice()].concat();
                std::fs::rename(place, path::from_bytes(&name))?;
            } else if old.kind == FileKind::Dir {
                std::fs::remove_dir_all(place)?;
            } else if entry.stat.kind != FileKind::File {
                std::fs::remove_file(place)?;
            }
        }
        match entry.stat.kind {
            FileKind::Symlink => {
                let to = std::fs::read_link(&entry.source)?;
                return meta::symlink(path::to_bytes(&to), place);
            }
            FileKind::Fifo => meta::mkfifo(place, entry.stat.mode & 0o777)?,
            _ => self.copy_content(ctx, entry, place, old)?,
        }
        self.set_attributes(entry, place, old.is_none());
        Ok(())
    }

    /// Writes a new file that then takes the place of the old one, so that the old one is whole
    /// until the new one is.
    fn copy_content(
        &self,
        ctx: &Ctx<'_>,
        entry: &Entry,
        place: &Path,
        old: Option<&Stat>,
    ) -> io::Result<()> {
        let mut source = File::open(&entry.source)?;
        let (mut file, fresh) = create_beside(ctx, place, ".rsync")?;
        let done = io::copy(&mut source, &mut file).and_then(|_| {
            if let Some(old) = old.filter(|o| o.kind == FileKind::File) {
                meta::chmod(&fresh, old.mode & 0o7777)?;
            }
            std::fs::rename(&fresh, place)
        });
        if done.is_err() {
            let _ = std::fs::remove_file(&fresh);
        }
        done
    }

    fn set_attributes(&self, entry: &Entry, place: &Path, new: bool) {
        if self.plan.perms {
            let _ = meta::chmod(place, entry.stat.mode & 0o7777);
        } else if new {
            let _ = meta::chmod(place, entry.stat.mode & 0o777 & !meta::umask());
        }
        if self.plan.times {
            let _ = meta::set_times(place, None, Some(entry.stat.mtime), false);
        }
    }

    fn remove_source(&self, entry: &Entry) {
        if self.plan.remove_sources && !self.plan.dry_run {
            let _ = std::fs::remove_file(&entry.source);
        }
    }

    /// Deletes files of the destination's folders that no source has. Excluded names stay.
    fn delete_extra(&mut self, ctx: &mut Ctx<'_>, listing: &Listing) {
        if listing.failed {
            // A file that is missing because its source could not be read must not be deleted.
            ctx.print("IO error encountered -- skipping file deletion\n");
            return;
        }
        let known: HashSet<&[u8]> = listing.entries.iter().map(|e| e.name.as_slice()).collect();
        for entry in listing.entries.iter().filter(|e| e.stat.kind == FileKind::Dir) {
            let place = self.place_of(entry);
            let Ok(items) = ctx.procs.read_dir(&place) else { continue };
            let mut extra = Vec::new();
            for item in items.into_iter().filter(|i| i.name != b"." && i.name != b"..") {
                let name = if entry.name.is_empty() {
                    item.name.clone()
                } else {
                    [&entry.name, b"/".as_slice(), &item.name].concat()
                };
                let file = place.join(path::from_bytes(&item.name));
                let is_folder = meta::stat(&file, false).is_ok_and(|s| s.kind == FileKind::Dir);
                let stays =
                    !self.plan.deletes_excluded && !self.plan.filter.allows(&name, is_folder);
                if !known.contains(name.as_slice()) && !stays {
                    extra.push((is_folder, name, file));
                }
            }
            let before = meta::stat(&place, true).ok();
            extra.sort();
            for (is_folder, name, file) in extra.into_iter().rev() {
                self.delete(ctx, is_folder, &name, &file);
            }
            // The folder's own time is compared later, as it was.
            if let (Some(before), false) = (before, self.plan.dry_run) {
                let _ = meta::set_times(&place, None, Some(before.mtime), true);
            }
        }
    }

    /// Deletes a file, or a folder after its contents.
    fn delete(&mut self, ctx: &mut Ctx<'_>, is_folder: bool, name: &[u8], file: &Path) {
        if is_folder {
            let mut items: Vec<_> = ctx.procs.read_dir(file).unwrap_or_default();
            items.retain(|i| i.name != b"." && i.name != b"..");
            let mut items: Vec<_> = items
                .into_iter()
                .map(|i| {
                    let inner = file.join(path::from_bytes(&i.name));
                    let folder = meta::stat(&inner, false).is_ok_and(|s| s.kind == FileKind::Dir);
                    (folder, [name, b"/", &i.name].concat(), inner)
                })
                .collect();
            items.sort();
            for (folder, inner_name, inner) in items.into_iter().rev() {
                self.delete(ctx, folder, &inner_name, &inner);
            }
        }
        if !self.plan.quiet && (self.plan.verbose || self.plan.itemize) {
            let lead: &[u8] = if self.plan.itemize { b"*deleting   " } else { b"deleting " };
            let end: &[u8] = if is_folder { b"/\n" } else { b"\n" };
            let _ = ctx.stdout.write_all(&[lead, name, end].concat());
        }
        self.deleted += 1;
        if self.plan.dry_run {
            return;
        }
        let done = if is_folder { std::fs::remove_dir(file) } else { std::fs::remove_file(file) };
        if let Err(e) = done {
            self.report(ctx, "delete", file, &e);
        }
    }

    /// Prints the lines after the names (`-v`, `--stats`).
    pub(super) fn print_totals(&self, ctx: &mut Ctx<'_>, listing: &Listing) {
        let total: u64 = listing
            .entries
            .iter()
            .filter(|e| e.stat.kind != FileKind::Dir)
            .map(|e| e.stat.size)
            .sum();
        if self.plan.quiet {
            return;
        }
        if self.plan.stats {
            let text = format!(
                "\nNumber of files: {}\nNumber of created files: {}\nNumber of deleted files: {}\n\
                 Number of regular files transferred: {}\nTotal file size: {total} bytes\n\
                 Total transferred file size: {} bytes\n",
                listing.entries.len(),
                self.created,
                self.deleted,
                self.copied_files,
                self.copied_bytes,
            );
            ctx.print(&text);
        }
        if self.plan.verbose || self.plan.stats {
            let sent = self.copied_bytes;
            let speedup = if sent > 0 { total as f64 / sent as f64 } else { 0.0 };
            let dry = if self.plan.dry_run { " (DRY RUN)" } else { "" };
            ctx.print(&format!(
                "\nsent {sent} bytes  received 0 bytes\n\
                 total size is {total}  speedup is {speedup:.2}{dry}\n"
            ));
        }
    }
}

/// Returns the eleven marks of `-i`.
fn marks(kind: &str, diff: &Difference) -> String {
    if diff.new {
        return format!("{kind}+++++++++");
    }
    let mark = |shown, letter| if shown { letter } else { '.' };
    let (size, time) = (mark(diff.size, 's'), mark(diff.time, 't'));
    format!("{kind}{}{size}{time}{}.....", mark(diff.checked, 'c'), mark(diff.perms, 'p'))
}

fn is_same_content(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut x, mut y) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let n = a.read(&mut x)?;
        if n == 0 {
            return Ok(b.read(&mut y)? == 0);
        }
        match b.read_exact(&mut y[..n]) {
            Ok(()) if x[..n] == y[..n] => {}
            Ok(()) => return Ok(false),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(e) => return Err(e),
        }
    }
}
