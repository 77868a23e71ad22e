//! Extracts members as files. Nothing is written outside the target directory: leading slashes and
//! `..` are removed from names, and symbolic links are made last, so no member is written through a
//! link of the same archive.

use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use box_applet::Ctx;
use box_sys::{FileKind, meta, path};
use box_text::time::Zone;

use super::data::{self, MemberProblem};
use super::format::{STORED, ZipEntry};
use super::unzip::refuse_member;
use super::{lossy_name, print_message};

/// The treatment of existing files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Overwrite {
    #[default]
    Ask,
    All,
    None,
}

/// The options for extraction.
#[derive(Clone, Debug, Default)]
pub struct Extract {
    pub dir: Option<Vec<u8>>,
    pub overwrite: Overwrite,
    pub quiet: bool,
    /// Whether directories are left out of names.
    pub junk: bool,
    /// Whether names become lower case.
    pub lower: bool,
    /// Whether only existing files that are older are replaced.
    pub freshen: bool,
    /// Whether existing files that are older are replaced and missing files are created.
    pub update: bool,
    /// Whether carriage returns are removed from text files.
    pub text: bool,
    /// Whether the set-ID and sticky bits are kept.
    pub special: bool,
}

/// The state of an extraction.
struct ExtractRun<'r> {
    how: &'r Extract,
    archive: &'r mut File,
    zone: &'r Zone,
    /// The treatment of existing files, which an answer to a prompt may change.
    overwrite: Overwrite,
    /// The names, paths and targets of symbolic links, which are made last.
    links: Vec<(Vec<u8>, PathBuf, Vec<u8>)>,
    /// The directories with their modes and times, which are set last.
    dirs: Vec<(PathBuf, Option<u16>, i64)>,
}

impl Extract {
    /// Extracts the members in `chosen`; returns the exit status.
    pub fn run(&self, ctx: &mut Ctx<'_>, file: &mut File, chosen: &[&ZipEntry], zone: &Zone) -> u8 {
        if let Some(dir) = &self.dir
            && let Err(e) = fs::create_dir_all(ctx.path(dir))
        {
            let shown = String::from_utf8_lossy(dir).into_owned();
            let why = box_sys::error_text(&e);
            let text = format!(
                "checkdir:  cannot create extraction directory: {shown}\n           {why}\n"
            );
            let _ = ctx.stderr.write_all(text.as_bytes());
            return 2;
        }
        let mut run = ExtractRun {
            how: self,
            archive: file,
            zone,
            overwrite: self.overwrite,
            links: Vec::new(),
            dirs: Vec::new(),
        };
        let status = chosen.iter().map(|e| run.member(ctx, e)).max().unwrap_or(0);
        status.max(run.finish_links(ctx))
    }
}

