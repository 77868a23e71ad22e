//! WASIX: processes, descriptor duplication, pipes, the working directory.

use super::arguments::ArgumentLists;
use super::border::{
    CloseOnExec, Fd, FdFlags, GuestList, GuestStr, LookupFlags, OFlags, Opening, ProcessChanges,
    ProgramRequest, Rights,
};
use super::call_fd::{install_file, open_file};
use super::call_path::open_at;
use super::descriptors::{Descriptor, Descriptors, OpenDescription, ROOT_FD};
use super::guest::{GuestCall, Halt, Sys};
use super::host::Host;
use super::memory::CallMemory;
use super::outcome::ProcessStatus;
use super::process::{Charge, Cwd, Membership};
use super::search::search_program;
use super::table::{ChildChange, ChildStart, ChildWait, PROCESS_COST, SpawnError};
use crate::lock_mutex;
use box_abi::signal;
use wasibox_vfs::{Errno, Loc, VfsFile};

/// The maximum length of a working directory's path. Linux has no such bound, but it does not store
/// the path either.
const CWD_MAX: usize = 64 << 10;
const MAX_OPS: u32 = 16384;
const OP_SIZE: u32 = 56;
const NON_BLOCKING: u32 = 1;
const WAKE_STOPPED: u32 = 2;

/// `getpid(2)`.
pub fn proc_id<H: Host>(c: &mut GuestCall<'_, H>, out: u32) -> Sys {
    Ok(c.mem.put_u32(out, c.process.pid)?)
}

/// Stores the number of a process's parent: 1 if that is the host, or if the process was left
/// behind by an earlier run.
///
/// # Errors
/// ESRCH.
pub fn proc_parent<H: Host>(c: &mut GuestCall<'_, H>, pid: u32, out: u32) -> Sys {
    let parent = c.process.kernel.parent_of(pid).ok_or(Errno::SRCH)?;
    Ok(c.mem.put_u32(out, parent)?)
}

/// Sends a signal, or executes a request of [`box_abi::control`].
pub fn proc_signal<H: Host>(c: &mut GuestCall<'_, H>, pid: u32, sig: u32) -> Sys {
    let sig = match sig {
        box_abi::control::IGNORE => {
            let ignored = u64::from(pid)
                & !(1 | signal::signal_bit(signal::KILL) | signal::signal_bit(signal::STOP));
            c.process.knows_ignored.store(false, std::sync::atomic::Ordering::SeqCst);
            c.process.ignored.store(ignored, std::sync::atomic::Ordering::SeqCst);
            return Ok(());
        }
        box_abi::control::CATCH => {
            c.process.set_caught(u64::from(pid) | !u64::from(u32::MAX));
            return Ok(());
        }
        box_abi::control::SESSION => {
            let mut membership = lock_mutex(&c.process.membership);
            if membership.group == c.process.pid {
                return Err(Errno::PERM.into());
            }
            *membership = Membership { group: c.process.pid, session: c.process.pid };
            return Ok(());
        }
        box_abi::control::PIPE => {
            c.process.dies_of_pipe.store(true, std::sync::atomic::Ordering::SeqCst);
            return Ok(());
        }
        box_abi::control::ALONE => return c.process.end_others(),
        box_abi::control::STOP => {
            let stopping = [signal::TSTP, signal::TTIN, signal::TTOU];
            let sig = stopping.into_iter().find(|s| u32::from(*s) == pid).ok_or(Errno::INVAL)?;
            c.process.stop(sig);
            return Ok(());
        }
        sig => u8::try_from(sig).map_err(|_| Errno::INVAL)?,
    };
    Ok(c.process.kernel.send_signal(c.process, pid, sig)?)
}

/// `raise(3)`: [`proc_signal`] to the caller.
pub fn proc_raise<H: Host>(c: &mut GuestCall<'_, H>, sig: u32) -> Sys {
    let pid = c.process.pid;
    proc_signal(c, pid, sig)
}

