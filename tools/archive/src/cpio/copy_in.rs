//! `cpio -i` and `cpio -t`: extract or list an archive.
//!
//! A hostile archive cannot write outside the directory. Leading slashes of a name, and everything
//! up to its last `..`, are removed unless `--absolute-filenames` is given. The targets of hard
//! links are treated in the same way. Symbolic links are made last, so no member is written through
//! a link of the same archive.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use box_applet::{Ctx, clock};
use box_sys::{AccountNames, FileKind, error_text, meta};
use box_text::glob::{GlobOptions, GlobPattern};
use box_text::mode;
use box_text::time::strftime::format_strftime;

use super::decode::CpioReader;
use super::entry::{
    BLOCK_DEVICE, CHAR_DEVICE, CpioEntry, CpioFormat, DIRECTORY, FIFO, FILE, SYMLINK,
};
use super::options::CpioOptions;
use super::{CpioError, CpioSummary, print_progress, report_failure};
use crate::tar::select::split_prefix;

/// Reads an archive from its file or standard input.
pub fn read_archive(ctx: &mut Ctx<'_>, options: &CpioOptions) -> Result<CpioSummary, CpioError> {
    let input: Box<dyn Read> = match &options.archive {
        None => Box::new(ctx.stdin.detach_stream()),
        Some(name) => {
            let file = File::open(ctx.path(name)).map_err(|e| CpioError::cannot_open(name, &e))?;
            Box::new(BufReader::with_capacity(1 << 16, file))
        }
    };
    let mut reader = CpioReader::open(input)?;
    let compile = |p: &Vec<u8>| GlobPattern::new(p, GlobOptions::default());
    let patterns: Vec<GlobPattern> = options.patterns.iter().map(compile).collect();
    let mut extraction = CpioExtraction {
        options,
        names: AccountNames::load(),
        ok: true,
        prefixes: Vec::new(),
        files: BTreeMap::new(),
        waiting: BTreeMap::new(),
        symlinks: Vec::new(),
        dirs: BTreeMap::new(),
    };
    while let Some(mut entry) = reader.next_entry()? {
        entry.name = extraction.safe_name(ctx, &entry.name, "member names");
        let is_matched = patterns.iter().any(|p| p.is_match(&entry.name));
        if !patterns.is_empty() && is_matched == options.non_matching {
            continue;
        }
        if options.lists {
            extraction.print_entry(ctx, &entry, &mut reader)?;
        } else if options.only_sums {
            extraction.check_sum(ctx, &entry, &mut reader, &mut io::sink())?;
        } else if options.to_stdout {
            if entry.kind() == FILE {
                io::copy(&mut reader, &mut ctx.stdout)?;
            }
        } else {
            extraction.extract_entry(ctx, entry, &mut reader)?;
        }
    }
    extraction.finish(ctx)?;
    Ok(CpioSummary { bytes: reader.count(), ok: extraction.ok })
}

/// The device and inode number of a file with several links.
type LinkKey = ((u32, u32), u64);

/// The first extracted name of a file with several links, and its path.
#[derive(Clone)]
struct CpioLinkedFile {
    name: Vec<u8>,
    file: PathBuf,
}

struct CpioExtraction<'a> {
    options: &'a CpioOptions,
    names: AccountNames,
    ok: bool,
    /// The prefixes that were removed from names. Each of them is reported once.
    prefixes: Vec<Vec<u8>>,
    /// The files with several links that have been extracted.
    files: BTreeMap<LinkKey, CpioLinkedFile>,
    /// The names of files with several links whose data has not come yet.
    waiting: BTreeMap<LinkKey, Vec<CpioEntry>>,
    /// The symbolic links, with their paths and targets, which are made last.
    symlinks: Vec<(CpioEntry, PathBuf, Vec<u8>)>,
    /// The modes and times of directories, which are set last.
    dirs: BTreeMap<PathBuf, (u16, u64)>,
}

