//! WASI preview 1: paths.

use super::border::{CloseOnExec, Fd, GuestBuf, GuestStr, LookupFlags, Opening, PathAt, SetTimes};
use super::call_fd::{install_file, open_file, put_stat};
use super::call_terminal;
use super::cells::can_be_named;
use super::descriptors::OpenDescription;
use super::guest::{GuestCall, Sys};
use super::host::Host;
use super::memory::CallMemory;
use crate::lock_mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_vfs::{Errno, Loc, OpenFlags, OpenResult, Stat, StatResult, VfsFile};

/// Modes of new files and directories, before the process's umask is applied.
const NEW_FILE: u16 = 0o666;
const NEW_DIR: u16 = 0o777;

/// Returns the directory of a descriptor, and the path.
fn resolve_at<H: Host>(c: &GuestCall<'_, H>, path: PathAt) -> Result<(Loc, Vec<u8>), Errno> {
    let open = open_file(c, path.fd)?;
    let path = path.path.read_path(&c.mem)?;
    if path.first() == Some(&b'/') {
        return Ok((Loc::Tree(wasibox_vfs::tree::ROOT), path));
    }
    Ok((open.file.loc().ok_or(Errno::NOTDIR)?.clone(), path))
}

/// `open(2)` on behalf of a process. A path that stands for one of its own descriptors may return
/// that descriptor's open file description.
pub fn open_at<H: Host>(
    c: &GuestCall<'_, H>,
    base: &Loc,
    path: &[u8],
    Opening { lookup, oflags, rights, fdflags }: Opening,
) -> Result<Arc<OpenDescription>, Errno> {
    let write = rights.can_write();
    let read = rights.can_read() || !write;
    let how = OpenFlags {
        read,
        write,
        append: fdflags.is_append(),
        create: oflags.creates_file(),
        excl: oflags.is_exclusive(),
        truncate: oflags.truncates_file(),
        directory: oflags.is_directory(),
        follow: lookup.follows_links(),
    };
    if !write && is_node(base, path, box_abi::PROCESSES) {
        return text_pipe(c, &c.process.kernel.list_processes(box_abi::PIPE_CAPACITY));
    }
    if !write && is_node(base, path, box_abi::SOCKETS) {
        let list = c.process.kernel.vfs.network().list_addresses(box_abi::PIPE_CAPACITY);
        return text_pipe(c, list.as_bytes());
    }
    if !write && is_node(base, path, box_abi::STACK) {
        return text_pipe(c, c.process.kernel.limits.stack.to_string().as_bytes());
    }
    let mode = if how.create { NEW_FILE & !c.process.umask() } else { 0 };
    let open = match c.process.kernel.vfs.open(base, path, how, mode)? {
        OpenResult::File(f) => {
            OpenDescription::new_charged(f, read, write, &c.process.kernel.budget)?
        }
        OpenResult::Descriptor(n) => {
            let own = own_file(c, Fd(n))?;
            // As on Linux: a file or directory is opened again, any other file (a pipe, a terminal)
            // is shared.
            match c.process.kernel.vfs.reopen(&own.file, how, own.write)? {
                Some(f) => OpenDescription::new_charged(f, read, write, &c.process.kernel.budget)?,
                None => return Ok(own),
            }
        }
        OpenResult::ControllingTerminal => {
            let file = call_terminal::open_controlling(c)?;
            OpenDescription::new_charged(file, read, write, &c.process.kernel.budget)?
        }
    };
    if c.process.kernel.cells.has_process(c.process) && can_be_named(&open.file) {
        remember_path(c, base, path, &open)?;
    }
    open.append.store(how.append, Ordering::Relaxed);
    open.nonblock.store(fdflags.is_nonblock(), Ordering::Relaxed);
    Ok(open)
}

/// Records the path of an open file, so that it can be opened again after the process was parked.
fn remember_path<H: Host>(
    c: &GuestCall<'_, H>,
    base: &Loc,
    path: &[u8],
    open: &OpenDescription,
) -> Result<(), Errno> {
    let (dir, name) = match path.iter().rposition(|b| *b == b'/') {
        Some(at) => path.split_at(at + 1),
        None => (b".".as_slice(), path),
    };
    let Ok((_, mut found)) = c.process.kernel.vfs.chdir(base, dir) else { return Ok(()) };
    if found.last() != Some(&b'/') {
        found.push(b'/');
    }
    found.extend_from_slice(name);
    open.set_name(found, &c.process.kernel.budget)
}

fn is_node(base: &Loc, path: &[u8], node: &str) -> bool {
    let absolute = path == node.as_bytes();
    let root = matches!(base, Loc::Tree(ino) if *ino == wasibox_vfs::tree::ROOT);
    absolute || root && node.as_bytes().strip_prefix(b"/") == Some(path)
}

/// Opens a pipe that contains `text` and has no writer.
fn text_pipe<H: Host>(c: &GuestCall<'_, H>, text: &[u8]) -> Result<Arc<OpenDescription>, Errno> {
    let (read, write) = c.process.kernel.vfs.pipe()?;
    write.try_write(text)?;
    Ok(OpenDescription::new(VfsFile::PipeRead(read), true, false))
}