impl ExtractRun<'_> {
    /// Makes the symbolic links, and sets the modes and times of directories. They are set last,
    /// because making files in a directory changes its time. Returns the exit status.
    fn finish_links(self, ctx: &mut Ctx<'_>) -> u8 {
        let mut status = 0;
        if !self.links.is_empty() && !self.how.quiet {
            let _ = ctx.stdout.write_all(b"finishing deferred symbolic links:\n");
        }
        for (name, file, target) in self.links {
            if !self.how.quiet {
                let (name, target) = (lossy_name(&name), lossy_name(&target));
                let _ = writeln!(ctx.stdout, "  {name:<22} -> {target}");
            }
            let _ = fs::remove_file(&file);
            if let Err(e) = meta::symlink(&target, &file) {
                ctx.error(format_args!(" symlink error: {}", box_sys::error_text(&e)));
                status = 1;
            }
        }
        // Inner directories come first.
        for (dir, mode, time) in self.dirs.iter().rev() {
            if let Some(mode) = mode {
                let _ = meta::chmod(dir, *mode);
            }
            let nanos = to_nanos(*time);
            let _ = meta::set_times(dir, Some(nanos), Some(nanos), true);
        }
        status
    }

    /// Extracts one member; returns the exit status.
    fn member(&mut self, ctx: &mut Ctx<'_>, e: &ZipEntry) -> u8 {
        let Some((name, status)) = self.how.target_name(ctx, e) else { return 0 };
        let time = e.modified_epoch(self.zone);
        let mask = if self.how.special { 0o7777 } else { 0o777 };
        let mode = e.unix_mode().map(|m| (m & mask) as u16);
        if e.is_dir() {
            return status.max(self.directory(ctx, &name, mode, time));
        }
        let name = match self.find_place(ctx, name, time) {
            Ok(name) => name,
            Err(skipped) => return status.max(skipped),
        };
        let path = ctx.path(&name);
        let stored = if e.is_symlink() {
            self.link(ctx, e, &name, &path)
        } else {
            self.plain(ctx, e, &name, &path)
        };
        match stored {
            Ok(()) if e.is_symlink() => status,
            Ok(()) => {
                let nanos = to_nanos(time);
                if let Some(mode) = mode {
                    let _ = meta::chmod(&path, mode & !(meta::umask() & 0o777));
                }
                let _ = meta::set_times(&path, Some(nanos), Some(nanos), true);
                status
            }
            Err(problem) => status.max(refuse_member(ctx, e, problem)),
        }
    }

    /// Decides whether a member is written, considering a file that already exists. Returns the
    /// name of the file to write.
    ///
    /// # Errors
    /// The member is skipped. The error is the exit status for that.
    fn find_place(&mut self, ctx: &mut Ctx<'_>, name: Vec<u8>, time: i64) -> Result<Vec<u8>, u8> {
        let old = meta::stat(&ctx.path(&name), false).ok();
        if self.how.freshen || self.how.update {
            match &old {
                None if self.how.freshen => return Err(0),
                Some(old) if (old.mtime / 1_000_000_000) as i64 >= time => return Err(0),
                _ => {}
            }
        }
        match self.overwrite {
            _ if old.is_none() => Ok(name),
            Overwrite::None => Err(0),
            Overwrite::All => Ok(name),
            Overwrite::Ask => match ask_overwrite(ctx, &name) {
                OverwriteAnswer::Yes => Ok(name),
                OverwriteAnswer::All => {
                    self.overwrite = Overwrite::All;
                    Ok(name)
                }
                OverwriteAnswer::No => Err(0),
                OverwriteAnswer::Never => {
                    self.overwrite = Overwrite::None;
                    Err(0)
                }
                OverwriteAnswer::End => {
                    self.overwrite = Overwrite::None;
                    Err(1)
                }
                OverwriteAnswer::Rename(other) => Ok(other),
            },
        }
    }

    fn plain(
        &mut self,
        ctx: &mut Ctx<'_>,
        e: &ZipEntry,
        name: &[u8],
        path: &Path,
    ) -> Result<(), MemberProblem> {
        data::check_member(e)?;
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(|_| no_directory(ctx, name))?;
        }
        if !self.how.quiet {
            let what = if e.method == STORED { " extracting" } else { "  inflating" };
            let shown = lossy_name(name);
            let _ = write!(ctx.stdout, "{what}: {shown:<22}  ");
        }
        let out = create_new(path).map_err(MemberProblem::Output)?;
        let mut out = LineEndWriter {
            out: io::BufWriter::with_capacity(1 << 16, out),
            on: self.how.text && e.internal & 1 != 0,
        };
        data::unpack_member(self.archive, e, &mut out)?;
        if !self.how.quiet {
            let _ = ctx.stdout.write_all(b"\n");
        }
        out.flush().map_err(MemberProblem::Output)
    }

    fn link(
        &mut self,
        ctx: &mut Ctx<'_>,
        e: &ZipEntry,
        name: &[u8],
        path: &Path,
    ) -> Result<(), MemberProblem> {
        const LONGEST: u64 = 4096;
        if e.size > LONGEST {
            return Err(MemberProblem::Invalid("the link's target is too long".into()));
        }
        let mut target = Vec::new();
        data::unpack_member(self.archive, e, &mut target)?;
        if !self.how.quiet {
            let (shown, to) = (lossy_name(name), lossy_name(&target));
            let _ = writeln!(ctx.stdout, "    linking: {shown:<22}  -> {to} ");
        }
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(|_| no_directory(ctx, name))?;
        }
        // An empty file takes the place of the link until the end, so that nothing can be made
        // below it.
        create_new(path).map_err(MemberProblem::Output)?;
        self.links.push((name.to_vec(), path.to_path_buf(), target));
        Ok(())
    }

    fn directory(&mut self, ctx: &mut Ctx<'_>, name: &[u8], mode: Option<u16>, time: i64) -> u8 {
        let path = ctx.path(name);
        let is_there = meta::stat(&path, true).is_ok_and(|s| s.kind == FileKind::Dir);
        if is_there || self.how.freshen {
            return 0;
        }
        if !self.how.quiet {
            let _ = writeln!(ctx.stdout, "   creating: {}", lossy_name(name));
        }
        if let Err(e) = fs::create_dir_all(&path) {
            let (shown, why) = (lossy_name(name), box_sys::error_text(&e));
            let text = format!("checkdir error:  cannot create {shown}\n                 {why}\n");
            print_message(ctx, &text);
            return 2;
        }
        self.dirs.push((path, mode.map(|m| m & !(meta::umask() & 0o777)), time));
        0
    }
}

