//! WASIX: processes, descriptor duplication, pipes, the working directory.

use super::call_fd::{install, open_file};
use super::call_path::open_at;
use super::descriptors::{Descriptor, Descriptors, OpenFile, ROOT_FD};
use super::guest::{Call, Halt, Sys};
use super::process::{Cwd, Start};
use super::table::SpawnError;
use crate::lock;
use crate::outcome::Status;
use wasibox_vfs::{Errno, File, Loc, Program, Vfs};

/// Most bytes of arguments, and of the environment (Linux's default `ARG_MAX`).
const MAX_ARGS: usize = 2 << 20;
const MAX_OPS: u32 = 16384;
const OP_SIZE: u32 = 56;
const NON_BLOCKING: u32 = 1;
/// First bytes of a script that are looked at for its interpreter (Linux's BINPRM_BUF_SIZE).
const SCRIPT_HEAD: usize = 256;

pub fn proc_id(c: &mut Call<'_>, out: u32) -> Sys {
    Ok(c.mem.put_u32(out, c.process.pid)?)
}

pub fn thread_id(c: &mut Call<'_>, out: u32) -> Sys {
    Ok(c.mem.put_u32(out, c.process.pid)?)
}

pub fn thread_parallelism(c: &mut Call<'_>, out: u32) -> Sys {
    let n = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    Ok(c.mem.put_u32(out, n)?)
}

pub fn proc_parent(c: &mut Call<'_>, pid: u32, out: u32) -> Sys {
    let parent = c.process.kernel.parent_of(pid).ok_or(Errno::SRCH)?;
    Ok(c.mem.put_u32(out, parent)?)
}

pub fn proc_signal(c: &mut Call<'_>, pid: u32, sig: u32) -> Sys {
    let sig = u8::try_from(sig).map_err(|_| Errno::INVAL)?;
    Ok(c.process.kernel.signal(pid, sig)?)
}

pub fn proc_raise(c: &mut Call<'_>, sig: u32) -> Sys {
    let pid = c.process.pid;
    proc_signal(c, pid, sig)
}

pub fn callback_signal(c: &mut Call<'_>, name: u32, len: u32) -> Sys {
    let name = c.mem.path(name, len)?;
    // An empty name takes the handler away, as one that is no export does in Wasmer.
    if !name.is_empty() && name != b"__wasm_signal" {
        return Err(Errno::INVAL.into());
    }
    c.process.handles.store(!name.is_empty(), std::sync::atomic::Ordering::SeqCst);
    Ok(())
}

/// How many signals the process does not treat by default from its start on.
pub fn proc_signals_sizes_get(c: &mut Call<'_>, count: u32) -> Sys {
    let ignored = c.process.ignored.load(std::sync::atomic::Ordering::SeqCst);
    Ok(c.mem.put_u32(count, ignored.count_ones())?)
}

/// Pairs of signal and disposition (1: ignored).
pub fn proc_signals_get(c: &mut Call<'_>, mut out: u32) -> Sys {
    let ignored = c.process.ignored.load(std::sync::atomic::Ordering::SeqCst);
    for n in (0..64u8).filter(|n| ignored & 1 << n != 0) {
        c.mem.put(out, &[n, 1])?;
        out = out.checked_add(2).ok_or(Errno::FAULT)?;
    }
    Ok(())
}

pub fn chdir(c: &mut Call<'_>, path: u32, len: u32) -> Sys {
    let path = c.mem.path(path, len)?;
    let base = lock(&c.process.cwd).loc.clone();
    let (loc, path) = c.process.kernel.vfs.chdir(&base, &path)?;
    *lock(&c.process.cwd) = Cwd { loc, path };
    Ok(())
}

/// Writes the directory's path and its length at `len`, which held the room.
pub fn getcwd(c: &mut Call<'_>, buf: u32, len: u32) -> Sys {
    let path = lock(&c.process.cwd).path.clone();
    let room = c.mem.u32(len)? as usize;
    c.mem.put_u32(len, path.len() as u32)?;
    if room < path.len() {
        return Err(Errno::RANGE.into());
    }
    c.mem.put(buf, &path)?;
    if room > path.len() {
        c.mem.put(buf + path.len() as u32, &[0])?;
    }
    Ok(())
}

pub fn fd_dup(c: &mut Call<'_>, fd: u32, out: u32) -> Sys {
    fd_dup2(c, fd, 0, 0, out)
}

