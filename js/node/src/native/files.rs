//! Files: open descriptors, metadata and directories.
//!
//! Descriptors are the system's own numbers. A table keeps each file open until it is closed by its
//! number. Paths are absolute, because the JavaScript half resolves them against its own directory.

use super::{TextArgument, throw_io_error};
use box_sys::{FileKind, Stat, meta};
use rquickjs::function::Func;
use rquickjs::{Array, Ctx, Object, Result, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::rc::Rc;

/// The maximum number of bytes that one call reads or writes. It is limited because the bytes are
/// copied between the system and the script.
const PIECE: usize = 1 << 20;

thread_local! {
    /// The open files of the process by their descriptors.
    static FILES: RefCell<HashMap<i32, Rc<File>>> = RefCell::default();
}

/// Takes over the descriptors that the process inherited.
pub fn adopt(inherited: box_sys::InheritedDescriptors) {
    for (number, file) in (0..).zip(inherited.stdio) {
        if let Some(file) = file {
            FILES.with_borrow_mut(|f| f.insert(number, file));
        }
    }
    for (number, file) in inherited.extra {
        FILES.with_borrow_mut(|f| f.insert(number.cast_signed(), file));
    }
}

/// Returns the file of a descriptor, or throws `EBADF` if there is none.
pub fn file(ctx: &Ctx<'_>, fd: i32) -> Result<Rc<File>> {
    FILES.with_borrow(|f| f.get(&fd).cloned()).ok_or_else(|| super::throw_text(ctx, "EBADF"))
}

/// Keeps a file open, and returns its descriptor.
pub fn keep(file: File) -> i32 {
    let fd = file.as_raw_fd();
    FILES.with_borrow_mut(|f| f.insert(fd, Rc::new(file)));
    fd
}

/// Throws the name of the error.
fn or_fail<T>(ctx: &Ctx<'_>, result: io::Result<T>) -> Result<T> {
    result.map_err(|e| throw_io_error(ctx, &e))
}

/// Returns a text as a path. The empty text is not a path (POSIX XBD 4.13), but libc would take it
/// for `.`.
fn named(path: &TextArgument) -> io::Result<&Path> {
    if path.0.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(Path::new(&path.0)) }
}

/// Opens a file as `open(2)` does, with Linux's flags, and returns its descriptor.
fn open(ctx: Ctx<'_>, path: TextArgument, flags: i32, mode: u32) -> Result<i32> {
    const WRITE: i32 = 1;
    const READ_WRITE: i32 = 2;
    const CREATE: i32 = 0o100;
    const EXCLUSIVE: i32 = 0o200;
    const TRUNCATE: i32 = 0o1000;
    const APPEND: i32 = 0o2000;
    const DIRECTORY: i32 = 0o200_000;
    let path = or_fail(&ctx, named(&path))?;
    let access = flags & 3;
    let has = |flag| flags & flag != 0;
    let mut options = OpenOptions::new();
    options.read(access != WRITE).write(access == WRITE || access == READ_WRITE);
    options.append(has(APPEND) && access != 0).truncate(has(TRUNCATE) && access != 0);
    if has(CREATE) && has(EXCLUSIVE) {
        options.create_new(true);
    } else {
        options.create(has(CREATE) && access != 0);
    }
    let is_new = has(CREATE) && !path.exists();
    let file = or_fail(&ctx, options.open(path))?;
    if has(DIRECTORY) && !or_fail(&ctx, file.metadata())?.is_dir() {
        return Err(super::throw_text(&ctx, "ENOTDIR"));
    }
    if is_new && mode != 0o666 {
        let mode = (mode & 0o7777) as u16 & !meta::umask();
        or_fail(&ctx, meta::chmod(path, mode))?;
    }
    Ok(keep(file))
}

fn close(ctx: Ctx<'_>, fd: i32) -> Result<()> {
    FILES
        .with_borrow_mut(|f| f.remove(&fd))
        .map(drop)
        .ok_or_else(|| super::throw_text(&ctx, "EBADF"))
}

