//! The POSIX backend: runs the tools and the shell as programs of the host, for tests and fast
//! iteration.
//!
//! A program in `/bin` or `/usr/bin`, or a link to this executable, is started as this executable
//! if its name is that of an applet. `main` defines these names ([`Os::with_applets`]).

#[path = "native_net.rs"]
pub(crate) mod net;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use box_abi::{FileKind, Stat};

use crate::events::{self, CpuTimes};
use crate::path;
use crate::process::{ChildChange, NewGroup, Pid, Processes, SpawnSpec, WaitStatus, signal};
use crate::stdio::INHERITED_FDS;

/// The host's processes.
#[derive(Clone, Copy, Default)]
pub struct Os {
    is_applet: Option<fn(&[u8]) -> bool>,
}

impl Os {
    /// Returns a backend that runs this executable for programs with the name of an applet; see the
    /// module's documentation.
    pub fn with_applets(is_applet: fn(&[u8]) -> bool) -> Os {
        Os { is_applet: Some(is_applet) }
    }
}

fn cvt(r: libc::c_int) -> io::Result<libc::c_int> {
    if r < 0 { Err(io::Error::last_os_error()) } else { Ok(r) }
}

fn cstr(p: &Path) -> io::Result<CString> {
    CString::new(path::to_bytes(p)).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

/// Returns whether a program that has the name of an applet is that applet: it lies in a directory
/// where the image has applets, or it is a link to this executable, `own`.
fn is_place_of_applets(program: &Path, own: &Path) -> bool {
    let dir = program.parent().map(path::to_bytes).unwrap_or_default();
    matches!(dir, b"/bin" | b"/usr/bin")
        || std::fs::read_link(program).is_ok_and(|target| target == own)
}

impl Os {
    fn command(&self, spec: &SpawnSpec<'_>) -> io::Result<Command> {
        let name = spec.program.file_name().map(crate::path::os_bytes).unwrap_or_default();
        let own = std::env::current_exe()?;
        let applet =
            self.is_applet.is_some_and(|is| is(name)) && is_place_of_applets(spec.program, &own);
        let program = if applet { own } else { spec.program.to_path_buf() };
        let mut cmd = Command::new(program);
        let mut argv = spec.argv.iter();
        if let Some(a0) = argv.next() {
            cmd.arg0(path::os_string(a0.clone()));
        }
        cmd.args(argv.map(|a| path::os_string(a.clone())));
        cmd.env_clear();
        cmd.envs(
            spec.env.iter().map(|(k, v)| (path::os_string(k.clone()), path::os_string(v.clone()))),
        );
        let extra: Vec<String> =
            spec.fds.iter().filter(|(n, _)| *n > 2).map(|(n, _)| format!("{n}:{n}")).collect();
        if !extra.is_empty() {
            cmd.env(INHERITED_FDS, extra.join(","));
        }
        if let Some(name) = spec.renamed().filter(|_| applet) {
            cmd.env(crate::PROGRAM_VARIABLE, path::os_string(name.to_vec()));
        }
        cmd.current_dir(spec.cwd);
        match spec.group {
            NewGroup::Inherit => {}
            NewGroup::New | NewGroup::Foreground => {
                cmd.process_group(0);
            }
            NewGroup::Of(leader) => {
                cmd.process_group(libc::pid_t::try_from(leader).map_err(|_| invalid())?);
            }
        }
        let map: Vec<(RawFd, RawFd)> = spec
            .fds
            .iter()
            .map(|(n, f)| Ok((RawFd::try_from(*n).map_err(|_| invalid())?, f.as_raw_fd())))
            .collect::<io::Result<_>>()?;
        let keep: Vec<RawFd> = map.iter().map(|(n, _)| *n).collect();
        let in_foreground = spec.group == NewGroup::Foreground;
        // JUSTIFICATION: descriptors must get exact numbers in the child, which `Command` offers
        // for 0..2 only.
        // SAFETY: the closure runs between fork and exec and calls only async-signal-safe
        // functions (fcntl, dup2, close); it allocates nothing: `map` and `keep` were built before,
        // and the scratch array is on the stack.
        unsafe {
            cmd.pre_exec(move || {
                if in_foreground {
                    terminal::take_foreground();
                }
                let top = map.iter().map(|(n, _)| *n).max().unwrap_or(2).max(2) + 1;
                let mut moved = [-1; 64];
                if map.len() > moved.len() {
                    return Err(io::Error::from_raw_os_error(libc::EMFILE));
                }
                // Duplicate every source above all targets first, so that no dup2 overwrites a
                // later source.
                for (slot, (_, src)) in moved.iter_mut().zip(&map) {
                    *slot = cvt(libc::fcntl(*src, libc::F_DUPFD, top))?;
                }
                for (slot, (n, _)) in moved.iter().zip(&map) {
                    cvt(libc::dup2(*slot, *n))?;
                }
                for slot in moved.iter().take(map.len()) {
                    libc::close(*slot);
                }
                for n in 0..3 {
                    if !keep.contains(&n) {
                        libc::close(n);
                    }
                }
                // The standard library ignores SIGPIPE in this process, but programs expect the
                // default.
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                Ok(())
            });
        }
        Ok(cmd)
    }
}

impl crate::FileSystem for Os {}

impl Processes for Os {
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid> {
        Ok(self.command(spec)?.spawn()?.id())
    }

    fn exec(&self, spec: &SpawnSpec<'_>) -> io::Error {
        match self.command(spec) {
            Ok(mut cmd) => cmd.exec(),
            Err(e) => e,
        }
    }

    fn wait_or_signal(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        if events::signal_dispositions().0 == 0 {
            return self.wait(pid).map(Some);
        }
        // A signal may arrive after the check and before a wait that blocks, so no wait lasts long.
        let mut step = Duration::from_micros(200);
        loop {
            if events::has_pending() {
                return Ok(None);
            }
            if let Some(status) = self.try_wait(pid)? {
                return Ok(Some(status));
            }
            pause(step);
            step = (step * 2).min(LONGEST_PAUSE);
        }
    }

    fn wait_change(&self, pid: Pid) -> io::Result<Option<ChildChange>> {
        let mut step = Duration::from_micros(200);
        loop {
            if events::has_pending() {
                return Ok(None);
            }
            if let Some(change) = self.try_change(pid)? {
                return Ok(Some(change));
            }
            pause(step);
            step = (step * 2).min(LONGEST_PAUSE);
        }
    }

    fn try_change(&self, pid: Pid) -> io::Result<Option<ChildChange>> {
        wait_for_change(pid, libc::WNOHANG | libc::WUNTRACED)
    }

    fn kill_tree(&self, pid: Pid, signal: u8) -> io::Result<()> {
        let mut all = vec![pid];
        let mut at = 0;
        while let Some(p) = all.get(at).copied() {
            at += 1;
            let list = std::fs::read_to_string(format!("/proc/{p}/task/{p}/children"));
            all.extend(
                list.unwrap_or_default().split_whitespace().filter_map(|n| n.parse::<Pid>().ok()),
            );
        }
        let result = self.kill(pid, signal);
        for p in all.into_iter().skip(1) {
            // The process may have ended meanwhile.
            let _ = self.kill(p, signal);
        }
        result
    }

    fn kill_group(&self, group: Pid, signal: u8) -> io::Result<()> {
        let group = libc::pid_t::try_from(group).map_err(|_| invalid())?;
        // -1 would mean all processes of the machine.
        if group == 1 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // JUSTIFICATION: std has no kill(2).
        // SAFETY: kill takes plain integers and touches no memory of ours.
        cvt(unsafe { libc::kill(-group, libc::c_int::from(signal)) }).map(drop)
    }

    fn begin_session(&self) -> io::Result<()> {
        // JUSTIFICATION: std has no setsid(2).
        // SAFETY: no arguments.
        cvt(unsafe { libc::setsid() }).map(drop)
    }

    fn wait(&self, pid: Pid) -> io::Result<WaitStatus> {
        loop {
            match waitpid(pid, 0) {
                Ok(Some(s)) => return Ok(s),
                Ok(None) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        waitpid(pid, libc::WNOHANG)
    }

    fn kill(&self, pid: Pid, signal: u8) -> io::Result<()> {
        let pid = libc::pid_t::try_from(pid).map_err(|_| invalid())?;
        // JUSTIFICATION: std has no kill(2) for an arbitrary signal.
        // SAFETY: kill takes plain integers and touches no memory of ours.
        cvt(unsafe { libc::kill(pid, libc::c_int::from(signal)) }).map(drop)
    }

    fn pipe(&self) -> io::Result<(File, File)> {
        let (r, w) = io::pipe()?;
        Ok((OwnedFd::from(r).into(), OwnedFd::from(w).into()))
    }

    fn dup(&self, file: &File) -> io::Result<File> {
        file.try_clone()
    }

    fn concurrent(&self) -> bool {
        true
    }

    fn pid(&self) -> Pid {
        std::process::id()
    }

    fn parent_pid(&self) -> Pid {
        std::os::unix::process::parent_id()
    }
}

fn invalid() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

fn waitpid(pid: Pid, flags: libc::c_int) -> io::Result<Option<WaitStatus>> {
    Ok(wait_for_change(pid, flags)?.and_then(|change| match change {
        ChildChange::Ended(status) => Some(status),
        ChildChange::Stopped(_) => None,
    }))
}

fn wait_for_change(pid: Pid, flags: libc::c_int) -> io::Result<Option<ChildChange>> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| invalid())?;
    let mut status = 0;
    // JUSTIFICATION: only the number of a child is known, because it may have been started before
    // the shell's state was copied. SAFETY: `status` is a live c_int for the duration of the call.
    let got = cvt(unsafe { libc::waitpid(pid, &mut status, flags) })?;
    Ok((got != 0).then(|| {
        if libc::WIFSTOPPED(status) {
            ChildChange::Stopped(libc::WSTOPSIG(status) as u8)
        } else if libc::WIFSIGNALED(status) {
            ChildChange::Ended(WaitStatus::Signaled(libc::WTERMSIG(status) as u8))
        } else {
            ChildChange::Ended(WaitStatus::Exited(libc::WEXITSTATUS(status) as u8))
        }
    }))
}

/// Takes ownership of an inherited descriptor; `None` if it is closed.
pub(crate) fn adopt_fd(fd: u32) -> Option<File> {
    let fd = RawFd::try_from(fd).ok()?;
    // JUSTIFICATION: inherited descriptors are known by number only. SAFETY: F_SETFD on a number is
    // harmless. The check proves that the descriptor is open, and the contract of
    // `take_inherited`, which is called once and first, makes this
    // its only owner.
    unsafe {
        if libc::fcntl(fd, libc::F_GETFD) < 0 {
            return None;
        }
        if fd > 2 {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        Some(File::from_raw_fd(fd))
    }
}

/// Returns the directory the process was started in.
pub fn initial_cwd() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}

/// Makes `dir` the working directory of this process, for code that passes relative paths to the
/// system.
pub fn enter_cwd(dir: &Path) -> io::Result<()> {
    std::env::set_current_dir(dir)
}

#[path = "native_terminal.rs"]
mod terminal;
pub(crate) use terminal::terminal_call;

/// Returns the rows and columns of a terminal.
pub(crate) fn terminal_size(f: &File) -> io::Result<(u32, u32)> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // JUSTIFICATION: the standard library has no call for it. SAFETY: the descriptor is open, and
    // the call writes one `winsize`.
    cvt(unsafe { libc::ioctl(f.as_raw_fd(), libc::TIOCGWINSZ, &mut size) })?;
    Ok((size.ws_row.into(), size.ws_col.into()))
}

