//! WASI preview 1: descriptors.

use super::border::{CloseOnExec, Fd, FdFlags, GuestBuf, GuestList, Rights, SetTimes};
use super::call_path::own_stat;
use super::call_sock;
use super::call_terminal;
use super::cells::PREPARED_AT;
use super::descriptors::{Descriptor, DirListing, OpenDescription, ROOT_FD};
use super::guest::{GuestCall, Halt, MAX_MOVED, Sys};
use super::host::Host;
use super::memory::CallMemory;
use super::outcome::LimitHit;
use crate::lock_mutex;
use box_abi::signal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_vfs::{DirEntry, Errno, FileKind, Loc, Stat, VfsFile};

const MAX_IOVS: u32 = 1024;

/// Returns the open file description of a descriptor.
pub fn open_file<H: Host>(c: &GuestCall<'_, H>, fd: Fd) -> Result<Arc<OpenDescription>, Errno> {
    Ok(lock_mutex(&c.process.fds).get(fd)?.open.clone())
}

/// Reads the list of buffers of a call.
pub fn read_iovs<H: Host>(
    c: &GuestCall<'_, H>,
    GuestList { at, n }: GuestList,
) -> Result<Vec<(u32, u32)>, Errno> {
    if n > MAX_IOVS {
        return Err(Errno::INVAL);
    }
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap_or_default());
    c.mem.lend_bytes(at, n as usize * 8, |bytes| {
        Ok(bytes.chunks_exact(8).map(|e| (word(&e[..4]), word(&e[4..]))).collect())
    })
}

/// Reads until the list is full, the file has no more for now, or [`MAX_MOVED`] bytes are read.
fn read<H: Host>(
    c: &mut GuestCall<'_, H>,
    open: &OpenDescription,
    off: u64,
    list: &[(u32, u32)],
) -> Result<u64, Halt> {
    if !open.read {
        return Err(Errno::BADF.into());
    }
    if !open.file.seekable() {
        c.process.threads.share_baton();
    }
    let mut total = 0u64;
    for &(ptr, len) in list.iter().filter(|(_, len)| *len > 0) {
        let mut done = 0;
        while done < len as usize && total < MAX_MOVED {
            let (at, want) = match c.mem.buffer_part(ptr, len as usize, done) {
                Ok((at, n)) => (at, n.min((MAX_MOVED - total) as usize)),
                Err(_) if total > 0 => return Ok(total),
                Err(e) => return Err(e.into()),
            };
            let from = off.saturating_add(total);
            match c.mem.fill_bytes(at, want, |buf| open.file.read(from, buf)) {
                Ok(n) => {
                    done += n;
                    total += n as u64;
                    if n < want {
                        return Ok(total);
                    }
                    c.process.check_alive()?;
                }
                Err(_) if total > 0 => return Ok(total),
                Err(Errno::AGAIN) if !open.is_nonblocking() => {
                    c.process.wait_for(&open.file, false)?
                }
                Err(e) => return Err(e.into()),
            }
        }
    }
    Ok(total)
}