/// Sets the export that handles signals; an empty name removes the handler. The only valid name is
/// `__wasm_signal`.
///
/// # Errors
/// EINVAL for another name.
pub fn callback_signal<H: Host>(c: &mut GuestCall<'_, H>, name: GuestStr) -> Sys {
    let name = name.read_path(&c.mem)?;
    // In Wasmer a name that is not an export also removes the handler.
    if !name.is_empty() && name != b"__wasm_signal" {
        return Err(Errno::INVAL.into());
    }
    c.process.set_handler(!name.is_empty());
    Ok(())
}

/// Stores the number of signals that the process ignores; a program asks for it when it starts.
pub fn proc_signals_sizes_get<H: Host>(c: &mut GuestCall<'_, H>, count: u32) -> Sys {
    let ignored = c.process.ignored.load(std::sync::atomic::Ordering::SeqCst);
    Ok(c.mem.put_u32(count, ignored.count_ones())?)
}

/// Stores pairs of signal and disposition (1: ignored). From now on the program's handler decides
/// about these signals, unless the program sets them by [`box_abi::control::IGNORE`].
pub fn proc_signals_get<H: Host>(c: &mut GuestCall<'_, H>, mut out: u32) -> Sys {
    c.process.knows_ignored.store(true, std::sync::atomic::Ordering::SeqCst);
    let ignored = c.process.ignored.load(std::sync::atomic::Ordering::SeqCst);
    for n in (0..64u8).filter(|n| ignored & 1 << n != 0) {
        c.mem.put_bytes(out, &[n, 1])?;
        out = out.checked_add(2).ok_or(Errno::FAULT)?;
    }
    Ok(())
}

/// `chdir(2)`.
///
/// # Errors
/// ENOENT, ENOTDIR, ENAMETOOLONG beyond 64 KiB, ENOMEM.
pub fn chdir<H: Host>(c: &mut GuestCall<'_, H>, path: GuestStr) -> Sys {
    let path = path.read_path(&c.mem)?;
    let base = lock_mutex(&c.process.cwd).loc.clone();
    let mut cwd = open_cwd(c, &base, &path)?;
    cwd.held = Charge::take_bytes(&c.process.kernel.budget, cwd.memory_cost())?;
    *lock_mutex(&c.process.cwd) = cwd;
    Ok(())
}

/// Opens the directory that `path` leads to from `base`, as a working directory.
fn open_cwd<H: Host>(c: &GuestCall<'_, H>, base: &Loc, path: &[u8]) -> Result<Cwd, Errno> {
    let (loc, path) = c.process.kernel.vfs.chdir(base, path)?;
    if path.len() > CWD_MAX { Err(Errno::NAMETOOLONG) } else { Ok(Cwd::new(loc, path)) }
}

/// `getcwd(3)`: stores the path at `buf` and its length at `len`, which contains the size of the
/// buffer on entry. ERANGE if the path does not fit.
pub fn getcwd<H: Host>(c: &mut GuestCall<'_, H>, buf: u32, len: u32) -> Sys {
    let path = lock_mutex(&c.process.cwd).path.clone();
    let room = c.mem.read_u32(len)? as usize;
    c.mem.put_u32(len, path.len() as u32)?;
    if room < path.len() {
        return Err(Errno::RANGE.into());
    }
    c.mem.put_bytes(buf, &path)?;
    if room > path.len() {
        let end = buf.checked_add(path.len() as u32).ok_or(Errno::FAULT)?;
        c.mem.put_bytes(end, &[0])?;
    }
    Ok(())
}

/// `fcntl(F_DUPFD)`: duplicates a descriptor to the lowest free number from `min` on.
pub fn fd_dup2<H: Host>(
    c: &mut GuestCall<'_, H>,
    fd: Fd,
    min: Fd,
    cloexec: CloseOnExec,
    out: u32,
) -> Sys {
    let open = open_file(c, fd)?;
    let new =
        lock_mutex(&c.process.fds).add_descriptor(Descriptor { open, cloexec: cloexec.0 }, min)?;
    Ok(c.mem.put_u32(out, new.0)?)
}