/// Runs `f` with the file's offset at `at`, and restores the offset. A negative `at` means the
/// current offset, which is then not restored.
fn positioned<T>(file: &File, at: f64, f: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
    let mut seeker = file;
    if at < 0.0 {
        return f(file);
    }
    let before = seeker.stream_position()?;
    seeker.seek(SeekFrom::Start(at as u64))?;
    let result = f(file);
    seeker.seek(SeekFrom::Start(before))?;
    result
}

/// Reads into `buffer[offset..offset + length]`, and returns the number of bytes.
fn read(
    ctx: Ctx<'_>,
    fd: i32,
    buffer: Value<'_>,
    offset: usize,
    length: usize,
    at: f64,
) -> Result<usize> {
    let file = file(&ctx, fd)?;
    let mut piece = vec![0; length.min(PIECE)];
    let n = or_fail(&ctx, positioned(&file, at, |mut f| f.read(&mut piece)))?;
    js_engine::write(&buffer, offset, &piece[..n]).ok_or_else(|| super::throw_text(&ctx, "EFAULT"))
}

/// Writes `buffer[offset..offset + length]`, and returns the number of bytes written.
fn write(
    ctx: Ctx<'_>,
    fd: i32,
    buffer: Value<'_>,
    offset: usize,
    length: usize,
    at: f64,
) -> Result<usize> {
    let file = file(&ctx, fd)?;
    let end = offset.saturating_add(length.min(PIECE));
    let piece = js_engine::copy_bytes(&buffer, offset, end)
        .ok_or_else(|| super::throw_text(&ctx, "EFAULT"))?;
    or_fail(&ctx, positioned(&file, at, |mut f| f.write(&piece)))
}

/// Reads a file from its current offset to its end.
fn read_all<'js>(ctx: Ctx<'js>, fd: i32) -> Result<rquickjs::ArrayBuffer<'js>> {
    let mut all = Vec::new();
    let file = file(&ctx, fd)?;
    or_fail(&ctx, (&*file).read_to_end(&mut all))?;
    rquickjs::ArrayBuffer::new(ctx, all)
}

/// Returns the type bits of `st_mode`.
fn kind_bits(kind: FileKind) -> u32 {
    (kind as u32) << 12
}

/// Returns the fields in the order of Node's array of a stat. Each time is two numbers, seconds and
/// nanoseconds.
fn numbers(s: &Stat) -> Vec<f64> {
    let split = |ns: u64| [(ns / 1_000_000_000) as f64, (ns % 1_000_000_000) as f64];
    let mut out = vec![
        s.dev as f64,
        f64::from(kind_bits(s.kind) | u32::from(s.mode)),
        f64::from(s.nlink),
        f64::from(s.uid),
        f64::from(s.gid),
        0.0,
        4096.0,
        s.ino as f64,
        s.size as f64,
        s.size.div_ceil(512) as f64,
    ];
    for time in [s.atime, s.mtime, s.ctime, s.ctime] {
        out.extend(split(time));
    }
    out
}

fn stat(ctx: Ctx<'_>, path: TextArgument, follow: bool) -> Result<Vec<f64>> {
    or_fail(&ctx, named(&path).and_then(|path| meta::stat(path, follow))).map(|s| numbers(&s))
}

/// Works like `stat`, but returns nothing instead of throwing an error.
fn try_stat(path: TextArgument, follow: bool) -> Option<Vec<f64>> {
    named(&path).and_then(|path| meta::stat(path, follow)).ok().map(|s| numbers(&s))
}

fn fstat(ctx: Ctx<'_>, fd: i32) -> Result<Vec<f64>> {
    let file = file(&ctx, fd)?;
    or_fail(&ctx, meta::of_file(&file)).map(|s| numbers(&s))
}

