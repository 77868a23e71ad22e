//! `tar -x`: extracts members as files.
//!
//! A hostile archive cannot write outside the target directory. Unless `--absolute-names` is given,
//! the leading slash of a name is removed, and a name with `..` is refused. Symbolic links are made
//! last, so no member is written through a link of the same archive. The holes of a sparse file are
//! not written, so their length costs nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use box_applet::Ctx;
use box_sys::{FileKind, Stat, error_text, meta, path};

use super::confirm::{Confirmation, ConfirmedAction};
use super::list::NamePrinter;
use super::member::{Member, MemberKind, SparsePiece};
use super::options::{ExistingFile, TarItem, TarOptions};
use super::pipe::run_command;
use super::read::ArchiveInput;
use super::transform::NameKind;
use super::{Outcome, TarFatal};

/// The state of an extraction, with the work that must wait until all data is written.
struct Extraction<'r> {
    options: &'r TarOptions,
    target: PathBuf,
    umask: u16,
    symlinks: Vec<WaitingLink>,
    /// The modes and times of directories. They are set last, because writing the contents would
    /// change them.
    dirs: BTreeMap<PathBuf, (u16, u64)>,
}

/// A symbolic link that is made last.
struct WaitingLink {
    /// The name in messages.
    name: Vec<u8>,
    /// The path at which the link is made.
    file: PathBuf,
    target: Vec<u8>,
    /// The modification time in nanoseconds since the epoch.
    mtime: u64,
}

/// A file that is made for a member.
struct NewFile<'m> {
    /// The name in messages.
    name: &'m [u8],
    /// The path at which the file is made.
    file: PathBuf,
    kind: MemberKind,
    mode: u16,
    /// The modification time in nanoseconds since the epoch.
    mtime: u64,
}

/// The reason why a member does not replace an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemberStop {
    /// The existing file is kept, which is not a failure.
    Kept,
    /// The existing file cannot be replaced. The message has been printed.
    Failed,
}

impl NewFile<'_> {
    /// Reports an error of the member; returns false.
    fn report_failure(&self, ctx: &mut Ctx<'_>, what: &str, e: &io::Error) -> bool {
        let text = format!(": {what}: {}", error_text(e));
        ctx.error_bytes(&[self.name, text.as_bytes()]);
        false
    }
}

/// Returns the directory to which the last `-C` leads.
pub fn target_directory(ctx: &Ctx<'_>, options: &TarOptions) -> Result<PathBuf, TarFatal> {
    let mut target = ctx.cwd.clone();
    for item in &options.items {
        if let TarItem::Directory(d) = item {
            target = path::resolve_path(&target, d);
            if let Err(e) = std::fs::read_dir(&target) {
                return Err(TarFatal::cannot_open(d, &e));
            }
        }
    }
    Ok(target)
}

/// Extracts an archive (`tar -x`).
pub fn extract_archive(
    ctx: &mut Ctx<'_>,
    options: &TarOptions,
    input: &mut ArchiveInput<'_>,
) -> Outcome {
    let mut extraction = Extraction {
        options,
        target: target_directory(ctx, options)?,
        umask: meta::umask(),
        symlinks: Vec::new(),
        dirs: BTreeMap::new(),
    };
    let mut printer = NamePrinter::open(ctx, options)?;
    let mut confirmation = Confirmation::open(ctx, options)?;
    let mut ok = true;
    while let Some(member) = input.next_wanted(ctx, options)? {
        let name = input.extracted_name(ctx, options, &member.name, NameKind::Member);
        let Some(name) = name else { continue };
        if let Some(confirmation) = &mut confirmation {
            let placed = extraction.place_name(name.clone());
            let placed = path::strip_slashes(&placed);
            if !confirmation.is_confirmed(ctx, options, ConfirmedAction::Extract, placed)? {
                continue;
            }
        }
        let mut shown = member.clone();
        if options.print.transformed {
            shown.name.clone_from(&name);
        }
        printer.print_member(ctx, &shown, input.block_number(), false)?;
        if options.extract.to_stdout {
            if member.kind.is_file() {
                copy_data(input, &member, &mut ctx.stdout).map_err(|e| input.io_fatal(ctx, e))?;
            }
            continue;
        }
        if let Some(command) = &options.extract.to_command {
            if member.kind.is_file() {
                ok &= run_command(ctx, options, command, &name, &member, input)?;
            }
            continue;
        }
        let is_up = |name: &[u8]| name.split(|c| *c == b'/').any(|part| part == b"..");
        if !options.names.absolute && is_up(&member.name) {
            ctx.error_bytes(&[&member.name, b": Member name contains '..'"]);
            ok = false;
            continue;
        }
        let name = extraction.place_name(name);
        ok &= extraction.extract_member(ctx, &name, &member, input)?;
    }
    printer.finish()?;
    ok &= extraction.finish(ctx);
    Ok(input.finish(ctx, options)? && ok)
}