/// Returns the open file description that `/dev/fd/N` stands for.
fn own_file<H: Host>(c: &GuestCall<'_, H>, n: Fd) -> Result<Arc<OpenDescription>, Errno> {
    Ok(lock_mutex(&c.process.fds).resolve_name(n).map_err(|_| Errno::NOENT)?.open.clone())
}

/// Returns the metadata of the file that `/dev/fd/N` stands for.
pub fn own_stat<H: Host>(c: &GuestCall<'_, H>, n: Fd) -> Result<Stat, Errno> {
    own_file(c, n)?.file.stat()
}

/// `openat(2)`: stores the lowest free descriptor at `out`. A new file has mode 0666 without the
/// umask.
///
/// # Errors
/// Those of `open(2)`; EMFILE, ENOMEM.
pub fn open<H: Host>(
    c: &mut GuestCall<'_, H>,
    path: PathAt,
    how: Opening,
    cloexec: CloseOnExec,
    out: u32,
) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    let open = open_at(c, &dir, &path, how)?;
    let fd = install_file(c, open, cloexec)?;
    Ok(c.mem.put_u32(out, fd.0)?)
}

/// `mkdirat(2)`, with mode 0777 without the umask.
pub fn create_directory<H: Host>(c: &mut GuestCall<'_, H>, path: PathAt) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    Ok(c.process.kernel.vfs.mkdir(&dir, &path, NEW_DIR & !c.process.umask())?)
}

/// `fstatat(2)`, as a `filestat` at `out`. `/dev/fd/N` stands for the file of descriptor N.
pub fn filestat_get<H: Host>(
    c: &mut GuestCall<'_, H>,
    path: PathAt,
    lookup: LookupFlags,
    out: u32,
) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    let s = match c.process.kernel.vfs.stat_or_descriptor(&dir, &path, lookup.follows_links())? {
        StatResult::Stat(s) => s,
        StatResult::Descriptor(n) => own_stat(c, Fd(n))?,
    };
    put_stat(c, out, &s)
}

/// `utimensat(2)`.
///
/// # Errors
/// EINVAL if a given time and the present one are both asked for.
pub fn filestat_set_times<H: Host>(
    c: &mut GuestCall<'_, H>,
    path: PathAt,
    lookup: LookupFlags,
    set: SetTimes,
) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    let (a, m) = set.times()?;
    Ok(c.process.kernel.vfs.set_times(&dir, &path, a, m, lookup.follows_links())?)
}

/// `linkat(2)`: another name for a file.
///
/// # Errors
/// EXDEV between mounts, EPERM for a directory.
pub fn link<H: Host>(
    c: &mut GuestCall<'_, H>,
    lookup: LookupFlags,
    path: PathAt,
    to: PathAt,
) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    let (to_dir, to) = resolve_at(c, to)?;
    Ok(c.process.kernel.vfs.link(&dir, &path, lookup.follows_links(), &to_dir, &to)?)
}

/// `readlinkat(2)`: stores as much of the target as there is room for, without NUL; stores at `out`
/// the number of bytes.
///
/// # Errors
/// EINVAL if it is not a symbolic link.
pub fn readlink<H: Host>(c: &mut GuestCall<'_, H>, path: PathAt, buf: GuestBuf, out: u32) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    let target = c.process.kernel.vfs.read_link(&dir, &path)?;
    let n = target.len().min(buf.len as usize);
    c.mem.put_bytes(buf.at, &target[..n])?;
    Ok(c.mem.put_u32(out, n as u32)?)
}

/// `unlinkat(2)` with AT_REMOVEDIR.
///
/// # Errors
/// ENOTDIR, ENOTEMPTY, EBUSY for a mount.
pub fn remove_directory<H: Host>(c: &mut GuestCall<'_, H>, path: PathAt) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    Ok(c.process.kernel.vfs.remove(&dir, &path, true)?)
}

/// `unlinkat(2)`: removes a name that is not a directory's.
///
/// # Errors
/// EISDIR.
pub fn unlink_file<H: Host>(c: &mut GuestCall<'_, H>, path: PathAt) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    Ok(c.process.kernel.vfs.remove(&dir, &path, false)?)
}

/// `renameat(2)`.
///
/// # Errors
/// EXDEV between mounts, and the errors of `rename(2)`.
pub fn rename<H: Host>(c: &mut GuestCall<'_, H>, path: PathAt, to: PathAt) -> Sys {
    let (dir, path) = resolve_at(c, path)?;
    let (to_dir, to) = resolve_at(c, to)?;
    Ok(c.process.kernel.vfs.rename(&dir, &path, &to_dir, &to)?)
}

/// `symlinkat(2)`: creates a link to `target`, which need not exist.
pub fn symlink<H: Host>(c: &mut GuestCall<'_, H>, target: GuestStr, path: PathAt) -> Sys {
    let target = target.read_path(&c.mem)?;
    let (dir, path) = resolve_at(c, path)?;
    Ok(c.process.kernel.vfs.symlink(&target, &dir, &path)?)
}