/// Returns the name and the kind (libuv's `uv_dirent_type_t`) of each entry alternately. Unlike in
/// Node, the entries are sorted by name, so equal runs have equal results.
fn readdir<'js>(ctx: Ctx<'js>, path: TextArgument) -> Result<Array<'js>> {
    let mut entries = Vec::new();
    for entry in or_fail(&ctx, named(&path).and_then(fs::read_dir))? {
        let entry = or_fail(&ctx, entry)?;
        let kind = match entry.file_type() {
            Ok(t) if t.is_file() => 1,
            Ok(t) if t.is_dir() => 2,
            Ok(t) if t.is_symlink() => 3,
            _ => 0,
        };
        entries.push((entry.file_name().to_string_lossy().into_owned(), kind));
    }
    entries.sort();
    let out = Array::new(ctx)?;
    for (i, (name, kind)) in entries.into_iter().enumerate() {
        out.set(2 * i, name)?;
        out.set(2 * i + 1, kind)?;
    }
    Ok(out)
}

fn mkdir(ctx: Ctx<'_>, path: TextArgument, mode: u32) -> Result<()> {
    let path = or_fail(&ctx, named(&path))?;
    or_fail(&ctx, fs::create_dir(path))?;
    let mode = (mode & 0o7777) as u16;
    if mode == 0o777 {
        return Ok(());
    }
    or_fail(&ctx, meta::chmod(path, mode & !meta::umask()))
}

fn rmdir(ctx: Ctx<'_>, path: TextArgument) -> Result<()> {
    or_fail(&ctx, named(&path).and_then(fs::remove_dir))
}

fn unlink(ctx: Ctx<'_>, path: TextArgument) -> Result<()> {
    or_fail(&ctx, named(&path).and_then(fs::remove_file))
}

fn rename(ctx: Ctx<'_>, from: TextArgument, to: TextArgument) -> Result<()> {
    or_fail(&ctx, named(&from).and_then(|from| fs::rename(from, named(&to)?)))
}

fn link(ctx: Ctx<'_>, from: TextArgument, to: TextArgument) -> Result<()> {
    or_fail(&ctx, named(&from).and_then(|from| fs::hard_link(from, named(&to)?)))
}

fn symlink(ctx: Ctx<'_>, target: TextArgument, path: TextArgument) -> Result<()> {
    or_fail(&ctx, named(&path).and_then(|path| meta::symlink(target.0.as_bytes(), path)))
}

fn readlink(ctx: Ctx<'_>, path: TextArgument) -> Result<String> {
    let target = or_fail(&ctx, named(&path).and_then(fs::read_link))?;
    Ok(target.to_string_lossy().into_owned())
}

fn chmod(ctx: Ctx<'_>, path: TextArgument, mode: u32) -> Result<()> {
    or_fail(&ctx, named(&path).and_then(|path| meta::chmod(path, (mode & 0o7777) as u16)))
}

/// Changes the owner and the group. A negative id leaves the owner or group as it is.
fn chown(ctx: Ctx<'_>, path: TextArgument, uid: i64, gid: i64, follow: bool) -> Result<()> {
    let id = |n: i64| u32::try_from(n).ok();
    or_fail(&ctx, named(&path).and_then(|path| meta::chown(path, id(uid), id(gid), follow)))
}

/// Sets the times of a file by its path. The times are in seconds since the epoch.
fn utimes(ctx: Ctx<'_>, path: TextArgument, atime: f64, mtime: f64, follow: bool) -> Result<()> {
    let ns = |s: f64| Some((s * 1e9).round() as u64);
    or_fail(&ctx, named(&path).and_then(|path| meta::set_times(path, ns(atime), ns(mtime), follow)))
}

/// Sets the times of an open file. The times are in seconds since the epoch.
fn futimes(ctx: Ctx<'_>, fd: i32, atime: f64, mtime: f64) -> Result<()> {
    let at = |s: f64| std::time::UNIX_EPOCH + std::time::Duration::from_secs_f64(s.max(0.0));
    let times = fs::FileTimes::new().set_accessed(at(atime)).set_modified(at(mtime));
    or_fail(&ctx, file(&ctx, fd)?.set_times(times))
}

