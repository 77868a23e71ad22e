//! Paths, opening files, and replacing a file atomically.

use crate::FileLimits;
use crate::errno::errno_error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use wasibox_protocol::files::FilesError;
use wasibox_vfs::tree::ROOT;
use wasibox_vfs::walk::{LastComponent, MAX_NAME};
use wasibox_vfs::{Errno, FileKind, Loc, OpenFlags, OpenResult, Stat, Vfs, VfsFile};

/// The number of bytes that are read at once.
pub const PIECE: usize = 128 << 10;
/// The maximum number of names of a directory that are compared with a missing one.
const LOOKED_AT: usize = 5000;

/// The context of a request.
pub struct FileCtx<'a> {
    pub vfs: &'a Vfs,
    pub limits: &'a FileLimits,
    base: Loc,
    cwd: String,
    until: Instant,
}

/// The place of a file that may not exist: a directory and a name, with all symbolic links
/// followed.
pub struct FilePlace {
    pub dir: Loc,
    pub name: Vec<u8>,
    /// The status of the existing file.
    pub stat: Option<Stat>,
    /// The absolute path, for messages.
    pub shown: String,
}

const FOLLOW: OpenFlags = OpenFlags {
    read: false,
    write: false,
    append: false,
    create: false,
    excl: false,
    truncate: false,
    directory: false,
    follow: true,
};
/// The flags for reading a file: symbolic links are followed.
pub const READ: OpenFlags = OpenFlags { read: true, ..FOLLOW };
const WRITE: OpenFlags = OpenFlags { write: true, ..FOLLOW };