/// Writes everything unless an error occurs before the end, at most [`MAX_MOVED`] bytes; returns
/// the bytes written and the offset after them.
fn write<H: Host>(
    c: &mut GuestCall<'_, H>,
    open: &OpenDescription,
    off: u64,
    append: bool,
    list: &[(u32, u32)],
) -> Result<(u64, u64), Halt> {
    if !open.write {
        return Err(Errno::BADF.into());
    }
    if !open.file.seekable() {
        c.process.threads.share_baton();
    }
    let (mut total, mut at) = (0u64, off);
    for &(ptr, len) in list.iter().filter(|(_, len)| *len > 0) {
        let mut done = 0;
        while done < len as usize && total < MAX_MOVED {
            let (from, n) = match c.mem.buffer_part(ptr, len as usize, done) {
                Ok((from, n)) => (from, n.min((MAX_MOVED - total) as usize)),
                Err(_) if total > 0 => return Ok((total, at)),
                Err(e) => return Err(e.into()),
            };
            let written = c.mem.lend_bytes(from, n, |data| match &open.file {
                // The request may be about the process's own descriptors.
                VfsFile::Meta(m) => m.take_request(data, &|n| own_stat(c, Fd(n))).map(|n| (n, at)),
                file => file.write(at, append, data),
            });
            match written {
                Ok((n, next)) => {
                    done += n;
                    total += n as u64;
                    at = next;
                    c.process.check_alive()?;
                }
                Err(Errno::AGAIN) if !open.is_nonblocking() => {
                    match c.process.wait_for(&open.file, true) {
                        Err(Halt::Errno(_)) if total > 0 => return Ok((total, at)),
                        r => r?,
                    }
                }
                Err(e) => {
                    if matches!(&open.file, VfsFile::Stream(s) if s.is_full()) {
                        c.process.kernel.hit_limit(LimitHit::Output);
                        return Err(Halt::Killed);
                    }
                    if e == Errno::PIPE && c.process.dies_of_pipe.load(Ordering::SeqCst) {
                        c.process.deliver_signal(signal::PIPE);
                        c.process.check_alive()?;
                    }
                    if total > 0 {
                        return Ok((total, at));
                    }
                    return Err(e.into());
                }
            }
        }
    }
    Ok((total, at))
}

/// Stores the number of bytes that were moved.
pub fn put_count<H: Host>(c: &mut GuestCall<'_, H>, out: u32, n: u64) -> Sys {
    Ok(c.mem.put_u32(out, u32::try_from(n).unwrap_or(u32::MAX))?)
}

/// `read(2)` into a list of buffers, from the descriptor's offset; stores at `out` the number of
/// bytes, 0 at the end. Waits for a first byte unless the descriptor is non-blocking.
///
/// # Errors
/// EBADF if it is not open for reading, EAGAIN, EINVAL for more than 1024 buffers.
pub fn fd_read<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, vectors: GuestList, out: u32) -> Sys {
    let (open, list) = (open_file(c, fd)?, read_iovs(c, vectors)?);
    if let VfsFile::Socket(_) = open.file {
        let (n, _) = call_sock::receive(c, &open, &list, 0)?;
        return put_count(c, out, n);
    }
    if let VfsFile::Slave(slave) = &open.file {
        return call_terminal::read_terminal(c, &open, slave, &list, out);
    }
    let off = open.offset();
    let n = read(c, &open, off, &list)?;
    if open.file.seekable() {
        open.set_offset(off.saturating_add(n));
    }
    put_count(c, out, n)
}

/// `pread(2)`: as [`fd_read`], at an offset of its own.
///
/// # Errors
/// ESPIPE where there are no offsets, and the errors of [`fd_read`].
pub fn fd_pread<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    vectors: GuestList,
    off: u64,
    out: u32,
) -> Sys {
    let (open, list) = (open_file(c, fd)?, read_iovs(c, vectors)?);
    if !open.file.seekable() {
        return Err(Errno::SPIPE.into());
    }
    let n = read(c, &open, off, &list)?;
    put_count(c, out, n)
}

/// `write(2)` of a list of buffers, at the descriptor's offset or the file's end; stores at `out`
/// the number of bytes. Writes fewer bytes than requested only if an error occurs before the end. A
/// stream whose limit is used up ends the process.
///
/// # Errors
/// EBADF if it is not open for writing, EAGAIN, EPIPE, ENOSPC, EINVAL for more than 1024 buffers.
pub fn fd_write<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, vectors: GuestList, out: u32) -> Sys {
    let (open, list) = (open_file(c, fd)?, read_iovs(c, vectors)?);
    if let VfsFile::Socket(_) = open.file {
        let n = call_sock::send(c, &open, &list, 0, None)?;
        return put_count(c, out, n);
    }
    match &open.file {
        VfsFile::Slave(slave) => call_terminal::check_write(c, slave)?,
        VfsFile::Terminals(exchange) => {
            return call_terminal::take_request(c, exchange, &list, out);
        }
        _ => {}
    }
    let append = open.append.load(Ordering::Relaxed);
    let (n, next) = write(c, &open, open.offset(), append, &list)?;
    if open.file.seekable() && n > 0 {
        open.set_offset(next);
    }
    put_count(c, out, n)
}

