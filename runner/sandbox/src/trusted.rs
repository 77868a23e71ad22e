//! Files that only this user can have written.
//!
//! Machine code is run without further checks, so a user with write access to its directory could
//! run code as us. This module checks the requirements:
//! - no directory on the way can be written by others; in one with the sticky bit (`/tmp`) other
//!   users cannot move our entries;
//! - the directory itself and its files are ours, and each file has one name only, because a second
//!   name could be in a place where a guest may write;
//! - a name is opened once, and the opened file is checked: a link, a FIFO or a device is refused
//!   without waiting for it.

use rustix::fs::{AtFlags, CWD, OFlags, RenameFlags, renameat_with, unlinkat};
use rustix::process::{getegid, geteuid};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// The maximum number of symbolic links on one path; more count as a loop, as in Linux.
const MAX_LINKS: usize = 40;

/// Creates the directory if necessary. The error says why it cannot be trusted.
pub fn private_dir(dir: &Path) -> Result<(), String> {
    if dir.symlink_metadata().is_err() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|e| e.to_string())?;
    }
    let m = dir.symlink_metadata().map_err(|e| e.to_string())?;
    if !m.is_dir() {
        return Err("it is not a directory".into());
    }
    if m.uid() != geteuid().as_raw() {
        return Err("it belongs to someone else".into());
    }
    if others_write(&m) {
        return Err("others can write to it".into());
    }
    way_to(dir)
}

/// Returns whether a user other than the owner can write. A group with the user's own number is the
/// user's own, as most systems set it up (with 002 as the mask of new files).
fn others_write(m: &Metadata) -> bool {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let own_group = user == group && m.gid() == group;
    m.mode() & if own_group { 0o002 } else { 0o022 } != 0
}

/// Checks every directory and link on the way to `path`, in the order in which the system resolves
/// them.
fn way_to(path: &Path) -> Result<(), String> {
    let path = std::path::absolute(path).map_err(|e| e.to_string())?;
    let parts = |p: &Path| -> VecDeque<OsString> {
        let names = p.components().filter(|c| !matches!(c, Component::RootDir | Component::CurDir));
        names.map(|c| c.as_os_str().to_owned()).collect()
    };
    let mut left = parts(&path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    check_path(&at)?;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        at.push(name);
        if !check_path(&at)?.is_symlink() {
            continue;
        }
        links += 1;
        let target = at.read_link().map_err(|e| format!("{}: {e}", at.display()))?;
        if links > MAX_LINKS {
            return Err("too many symbolic links lead to it".into());
        }
        at.pop();
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        let mut all = parts(&target);
        all.append(&mut left);
        left = all;
    }
    Ok(())
}

fn check_path(at: &Path) -> Result<Metadata, String> {
    const STICKY: u32 = 0o1000;
    let m = at.symlink_metadata().map_err(|e| format!("{}: {e}", at.display()))?;
    let owner = m.uid();
    if owner != 0 && owner != geteuid().as_raw() && !is_nobody_here(owner) {
        return Err(format!("{} on the way belongs to someone else", at.display()));
    }
    if m.is_dir() && others_write(&m) && m.mode() & STICKY == 0 {
        return Err(format!("others can write to {} on the way", at.display()));
    }
    Ok(m)
}

/// Returns whether this is the number that a user namespace shows for users outside of it, such as
/// root. No user within the namespace can have that number.
fn is_nobody_here(user: u32) -> bool {
    let read = |p: &str| std::fs::read_to_string(p).unwrap_or_default();
    let all: Vec<u64> = read("/proc/self/uid_map")
        .split_whitespace()
        .take(3)
        .map_while(|n| n.parse().ok())
        .collect();
    let is_part = all.len() == 3 && all[2] < u32::MAX.into();
    is_part && read("/proc/sys/kernel/overflowuid").trim().parse() == Ok(user)
}

/// Opens a file of a directory that [`private_dir`] has accepted.
pub fn open_trusted(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    check_file(&file)?;
    Ok(file)
}