/// Copies a member's data to `out`. The holes of a sparse file are written as zeros.
pub fn copy_data(
    input: &mut ArchiveInput<'_>,
    member: &Member,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(pieces) = &member.sparse else {
        return copy_exactly(input, member.size, out);
    };
    let mut at = 0;
    for (start, length) in pieces {
        io::copy(&mut io::repeat(0).take(start - at), out)?;
        copy_exactly(input, *length, out)?;
        at = start + length;
    }
    io::copy(&mut io::repeat(0).take(member.size - at), out).map(drop)
}

/// Copies exactly `length` bytes of a member's data.
fn copy_exactly(input: &mut ArchiveInput<'_>, length: u64, out: &mut dyn Write) -> io::Result<()> {
    let copied = io::copy(&mut input.reader().take(length), out)?;
    if copied < length {
        return Err(super::decode::DecodeError::Malformed.into());
    }
    Ok(())
}

/// An error of a copy, by the side on which it occurred.
enum CopyError {
    Input(io::Error),
    Output(io::Error),
}

/// Copies a member's data to a file. The holes of a sparse file are not written.
fn fill_file(
    input: &mut ArchiveInput<'_>,
    member: &Member,
    file: &mut File,
) -> Result<(), CopyError> {
    let whole: &[SparsePiece] = &[(0, member.size)];
    let pieces = member.sparse.as_deref().unwrap_or(whole);
    let mut buf = vec![0u8; 1 << 16];
    for (start, length) in pieces {
        if *start > 0 {
            file.seek(SeekFrom::Start(*start)).map_err(CopyError::Output)?;
        }
        let mut left = *length;
        while left > 0 {
            let most = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let n = input.reader().read(&mut buf[..most]).map_err(CopyError::Input)?;
            if n == 0 {
                return Err(CopyError::Input(super::decode::DecodeError::Malformed.into()));
            }
            file.write_all(&buf[..n]).map_err(CopyError::Output)?;
            left -= n as u64;
        }
    }
    if member.sparse.is_some() {
        file.set_len(member.size).map_err(CopyError::Output)?;
    }
    Ok(())
}