/// Converts a byte string to text, with replacement characters.
pub fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl<'a> FileCtx<'a> {
    /// Creates a context for operations in the directory `cwd` that must end by `until`.
    ///
    /// # Errors
    /// Returns an error if there is no such directory.
    pub fn new(
        vfs: &'a Vfs,
        cwd: &str,
        limits: &'a FileLimits,
        until: Instant,
    ) -> Result<FileCtx<'a>, FilesError> {
        let root = Loc::Tree(ROOT);
        let (base, path) =
            vfs.chdir(&root, cwd.as_bytes()).map_err(|e| errno_error("work in", cwd, e))?;
        Ok(FileCtx { vfs, limits, base, cwd: lossy_text(&path), until })
    }

    /// Returns an error if the time is up.
    pub fn check_time(&self, what: &str) -> Result<(), FilesError> {
        if Instant::now() < self.until {
            Ok(())
        } else {
            Err(FilesError::Time { what: what.to_owned() })
        }
    }

    /// Returns the absolute path, without redundant parts such as `.`.
    pub fn absolute_path(&self, path: &str) -> String {
        let whole =
            if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.cwd) };
        let mut out = String::new();
        for part in whole.split('/').filter(|p| !matches!(*p, "" | ".")) {
            out.push('/');
            out.push_str(part);
        }
        if out.is_empty() { "/".to_owned() } else { out }
    }

    /// Returns the directory that `path` is relative to: the working directory or the root.
    pub fn base_of(&self) -> &Loc {
        &self.base
    }

    /// Returns an error about a path.
    pub fn error_at(&self, action: &str, path: &str, e: Errno) -> FilesError {
        let shown = self.absolute_path(path);
        match e {
            Errno::NOENT => {
                FilesError::NotFound { similar: self.similar_names(&shown), path: shown }
            }
            _ => errno_error(action, &shown, e),
        }
    }

    /// Returns names similar to the first missing component of a path.
    fn similar_names(&self, path: &str) -> Vec<String> {
        let root = Loc::Tree(ROOT);
        let (mut dir, mut at) = (root, String::new());
        for part in path.split('/').filter(|p| !p.is_empty()) {
            let found = self.vfs.resolve_path(&dir, part.as_bytes(), LastComponent::Follow);
            if let Ok(Some(next)) = found.map(|w| w.found) {
                dir = next;
                at = format!("{at}/{part}");
                continue;
            }
            let Ok(names) = self.dir_names(&dir) else { return Vec::new() };
            let wanted = part.to_lowercase();
            let mut near: Vec<(usize, String)> = names
                .into_iter()
                .take(LOOKED_AT)
                .filter_map(|(name, _)| {
                    let name = String::from_utf8(name).ok()?;
                    let far = edit_distance(&wanted, &name.to_lowercase())?;
                    Some((far, format!("{at}/{name}")))
                })
                .collect();
            near.sort();
            return near.into_iter().take(3).map(|(_, name)| name).collect();
        }
        Vec::new()
    }

    /// Returns the status of a path.
    pub fn stat_path(&self, path: &str, follow: bool) -> Result<Stat, FilesError> {
        self.vfs
            .stat(&self.base, path.as_bytes(), follow)
            .map_err(|e| self.error_at("look at", path, e))
    }

    /// Resolves a path.
    pub fn resolve_path(&self, path: &str) -> Result<Loc, FilesError> {
        self.vfs
            .resolve_path(&self.base, path.as_bytes(), LastComponent::Follow)
            .and_then(|w| w.existing_loc())
            .map_err(|e| self.error_at("look at", path, e))
    }

    /// Returns a directory's entries, sorted, without `.` and `..`.
    pub fn dir_names(&self, dir: &Loc) -> Result<Vec<(Vec<u8>, FileKind)>, Errno> {
        let how = OpenFlags { directory: true, ..READ };
        let OpenResult::File(file) = self.vfs.open(dir, b".", how, 0)? else {
            return Err(Errno::NOTDIR);
        };
        let entries = self.vfs.list(file.loc().ok_or(Errno::NOTDIR)?)?;
        let mut names: Vec<_> = entries
            .into_iter()
            .filter(|e| !matches!(e.name.as_slice(), b"." | b".."))
            .map(|e| (e.name, e.kind))
            .collect();
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    /// Opens a regular file for reading.
    pub fn open(&self, path: &str) -> Result<(VfsFile, Stat), FilesError> {
        let stat = self.stat_path(path, true)?;
        if stat.kind != FileKind::File {
            return Err(FilesError::NotAFile {
                path: self.absolute_path(path),
                found: kind_name(stat.kind).to_owned(),
            });
        }
        self.open_at(&self.base, path.as_bytes()).map_err(|e| self.error_at("read", path, e))
    }

    /// Opens a regular file in a directory; any other kind is an error.
    pub fn open_at(&self, dir: &Loc, name: &[u8]) -> Result<(VfsFile, Stat), Errno> {
        let OpenResult::File(file) = self.vfs.open(dir, name, READ, 0)? else {
            return Err(Errno::NXIO);
        };
        if !matches!(file, VfsFile::Tree(_) | VfsFile::Host { .. }) {
            return Err(Errno::NXIO);
        }
        let stat = file.stat()?;
        Ok((file, stat))
    }

    /// Returns all bytes of a file that is to be edited.
    pub fn read_whole(&self, path: &str) -> Result<(Vec<u8>, Stat), FilesError> {
        let (file, stat) = self.open(path)?;
        let limit = self.limits.edited;
        let too_large = |size| FilesError::TooLarge { path: self.absolute_path(path), size, limit };
        if stat.size > limit {
            return Err(too_large(stat.size));
        }
        let mut out = Vec::new();
        let mut piece = vec![0; PIECE];
        loop {
            self.check_time("reading")?;
            match file
                .read(out.len() as u64, &mut piece)
                .map_err(|e| self.error_at("read", path, e))?
            {
                0 => return Ok((out, stat)),
                n => out.extend_from_slice(&piece[..n]),
            }
            // The file may grow meanwhile.
            if out.len() as u64 > limit {
                return Err(too_large(out.len() as u64));
            }
        }
    }

    /// Returns the place of a file that may not exist. With `make`, missing parent directories are
    /// created.
    pub fn find_place(&self, path: &str, make: bool) -> Result<FilePlace, FilesError> {
        let fail = |e| self.error_at("write", path, e);
        if path.is_empty() {
            return Err(FilesError::Invalid("the path is empty".to_owned()));
        }
        let walk = match self.vfs.resolve_path(&self.base, path.as_bytes(), LastComponent::Follow) {
            Err(Errno::NOENT) if make => {
                if let Some((above, _)) = path.trim_end_matches('/').rsplit_once('/') {
                    self.make_dirs(above)?;
                }
                self.vfs.resolve_path(&self.base, path.as_bytes(), LastComponent::Follow)
            }
            found => found,
        };
        let walk = walk.map_err(fail)?;
        let shown = self.absolute_path(path);
        let stat = match &walk.found {
            Some(_) => Some(self.stat_path(path, true)?),
            None => None,
        };
        if let Some(stat) = stat.filter(|s| s.kind != FileKind::File) {
            let found = kind_name(stat.kind).to_owned();
            return Err(FilesError::NotAFile { path: shown, found });
        }
        if walk.slash {
            return Err(fail(Errno::ISDIR));
        }
        let (dir, name) = walk.parent.ok_or_else(|| fail(Errno::ISDIR))?;
        Ok(FilePlace { dir, name, stat, shown })
    }

    /// Creates a directory and its missing parents; returns whether it was created.
    pub fn make_dirs(&self, path: &str) -> Result<bool, FilesError> {
        let fail = |e| self.error_at("make", path, e);
        let mut made = false;
        let mut at = if path.starts_with('/') { Loc::Tree(ROOT) } else { self.base.clone() };
        for part in path.split('/').filter(|p| !p.is_empty()) {
            let part = part.as_bytes();
            let look = || self.vfs.resolve_path(&at, part, LastComponent::Follow);
            let found = match look().map_err(fail)?.found {
                Some(found) => found,
                None => {
                    match self.vfs.mkdir(&at, part, 0o755) {
                        Ok(()) => made = true,
                        Err(Errno::EXIST) => {}
                        Err(e) => return Err(fail(e)),
                    }
                    look().and_then(|w| w.existing_loc()).map_err(fail)?
                }
            };
            at = found;
        }
        let stat = self.vfs.stat(&at, b".", true).map_err(fail)?;
        if stat.kind == FileKind::Dir { Ok(made) } else { Err(fail(Errno::NOTDIR)) }
    }

    /// Replaces a file's contents: a new file is written beside it and then renamed. `mode` applies
    /// to a new file, or changes the mode of an existing one.
    pub fn replace(
        &self,
        place: &FilePlace,
        bytes: &[u8],
        mode: Option<u16>,
    ) -> Result<(), FilesError> {
        let fail = |e| match e {
            Errno::STALE => FilesError::Changed { path: place.shown.clone() },
            e => errno_error("write", &place.shown, e),
        };
        if mode.is_some_and(|m| m & !0o7777 != 0) {
            return Err(FilesError::Invalid("mode must be permission bits".to_owned()));
        }
        let Some(stat) = &place.stat else {
            return self.replace_by_name(place, bytes, mode.unwrap_or(0o644)).map_err(fail);
        };
        // A file that the caller cannot write to must not be replaced either.
        let OpenResult::File(open) =
            self.vfs.open(&place.dir, &place.name, WRITE, 0).map_err(fail)?
        else {
            return Err(fail(Errno::NXIO));
        };
        if stat.nlink <= 1 {
            let mode = mode.unwrap_or(stat.mode);
            match self.replace_by_name(place, bytes, mode) {
                // The directory is read-only, or the file is a mount itself.
                Err(Errno::ACCES | Errno::BUSY | Errno::PERM | Errno::XDEV) => {}
                done => return done.map_err(fail),
            }
        }
        self.write_in_place(&open, bytes).map_err(fail)?;
        if let Some(mode) = mode {
            self.vfs.chmod(&place.dir, &place.name, mode).map_err(fail)?;
        }
        Ok(())
    }

    fn replace_by_name(&self, place: &FilePlace, bytes: &[u8], mode: u16) -> Result<(), Errno> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let how = OpenFlags { create: true, excl: true, ..WRITE };
        let mut tries = 0;
        let (name, file) = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed) ^ wasibox_vfs::now_ns();
            let mut name = b".".to_vec();
            name.extend_from_slice(&place.name[..place.name.len().min(MAX_NAME - 24)]);
            name.extend_from_slice(format!(".{number:016x}.new").as_bytes());
            match self.vfs.open(&place.dir, &name, how, mode) {
                Ok(OpenResult::File(file)) => break (name, file),
                Err(Errno::EXIST) if tries < 100 => tries += 1,
                Ok(_) => return Err(Errno::NXIO),
                Err(e) => return Err(e),
            }
        };
        let done = write_all(&file, bytes, 0).and_then(|()| {
            drop(file);
            if let Some(old) = &place.stat {
                let now = self.vfs.stat(&place.dir, &place.name, false)?;
                if (now.ino, now.mtime, now.size) != (old.ino, old.mtime, old.size) {
                    return Err(Errno::STALE);
                }
            }
            self.vfs.rename(&place.dir, &name, &place.dir, &place.name)
        });
        if done.is_err() {
            // Removes the unfinished file.
            let _ = self.vfs.remove(&place.dir, &name, false);
        }
        done
    }

    /// Overwrites a file's bytes, and restores them if there is no room for the new ones.
    fn write_in_place(&self, file: &VfsFile, bytes: &[u8]) -> Result<(), Errno> {
        let len = file.stat()?.size;
        if len > self.limits.edited {
            return Err(Errno::FBIG);
        }
        let mut old = vec![0; len as usize];
        let mut have = 0;
        while have < old.len() {
            match file.read(have as u64, &mut old[have..])? {
                0 => break,
                n => have += n,
            }
        }
        old.truncate(have);
        let done = write_all(file, bytes, 0).and_then(|()| file.set_len(bytes.len() as u64));
        if done.is_err() {
            let _ = write_all(file, &old, 0).and_then(|()| file.set_len(old.len() as u64));
        }
        done
    }

    /// Opens a file for writing in parts.
    pub fn open_to_write(&self, place: &FilePlace, mode: u16) -> Result<VfsFile, FilesError> {
        let how = OpenFlags { create: true, ..WRITE };
        match self.vfs.open(&place.dir, &place.name, how, mode) {
            Ok(OpenResult::File(file @ (VfsFile::Tree(_) | VfsFile::Host { .. }))) => Ok(file),
            Ok(_) => Err(errno_error("write", &place.shown, Errno::NXIO)),
            Err(e) => Err(errno_error("write", &place.shown, e)),
        }
    }
}