/// `fcntl(F_GETFD)`: stores in two bytes at `out` whether an exec closes the descriptor (1 or 0).
pub fn fd_fdflags_get<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, out: u32) -> Sys {
    let cloexec = lock_mutex(&c.process.fds).get(fd)?.cloexec;
    Ok(c.mem.put_bytes(out, &u16::from(cloexec).to_le_bytes())?)
}

/// `fcntl(F_SETFD)`.
pub fn fd_fdflags_set<H: Host>(c: &mut GuestCall<'_, H>, fd: Fd, cloexec: CloseOnExec) -> Sys {
    lock_mutex(&c.process.fds).get_mut(fd)?.cloexec = cloexec.0;
    Ok(())
}

/// `pipe(2)`: stores the number of the reading end at `read`, and of the writing end at `write`.
///
/// # Errors
/// EMFILE, ENOMEM.
pub fn fd_pipe<H: Host>(c: &mut GuestCall<'_, H>, read: u32, write: u32) -> Sys {
    let (r, w) = c.process.kernel.vfs.pipe()?;
    let budget = &c.process.kernel.budget;
    let w = OpenDescription::new_charged(VfsFile::PipeWrite(w), false, true, budget)?;
    let r = install_file(
        c,
        OpenDescription::new_charged(VfsFile::PipeRead(r), true, false, budget)?,
        CloseOnExec(false),
    )?;
    let w = match install_file(c, w, CloseOnExec(false)) {
        Ok(w) => w,
        Err(e) => {
            let closed = lock_mutex(&c.process.fds).remove(r);
            drop(closed);
            return Err(e.into());
        }
    };
    c.mem.put_u32(read, r.0)?;
    Ok(c.mem.put_u32(write, w.0)?)
}

/// Stores the structure `tty` of WASIX: 80 columns, 25 rows, and for each standard stream whether
/// it is a terminal.
pub fn tty_get<H: Host>(c: &mut GuestCall<'_, H>, out: u32) -> Sys {
    let mut b = [0u8; 24];
    let size = (0..3u32).find_map(|fd| match &open_file(c, Fd(fd)).ok()?.file {
        VfsFile::Slave(s) => Some(s.terminal().size()),
        _ => None,
    });
    let (columns, rows) =
        size.map_or((80, 25), |size| (u32::from(size.columns), u32::from(size.rows)));
    for (at, v) in [(0, columns), (4, rows), (8, 800), (12, 600)] {
        b[at..at + 4].copy_from_slice(&v.to_le_bytes());
    }
    for fd in 0..3u32 {
        let tty = open_file(c, Fd(fd)).is_ok_and(|o| match &o.file {
            VfsFile::Stream(s) => s.is_terminal(),
            VfsFile::Slave(_) => true,
            _ => false,
        });
        b[16 + fd as usize] = u8::from(tty);
    }
    (b[19], b[20]) = (1, 1);
    Ok(c.mem.put_bytes(out, &b)?)
}

/// Reads a path that is relative to the process's working directory; ENOENT for an empty one.
fn guest_path<H: Host>(c: &GuestCall<'_, H>, path: GuestStr) -> Result<Vec<u8>, Errno> {
    let p = path.read_path(&c.mem)?;
    if p.is_empty() { Err(Errno::NOENT) } else { Ok(p) }
}

/// The parts of a new child that its file operations change.
struct ChildBuilder {
    fds: Descriptors,
    cwd: Cwd,
}