pub(crate) fn stat(p: &Path, follow: bool) -> io::Result<Stat> {
    let m = if follow { std::fs::metadata(p)? } else { std::fs::symlink_metadata(p)? };
    Ok(stat_of(&m))
}

pub(crate) fn stat_file(f: &File) -> io::Result<Stat> {
    f.metadata().map(|m| stat_of(&m))
}

fn stat_of(m: &std::fs::Metadata) -> Stat {
    let nanos = |s: i64, n: i64| u64::try_from(s * 1_000_000_000 + n).unwrap_or(0);
    Stat {
        kind: FileKind::from_bits((m.mode() >> 12) as u8).unwrap_or(FileKind::File),
        mode: (m.mode() & 0o7777) as u16,
        uid: m.uid(),
        gid: m.gid(),
        nlink: u32::try_from(m.nlink()).unwrap_or(u32::MAX),
        dev: m.dev(),
        ino: m.ino(),
        size: m.size(),
        atime: nanos(m.atime(), m.atime_nsec()),
        mtime: nanos(m.mtime(), m.mtime_nsec()),
        ctime: nanos(m.ctime(), m.ctime_nsec()),
    }
}

pub(crate) fn chmod(p: &Path, mode: u16) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(p, std::fs::Permissions::from_mode(u32::from(mode)))
}