impl Extraction<'_> {
    /// Returns a name within the directory of `--one-top-level`.
    fn place_name(&self, name: Vec<u8>) -> Vec<u8> {
        let Some(top) = &self.options.extract.top_level else { return name };
        let relative = name.strip_prefix(b"./").unwrap_or(&name);
        match relative.strip_prefix(&top[..]) {
            Some(rest) if rest.is_empty() || rest[0] == b'/' => name,
            _ => path::join_path(top, relative),
        }
    }

    /// Extracts one member; returns false if it failed and a message was printed.
    fn extract_member(
        &mut self,
        ctx: &mut Ctx<'_>,
        name: &[u8],
        member: &Member,
        input: &mut ArchiveInput<'_>,
    ) -> Result<bool, TarFatal> {
        let preserve = self.options.extract.preserve_mode;
        let m = NewFile {
            name,
            file: path::resolve_path(&self.target, name),
            kind: member.kind,
            mode: if preserve { member.mode } else { member.mode & 0o777 & !self.umask },
            mtime: member.mtime.to_nanos(),
        };
        let mut ok = true;
        let existing = meta::stat(&m.file, false).ok();
        let is_dir = existing.is_some_and(|old| old.kind == FileKind::Dir);
        if let Some(old) = existing {
            if !(m.kind == MemberKind::Directory && is_dir) {
                if let Err(stop) = self.make_room(ctx, &m, &old, member) {
                    return Ok(stop == MemberStop::Kept);
                }
            } else if self.options.extract.unlink_first
                && let Err(e) = std::fs::remove_dir(&m.file)
            {
                let name = path::strip_slashes(m.name);
                let text = format!(": Cannot unlink: {}", error_text(&e));
                ctx.error_bytes(&[name, text.as_bytes()]);
                ok = false;
            }
        }
        if let Some(parent) = m.file.parent()
            && let Err(e) = std::fs::create_dir_all(parent)
        {
            return Ok(m.report_failure(ctx, "Cannot open", &e));
        }
        Ok(self.make_file(ctx, m, member, input)? && ok)
    }

    /// Makes the file of a member after [`Extraction::make_room`]. Returns false if it failed and a
    /// message was printed.
    fn make_file(
        &mut self,
        ctx: &mut Ctx<'_>,
        m: NewFile<'_>,
        member: &Member,
        input: &mut ArchiveInput<'_>,
    ) -> Result<bool, TarFatal> {
        match m.kind {
            MemberKind::Directory => {
                if let Err(e) = std::fs::create_dir(&m.file)
                    && !meta::stat(&m.file, false).is_ok_and(|s| s.kind == FileKind::Dir)
                {
                    return Ok(m.report_failure(ctx, "Cannot mkdir", &e));
                }
                self.dirs.insert(m.file, (m.mode, m.mtime));
            }
            MemberKind::Symlink => {
                let to = input.extracted_name(ctx, self.options, &member.link, NameKind::Symlink);
                self.symlinks.push(WaitingLink {
                    name: m.name.to_vec(),
                    file: m.file,
                    target: to.unwrap_or_default(),
                    mtime: m.mtime,
                });
            }
            MemberKind::HardLink => return Ok(self.hard_link(ctx, &m, member, input)),
            MemberKind::Fifo => {
                if let Err(e) = meta::mkfifo(&m.file, m.mode) {
                    return Ok(m.report_failure(ctx, "Cannot mkfifo", &e));
                }
            }
            MemberKind::CharDevice | MemberKind::BlockDevice => {
                ctx.error_bytes(&[m.name, b": Cannot mknod: Operation not permitted"]);
                return Ok(false);
            }
            MemberKind::Label => {}
            MemberKind::File | MemberKind::Other(_) => {
                return self.extract_regular(ctx, &m, member, input);
            }
        }
        Ok(true)
    }

    /// Removes the existing file `old` in a member's place if the options allow it.
    ///
    /// # Errors
    /// The member must not be made.
    fn make_room(
        &self,
        ctx: &mut Ctx<'_>,
        m: &NewFile<'_>,
        old: &Stat,
        member: &Member,
    ) -> Result<(), MemberStop> {
        match self.options.extract.existing {
            ExistingFile::Skip => return Err(MemberStop::Kept),
            ExistingFile::KeepNewer if old.mtime >= m.mtime => {
                ctx.error_bytes(&[b"Current '", m.name, b"' is newer or same age"]);
                return Err(MemberStop::Kept);
            }
            ExistingFile::Keep if m.kind == MemberKind::HardLink && self.is_linked(m, member) => {
                return Err(MemberStop::Kept);
            }
            ExistingFile::Keep => {
                let link = String::from_utf8_lossy(&member.link);
                let what = match m.kind {
                    MemberKind::HardLink => format!("Cannot hard link to '{link}'"),
                    MemberKind::Symlink => format!("Cannot create symlink to '{link}'"),
                    MemberKind::Directory => "Cannot mkdir".into(),
                    _ => "Cannot open".into(),
                };
                ctx.error_bytes(&[m.name, b": ", what.as_bytes(), b": File exists"]);
                return Err(MemberStop::Failed);
            }
            // `--overwrite` writes to the existing regular file, so its other names also change.
            ExistingFile::Overwrite if old.kind == FileKind::File && m.kind.is_file() => {
                return Ok(());
            }
            _ => {}
        }
        let removed = match old.kind {
            FileKind::Dir if self.options.extract.recursive_unlink => {
                std::fs::remove_dir_all(&m.file)
            }
            FileKind::Dir => std::fs::remove_dir(&m.file),
            _ => std::fs::remove_file(&m.file),
        };
        let exists = io::Error::from(io::ErrorKind::AlreadyExists);
        removed.map_err(|_| {
            m.report_failure(ctx, "Cannot open", &exists);
            MemberStop::Failed
        })
    }

    /// Returns whether an existing file already is the hard link that a member describes.
    fn is_linked(&self, m: &NewFile<'_>, member: &Member) -> bool {
        let source = path::resolve_path(&self.target, path::strip_slashes(&member.link));
        match (meta::stat(&source, false), meta::stat(&m.file, false)) {
            (Ok(a), Ok(b)) => (a.dev, a.ino) == (b.dev, b.ino),
            _ => false,
        }
    }

    /// Makes a hard link to a file that was extracted; returns false if it failed.
    fn hard_link(
        &mut self,
        ctx: &mut Ctx<'_>,
        m: &NewFile<'_>,
        member: &Member,
        input: &mut ArchiveInput<'_>,
    ) -> bool {
        let to = input.extracted_name(ctx, self.options, &member.link, NameKind::HardLink);
        let Some(to) = to else { return false };
        let to = self.place_name(to);
        let source = path::resolve_path(&self.target, &to);
        if source == m.file {
            return true;
        }
        let Err(e) = std::fs::hard_link(&source, &m.file) else { return true };
        // The target may be a symbolic link that is not made yet.
        let waiting = self.symlinks.iter().find(|link| link.file == source);
        let waiting = waiting.map(|link| link.target.clone());
        match waiting {
            Some(target) => {
                let (name, file) = (m.name.to_vec(), m.file.clone());
                self.symlinks.push(WaitingLink { name, file, target, mtime: m.mtime });
                true
            }
            None => {
                let what = format!("Cannot hard link to '{}'", String::from_utf8_lossy(&to));
                m.report_failure(ctx, &what, &e)
            }
        }
    }

    /// Writes a regular file with its data, mode and time; returns false if it failed and a message
    /// was printed.
    fn extract_regular(
        &self,
        ctx: &mut Ctx<'_>,
        m: &NewFile<'_>,
        member: &Member,
        input: &mut ArchiveInput<'_>,
    ) -> Result<bool, TarFatal> {
        let mut out = match File::create(&m.file) {
            Ok(f) => f,
            Err(e) => return Ok(m.report_failure(ctx, "Cannot open", &e)),
        };
        match fill_file(input, member, &mut out) {
            Ok(()) => {}
            Err(CopyError::Output(e)) => return Ok(m.report_failure(ctx, "Cannot write", &e)),
            Err(CopyError::Input(e)) => return Err(input.io_fatal(ctx, e)),
        }
        drop(out);
        self.set_metadata(&m.file, m.mode, m.mtime);
        Ok(true)
    }

    /// Sets the mode of a file if it differs, and its time.
    fn set_metadata(&self, file: &Path, mode: u16, mtime: u64) {
        if meta::stat(file, false).is_ok_and(|s| s.mode != mode) {
            let _ = meta::chmod(file, mode);
        }
        if !self.options.extract.touch {
            let _ = meta::set_times(file, None, Some(mtime), true);
        }
    }

    /// Makes the symbolic links, and then sets the modes and times of directories, the deepest
    /// first. Returns whether all links could be made.
    fn finish(self, ctx: &mut Ctx<'_>) -> bool {
        let mut ok = true;
        for link in &self.symlinks {
            if let Err(e) = meta::symlink(&link.target, &link.file) {
                let to = String::from_utf8_lossy(&link.target);
                let text = format!(": Cannot create symlink to '{to}': {}", error_text(&e));
                ctx.error_bytes(&[&link.name, text.as_bytes()]);
                ok = false;
            } else if !self.options.extract.touch {
                let _ = meta::set_times(&link.file, None, Some(link.mtime), false);
            }
        }
        for (dir, (mode, mtime)) in self.dirs.iter().rev() {
            self.set_metadata(dir, *mode, *mtime);
        }
        ok
    }
}
