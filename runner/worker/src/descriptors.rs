//! The descriptors that a process may have when its jail closes.
//!
//! Landlock does not restrict files that are open already, and no wall restricts a connected
//! socket: one descriptor too many is a way out. A worker is a copy of another process, and such a
//! copy inherits whatever that process holds. Therefore the list is checked each time.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

/// Devices that give nothing away.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/// The kernel's objects without a file that the sandbox uses.
const OBJECTS: &[&str] = &["anon_inode:[userfaultfd]", "anon_inode:[eventfd]"];

/// The descriptors that were promised to a process.
#[derive(Debug)]
pub struct PromisedDescriptors<'a> {
    /// The sockets to the parent; duplicates of them count as the same.
    pub sockets: &'a [BorrowedFd<'a>],
    /// Directories and files of the host, below which everything may be open.
    pub paths: &'a [PathBuf],
}

/// The reason why the open descriptors are not those that were promised.
#[derive(Debug, thiserror::Error)]
pub enum DescriptorError {
    #[error("descriptor {number} was not promised: {target}")]
    Unpromised { number: String, target: String },
    #[error("the open descriptors: {0}")]
    Io(#[from] io::Error),
}

impl PromisedDescriptors<'_> {
    /// Checks every open descriptor of this process. Files that are open for reading only, and
    /// files without a name, are the image and its machine code.
    ///
    /// # Errors
    /// Returns an error if a descriptor is open that was not promised, or if `/proc` cannot be
    /// read.
    pub fn check(&self) -> Result<(), DescriptorError> {
        let sockets = self.socket_inodes()?;
        let paths: Vec<PathBuf> = self.paths.iter().filter_map(|p| p.canonicalize().ok()).collect();
        for entry in fs::read_dir("/proc/self/fd")? {
            let entry = entry?;
            let path = entry.path();
            // The descriptor of the directory that is being read is closed after the loop.
            let Ok(target) = fs::read_link(&path) else { continue };
            if target.starts_with("/proc") && target.ends_with("fd") {
                continue;
            }
            if !is_promised(&path, &target, &sockets, &paths)? {
                return Err(DescriptorError::Unpromised {
                    number: entry.file_name().to_string_lossy().into_owned(),
                    target: target.display().to_string(),
                });
            }
        }
        Ok(())
    }

    fn socket_inodes(&self) -> io::Result<Vec<u64>> {
        self.sockets.iter().map(|s| Ok(fstat(s.as_fd())?.st_ino)).collect()
    }
}

/// Returns whether the descriptor at `path` in `/proc/self/fd`, whose target is `target`, is one of
/// these sockets, below one of these paths, or harmless.
fn is_promised(path: &Path, target: &Path, sockets: &[u64], paths: &[PathBuf]) -> io::Result<bool> {
    let named = |names: &[&str]| names.iter().any(|n| target.as_os_str() == OsStr::new(n));
    if named(DEVICES) || named(OBJECTS) {
        return Ok(true);
    }
    let metadata = fs::metadata(path)?;
    let kind = metadata.file_type();
    if kind.is_socket() {
        return Ok(sockets.contains(&metadata.ino()));
    }
    if paths.iter().any(|p| target.starts_with(p)) {
        return Ok(true);
    }
    // A file without a name (memfd_create(2)) or one that is only read.
    let is_nameless = target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:");
    Ok(kind.is_file() && (is_nameless || is_read_only(path)?))
}

/// Returns whether a descriptor is open for reading only (proc(5), `/proc/PID/fdinfo`).
fn is_read_only(path: &Path) -> io::Result<bool> {
    let number = path.file_name().unwrap_or_default();
    let info = fs::read_to_string(Path::new("/proc/self/fdinfo").join(number))?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    Ok(flags.is_some_and(|flags| flags & libc::O_ACCMODE as u32 == libc::O_RDONLY as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// Checks one descriptor, because the test program has others of its own.
    fn check_one(fd: BorrowedFd<'_>, sockets: &[BorrowedFd<'_>], paths: &[PathBuf]) -> bool {
        use std::os::fd::AsRawFd;
        let promised = PromisedDescriptors { sockets, paths };
        let path = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        let target = fs::read_link(&path).unwrap();
        is_promised(&path, &target, &promised.socket_inodes().unwrap(), paths).unwrap()
    }

    #[test]
    fn a_socket_is_promised_by_its_identity() {
        let (a, b) = UnixStream::pair().unwrap();
        let again = a.try_clone().unwrap();
        assert!(check_one(again.as_fd(), &[a.as_fd()], &[]));
        assert!(!check_one(b.as_fd(), &[a.as_fd()], &[]));
    }

    #[test]
    fn files_to_write_and_directories_belong_to_a_mount() {
        let dir = tempfile::tempdir().unwrap();
        let mount = dir.path().join("mount");
        fs::create_dir(&mount).unwrap();
        let inside = fs::File::create(mount.join("a")).unwrap();
        let outside = fs::File::create(dir.path().join("b")).unwrap();
        let read = fs::File::open(dir.path().join("b")).unwrap();
        let folder = fs::File::open(dir.path()).unwrap();
        let mounts = [mount.canonicalize().unwrap()];
        assert!(check_one(inside.as_fd(), &[], &mounts));
        assert!(!check_one(outside.as_fd(), &[], &mounts));
        assert!(check_one(read.as_fd(), &[], &mounts));
        assert!(!check_one(folder.as_fd(), &[], &mounts));
        let (pipe, _writer) = io::pipe().unwrap();
        assert!(!check_one(pipe.as_fd(), &[], &mounts));
    }
}
