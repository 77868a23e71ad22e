//! A test double of [`Processes`]: it records the programs that are spawned and returns prepared
//! statuses. It starts no process.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::File;
use std::io;

use crate::process::{Pid, Processes, SpawnSpec, WaitStatus};

/// A test double whose processes end at once with the next prepared status, or with 0 when none is
/// left.
#[derive(Default)]
pub struct Fake {
    /// `argv` of each spawn, in order.
    pub spawned: RefCell<Vec<Vec<Vec<u8>>>>,
    /// The statuses with which the next processes will end.
    pub statuses: RefCell<VecDeque<WaitStatus>>,
    /// The signals that were sent, in order.
    pub signals: RefCell<Vec<(Pid, u8)>>,
    ended: RefCell<Vec<(Pid, WaitStatus)>>,
    last: Cell<Pid>,
}

impl crate::FileSystem for Fake {}

impl Processes for Fake {
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid> {
        self.spawned.borrow_mut().push(spec.argv.to_vec());
        let status = self.statuses.borrow_mut().pop_front().unwrap_or(WaitStatus::Exited(0));
        self.last.set(self.last.get() + 1);
        self.ended.borrow_mut().push((self.last.get(), status));
        Ok(self.last.get())
    }

    fn wait(&self, pid: Pid) -> io::Result<WaitStatus> {
        let mut ended = self.ended.borrow_mut();
        let at = ended.iter().position(|(p, _)| *p == pid);
        at.map(|i| ended.remove(i).1).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.wait(pid).map(Some)
    }

    fn kill(&self, pid: Pid, signal: u8) -> io::Result<()> {
        self.signals.borrow_mut().push((pid, signal));
        Ok(())
    }

    fn pipe(&self) -> io::Result<(File, File)> {
        crate::preview1::spool()
    }

    fn dup(&self, file: &File) -> io::Result<File> {
        crate::Os::default().dup(file)
    }

    fn concurrent(&self) -> bool {
        false
    }

    fn pid(&self) -> Pid {
        1
    }

    fn parent_pid(&self) -> Pid {
        0
    }
}