/// `fcntl(F_DUPFD)`: the lowest free number from `min` up.
pub fn fd_dup2(c: &mut Call<'_>, fd: u32, min: u32, cloexec: u32, out: u32) -> Sys {
    let open = open_file(c, fd)?;
    let new = lock(&c.process.fds).add(Descriptor { open, cloexec: cloexec != 0 }, min)?;
    Ok(c.mem.put_u32(out, new)?)
}

pub fn fd_fdflags_get(c: &mut Call<'_>, fd: u32, out: u32) -> Sys {
    let cloexec = lock(&c.process.fds).get(fd)?.cloexec;
    Ok(c.mem.put(out, &u16::from(cloexec).to_le_bytes())?)
}

pub fn fd_fdflags_set(c: &mut Call<'_>, fd: u32, flags: u32) -> Sys {
    lock(&c.process.fds).get_mut(fd)?.cloexec = flags & 1 != 0;
    Ok(())
}

pub fn fd_pipe(c: &mut Call<'_>, read: u32, write: u32) -> Sys {
    let (r, w) = c.process.kernel.vfs.pipe()?;
    let r = install(c, OpenFile::new(File::PipeRead(r), true, false), false)?;
    let w = match install(c, OpenFile::new(File::PipeWrite(w), false, true), false) {
        Ok(w) => w,
        Err(e) => {
            let closed = lock(&c.process.fds).remove(r);
            drop(closed);
            return Err(e.into());
        }
    };
    c.mem.put_u32(read, r)?;
    Ok(c.mem.put_u32(write, w)?)
}

/// `tty` of WASIX: 80 columns, 25 rows, and which standard stream is a terminal.
pub fn tty_get(c: &mut Call<'_>, out: u32) -> Sys {
    let mut b = [0u8; 24];
    for (at, v) in [(0, 80u32), (4, 25), (8, 800), (12, 600)] {
        b[at..at + 4].copy_from_slice(&v.to_le_bytes());
    }
    for fd in 0..3u32 {
        let tty =
            open_file(c, fd).is_ok_and(|o| matches!(&o.file, File::Stream(s) if s.is_terminal()));
        b[16 + fd as usize] = u8::from(tty);
    }
    (b[19], b[20]) = (1, 1);
    Ok(c.mem.put(out, &b)?)
}

/// Strings behind an array of pointers.
fn strings(c: &Call<'_>, list: u32, n: u32) -> Result<Vec<Vec<u8>>, Errno> {
    let mut left = MAX_ARGS;
    let mut out = Vec::new();
    for i in 0..n {
        let at = i.checked_mul(4).and_then(|k| list.checked_add(k)).ok_or(Errno::FAULT)?;
        let s = c.mem.c_string(c.mem.u32(at)?, left)?;
        left = left.checked_sub(s.len() + 9).ok_or(Errno::TOOBIG)?;
        out.push(s);
    }
    Ok(out)
}

/// A path from the guest for an operation of its own working directory.
fn guest_path(c: &Call<'_>, at: u32, len: u32) -> Result<Vec<u8>, Errno> {
    let p = c.mem.path(at, len)?;
    if p.is_empty() { Err(Errno::NOENT) } else { Ok(p) }
}

/// Finds what to run for an executable file: the program and its arguments, through
/// any `#!` lines (`execve(2)`).
///
/// # Errors
/// As `execve`: ENOEXEC for anything that is neither a program of the image nor a script.
pub fn find_program(
    vfs: &Vfs,
    cwd: &Loc,
    name: &[u8],
    mut argv: Vec<Vec<u8>>,
) -> Result<(Program, Vec<Vec<u8>>), Errno> {
    let mut name = name.to_vec();
    for _ in 0..5 {
        let (program, head) = vfs.executable(cwd, &name, SCRIPT_HEAD)?;
        if let Some(program) = program {
            return Ok((program, argv));
        }
        let line = head.strip_prefix(b"#!".as_slice()).ok_or(Errno::NOEXEC)?;
        let line = line.split(|b| *b == b'\n').next().unwrap_or(&[]).trim_ascii();
        let cut = line.iter().position(|b| b" \t".contains(b)).unwrap_or(line.len());
        let (interpreter, arg) = (&line[..cut], line[cut..].trim_ascii());
        if interpreter.is_empty() {
            return Err(Errno::NOEXEC);
        }
        let mut new = vec![interpreter.to_vec()];
        if !arg.is_empty() {
            new.push(arg.to_vec());
        }
        new.push(name);
        new.extend(argv.into_iter().skip(1));
        argv = new;
        name = interpreter.to_vec();
    }
    Err(Errno::LOOP)
}