impl CpioExtraction<'_> {
    /// Returns a name without the prefix that would lead outside the directory, and reports the
    /// prefix. `what` describes the names in the message.
    fn safe_name(&mut self, ctx: &mut Ctx<'_>, name: &[u8], what: &str) -> Vec<u8> {
        if self.options.absolute {
            return name.to_vec();
        }
        let (prefix, rest) = split_prefix(name);
        if !prefix.is_empty() && !self.prefixes.iter().any(|p| p == prefix) {
            self.prefixes.push(prefix.to_vec());
            let from = format!("' from {what}");
            ctx.error_bytes(&[b"Removing leading `", prefix, from.as_bytes()]);
        }
        if rest.is_empty() { b".".to_vec() } else { rest.to_vec() }
    }

    /// Prints the name of an entry; with `-v`, prints a line as `ls -l` does.
    fn print_entry(
        &self,
        ctx: &mut Ctx<'_>,
        entry: &CpioEntry,
        reader: &mut CpioReader<'_>,
    ) -> Result<(), CpioError> {
        let mut line = Vec::new();
        if self.options.verbose {
            let letter = match entry.kind() {
                DIRECTORY => 'd',
                SYMLINK => 'l',
                FIFO => 'p',
                CHAR_DEVICE => 'c',
                BLOCK_DEVICE => 'b',
                _ => '-',
            };
            let mode = mode::mode_letters((entry.mode & 0o7777) as u16);
            let (user, group) = if self.options.numeric {
                (entry.uid.to_string(), entry.gid.to_string())
            } else {
                (self.names.show_user(entry.uid), self.names.show_group(entry.gid))
            };
            let size = match entry.kind() {
                CHAR_DEVICE | BLOCK_DEVICE => format!("{:>3}, {:>3}", entry.rdev.0, entry.rdev.1),
                _ => format!("{:>8}", entry.size),
            };
            let time = String::from_utf8_lossy(&time_text(ctx, entry.mtime)).into_owned();
            let links = entry.nlink;
            write!(line, "{letter}{mode} {links:>3} {user:<8} {group:<8} {size} {time} ")?;
        }
        line.extend_from_slice(&entry.name);
        if self.options.verbose && entry.kind() == SYMLINK {
            line.extend_from_slice(b" -> ");
            line.extend_from_slice(&reader.read_target(entry)?);
        }
        line.push(b'\n');
        Ok(ctx.stdout.write_all(&line)?)
    }

    /// Copies the data of an entry to `out`. If the format has sums, compares the data's sum with
    /// that of the header.
    fn check_sum(
        &mut self,
        ctx: &mut Ctx<'_>,
        entry: &CpioEntry,
        reader: &mut CpioReader<'_>,
        out: &mut dyn Write,
    ) -> Result<(), CpioError> {
        let has_sum = reader.format == CpioFormat::Sum && entry.kind() == FILE;
        let mut sum = SumWriter { to: out, sum: 0 };
        let copied = io::copy(reader, &mut sum)?;
        if has_sum && copied > 0 && sum.sum != entry.sum {
            let text = format!(": checksum error (0x{:x}, should be 0x{:x})", sum.sum, entry.sum);
            ctx.error_bytes(&[&entry.name, text.as_bytes()]);
        }
        Ok(())
    }

    /// Extracts an entry, or keeps it for later.
    fn extract_entry(
        &mut self,
        ctx: &mut Ctx<'_>,
        entry: CpioEntry,
        reader: &mut CpioReader<'_>,
    ) -> Result<(), CpioError> {
        let file = ctx.path(&entry.name);
        if entry.kind() != DIRECTORY && !self.make_room(ctx, &entry, &file) {
            print_progress(ctx, self.options, &entry.name);
            return Ok(());
        }
        self.make_parent(&file);
        let key = (entry.dev, entry.ino);
        match entry.kind() {
            DIRECTORY => self.make_directory(ctx, &entry, file),
            SYMLINK => {
                let target = reader.read_target(&entry)?;
                self.symlinks.push((entry.clone(), file, target));
            }
            FIFO => {
                if let Err(e) = meta::mkfifo(&file, (entry.mode & 0o777) as u16) {
                    self.fail(ctx, &entry.name, "Cannot mknod", &e);
                }
            }
            CHAR_DEVICE | BLOCK_DEVICE => {
                ctx.error_bytes(&[&entry.name, b": Cannot mknod: Operation not permitted"]);
                self.ok = false;
            }
            _ => {
                if let Some(link) = &entry.link {
                    let link = self.safe_name(ctx, link, "hard link targets");
                    let source = ctx.path(&link);
                    self.make_link(ctx, &entry.name, &source, &file);
                } else if entry.nlink > 1 && reader.format.has_late_data() && entry.size == 0 {
                    // The data may come with a later name.
                    match self.files.get(&key).cloned() {
                        Some(first) => self.link_again(ctx, &entry.name, &first, &file),
                        None => {
                            self.waiting.entry(key).or_default().push(entry);
                            return Ok(());
                        }
                    }
                } else if let Some(first) =
                    self.files.get(&key).filter(|_| entry.nlink > 1).cloned()
                {
                    self.link_again(ctx, &entry.name, &first, &file);
                } else {
                    self.write_file(ctx, &entry, &file, Some(reader))?;
                }
            }
        }
        print_progress(ctx, self.options, &entry.name);
        Ok(())
    }

    /// Makes the directories above a file if `-d` is given. A failure is not reported, because the
    /// file itself then cannot be created.
    fn make_parent(&self, file: &Path) {
        if self.options.makes_directories
            && let Some(parent) = file.parent()
        {
            let _ = std::fs::create_dir_all(parent);
        }
    }

    fn fail(&mut self, ctx: &mut Ctx<'_>, name: &[u8], what: &str, e: &io::Error) {
        report_failure(ctx, name, what, e);
        self.ok = false;
    }

    fn make_directory(&mut self, ctx: &mut Ctx<'_>, entry: &CpioEntry, file: PathBuf) {
        let is_dir = |s: meta::Stat| s.kind == FileKind::Dir;
        match std::fs::create_dir(&file) {
            Err(e) if !meta::stat(&file, false).is_ok_and(is_dir) => {
                self.fail(ctx, &entry.name, "Cannot mkdir", &e);
            }
            _ => {
                let mode = (entry.mode & 0o7777) as u16;
                self.dirs.insert(file, (mode, entry.mtime));
            }
        }
    }

    /// Removes an existing file that has an entry's name. Prints a message and returns false if the
    /// file stays.
    fn make_room(&mut self, ctx: &mut Ctx<'_>, entry: &CpioEntry, file: &Path) -> bool {
        let Ok(old) = meta::stat(file, false) else { return true };
        if !self.options.replaces && old.mtime / 1_000_000_000 >= entry.mtime {
            ctx.error_bytes(&[&entry.name, b" not created: newer or same age version exists"]);
            return false;
        }
        let removed = match old.kind {
            FileKind::Dir => std::fs::remove_dir(file),
            _ => std::fs::remove_file(file),
        };
        match removed {
            Ok(()) => true,
            Err(e) => {
                let text = format!(": {}", error_text(&e));
                ctx.error_bytes(&[b"cannot remove current ", &entry.name, text.as_bytes()]);
                self.ok = false;
                false
            }
        }
    }

    fn make_link(&mut self, ctx: &mut Ctx<'_>, name: &[u8], source: &Path, file: &Path) {
        let _ = std::fs::remove_file(file);
        if let Err(e) = std::fs::hard_link(source, file) {
            self.fail(ctx, name, "Cannot link", &e);
        }
    }

    /// Makes another name of a file that was extracted; with `-v`, prints a message about it.
    fn link_again(&mut self, ctx: &mut Ctx<'_>, name: &[u8], first: &CpioLinkedFile, file: &Path) {
        self.make_link(ctx, name, &first.file, file);
        if self.options.verbose {
            ctx.error_bytes(&[name, b" linked to ", &first.name]);
        }
    }

    /// Writes a file with its data, or an empty file if there is no `reader`, and makes the other
    /// names that wait for it.
    fn write_file(
        &mut self,
        ctx: &mut Ctx<'_>,
        entry: &CpioEntry,
        file: &Path,
        reader: Option<&mut CpioReader<'_>>,
    ) -> Result<(), CpioError> {
        let mut out = match File::create(file) {
            Ok(out) => out,
            Err(e) => {
                self.fail(ctx, &entry.name, "Cannot open", &e);
                return Ok(());
            }
        };
        if let Some(reader) = reader {
            self.check_sum(ctx, entry, reader, &mut out)?;
        }
        drop(out);
        let _ = meta::chmod(file, (entry.mode & 0o7777) as u16);
        if self.options.keeps_times {
            let time = entry.mtime.saturating_mul(1_000_000_000);
            let _ = meta::set_times(file, Some(time), Some(time), true);
        }
        if entry.nlink > 1 {
            let key = (entry.dev, entry.ino);
            let first = CpioLinkedFile { name: entry.name.clone(), file: file.to_path_buf() };
            self.files.insert(key, first);
            for other in self.waiting.remove(&key).unwrap_or_default() {
                let place = ctx.path(&other.name);
                self.make_parent(&place);
                self.make_link(ctx, &other.name, file, &place);
                print_progress(ctx, self.options, &other.name);
            }
        }
        Ok(())
    }

    /// Makes the files whose data never came, and then the symbolic links. Sets the modes and times
    /// of directories, the deepest first.
    fn finish(&mut self, ctx: &mut Ctx<'_>) -> Result<(), CpioError> {
        while let Some((_, mut entries)) = self.waiting.pop_first() {
            let Some(first) = entries.pop() else { continue };
            let file = ctx.path(&first.name);
            self.write_file(ctx, &first, &file, None)?;
            for other in entries {
                let place = ctx.path(&other.name);
                self.make_link(ctx, &other.name, &file, &place);
            }
        }
        for (entry, file, target) in std::mem::take(&mut self.symlinks) {
            if let Err(e) = meta::symlink(&target, &file) {
                let target = String::from_utf8_lossy(&target).into_owned();
                let what = format!("Cannot create symlink to '{target}'");
                self.fail(ctx, &entry.name, &what, &e);
            } else if self.options.keeps_times {
                let time = entry.mtime.saturating_mul(1_000_000_000);
                let _ = meta::set_times(&file, None, Some(time), false);
            }
        }
        for (dir, (mode, mtime)) in self.dirs.iter().rev() {
            let _ = meta::chmod(dir, *mode);
            if self.options.keeps_times {
                let time = mtime.saturating_mul(1_000_000_000);
                let _ = meta::set_times(dir, None, Some(time), true);
            }
        }
        if self.options.has_dots && !self.options.lists {
            let _ = ctx.stderr.write_all(b"\n");
        }
        Ok(())
    }
}

/// Half a year in seconds. An older time is shown with its year.
const HALF_YEAR: i64 = 6 * 30 * 24 * 60 * 60;

/// Returns a time as `ls -l` shows it.
fn time_text(ctx: &Ctx<'_>, mtime: u64) -> Vec<u8> {
    let seconds = i64::try_from(mtime).unwrap_or(i64::MAX).min(1 << 40);
    let (now, _) = clock::current_time();
    let is_recent = (now - HALF_YEAR..=now).contains(&seconds);
    let format: &[u8] = if is_recent { b"%b %e %H:%M" } else { b"%b %e  %Y" };
    format_strftime(format, &ctx.zone().to_civil(seconds, 0))
}

/// A writer that adds up the bytes.
struct SumWriter<'a> {
    to: &'a mut dyn Write,
    sum: u32,
}

impl Write for SumWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.to.write(data)?;
        self.sum = data[..n].iter().fold(self.sum, |sum, c| sum.wrapping_add((*c).into()));
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