pub(crate) fn chown(p: &Path, uid: Option<u32>, gid: Option<u32>, follow: bool) -> io::Result<()> {
    if follow {
        std::os::unix::fs::chown(p, uid, gid)
    } else {
        std::os::unix::fs::lchown(p, uid, gid)
    }
}

pub(crate) fn set_times(
    p: &Path,
    atime: Option<u64>,
    mtime: Option<u64>,
    follow: bool,
) -> io::Result<()> {
    let spec = |t: Option<u64>| libc::timespec {
        tv_sec: t.map_or(0, |t| (t / 1_000_000_000) as libc::time_t),
        tv_nsec: t.map_or(libc::UTIME_OMIT, |t| (t % 1_000_000_000) as libc::c_long),
    };
    let times = [spec(atime), spec(mtime)];
    let c = cstr(p)?;
    let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
    // JUSTIFICATION: std sets times only through an open file, and neither a read-only file nor a
    // link can be opened for that. SAFETY: `c` is NUL-terminated and `times` has two elements; both
    // live across the call.
    cvt(unsafe { libc::utimensat(libc::AT_FDCWD, c.as_ptr(), times.as_ptr(), flags) }).map(drop)
}

pub(crate) fn mkfifo(p: &Path, mode: u16) -> io::Result<()> {
    let c = cstr(p)?;
    // JUSTIFICATION: std has no mkfifo.
    // SAFETY: `c` is NUL-terminated and lives across the call.
    cvt(unsafe { libc::mkfifo(c.as_ptr(), libc::mode_t::from(mode)) }).map(drop)
}