/// `pwrite(2)`: as [`fd_write`], at an offset of its own.
///
/// # Errors
/// ESPIPE where there are no offsets, and the errors of [`fd_write`].
pub fn fd_pwrite<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    vectors: GuestList,
    off: u64,
    out: u32,
) -> Sys {
    let (open, list) = (open_file(c, fd)?, read_iovs(c, vectors)?);
    if !open.file.seekable() {
        return Err(Errno::SPIPE.into());
    }
    let (n, _) = write(c, &open, off, false, &list)?;
    put_count(c, out, n)
}

/// `close(2)`.
///
/// # Errors
/// EBADF.
pub fn fd_close<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd) -> Sys {
    // Dropped after the lock is released, because closing may wake other threads.
    let closed = lock_mutex(&c.process.fds).remove(fd)?;
    drop(closed);
    Ok(())
}

/// `dup2(2)`, after which `from` is closed.
///
/// # Errors
/// EBADF if `from` is not open or `to` cannot be a number, EMFILE.
pub fn fd_renumber<H: Host>(c: &mut GuestCall<'_, H>, from: Fd, to: Fd) -> Sys {
    let replaced = {
        let mut fds = lock_mutex(&c.process.fds);
        if from == to {
            fds.get(from)?;
            return Ok(());
        }
        let d = fds.get(from)?.clone();
        let replaced = fds.set(to, d)?;
        (replaced, fds.remove(from)?)
    };
    drop(replaced);
    Ok(())
}

/// `fsync(2)`, and `fdatasync(2)`, which is the same here.
pub fn fd_sync<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd) -> Sys {
    Ok(open_file(c, fd)?.file.sync()?)
}

/// `posix_fadvise(2)`: ignores the advice.
///
/// # Errors
/// EBADF.
pub fn fd_advise<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd) -> Sys {
    open_file(c, fd).map(drop).map_err(Halt::from)
}

/// `posix_fallocate(3)`: lengthens a file that ends before `off + len` bytes. Does not reserve disk
/// space.
///
/// # Errors
/// EBADF if it is not open for writing, EFBIG, ENOSPC.
pub fn fd_allocate<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, off: u64, len: u64) -> Sys {
    let open = open_file(c, fd)?;
    let end = off.checked_add(len).ok_or(Errno::FBIG)?;
    if !open.write {
        return Err(Errno::BADF.into());
    }
    if open.file.stat()?.size < end {
        open.file.set_len(end)?;
    }
    Ok(())
}

/// The file type of a datagram socket.
const DATAGRAM_SOCKET: u8 = 5;

/// Returns the file type of preview 1; a FIFO has none.
pub fn wasi_type(kind: FileKind) -> u8 {
    match kind {
        FileKind::Fifo => 0,
        FileKind::BlockDevice => 1,
        FileKind::CharDevice => 2,
        FileKind::Dir => 3,
        FileKind::File => 4,
        FileKind::Socket => 6,
        FileKind::Symlink => 7,
    }
}

/// Stores the `fdstat` of a descriptor: file type, flags and rights. The inherited rights are all
/// rights.
pub fn fd_fdstat_get<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    let open = open_file(c, fd)?;
    let kind = open.file.stat()?.kind;
    let rights = Rights::for_file(open.read, open.write, open.file.seekable());
    let flags = FdFlags::from_modes(open.append.load(Ordering::Relaxed), open.is_nonblocking());
    let mut b = [0u8; 24];
    b[0] = match &open.file {
        VfsFile::Socket(s) if s.kind() == wasibox_vfs::net::SocketKind::Datagram => DATAGRAM_SOCKET,
        _ => wasi_type(kind),
    };
    b[2..4].copy_from_slice(&flags.0.to_le_bytes());
    b[8..16].copy_from_slice(&rights.0.to_le_bytes());
    b[16..24].copy_from_slice(&Rights::ALL.0.to_le_bytes());
    Ok(c.mem.put_bytes(out, &b)?)
}