fn resolve(c: &Call<'_>, cwd: &Loc, name: &[u8], argv: Vec<Vec<u8>>) -> Result<Start, Errno> {
    let (program, argv) = find_program(&c.process.kernel.vfs, cwd, name, argv)?;
    Ok(Start { program, argv, env: Vec::new() })
}

/// Resolves a name without slash along a colon-separated path.
fn search(
    c: &Call<'_>,
    cwd: &Loc,
    name: &[u8],
    path: &[u8],
    argv: Vec<Vec<u8>>,
) -> Result<Start, Errno> {
    if name.contains(&b'/') {
        return resolve(c, cwd, name, argv);
    }
    let mut why = Errno::NOENT;
    for dir in path.split(|b| *b == b':') {
        let dir = if dir.is_empty() { b".".as_slice() } else { dir };
        match resolve(c, cwd, &[dir, b"/", name].concat(), argv.clone()) {
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(Errno::ACCES) => why = Errno::ACCES,
            r => return r,
        }
    }
    Err(why)
}

const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/bin:/usr/bin";

/// A child in the making: what its fd-operations act on.
struct Child {
    fds: Descriptors,
    cwd: Cwd,
}

fn apply(c: &Call<'_>, child: &mut Child, at: u32) -> Result<(), Errno> {
    let op: [u8; OP_SIZE as usize] = c.mem.array(at)?;
    let u32_at = |i: usize| u32::from_le_bytes(op[i..i + 4].try_into().unwrap_or_default());
    let (fd, src) = (u32_at(4), u32_at(8));
    match op[0] {
        // The preopened root stays, as in Wasmer: libc would lose every path.
        0 if fd == ROOT_FD => Ok(()),
        0 => child.fds.remove(fd).map(drop),
        1 => {
            let open = child.fds.get(src)?.open.clone();
            if src != fd {
                drop(child.fds.set(fd, Descriptor { open, cloexec: false })?);
            } else if let Ok(d) = child.fds.get_mut(fd) {
                d.cloexec = false;
            }
            Ok(())
        }
        2 => {
            let path = guest_path(c, u32_at(12), u32_at(16))?;
            let rights = u64::from_le_bytes(op[32..40].try_into().unwrap_or_default());
            let oflags = u32::from(u16::from_le_bytes([op[24], op[25]]));
            let fdflags = u32::from(u16::from_le_bytes([op[48], op[49]]));
            let open = open_at(c, &child.cwd.loc, &path, u32_at(20), oflags, rights, fdflags)?;
            drop(child.fds.set(fd, Descriptor { open, cloexec: false })?);
            Ok(())
        }
        3 => {
            let path = guest_path(c, u32_at(12), u32_at(16))?;
            let (loc, path) = c.process.kernel.vfs.chdir(&child.cwd.loc, &path)?;
            child.cwd = Cwd { loc, path };
            Ok(())
        }
        4 => {
            let loc = child.fds.get(fd)?.open.file.loc().ok_or(Errno::NOTDIR)?.clone();
            let (loc, path) = c.process.kernel.vfs.chdir(&loc, b".")?;
            child.cwd = Cwd { loc, path };
            Ok(())
        }
        _ => Err(Errno::INVAL),
    }
}

/// Which signals the child ignores: pairs of signal and disposition (0 default, 1 ignore).
fn dispositions(c: &Call<'_>, at: u32, n: u32) -> Result<u64, Errno> {
    let mut ignored = c.process.ignored.load(std::sync::atomic::Ordering::SeqCst);
    if at == 0 {
        return Ok(ignored);
    }
    for pair in c.mem.bytes(at, n.min(256) as usize * 2)?.chunks_exact(2) {
        let bit = 1u64 << (pair[0] & 63);
        if pair[1] == 1 { ignored |= bit } else { ignored &= !bit }
    }
    Ok(ignored)
}

