//! Processes as a trait, which is passed to the shell and to tools that run commands.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use crate::FileSystem;

/// A process id: positive, and unique within one session.
pub type Pid = u32;

/// A complete description of a program to start: its path, arguments, environment, directory and
/// descriptors. The child inherits nothing that is not listed here.
pub struct SpawnSpec<'a> {
    /// The absolute path of the program file. For an applet (`/bin/NAME`), the same module runs
    /// again under that name.
    pub program: &'a Path,
    /// The arguments, including `argv[0]`, without NUL bytes.
    pub argv: &'a [Vec<u8>],
    /// The whole environment.
    pub env: &'a [(Vec<u8>, Vec<u8>)],
    /// The absolute path of the working directory.
    pub cwd: &'a Path,
    /// The child's descriptor numbers and their files. A standard descriptor that is not listed is
    /// closed in the child. Numbers from 3 on reach only children that ask for them, as our shell
    /// does ([`crate::InheritedDescriptors::extra`]). The files are shared and not borrowed,
    /// because an in-process child keeps them without duplicating them.
    pub fds: &'a [(u32, Rc<File>)],
    pub group: NewGroup,
}

/// The process group of a new process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewGroup {
    /// The group of its parent.
    #[default]
    Inherit,
    /// A new group, which the process leads.
    New,
    /// A new group, which the process leads, in the foreground of the controlling terminal.
    Foreground,
    /// The group that the process with this id leads.
    Of(Pid),
}

impl SpawnSpec<'_> {
    /// Returns the value of [`PROGRAM_VARIABLE`](crate::PROGRAM_VARIABLE) for the child, if it
    /// needs one.
    pub(crate) fn renamed(&self) -> Option<&[u8]> {
        let base = |p: &[u8]| -> usize { p.iter().rposition(|c| *c == b'/').map_or(0, |i| i + 1) };
        let (program, arg0) = (crate::path::to_bytes(self.program), self.argv.first()?.as_slice());
        let (program, arg0) = (&program[base(program)..], &arg0[base(arg0)..]);
        let same = arg0.strip_prefix(b"-").unwrap_or(arg0) == program;
        (!same && !program.is_empty()).then_some(program)
    }
}

/// The way in which a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStatus {
    Exited(u8),
    /// By the signal with this number.
    Signaled(u8),
}

impl WaitStatus {
    /// Returns the status that a shell reports: the exit code, or 128 plus the signal (POSIX XCU
    /// 2.8.2).
    pub fn shell_status(self) -> u8 {
        match self {
            WaitStatus::Exited(c) => c,
            WaitStatus::Signaled(s) => s.wrapping_add(128),
        }
    }
}

/// What has happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildChange {
    Ended(WaitStatus),
    /// The signal with this number has stopped it.
    Stopped(u8),
}

/// The processes and pipes of the system.
pub trait Processes: FileSystem {
    /// Starts a process. Fails with `NotFound` if there is no such program, with `PermissionDenied`
    /// if it may not be run, with `Unsupported` if this system has no processes, and with
    /// `WouldBlock` (EAGAIN) at the process limit.
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid>;
    /// Waits until the child ends. Fails with `NotFound` (ECHILD) if the process is not a child or
    /// was already waited for.
    fn wait(&self, pid: Pid) -> io::Result<WaitStatus>;
    /// Does the same as [`Processes::wait`], but returns `None` at once if the child still runs.
    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>>;
    /// Does the same as [`Processes::wait`], but returns `None` if a caught signal arrives first
    /// ([`crate::events`]).
    fn wait_or_signal(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.wait(pid).map(Some)
    }
    /// Does the same as [`Processes::wait_or_signal`], but also returns when the child stops.
    fn wait_change(&self, pid: Pid) -> io::Result<Option<ChildChange>> {
        Ok(self.wait_or_signal(pid)?.map(ChildChange::Ended))
    }
    /// Returns what has happened to the child since the last call; `None` if nothing has.
    fn try_change(&self, pid: Pid) -> io::Result<Option<ChildChange>> {
        Ok(self.try_wait(pid)?.map(ChildChange::Ended))
    }
    /// Sends a signal by number; 0 only tests whether the process exists.
    fn kill(&self, pid: Pid, signal: u8) -> io::Result<()>;
    /// Sends a signal to a process and all its descendants, as `kill(2)` does for a process group.
    fn kill_tree(&self, pid: Pid, signal: u8) -> io::Result<()> {
        self.kill(pid, signal)
    }
    /// Sends a signal to a process group; 0 stands for the caller's.
    fn kill_group(&self, _group: Pid, _signal: u8) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Makes the caller the leader of a new session. Fails with `PermissionDenied` if it leads a
    /// process group.
    fn begin_session(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Replaces this process with another program under the same process id; returns only if that
    /// fails. After `Unsupported`, for a replacement that is not possible here, nothing has
    /// changed.
    fn exec(&self, _spec: &SpawnSpec<'_>) -> io::Error {
        io::ErrorKind::Unsupported.into()
    }
    /// Returns the reading and the writing end of a pipe. If processes do not run concurrently, the
    /// pipe is a spool file that is written first and read afterwards.
    fn pipe(&self) -> io::Result<(File, File)>;
    /// Returns a second descriptor for the same open file.
    fn dup(&self, file: &File) -> io::Result<File>;
    /// Returns the state that the last call of this session left ([`box_abi::session`]): an empty
    /// one if there was no call, `NotFound` if the process does not belong to a session's call.
    fn session_state(&self) -> io::Result<Vec<u8>> {
        std::fs::read(box_abi::session::STATE)
    }
    /// Leaves a state for the next call of this session.
    fn keep_session_state(&self, state: &[u8]) -> io::Result<()> {
        let node = File::options().write(true).open(box_abi::session::STATE)?;
        (&node).write_all(state)
    }
    /// Returns whether spawned processes run concurrently with the caller. If not, `spawn` returns
    /// after the child's end.
    fn concurrent(&self) -> bool;
    /// Returns the caller's process id.
    fn pid(&self) -> Pid;
    /// Returns the process id of the caller's parent.
    fn parent_pid(&self) -> Pid;
}

pub use box_abi::signal;