impl Extract {
    /// Returns the name of the file for a member, and the exit status, which is 1 if parts of the
    /// name were removed with a warning. Returns `None` if no name is left.
    fn target_name(&self, ctx: &mut Ctx<'_>, e: &ZipEntry) -> Option<(Vec<u8>, u8)> {
        let mut status = 0;
        let mut warn = |text: String| {
            print_message(ctx, &text);
            status = 1;
        };
        let shown = lossy_name(&e.name);
        if e.name.starts_with(b"/") {
            warn(format!("warning:  stripped absolute path spec from {shown}\n"));
        }
        let parts = e.name.split(|c| *c == b'/').filter(|p| !p.is_empty() && *p != b".");
        if parts.clone().any(|p| p == b"..") {
            warn(format!("warning:  skipped \"../\" path component(s) in {shown}\n"));
        }
        let mut parts: Vec<&[u8]> = parts.filter(|p| *p != b"..").collect();
        if self.junk {
            if e.is_dir() {
                return None;
            }
            parts = parts.pop().into_iter().collect();
        }
        if parts.is_empty() {
            return None;
        }
        let mut name = parts.join(&b'/');
        // No system allows NUL in names.
        name.retain(|c| *c != 0);
        if self.lower {
            name.make_ascii_lowercase();
        }
        if let Some(dir) = &self.dir {
            let dir = dir.strip_suffix(b"/").filter(|d| !d.is_empty()).unwrap_or(dir);
            name = path::join_path(dir, &name);
        }
        if e.is_dir() {
            name.push(b'/');
        }
        Some((name, status))
    }
}

/// Returns the error that names the part of a path that is not a directory.
fn no_directory(ctx: &Ctx<'_>, name: &[u8]) -> MemberProblem {
    let slashes = name.iter().enumerate().filter(|(_, c)| **c == b'/').map(|(at, _)| at);
    let file = slashes
        .map(|at| &name[..at])
        .find(|part| meta::stat(&ctx.path(part), true).is_ok_and(|s| s.kind != FileKind::Dir));
    MemberProblem::Directory(lossy_name(file.unwrap_or(name)))
}

/// Creates a new, empty file. An existing link is replaced and not followed.
fn create_new(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => File::create(path),
    }
}

enum OverwriteAnswer {
    Yes,
    No,
    All,
    Never,
    Rename(Vec<u8>),
    /// There is no further input, so nobody can be asked.
    End,
}

fn ask_overwrite(ctx: &mut Ctx<'_>, name: &[u8]) -> OverwriteAnswer {
    loop {
        let question = [b"replace ", name, b"? [y]es, [n]o, [A]ll, [N]one, [r]ename: "].concat();
        let _ = ctx.stdout.flush();
        let _ = ctx.stderr.write_all(&question);
        let mut line = Vec::new();
        if ctx.stdin.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            let text = b" NULL\n(EOF or read error, treating as \"[N]one\" ...)\n";
            let _ = ctx.stderr.write_all(text);
            return OverwriteAnswer::End;
        }
        match line.first() {
            Some(b'y' | b'Y') => return OverwriteAnswer::Yes,
            Some(b'n') => return OverwriteAnswer::No,
            Some(b'A') => return OverwriteAnswer::All,
            Some(b'N') => return OverwriteAnswer::Never,
            Some(b'r' | b'R') => {
                let _ = ctx.stderr.write_all(b"new name: ");
                let mut line = Vec::new();
                let _ = ctx.stdin.read_until(b'\n', &mut line);
                let new = line.trim_ascii().to_vec();
                return if new.is_empty() {
                    OverwriteAnswer::No
                } else {
                    OverwriteAnswer::Rename(new)
                };
            }
            _ => {
                let shown = lossy_name(line.trim_ascii());
                let text = format!("error:  invalid response [{shown}]\n");
                let _ = ctx.stderr.write_all(text.as_bytes());
            }
        }
    }
}

/// A writer that removes carriage returns if it is on.
struct LineEndWriter<W: Write> {
    out: W,
    on: bool,
}

impl<W: Write> Write for LineEndWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.on {
            let text: Vec<u8> = data.iter().copied().filter(|c| *c != b'\r').collect();
            self.out.write_all(&text)?;
        } else {
            self.out.write_all(data)?;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn to_nanos(seconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000)
}