#[allow(clippy::too_many_arguments)] // the import's own signature
pub fn proc_spawn3(
    c: &mut Call<'_>,
    name: u32,
    name_len: u32,
    args: u32,
    args_len: u32,
    envs: u32,
    envs_len: u32,
    ops: u32,
    ops_len: u32,
    signals: u32,
    signals_len: u32,
    search_path: u32,
    path: u32,
    path_len: u32,
    out: u32,
) -> Sys {
    let name = guest_path(c, name, name_len)?;
    let argv = strings(c, args, args_len)?;
    let env = match envs {
        0 => lock(&c.process.start).env.clone(),
        _ => strings(c, envs, envs_len)?,
    };
    let mut child = Child { fds: lock(&c.process.fds).clone(), cwd: lock(&c.process.cwd).clone() };
    if ops != 0 {
        if ops_len > MAX_OPS {
            return Err(Errno::TOOBIG.into());
        }
        for i in 0..ops_len {
            apply(c, &mut child, ops.checked_add(i * OP_SIZE).ok_or(Errno::FAULT)?)?;
        }
    }
    drop(child.fds.begin_program());
    let ignored = dispositions(c, signals, signals_len)?;
    let mut start = if search_path != 0 && !name.contains(&b'/') {
        let path = if path == 0 {
            DEFAULT_PATH.to_vec()
        } else {
            c.mem.bytes(path, path_len as usize)?.to_vec()
        };
        search(c, &child.cwd.loc, &name, &path, argv)?
    } else {
        resolve(c, &child.cwd.loc, &name, argv)?
    };
    start.env = env;
    c.mem.u32(out)?;
    let pid = match c.process.kernel.spawn(c.process.pid, start, child.fds, child.cwd, ignored) {
        Ok(pid) => pid,
        Err(SpawnError::Errno(e)) => return Err(e.into()),
        Err(SpawnError::Program(_)) => return Err(Errno::NOEXEC.into()),
    };
    Ok(c.mem.put_u32(out, pid)?)
}

/// Replaces the program. Lists are separated by line feeds; a null list of the
/// environment keeps it.
#[allow(clippy::too_many_arguments)] // the import's own signature
pub fn proc_exec3(
    c: &mut Call<'_>,
    name: u32,
    name_len: u32,
    args: u32,
    args_len: u32,
    envs: u32,
    envs_len: u32,
    search_path: u32,
    path: u32,
    path_len: u32,
) -> Sys {
    let name = guest_path(c, name, name_len)?;
    let lines = |c: &Call<'_>, at: u32, len: u32| -> Result<Vec<Vec<u8>>, Errno> {
        if len as usize > MAX_ARGS {
            return Err(Errno::TOOBIG);
        }
        let text = c.mem.bytes(at, len as usize)?;
        Ok(text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect())
    };
    let argv = lines(c, args, args_len)?;
    let env = match envs {
        0 => lock(&c.process.start).env.clone(),
        _ => lines(c, envs, envs_len)?.into_iter().filter(|l| !l.is_empty()).collect(),
    };
    let cwd = lock(&c.process.cwd).loc.clone();
    let mut start = if search_path != 0 && !name.contains(&b'/') {
        let path = if path == 0 {
            DEFAULT_PATH.to_vec()
        } else {
            c.mem.bytes(path, path_len as usize)?.to_vec()
        };
        search(c, &cwd, &name, &path, argv)?
    } else {
        resolve(c, &cwd, &name, argv)?
    };
    start.env = env;
    let closed = lock(&c.process.fds).begin_program();
    drop(closed);
    c.process.handles.store(false, std::sync::atomic::Ordering::SeqCst);
    *lock(&c.process.start) = start;
    Err(Halt::Exec)
}

/// `waitpid(2)`. `pid` points to an optional number (tag, number), where the number of
/// the child that ended is written; `status` gets a tag (0 nothing, 1 exited,
/// 2 signalled), the code a shell reports, and the signal.
pub fn proc_join(c: &mut Call<'_>, pid: u32, flags: u32, status: u32) -> Sys {
    let number = pid.checked_add(4).ok_or(Errno::FAULT)?;
    let which = match c.mem.bytes(pid, 1)?[0] {
        0 => None,
        1 => Some(c.mem.u32(number)?),
        _ => return Err(Errno::INVAL.into()),
    };
    c.mem.bytes_mut(status, 6)?.fill(0);
    let ended = c.process.kernel.wait(c.process, which, flags & NON_BLOCKING == 0)?;
    let Some((child, how)) = ended else { return Ok(()) };
    c.mem.put(pid, &[1])?;
    c.mem.put_u32(number, child)?;
    let mut b = [0u8; 6];
    b[2..4].copy_from_slice(&u16::from(how.code()).to_le_bytes());
    match how {
        Status::Exited(_) => b[0] = 1,
        Status::Signaled(sig) => (b[0], b[4]) = (2, sig),
    }
    Ok(c.mem.put(status, &b)?)
}