fn apply_changes<H: Host>(
    c: &GuestCall<'_, H>,
    child: &mut ChildBuilder,
    at: u32,
) -> Result<(), Errno> {
    let op: [u8; OP_SIZE as usize] = c.mem.read_array(at)?;
    let u32_at = |i: usize| u32::from_le_bytes(op[i..i + 4].try_into().unwrap_or_default());
    let (fd, src) = (Fd(u32_at(4)), Fd(u32_at(8)));
    let path = GuestStr { at: u32_at(12), len: u32_at(16) };
    match op[0] {
        // The preopened root stays, as in Wasmer, because libc could resolve no path without it.
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
            let path = guest_path(c, path)?;
            let how = Opening {
                lookup: LookupFlags(u32_at(20)),
                oflags: OFlags(u16::from_le_bytes([op[24], op[25]]).into()),
                rights: Rights(u64::from_le_bytes(op[32..40].try_into().unwrap_or_default())),
                fdflags: FdFlags(u16::from_le_bytes([op[48], op[49]])),
            };
            let open = open_at(c, &child.cwd.loc, &path, how)?;
            drop(child.fds.set(fd, Descriptor { open, cloexec: false })?);
            Ok(())
        }
        3 => {
            let path = guest_path(c, path)?;
            child.cwd = open_cwd(c, &child.cwd.loc, &path)?;
            Ok(())
        }
        4 => {
            let loc = child.fds.get(fd)?.open.file.loc().ok_or(Errno::NOTDIR)?.clone();
            child.cwd = open_cwd(c, &loc, b".")?;
            Ok(())
        }
        _ => Err(Errno::INVAL),
    }
}

/// Returns the signals that the child ignores, from pairs of signal and disposition (0 default, 1
/// ignore).
fn ignored_signals<H: Host>(
    c: &GuestCall<'_, H>,
    GuestList { at, n }: GuestList,
) -> Result<u64, Errno> {
    let mut ignored = c.process.ignored.load(std::sync::atomic::Ordering::SeqCst);
    if at == 0 {
        return Ok(ignored);
    }
    if c.process.judges_ignored() {
        // It names all that it ignores.
        ignored = 0;
    }
    c.mem.lend_bytes(at, n.min(256) as usize * 2, |pairs| {
        for pair in pairs.chunks_exact(2) {
            let bit = signal::signal_bit(pair[0]);
            if pair[1] == 1 { ignored |= bit } else { ignored &= !bit }
        }
        Ok(ignored)
    })
}

/// `posix_spawn(3)` and `posix_spawnp(3)`: starts a child with the caller's descriptors, directory
/// and ignored signals, altered by `changes`; stores its number at `out`.
///
/// # Errors
/// ENOENT, EACCES, ENOEXEC for a file that is not a program, EAGAIN for too many processes, ENOMEM;
/// E2BIG for too many changes or arguments.
pub fn proc_spawn3<H: Host>(
    c: &mut GuestCall<'_, H>,
    program: ProgramRequest,
    changes: ProcessChanges,
    out: u32,
) -> Sys {
    let name = guest_path(c, program.name)?;
    let kernel = &c.process.kernel;
    let besides = PROCESS_COST
        + lock_mutex(&c.process.fds).memory_cost()
        + lock_mutex(&c.process.cwd).memory_cost();
    let mut lists = ArgumentLists::new(&kernel.budget, besides)?;
    let argv = lists.read_pointers(&c.mem, program.args)?;
    let env = match program.env.at {
        0 => lists.copy_again(&lock_mutex(&c.process.start).env)?,
        _ => lists.read_pointers(&c.mem, program.env)?,
    };
    let held = lists.finish_charge();
    let mut child = ChildBuilder {
        fds: lock_mutex(&c.process.fds).clone(),
        cwd: lock_mutex(&c.process.cwd).clone(),
    };
    let GuestList { at, n } = changes.files;
    if at != 0 {
        if n > MAX_OPS {
            return Err(Errno::TOOBIG.into());
        }
        for i in 0..n {
            c.process.check_alive()?;
            apply_changes(c, &mut child, at.checked_add(i * OP_SIZE).ok_or(Errno::FAULT)?)?;
        }
    }
    drop(child.fds.begin_program());
    let ignored = ignored_signals(c, changes.signals)?;
    let list = program.search.then_some(program.path);
    let found = search_program(c, &child.cwd.loc, &name, list)?;
    let start = found.to_start(&kernel.vfs, argv, env);
    c.mem.read_u32(out)?;
    let ChildBuilder { fds, cwd } = child;
    let parent = c.process.pid;
    let pid = match kernel.spawn_process(ChildStart {
        parent,
        start,
        fds,
        cwd,
        ignored,
        held: Some(held),
    }) {
        Ok(pid) => pid,
        Err(SpawnError::Errno(e)) => return Err(e.into()),
        Err(SpawnError::Program(_)) => return Err(Errno::NOEXEC.into()),
    };
    Ok(c.mem.put_u32(out, pid)?)
}

