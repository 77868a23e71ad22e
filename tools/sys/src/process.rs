//! Processes as a trait: the shell and tools that run commands get one handed in.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use crate::FileSystem;

/// A process id. Positive; unique within one session.
pub type Pid = u32;

/// A program to start: its path, arguments, environment, directory and descriptors, complete. The
/// child inherits nothing that is not named here.
pub struct SpawnSpec<'a> {
    /// Absolute path of the program file. For an applet (`/bin/NAME`) the same module
    /// runs again under that name.
    pub program: &'a Path,
    /// Arguments, `argv[0]` included. No NUL bytes.
    pub argv: &'a [Vec<u8>],
    /// The whole environment.
    pub env: &'a [(Vec<u8>, Vec<u8>)],
    /// Absolute working directory.
    pub cwd: &'a Path,
    /// The child's descriptor numbers and their files. A standard descriptor that is not listed is
    /// closed in the child. Numbers from 3 up reach only children that ask for them (our shell
    /// does: [`crate::InheritedDescriptors::extra`]). Shared, not borrowed, because an in-process
    /// child keeps them without a duplicate.
    pub fds: &'a [(u32, Rc<File>)],
    pub group: NewGroup,
}

/// The process group of a new process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewGroup {
    /// The group of its parent.
    #[default]
    Inherit,
    /// A new group, which it leads.
    New,
    /// The group that this process leads.
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

/// The way a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStatus {
    Exited(u8),
    /// Ended by the signal of this number.
    Signaled(u8),
}

impl WaitStatus {
    /// Returns the status a shell reports: the exit code, or 128 plus the signal (POSIX XCU 2.8.2).
    pub fn shell_status(self) -> u8 {
        match self {
            WaitStatus::Exited(c) => c,
            WaitStatus::Signaled(s) => s.wrapping_add(128),
        }
    }
}

/// Processes and pipes of the system below.
pub trait Processes: FileSystem {
    /// Starts a process. `NotFound` if there is no such program, `PermissionDenied` if it may not
    /// run, `Unsupported` if this system has no processes, `WouldBlock` (EAGAIN) at the process
    /// limit.
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid>;
    /// Waits until the child ends. `NotFound` (ECHILD) if it is not an unwaited child.
    fn wait(&self, pid: Pid) -> io::Result<WaitStatus>;
    /// Does the same as [`Processes::wait`], but returns `None` at once if the child still runs.
    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>>;
    /// Does the same as [`Processes::wait`], but returns `None` if a caught signal arrives first
    /// ([`crate::events`]).
    fn wait_or_signal(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.wait(pid).map(Some)
    }
    /// Sends a signal by number; 0 only tests that the process exists.
    fn kill(&self, pid: Pid, signal: u8) -> io::Result<()>;
    /// Sends a signal to a process and all its descendants, as one to its process group would go.
    fn kill_tree(&self, pid: Pid, signal: u8) -> io::Result<()> {
        self.kill(pid, signal)
    }
    /// Sends a signal to a process group; 0 is the caller's.
    fn kill_group(&self, _group: Pid, _signal: u8) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Makes the caller the leader of a new session. `PermissionDenied` if it leads a process
    /// group.
    fn begin_session(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Replaces this process with another program under the same process id; returns only after a
    /// failure. With `Unsupported`, where this cannot be done, nothing has changed.
    fn exec(&self, _spec: &SpawnSpec<'_>) -> io::Error {
        io::ErrorKind::Unsupported.into()
    }
    /// Returns a pipe's reading and writing end. Where processes do not run concurrently it is a
    /// spool file that is written first and read after.
    fn pipe(&self) -> io::Result<(File, File)>;
    /// Returns a second descriptor for the same open file.
    fn dup(&self, file: &File) -> io::Result<File>;
    /// Returns the state that the last call of this session has left ([`box_abi::session`]); empty
    /// if there was no call, `NotFound` if the process belongs to no session's call.
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