/// `fcntl(F_SETFL)`: sets appending and waiting; ignores other flags. All descriptors of an open
/// file description share them.
pub fn fd_fdstat_set_flags<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, flags: FdFlags) -> Sys {
    let open = open_file(c, fd)?;
    open.append.store(flags.is_append(), Ordering::Relaxed);
    open.nonblock.store(flags.is_nonblock(), Ordering::Relaxed);
    Ok(())
}

/// Changes nothing, because rights cannot be given away.
///
/// # Errors
/// EBADF.
pub fn fd_fdstat_set_rights<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd) -> Sys {
    open_file(c, fd).map(drop).map_err(Halt::from)
}

/// Stores the `filestat` of preview 1.
pub fn put_stat<H: Host>(c: &mut GuestCall<'_, H>, out: u32, s: &Stat) -> Sys {
    let mut b = [0u8; 64];
    // While a program is prepared, times are capped, because files that the session has created
    // itself, such as `/tmp`, have the present time.
    let most = c.process.kernel.fixed.get().map_or(u64::MAX, |_| PREPARED_AT);
    let longs = [
        (0, s.dev),
        (8, s.ino),
        (24, u64::from(s.nlink)),
        (32, s.size),
        (40, s.atime.min(most)),
        (48, s.mtime.min(most)),
        (56, s.ctime.min(most)),
    ];
    for (at, v) in longs {
        b[at..at + 8].copy_from_slice(&v.to_le_bytes());
    }
    b[16] = wasi_type(s.kind);
    Ok(c.mem.put_bytes(out, &b)?)
}

/// `fstat(2)`, as a `filestat` at `out`.
pub fn fd_filestat_get<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    let s = open_file(c, fd)?.file.stat()?;
    put_stat(c, out, &s)
}

/// `ftruncate(2)`.
///
/// # Errors
/// EINVAL if it is not open for writing, EFBIG, ENOSPC.
pub fn fd_filestat_set_size<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, size: u64) -> Sys {
    let open = open_file(c, fd)?;
    if !open.write {
        return Err(Errno::INVAL.into());
    }
    Ok(open.file.set_len(size)?)
}

/// `futimens(2)`.
///
/// # Errors
/// EINVAL if a given time and the present one are both asked for.
pub fn fd_filestat_set_times<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, set: SetTimes) -> Sys {
    let (a, m) = set.times()?;
    Ok(open_file(c, fd)?.file.set_times(a, m)?)
}

fn is_preopen(open: &OpenDescription, fd: Fd) -> bool {
    let root = wasibox_vfs::Loc::Tree(wasibox_vfs::tree::ROOT);
    fd == ROOT_FD && open.file.loc() == Some(&root)
}

/// Describes a preopened directory. At its start libc asks for each number from 3 up; 3 is the root
/// directory, the only one that is preopened.
///
/// # Errors
/// EBADF for every other number, at which libc stops asking.
pub fn fd_prestat_get<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    if !is_preopen(&*open_file(c, fd)?, fd) {
        return Err(Errno::BADF.into());
    }
    c.mem.put_u32(out, 0)?;
    let len = out.checked_add(4).ok_or(Errno::FAULT)?;
    Ok(c.mem.put_u32(len, 1)?)
}

/// Stores the name of the preopened directory: `/`.
///
/// # Errors
/// EBADF, ENAMETOOLONG if the buffer is too small.
pub fn fd_prestat_dir_name<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, buf: GuestBuf) -> Sys {
    if !is_preopen(&*open_file(c, fd)?, fd) {
        return Err(Errno::BADF.into());
    }
    if buf.len < 1 {
        return Err(Errno::NAMETOOLONG.into());
    }
    Ok(c.mem.put_bytes(buf.at, b"/")?)
}

