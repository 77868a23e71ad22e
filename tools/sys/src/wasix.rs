//! The backend of guests: WASIX calls in addition to WASI preview 1.
//!
//! The same binary also runs where `wasix_32v1` is a set of stubs that answer NOSYS (plain preview
//! 1 runtimes). There [`Os::concurrent`] is false, [`Os::spawn`] is unsupported, pipes are spool
//! files, and `box` runs applets in-process instead.
//!
//! Facts this file relies on (measured on wasmer-wasix 0.705): `proc_spawn3` takes a
//! NUL-terminated argv; a child starts with *all* descriptors of its parent, hence the closing
//! operations; `fd_dup2` picks any free number, so exact numbers are given by
//! spawn operations only; `proc_fork` must never be called.

#[path = "wasix_events.rs"]
mod events;
#[path = "wasix_exec.rs"]
mod exec;
#[path = "wasix_net.rs"]
pub(crate) mod net;

use std::cell::{Cell, OnceCell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::{Path, PathBuf};

use box_abi::{FileKind, GROUP_NEW, GROUP_VARIABLE, MetaRequest, STAT_LEN, Stat, control};

use crate::errno::code;
use crate::path;
use crate::process::{ChildChange, NewGroup, Pid, Processes, SpawnSpec, WaitStatus};
use crate::stdio::INHERITED_FDS;

pub(crate) use events::{
    LONGEST_PAUSE, cpu_times, end_by_closed_pipes, ignored_at_start, initial_umask, pause,
    set_dispositions, set_umask, umask_in_force,
};

/// The structure `proc_spawn_fd_op` of WASIX.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FdOp {
    cmd: u8,
    fd: u32,
    src_fd: u32,
    name: u32,
    name_len: u32,
    dirflags: u32,
    oflags: u16,
    rights_base: u64,
    rights_inheriting: u64,
    fdflags: u16,
    fdflags_ext: u16,
}
const _: () = assert!(size_of::<FdOp>() == 56);
const OP_CLOSE: u8 = 0;
const OP_DUP2: u8 = 1;
const OP_CHDIR: u8 = 3;

#[repr(C)]
#[derive(Default)]
struct OptionPid {
    tag: u8,
    pid: u32,
}

/// The structure `join_status`: a tag, then a union whose members start with a 16-bit exit code.
#[repr(C, align(4))]
#[derive(Default)]
struct JoinStatus {
    tag: u8,
    _pad: u8,
    code: u16,
    signal: u8,
    _rest: [u8; 3],
}
const JOIN_NOTHING: u8 = 0;
const JOIN_SIGNALED: u8 = 2;
const JOIN_STOPPED: u8 = 3;
const JOIN_NON_BLOCKING: u32 = 1;
const JOIN_SEES_STOPS: u32 = 2;

/// The structure `tty` of WASIX.
#[repr(C)]
#[derive(Default)]
struct Tty {
    columns: u32,
    rows: u32,
    width: u32,
    height: u32,
    flags: [u8; 8],
}
const _: () = assert!(size_of::<Tty>() == 24);

#[link(wasm_import_module = "wasix_32v1")]
unsafe extern "C" {
    fn fd_pipe(read: *mut u32, write: *mut u32) -> i32;
    fn fd_dup(fd: u32, out: *mut u32) -> i32;
    fn proc_spawn3(
        name: *const u8,
        name_len: usize,
        args: *const *const u8,
        args_len: usize,
        envs: *const *const u8,
        envs_len: usize,
        ops: *const FdOp,
        ops_len: usize,
        signals: *const u8,
        signals_len: usize,
        search_path: u32,
        path: *const u8,
        path_len: usize,
        pid: *mut u32,
    ) -> i32;
    fn proc_join(pid: *mut OptionPid, flags: u32, status: *mut JoinStatus) -> i32;
    fn proc_signal(pid: u32, signal: u32) -> i32;
    fn proc_id(pid: *mut u32) -> i32;
    fn proc_parent(pid: u32, parent: *mut u32) -> i32;
    fn getcwd(buf: *mut u8, len: *mut u32) -> i32;
    fn tty_get(tty: *mut Tty) -> i32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_fdstat_get(fd: u32, stat: *mut [u64; 3]) -> i32;
    fn fd_prestat_get(fd: u32, prestat: *mut [u32; 2]) -> i32;
}