/// Writes all bytes at an offset.
pub fn write_all(file: &VfsFile, mut bytes: &[u8], mut at: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let part = &bytes[..bytes.len().min(1 << 20)];
        let (n, next) = file.write(at, false, part)?;
        if n == 0 {
            return Err(Errno::IO);
        }
        (bytes, at) = (&bytes[n..], next);
    }
    Ok(())
}

/// Returns the name of a kind, for messages.
pub fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "a regular file",
        FileKind::Dir => "a directory",
        FileKind::Symlink => "a symbolic link that leads nowhere",
        FileKind::Fifo => "a named pipe",
        FileKind::Socket => "a socket",
        FileKind::CharDevice | FileKind::BlockDevice => "a device",
    }
}

/// Returns the edit distance of two names if it is small: the number of letters to change, add or
/// remove. It is 0 for names that differ only in extension or case.
fn edit_distance(a: &str, b: &str) -> Option<usize> {
    let stem = |s: &'_ str| s.rsplit_once('.').map_or(s.to_owned(), |(stem, _)| stem.to_owned());
    if stem(a) == stem(b) {
        return Some(0);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let most = (a.len().max(b.len()) / 4).clamp(1, 3);
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > MAX_NAME {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().filter(|d| *d <= most)
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn names_that_are_near() {
        assert_eq!(edit_distance("main.py", "main.rs"), Some(0));
        assert_eq!(edit_distance("confg.toml", "config.toml"), Some(1));
        assert_eq!(edit_distance("setup.cfg", "readme.md"), None);
        assert_eq!(edit_distance("a", "b"), Some(1));
    }
}