pub(crate) fn symlink(target: &[u8], link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(path::from_bytes(target), link)
}

pub(crate) fn ids() -> (u32, u32) {
    // JUSTIFICATION: std has no geteuid. SAFETY: the calls have no arguments and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// The thread whose blocking calls a signal must end: the one that waits and reads.
static WAITER: AtomicU64 = AtomicU64::new(0);

/// The longest single wait. Waits are split, because a signal may arrive just before one begins.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(5);

extern "C" fn handler(signal: libc::c_int) {
    events::signal_arrived(signal as u8);
    let waiter = WAITER.load(Ordering::Relaxed);
    // JUSTIFICATION: the kernel may run the handler on any thread.
    // SAFETY: both functions are async-signal-safe; `waiter` is a thread that lives as long as the
    // program.
    unsafe {
        if waiter != 0 && waiter != libc::pthread_self() as u64 {
            libc::pthread_kill(waiter as libc::pthread_t, signal);
        }
    }
}

/// Does nothing, because the system sends SIGPIPE, whose default action the program's `main` has
/// restored.
pub(crate) fn end_by_closed_pipes() {}

/// Changes dispositions from the old pair of sets (handled, ignored) to the new one.
pub(crate) fn set_dispositions(old: (u64, u64), new: (u64, u64)) {
    // SAFETY: the call has no arguments and cannot fail. JUSTIFICATION: std has no call for it.
    WAITER.store(unsafe { libc::pthread_self() } as u64, Ordering::Relaxed);
    for n in 1..64u8 {
        let bit = events::signal_bit(n);
        let kind = |(caught, ignored): (u64, u64)| (caught & bit != 0, ignored & bit != 0);
        if kind(old) == kind(new) {
            continue;
        }
        let action = match kind(new) {
            (true, _) => handler as *const () as libc::sighandler_t,
            (_, true) => libc::SIG_IGN,
            _ => libc::SIG_DFL,
        };
        // JUSTIFICATION: std cannot set signal dispositions. SAFETY: sigaction is plain data, for
        // which zero is valid; the handler only uses atomics and pthread_kill. SA_RESTART is not
        // set, because blocking calls must end.
        unsafe {
            let mut sa: libc::sigaction = std::mem::zeroed();
            sa.sa_sigaction = action;
            libc::sigaction(libc::c_int::from(n), &sa, std::ptr::null_mut());
        }
    }
}

pub(crate) fn ignored_at_start() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    *FIRST.get_or_init(|| {
        let mut set = 0;
        for n in (1..32u8).filter(|n| *n != signal::PIPE) {
            // JUSTIFICATION: std has no call for dispositions.
            // SAFETY: sigaction is plain data, for which zero is valid; a null new action only
            // reads the old one.
            let handler = unsafe {
                let mut sa: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::c_int::from(n), std::ptr::null(), &mut sa);
                sa.sa_sigaction
            };
            // SIGPIPE is left out of the range, because the standard library always ignores it.
            if handler == libc::SIG_IGN {
                set |= events::signal_bit(n);
            }
        }
        set
    })
}