/// The guest's processes.
#[derive(Clone, Copy, Default)]
pub struct Os {}

impl Os {
    /// Returns the system. On the guest every program in the applet directories is an applet of the
    /// image, so the argument is unused.
    pub fn with_applets(_: fn(&[u8]) -> bool) -> Os {
        Os {}
    }
}

fn cvt(errno: i32) -> io::Result<()> {
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// NUL-terminated copies of strings and the pointers to them, as `proc_spawn3` expects them.
struct CStrings {
    _owned: Vec<Vec<u8>>,
    ptrs: Vec<*const u8>,
}

impl CStrings {
    fn new(items: impl Iterator<Item = Vec<u8>>) -> io::Result<CStrings> {
        let mut owned: Vec<Vec<u8>> = items.collect();
        for s in &mut owned {
            if s.contains(&0) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            s.push(0);
        }
        let ptrs = owned.iter().map(|s| s.as_ptr()).collect();
        Ok(CStrings { _owned: owned, ptrs })
    }
}

/// Returns the child's environment as `NAME=value` strings, including the variables that our own
/// programs pass to each other.
fn environment(spec: &SpawnSpec<'_>) -> Vec<Vec<u8>> {
    let mut env: Vec<Vec<u8>> =
        spec.env.iter().map(|(k, v)| [k.as_slice(), b"=", v].concat()).collect();
    let extra: Vec<String> = spec
        .fds
        .iter()
        .filter(|(n, _)| *n > 2)
        .map(|(n, _)| format!("{n}:{}", actual_fd(*n)))
        .collect();
    if !extra.is_empty() {
        env.push(format!("{INHERITED_FDS}={}", extra.join(",")).into_bytes());
    }
    if let Some(name) = spec.renamed() {
        env.push([crate::PROGRAM_VARIABLE.as_bytes(), b"=", name].concat());
    }
    match spec.group {
        NewGroup::Inherit => {}
        NewGroup::New => env.push([GROUP_VARIABLE, "=", GROUP_NEW].concat().into_bytes()),
        NewGroup::Foreground => {
            let value = box_abi::terminal::GROUP_FOREGROUND;
            env.push([GROUP_VARIABLE, "=", value].concat().into_bytes());
        }
        NewGroup::Of(leader) => env.push(format!("{GROUP_VARIABLE}={leader}").into_bytes()),
    }
    let umask = crate::meta::umask();
    if umask != box_abi::DEFAULT_UMASK {
        env.push(format!("{}={umask:03o}", box_abi::UMASK_VARIABLE).into_bytes());
    }
    env
}

fn is_open(fd: u32) -> bool {
    let mut stat = [0u64; 3];
    // JUSTIFICATION: WASI cannot list descriptors.
    // SAFETY: fd_fdstat_get writes 24 bytes, the size of `stat`; unknown numbers give EBADF.
    unsafe { fd_fdstat_get(fd, &mut stat) == 0 }
}

/// Returns the open descriptors from 3 on that are not preopened directories.
fn open_fds() -> Vec<u32> {
    const MISSES: u32 = 64;
    let (mut found, mut misses, mut fd) = (Vec::new(), 0, 3);
    while misses < MISSES {
        if is_open(fd) {
            misses = 0;
            let mut prestat = [0u32; 2];
            // SAFETY: fd_prestat_get writes 8 bytes, the size of `prestat`.
            if unsafe { fd_prestat_get(fd, &mut prestat) } != 0 {
                found.push(fd);
            }
        } else {
            misses += 1;
        }
        fd += 1;
    }
    found
}

/// Returns the descriptor that takes the place of the child's number `n`, because numbers from 3 on
/// would collide with preopens.
fn actual_fd(n: u32) -> u32 {
    if n < 3 { n } else { n.saturating_add(box_abi::FD_SHIFT) }
}

fn fd_ops(spec: &SpawnSpec<'_>, cwd: &[u8]) -> Vec<FdOp> {
    let mut ops = vec![FdOp {
        cmd: OP_CHDIR,
        name: cwd.as_ptr() as usize as u32,
        name_len: cwd.len() as u32,
        ..FdOp::default()
    }];
    let map: Vec<(u32, u32)> =
        spec.fds.iter().map(|(n, f)| (actual_fd(*n), f.as_raw_fd() as u32)).collect();
    let dup2 = |fd, src_fd| FdOp { cmd: OP_DUP2, fd, src_fd, ..FdOp::default() };
    let close = |fd| FdOp { cmd: OP_CLOSE, fd, ..FdOp::default() };
    // If a target number is also the source of a later operation, it must not be overwritten first,
    // so all go through high numbers.
    let clash = map.iter().enumerate().any(|(i, (n, _))| map[i + 1..].iter().any(|(_, s)| s == n));
    const HIGH: u32 = 4000;
    if clash {
        ops.extend((HIGH..).zip(&map).map(|(h, (_, s))| dup2(h, *s)));
        ops.extend((HIGH..).zip(&map).map(|(h, (n, _))| dup2(*n, h)));
        ops.extend((HIGH..).zip(&map).map(|(h, _)| close(h)));
    } else {
        ops.extend(map.iter().filter(|(n, s)| n != s).map(|(n, s)| dup2(*n, *s)));
    }
    let kept = |fd: &u32| map.iter().any(|(n, _)| n == fd);
    // Descriptors that are already closed are left out, because closing one of them would make the
    // call fail.
    ops.extend((0..3).filter(|fd| !kept(fd) && is_open(*fd)).map(close));
    ops.extend(open_fds().into_iter().filter(|fd| !kept(fd)).map(close));
    ops
}

impl crate::FileSystem for Os {}

impl Processes for Os {
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid> {
        if !self.concurrent() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let argv = CStrings::new(spec.argv.iter().cloned())?;
        let env = CStrings::new(environment(spec).into_iter())?;
        let cwd = path::to_bytes(spec.cwd);
        let ops = fd_ops(spec, cwd);
        let signals = events::inherited_dispositions();
        let program = path::to_bytes(spec.program);
        let call = |program: &[u8]| {
            let mut pid = 0u32;
            // JUSTIFICATION: spawning is a host call that no library wraps.
            // SAFETY: every pointer comes with its length and outlives the call; argv and env
            // strings are NUL-terminated; `ops` has WASIX's layout (size asserted above).
            let errno = unsafe {
                proc_spawn3(
                    program.as_ptr(),
                    program.len(),
                    argv.ptrs.as_ptr(),
                    argv.ptrs.len(),
                    env.ptrs.as_ptr(),
                    env.ptrs.len(),
                    ops.as_ptr(),
                    ops.len(),
                    signals.as_ptr().cast(),
                    signals.len(),
                    0,
                    std::ptr::null(),
                    0,
                    &mut pid,
                )
            };
            cvt(errno).map(|()| pid)
        };
        match (call(program), program.strip_prefix(b"/usr/bin/")) {
            // A runtime that cannot write to /usr puts an image's commands into /bin only.
            (Err(e), Some(name)) if e.raw_os_error() == Some(code::ENOEXEC) => {
                call(&[b"/bin/", name].concat())
            }
            (result, _) => result,
        }
    }

    fn wait(&self, pid: Pid) -> io::Result<WaitStatus> {
        loop {
            match join(pid, 0) {
                Ok(Some(ChildChange::Ended(s))) => return Ok(s),
                Ok(_) => return Err(io::Error::from_raw_os_error(code::ECHILD)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn wait_or_signal(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        Ok(join_or_signal(pid, 0)?.and_then(ended))
    }

    fn wait_change(&self, pid: Pid) -> io::Result<Option<ChildChange>> {
        join_or_signal(pid, JOIN_SEES_STOPS)
    }

    fn try_change(&self, pid: Pid) -> io::Result<Option<ChildChange>> {
        join(pid, JOIN_NON_BLOCKING | JOIN_SEES_STOPS)
    }

    fn kill_tree(&self, pid: Pid, signal: u8) -> io::Result<()> {
        // Our kernel sends a signal for a negative number to a process and its descendants, as
        // `kill(2)` does for a group.
        let group = pid.wrapping_neg();
        // SAFETY: plain integers. JUSTIFICATION: no library wraps this host call.
        match cvt(unsafe { proc_signal(group, u32::from(signal)) }) {
            Ok(()) => Ok(()),
            Err(_) => self.kill(pid, signal),
        }
    }

    fn kill_group(&self, group: Pid, signal: u8) -> io::Result<()> {
        // The number is 0 or negative, as for `kill(2)`.
        self.kill(group.wrapping_neg(), signal)
    }

    fn begin_session(&self) -> io::Result<()> {
        if !events::ours() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        signal_call(0, control::SESSION)
    }

    fn exec(&self, spec: &SpawnSpec<'_>) -> io::Error {
        if !self.concurrent() {
            return io::ErrorKind::Unsupported.into();
        }
        exec::exec(spec)
    }

    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        Ok(join(pid, JOIN_NON_BLOCKING)?.and_then(ended))
    }

    fn kill(&self, pid: Pid, signal: u8) -> io::Result<()> {
        signal_call(pid, u32::from(signal))
    }

    fn pipe(&self) -> io::Result<(File, File)> {
        if !self.concurrent() {
            return crate::preview1::spool();
        }
        match bounded_pipe() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let (mut r, mut w) = (0u32, 0u32);
        // JUSTIFICATION: the runtime's own pipe, for hosts without device nodes.
        // SAFETY: both out-pointers are live; on success the two fresh descriptors are ours alone.
        unsafe {
            cvt(fd_pipe(&mut r, &mut w))?;
            Ok((File::from_raw_fd(r as RawFd), File::from_raw_fd(w as RawFd)))
        }
    }

    fn dup(&self, file: &File) -> io::Result<File> {
        let mut out = 0u32;
        // JUSTIFICATION: std has no descriptor duplication on WASI.
        // SAFETY: `out` is live; on success the fresh descriptor is ours alone.
        unsafe {
            cvt(fd_dup(file.as_raw_fd() as u32, &mut out))?;
            Ok(File::from_raw_fd(out as RawFd))
        }
    }

    fn concurrent(&self) -> bool {
        self.pid() != 0
    }

    fn pid(&self) -> Pid {
        thread_local!(static PID: OnceCell<Pid> = const { OnceCell::new() });
        PID.with(|p| {
            *p.get_or_init(|| {
                let mut pid = 0u32;
                // SAFETY: `pid` is live. JUSTIFICATION: no library wraps this host call.
                if unsafe { proc_id(&mut pid) } == 0 { pid } else { 0 }
            })
        })
    }

    fn parent_pid(&self) -> Pid {
        let mut parent = 0u32;
        // SAFETY: `parent` is live. JUSTIFICATION: no library wraps this host call.
        if unsafe { proc_parent(self.pid(), &mut parent) } == 0 { parent } else { 0 }
    }
}

/// Calls `proc_signal` with a signal, or with one of the numbers in [`control`].
fn signal_call(pid: Pid, signal: u32) -> io::Result<()> {
    // SAFETY: plain integers. JUSTIFICATION: no library wraps this host call.
    cvt(unsafe { proc_signal(pid, signal) })
}

/// Waits for a child; `None` if a caught signal arrives first.
fn join_or_signal(pid: Pid, flags: u32) -> io::Result<Option<ChildChange>> {
    // A signal that arrives after this check makes the call below fail with EINTR.
    while !crate::events::has_pending() {
        match join(pid, flags) {
            Ok(Some(change)) => return Ok(Some(change)),
            Ok(None) => return Err(io::Error::from_raw_os_error(code::ECHILD)),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

fn ended(change: ChildChange) -> Option<WaitStatus> {
    match change {
        ChildChange::Ended(status) => Some(status),
        ChildChange::Stopped(_) => None,
    }
}

fn join(pid: Pid, flags: u32) -> io::Result<Option<ChildChange>> {
    let mut which = OptionPid { tag: 1, pid };
    let mut status = JoinStatus::default();
    // JUSTIFICATION: no library wraps this host call.
    // SAFETY: both pointers are live and have WASIX's layout.
    cvt(unsafe { proc_join(&mut which, flags, &mut status) })?;
    Ok(match status.tag {
        JOIN_NOTHING => None,
        JOIN_STOPPED => Some(ChildChange::Stopped(status.signal)),
        JOIN_SIGNALED if status.signal != 0 => {
            Some(ChildChange::Ended(WaitStatus::Signaled(status.signal)))
        }
        _ => Some(ChildChange::Ended(WaitStatus::Exited(status.code as u8))),
    })
}

/// Opens both ends of a new named pipe below `/.box`.
fn bounded_pipe() -> io::Result<(File, File)> {
    thread_local! {
        static NEXT: Cell<u32> = const { Cell::new(0) };
        static MISSING: Cell<bool> = const { Cell::new(false) };
    }
    if MISSING.get() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let n = NEXT.replace(NEXT.get().wrapping_add(1));
    let name = format!("{}/{}-{n}", box_abi::PIPE_DIR, Os {}.pid());
    let read = OpenOptions::new().read(true).open(format!("{name}/r"));
    let read = read.inspect_err(|e| MISSING.set(e.kind() == io::ErrorKind::NotFound))?;
    Ok((read, OpenOptions::new().write(true).open(format!("{name}/w"))?))
}

/// Takes ownership of an inherited descriptor; `None` if it is closed.
pub(crate) fn adopt_fd(fd: u32) -> Option<File> {
    let mut stat = [0u64; 3];
    // JUSTIFICATION: inherited descriptors are known by number only.
    // SAFETY: the call proves the descriptor open, and `inherited`'s contract (called once,
    // first) makes the new file its only owner.
    unsafe { (fd_fdstat_get(fd, &mut stat) == 0).then(|| File::from_raw_fd(fd as RawFd)) }
}

/// Returns the directory in which the process was started: WASIX's, or `$PWD`, or `/`.
pub fn initial_cwd() -> PathBuf {
    let mut buf = vec![0u8; 4096];
    let mut len = 4096u32;
    // JUSTIFICATION: WASI has no working directory; a WASIX parent passes one on. SAFETY: `buf` has
    // `len` bytes; the host writes at most that many and reports their number.
    if unsafe { getcwd(buf.as_mut_ptr(), &mut len) } == 0 {
        buf.truncate(len as usize);
        while buf.last() == Some(&0) {
            buf.pop();
        }
        if buf.first() == Some(&b'/') {
            return path::from_bytes(&buf).to_path_buf();
        }
    }
    match std::env::var_os("PWD").map(PathBuf::from) {
        Some(p) if p.is_absolute() && p.is_dir() => p,
        _ => PathBuf::from("/"),
    }
}

/// Changes the directory against which libc resolves relative paths to `dir`.
pub fn enter_cwd(dir: &Path) -> io::Result<()> {
    std::env::set_current_dir(dir)
}

/// Sends a request to the metadata node and returns its reply without the errno; `None` if the node
/// does not exist. An empty path names no file.
fn exchange(request: &MetaRequest<'_>) -> Option<io::Result<Vec<u8>>> {
    if request.path().is_empty() {
        return Some(Err(io::Error::from_raw_os_error(libc::ENOENT)));
    }
    thread_local!(static NODE: RefCell<Option<Option<File>>> = const { RefCell::new(None) });
    NODE.with_borrow_mut(|slot| {
        let node = slot.get_or_insert_with(|| {
            OpenOptions::new().read(true).write(true).open(box_abi::META).ok()
        });
        let node = node.as_mut()?;
        let mut reply = [0u8; 2 + STAT_LEN];
        let done = node.write_all(&request.encode()).and_then(|()| node.read(&mut reply));
        Some(done.and_then(|n| match reply[..n] {
            [0, 0, ref rest @ ..] => Ok(rest.to_vec()),
            [lo, hi, ..] => {
                Err(io::Error::from_raw_os_error(i32::from(u16::from_le_bytes([lo, hi]))))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }))
    })
}

/// Sends a request about a descriptor to the node of terminals; returns its answer.
pub(crate) fn terminal_call(
    file: &File,
    request: &box_abi::terminal::TerminalRequest<'_>,
) -> io::Result<Vec<u8>> {
    let not_one = || io::Error::from_raw_os_error(libc::ENOTTY);
    let mut node = OpenOptions::new()
        .read(true)
        .write(true)
        .open(box_abi::terminal::TERMINAL)
        .map_err(|_| not_one())?;
    use box_abi::terminal::TerminalOperation as Op;
    let number = match request.operation {
        // These are about the caller.
        Op::GetMembership | Op::SetGroup => 0,
        _ => u32::try_from(file.as_raw_fd()).map_err(|_| not_one())?,
    };
    node.write_all(&box_abi::terminal::TerminalRequest { number, ..*request }.encode())?;
    let mut reply = [0; box_abi::terminal::MAX_MESSAGE];
    let n = node.read(&mut reply)?;
    match reply[..n] {
        [0, 0, _, _, ref answer @ ..] => Ok(answer.to_vec()),
        [lo, hi, ..] => Err(io::Error::from_raw_os_error(i32::from(u16::from_le_bytes([lo, hi])))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Returns the rows and columns of the terminal.
pub(crate) fn terminal_size(file: &File) -> io::Result<(u32, u32)> {
    if let Ok(size) = crate::terminal::window_size(file) {
        return Ok((size.rows.into(), size.columns.into()));
    }
    let mut tty = Tty::default();
    // JUSTIFICATION: `std` has no call for this.
    // SAFETY: the kernel writes the 24 bytes of the structure.
    cvt(unsafe { tty_get(&mut tty) })?;
    Ok((tty.rows, tty.columns))
}

pub(crate) fn stat(p: &Path, follow: bool) -> io::Result<Stat> {
    let request = MetaRequest::Stat { path: path::to_bytes(p), follow };
    match exchange(&request) {
        Some(reply) => Stat::decode(&reply?).ok_or_else(|| io::ErrorKind::InvalidData.into()),
        None => libc_stat(p, follow),
    }
}

fn cstr(p: &[u8]) -> io::Result<std::ffi::CString> {
    std::ffi::CString::new(p).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn libc_cvt(r: i32) -> io::Result<()> {
    if r < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the metadata that preview 1 gives, with fixed permission bits and owner.
fn libc_stat(p: &Path, follow: bool) -> io::Result<Stat> {
    let c = cstr(path::to_bytes(p))?;
    // JUSTIFICATION: std's wasi metadata extensions (inode, links) are unstable.
    // SAFETY: libc::stat is plain data, for which zero is valid; `c` is NUL-terminated.
    let st = unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        libc_cvt(if follow {
            libc::stat(c.as_ptr(), &mut st)
        } else {
            libc::lstat(c.as_ptr(), &mut st)
        })?;
        st
    };
    Ok(fixed(&st))
}

pub(crate) fn stat_file(f: &File) -> io::Result<Stat> {
    // JUSTIFICATION: std's wasi metadata extensions (inode) are unstable.
    // SAFETY: libc::stat is plain data, for which zero is valid; the descriptor is open.
    let st = unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        libc_cvt(libc::fstat(f.as_raw_fd(), &mut st))?;
        st
    };
    Ok(fixed(&st))
}

/// Converts libc's metadata, with fixed permission bits and owner.
fn fixed(st: &libc::stat) -> Stat {
    let kind = match st.st_mode & libc::S_IFMT {
        libc::S_IFDIR => FileKind::Dir,
        libc::S_IFLNK => FileKind::Symlink,
        libc::S_IFCHR => FileKind::CharDevice,
        libc::S_IFBLK => FileKind::BlockDevice,
        libc::S_IFREG => FileKind::File,
        // Preview 1 has no file type for pipes.
        _ => FileKind::Fifo,
    };
    let mode = match kind {
        FileKind::Dir => 0o755,
        FileKind::Symlink => 0o777,
        _ => 0o644,
    };
    let nanos = |t: libc::timespec| {
        u64::try_from(t.tv_sec * 1_000_000_000 + i64::from(t.tv_nsec)).unwrap_or(0)
    };
    let id = crate::meta::USER_ID;
    Stat {
        kind,
        mode,
        uid: id,
        gid: id,
        nlink: u32::try_from(st.st_nlink).unwrap_or(u32::MAX),
        dev: st.st_dev,
        ino: st.st_ino,
        size: u64::try_from(st.st_size).unwrap_or(0),
        atime: nanos(st.st_atim),
        mtime: nanos(st.st_mtim),
        ctime: nanos(st.st_ctim),
    }
}

/// Sends a request that has no result; if the node does not exist, fails with `Unsupported`.
fn change(request: &MetaRequest<'_>) -> io::Result<()> {
    match exchange(request) {
        Some(reply) => reply.map(drop),
        None => Err(io::Error::from_raw_os_error(code::ENOTSUP)),
    }
}

pub(crate) fn chmod(p: &Path, mode: u16) -> io::Result<()> {
    change(&MetaRequest::Chmod { path: path::to_bytes(p), mode })
}

pub(crate) fn chown(p: &Path, uid: Option<u32>, gid: Option<u32>, follow: bool) -> io::Result<()> {
    let (uid, gid) = (uid.unwrap_or(u32::MAX), gid.unwrap_or(u32::MAX));
    change(&MetaRequest::Chown { path: path::to_bytes(p), uid, gid, follow })
}

pub(crate) fn set_times(
    p: &Path,
    atime: Option<u64>,
    mtime: Option<u64>,
    follow: bool,
) -> io::Result<()> {
    let request = MetaRequest::SetTimes { path: path::to_bytes(p), atime, mtime, follow };
    if let Some(reply) = exchange(&request) {
        return reply.map(drop);
    }
    let spec = |t: Option<u64>| libc::timespec {
        tv_sec: t.map_or(0, |t| (t / 1_000_000_000) as libc::time_t),
        tv_nsec: t.map_or(libc::UTIME_OMIT, |t| (t % 1_000_000_000) as libc::c_long),
    };
    let times = [spec(atime), spec(mtime)];
    let c = cstr(path::to_bytes(p))?;
    let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
    // JUSTIFICATION: std sets times only through an open file.
    // SAFETY: `c` is NUL-terminated and `times` has two elements; both live across the call.
    libc_cvt(unsafe { libc::utimensat(libc::AT_FDCWD, c.as_ptr(), times.as_ptr(), flags) })
}

pub(crate) fn mkfifo(p: &Path, mode: u16) -> io::Result<()> {
    change(&MetaRequest::Mkfifo { path: path::to_bytes(p), mode })
}

pub(crate) fn symlink(target: &[u8], link: &Path) -> io::Result<()> {
    let (t, l) = (cstr(target)?, cstr(path::to_bytes(link))?);
    // JUSTIFICATION: std's wasi symlink is unstable.
    // SAFETY: both strings are NUL-terminated and live across the call.
    libc_cvt(unsafe { libc::symlink(t.as_ptr(), l.as_ptr()) })
}

pub(crate) fn ids() -> (u32, u32) {
    (crate::meta::USER_ID, crate::meta::USER_ID)
}