fn check_file(file: &File) -> io::Result<()> {
    let m = file.metadata()?;
    let why = if !m.is_file() {
        "it is not a regular file"
    } else if m.uid() != geteuid().as_raw() {
        "it belongs to someone else"
    } else if others_write(&m) {
        "others can write to it"
    } else if m.nlink() > 1 {
        "it has another name besides"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Opens a file for locking, and creates it if necessary. Replaces a file that is not ours.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let open = || {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags.bits() as i32)
            .open(path)?;
        // A lock file without a name was just removed by its last holder; it serves as well as a
        // new one.
        if file.metadata()?.nlink() > 0 { check_file(&file).map(|()| file) } else { Ok(file) }
    };
    open().or_else(|_| {
        unlinkat(CWD, path, AtFlags::empty())?;
        open()
    })
}

/// Writes a file of mode 0600 that is complete or does not exist, even if the machine stops;
/// returns the open file. If `fresh` is set, an existing file stays, and an error is returned.
pub fn put_file(path: &Path, bytes: &[u8], fresh: bool) -> io::Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let result = (|| {
        let _ = std::fs::remove_file(&part);
        let flags = OFlags::NOFOLLOW.bits() as i32;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600).custom_flags(flags);
        let mut file = options.open(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        if fresh {
            match renameat_with(CWD, &part, CWD, path, RenameFlags::NOREPLACE) {
                // Not every file system supports such a rename; without it, the last of two writers
                // wins.
                Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
                done => return done.map(|()| file).map_err(Into::into),
            }
        }
        std::fs::rename(&part, path)?;
        Ok(file)
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn every_directory_on_the_way_counts() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("a/b/c");
        private_dir(&dir).unwrap();
        assert_eq!(dir.metadata().unwrap().mode() & 0o777, 0o700);
        set_mode(&tmp.path().join("a"), 0o777);
        assert!(private_dir(&dir).unwrap_err().contains("/a on the way"));
        set_mode(&tmp.path().join("a"), 0o1777);
        private_dir(&dir).unwrap();
        set_mode(&dir, 0o702);
        assert!(private_dir(&dir).is_err());
        set_mode(&dir, 0o700);
        // Links are followed, and the directory that contains the link is checked as well.
        std::fs::create_dir(tmp.path().join("open")).unwrap();
        symlink("../a/b", tmp.path().join("open/link")).unwrap();
        private_dir(&tmp.path().join("open/link/c")).unwrap();
        set_mode(&tmp.path().join("open"), 0o777);
        assert!(private_dir(&tmp.path().join("open/link/c")).is_err());
        symlink("circle", tmp.path().join("circle")).unwrap();
        assert!(private_dir(&tmp.path().join("circle/x")).is_err());
    }

    #[test]
    fn only_own_regular_files_are_opened() {
        let tmp = tempfile::tempdir().unwrap();
        let at = |name: &str| tmp.path().join(name);
        put_file(&at("good"), b"1", true).unwrap();
        open_trusted(&at("good")).unwrap();
        assert_eq!(
            put_file(&at("good"), b"2", true).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(std::fs::read(at("good")).unwrap(), b"1");
        put_file(&at("good"), b"3", false).unwrap();
        assert_eq!(std::fs::read(at("good")).unwrap(), b"3");
        symlink("good", at("link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
        for name in ["link", "fifo", "."] {
            assert!(open_trusted(&at(name)).is_err(), "{name}");
        }
        std::fs::hard_link(at("good"), at("second")).unwrap();
        assert!(open_trusted(&at("good")).is_err());
        std::fs::remove_file(at("second")).unwrap();
        set_mode(&at("good"), 0o606);
        assert!(open_trusted(&at("good")).is_err());
        // A lock is created again from any kind of file.
        open_lock(&at("fifo")).unwrap();
        assert!(at("fifo").symlink_metadata().unwrap().is_file());
    }
}