/// Sleeps; returns early at a signal.
pub(crate) fn pause(time: Duration) {
    let spec = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(time.subsec_nanos() as i32),
    };
    // JUSTIFICATION: std's sleep continues after a signal. SAFETY: `spec` is live; a null pointer
    // means that the remaining time is not requested.
    unsafe { libc::nanosleep(&spec, std::ptr::null_mut()) };
}

pub(crate) fn cpu_times() -> CpuTimes {
    let usage = |who| {
        // JUSTIFICATION: std has no getrusage.
        // SAFETY: rusage is plain data, for which zero is valid; it lives for the call.
        let u = unsafe {
            let mut u: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut u);
            u
        };
        let time = |t: libc::timeval| {
            Duration::new(t.tv_sec.unsigned_abs(), (t.tv_usec as u32).saturating_mul(1000))
        };
        (time(u.ru_utime), time(u.ru_stime))
    };
    let ((user, system), (children_user, children_system)) =
        (usage(libc::RUSAGE_SELF), usage(libc::RUSAGE_CHILDREN));
    CpuTimes { user, system, children_user, children_system }
}

pub(crate) fn initial_umask() -> u16 {
    static FIRST: OnceLock<u16> = OnceLock::new();
    *FIRST.get_or_init(|| {
        // JUSTIFICATION: std has no umask, and the mask can only be read by setting it.
        // SAFETY: plain integers; the mask is restored at once.
        unsafe {
            let mask = libc::umask(0o022);
            libc::umask(mask);
            mask as u16
        }
    })
}

pub(crate) fn set_umask(mask: u16) {
    initial_umask();
    // JUSTIFICATION: std has no umask.
    // SAFETY: plain integers.
    unsafe { libc::umask(libc::mode_t::from(mask)) };
}

pub(crate) fn umask_in_force() -> u16 {
    crate::meta::umask()
}