fn ftruncate(ctx: Ctx<'_>, fd: i32, length: f64) -> Result<()> {
    or_fail(&ctx, file(&ctx, fd)?.set_len(length.max(0.0) as u64))
}

fn fsync(ctx: Ctx<'_>, fd: i32) -> Result<()> {
    or_fail(&ctx, file(&ctx, fd)?.sync_all())
}

/// Checks access as `access(2)` does; `want` has the bits `R_OK`, `W_OK` and `X_OK`.
fn access(ctx: Ctx<'_>, path: TextArgument, want: u16) -> Result<()> {
    let stat = or_fail(&ctx, named(&path).and_then(|path| meta::stat(path, true)))?;
    if meta::may_access(&stat, want & 7) { Ok(()) } else { Err(super::throw_text(&ctx, "EACCES")) }
}

fn realpath(ctx: Ctx<'_>, path: TextArgument) -> Result<String> {
    let real = or_fail(&ctx, named(&path).and_then(fs::canonicalize))?;
    Ok(real.to_string_lossy().into_owned())
}

fn copy(ctx: Ctx<'_>, from: TextArgument, to: TextArgument, exclusive: bool) -> Result<()> {
    let (from, to) = (or_fail(&ctx, named(&from))?, or_fail(&ctx, named(&to))?);
    let mut source = or_fail(&ctx, File::open(from))?;
    let stat = or_fail(&ctx, meta::of_file(&source))?;
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    if exclusive {
        options.create_new(true)
    } else {
        options.create(true)
    };
    let mut target = or_fail(&ctx, options.open(to))?;
    or_fail(&ctx, io::copy(&mut source, &mut target))?;
    or_fail(&ctx, meta::chmod(to, stat.mode & 0o777))
}

fn isatty(fd: i32) -> bool {
    FILES.with_borrow(|f| f.get(&fd).is_some_and(|f| box_sys::is_terminal(f)))
}

/// Returns the kind of an open descriptor, as libuv names it.
fn handle_type(fd: i32) -> &'static str {
    let Some(file) = FILES.with_borrow(|f| f.get(&fd).cloned()) else { return "UNKNOWN" };
    if box_sys::is_terminal(&file) {
        return "TTY";
    }
    match meta::of_file(&file).map(|s| s.kind) {
        Ok(FileKind::File | FileKind::CharDevice) => "FILE",
        Ok(_) => "PIPE",
        Err(_) => "UNKNOWN",
    }
}

fn umask(mask: i32) -> u16 {
    let old = meta::umask();
    if let Ok(mask) = u16::try_from(mask) {
        meta::set_umask(mask);
    }
    old
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("open", Func::from(open))?;
    native.set("close", Func::from(close))?;
    native.set("read", Func::from(read))?;
    native.set("write", Func::from(write))?;
    native.set("readAll", Func::from(read_all))?;
    native.set("stat", Func::from(stat))?;
    native.set("tryStat", Func::from(try_stat))?;
    native.set("fstat", Func::from(fstat))?;
    native.set("readdir", Func::from(readdir))?;
    native.set("mkdir", Func::from(mkdir))?;
    native.set("rmdir", Func::from(rmdir))?;
    native.set("unlink", Func::from(unlink))?;
    native.set("rename", Func::from(rename))?;
    native.set("link", Func::from(link))?;
    native.set("symlink", Func::from(symlink))?;
    native.set("readlink", Func::from(readlink))?;
    native.set("chmod", Func::from(chmod))?;
    native.set("chown", Func::from(chown))?;
    native.set("utimes", Func::from(utimes))?;
    native.set("futimes", Func::from(futimes))?;
    native.set("ftruncate", Func::from(ftruncate))?;
    native.set("fsync", Func::from(fsync))?;
    native.set("access", Func::from(access))?;
    native.set("realpath", Func::from(realpath))?;
    native.set("copy", Func::from(copy))?;
    native.set("isatty", Func::from(isatty))?;
    native.set("handleType", Func::from(handle_type))?;
    native.set("umask", Func::from(umask))
}