/// `execve(2)`: replaces the program of the process. The strings of a list are either separated by
/// line feeds or each ended by a NUL. Without a list of variables the environment is kept.
pub fn proc_exec3<H: Host>(c: &mut GuestCall<'_, H>, program: ProgramRequest) -> Sys {
    let name = guest_path(c, program.name)?;
    let mut lists = ArgumentLists::new(&c.process.kernel.budget, 0)?;
    let argv = lists.read_lines(&c.mem, program.args)?;
    let env = match program.env.at {
        0 => lists.copy_again(&lock_mutex(&c.process.start).env)?,
        _ => {
            let lines = lists.read_lines(&c.mem, program.env)?;
            lines.into_iter().filter(|l| !l.is_empty()).collect()
        }
    };
    let cwd = lock_mutex(&c.process.cwd).loc.clone();
    let list = program.search.then_some(program.path);
    let found = search_program(c, &cwd, &name, list)?;
    let start = found.to_start(&c.process.kernel.vfs, argv, env);
    c.process.kernel.count_program()?;
    let closed = lock_mutex(&c.process.fds).begin_program();
    drop(closed);
    c.process.set_handler(false);
    c.process.set_caught(u64::MAX);
    *lock_mutex(&c.process.start) = start;
    *lock_mutex(&c.process.args) = lists.finish_charge();
    Err(Halt::Exec)
}

/// `waitpid(2)`. `pid` points to an optional number (tag, number), where the number of the child
/// that ended is written; at `status` are stored a tag (0 nothing, 1 exited, 2 signalled, 3 stopped), the exit
/// status as a shell reports it, and the signal.
pub fn proc_join<H: Host>(c: &mut GuestCall<'_, H>, pid: u32, flags: u32, status: u32) -> Sys {
    let number = pid.checked_add(4).ok_or(Errno::FAULT)?;
    let which = match c.mem.read_u8(pid)? {
        0 => None,
        1 => Some(c.mem.read_u32(number)?),
        _ => return Err(Errno::INVAL.into()),
    };
    c.mem.put_bytes(status, &[0; 6])?;
    let wait =
        ChildWait { blocks: flags & NON_BLOCKING == 0, sees_stops: flags & WAKE_STOPPED != 0 };
    let changed = c.process.kernel.wait_child(c.process, which, wait)?;
    let Some((child, change)) = changed else { return Ok(()) };
    c.mem.put_bytes(pid, &[1])?;
    c.mem.put_u32(number, child)?;
    let mut b = [0u8; 6];
    let how = match change {
        ChildChange::Ended(how) => how,
        ChildChange::Stopped(sig) => {
            (b[0], b[4]) = (3, sig);
            return Ok(c.mem.put_bytes(status, &b)?);
        }
    };
    b[2..4].copy_from_slice(&u16::from(how.code()).to_le_bytes());
    match how {
        ProcessStatus::Exited(_) => b[0] = 1,
        ProcessStatus::Signaled(sig) => (b[0], b[4]) = (2, sig),
    }
    Ok(c.mem.put_bytes(status, &b)?)
}