/// Returns the entries of `/dev/fd`.
fn own_names<H: Host>(c: &GuestCall<'_, H>) -> Vec<DirEntry> {
    let names = lock_mutex(&c.process.fds).fd_names();
    let entry = |n: Fd| {
        let kind = own_stat(c, n).map_or(FileKind::CharDevice, |s| s.kind);
        DirEntry { name: n.0.to_string().into_bytes(), ino: 16 + u64::from(n.0), kind }
    };
    names.into_iter().map(entry).collect()
}

/// `getdents(2)`: writes entries from the number `cookie` on, as many as fit, the last one cut.
/// Stores at `out` the number of bytes, which is less than the room only at the end. A cookie of 0
/// reads the directory again; others continue in that listing.
///
/// # Errors
/// ENOTDIR, ENOMEM for a listing that exceeds the memory limit.
pub fn fd_readdir<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    buf: GuestBuf,
    cookie: u64,
    out: u32,
) -> Sys {
    let open = open_file(c, fd)?;
    let loc = open.file.loc().ok_or(Errno::NOTDIR)?;
    let listing = {
        let mut l = lock_mutex(&open.listing);
        match &*l {
            Some(list) if cookie > 0 => list.clone(),
            _ => {
                *l = None;
                let kernel = &c.process.kernel;
                let mut entries = kernel.vfs.list(loc)?;
                if *loc == Loc::Tree(wasibox_vfs::tree::DEV_FD) {
                    entries.extend(own_names(c));
                }
                l.insert(DirListing::new(entries, &kernel.budget)?).clone()
            }
        }
    };
    let (mut at, mut left) = (buf.at, buf.len as usize);
    let skip = usize::try_from(cookie).unwrap_or(usize::MAX);
    for (i, e) in listing.entries.iter().enumerate().skip(skip) {
        if i % 4096 == 4095 {
            c.process.check_alive()?;
        }
        let mut rec = [0u8; 24];
        rec[0..8].copy_from_slice(&(i as u64 + 1).to_le_bytes());
        rec[8..16].copy_from_slice(&e.ino.to_le_bytes());
        rec[16..20].copy_from_slice(&(e.name.len() as u32).to_le_bytes());
        rec[20] = wasi_type(e.kind);
        // An entry that does not fit is cut; after a full buffer the guest calls again.
        for part in [&rec[..], &e.name] {
            let n = part.len().min(left);
            c.mem.put_bytes(at, &part[..n])?;
            at = at.wrapping_add(n as u32);
            left -= n;
        }
        if left == 0 {
            break;
        }
    }
    put_count(c, out, (buf.len as usize - left) as u64)
}

/// `lseek(2)`: `whence` is 0 from the start, 1 from the offset, 2 from the end; stores at `out` the
/// new offset in bytes.
///
/// # Errors
/// ESPIPE where there are no offsets, EINVAL for a place before the start or beyond 2<sup>63</sup>
/// - 1.
pub fn fd_seek<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    delta: i64,
    whence: u32,
    out: u32,
) -> Sys {
    let open = open_file(c, fd)?;
    if !open.file.seekable() {
        return Err(Errno::SPIPE.into());
    }
    let base = match whence {
        0 => 0,
        1 => open.offset(),
        2 => open.file.stat()?.size,
        _ => return Err(Errno::INVAL.into()),
    };
    let to =
        base.checked_add_signed(delta).filter(|t| *t <= i64::MAX as u64).ok_or(Errno::INVAL)?;
    open.set_offset(to);
    Ok(c.mem.put_u64(out, to)?)
}

/// Stores the descriptor's offset: [`fd_seek`] by 0.
pub fn fd_tell<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    fd_seek(c, fd, 0, 1, out)
}

/// Gives the process a descriptor for `open`.
pub fn install_file<H: Host>(
    c: &GuestCall<'_, H>,
    open: Arc<OpenDescription>,
    cloexec: CloseOnExec,
) -> Result<Fd, Errno> {
    lock_mutex(&c.process.fds).add_descriptor(Descriptor { open, cloexec: cloexec.0 }, Fd(0))
}
