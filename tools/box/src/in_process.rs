//! Processes for runtimes that have none (plain WASI preview 1): a spawned applet runs to its
//! end inside this process before `spawn` returns, and pipes are spool files. Pipelines
//! give the same results as long as no stage waits for a later one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io;

use box_applet::{AppletRun, Env};
use box_sys::errno::code;
use box_sys::{Os, Pid, Processes, SpawnSpec, WaitStatus, path};

use crate::dispatch::{AppletStart, globals_in_process, in_ctx};
use crate::table::TABLE;

/// The maximum nesting of subshells, because each level is a frame of this process's stack.
const MAX_DEPTH: u32 = 16;

/// Processes that run inside this one; see the module documentation.
pub struct InProcess {
    os: Os,
    last: Cell<Pid>,
    depth: Cell<u32>,
    ended: RefCell<HashMap<Pid, WaitStatus>>,
}

impl InProcess {
    /// Returns processes that use `os` for the functions that preview 1 offers.
    pub fn new(os: Os) -> InProcess {
        InProcess { os, last: Cell::new(1), depth: Cell::new(0), ended: RefCell::default() }
    }

    fn run(&self, spec: &SpawnSpec<'_>) -> io::Result<u8> {
        let name = spec.program.file_name().map(path::os_bytes).unwrap_or_default();
        let not_found = || io::Error::from_raw_os_error(code::ENOENT);
        let applet = TABLE.find(name).ok_or_else(not_found)?;
        let file = |n: u32| spec.fds.iter().find(|(k, _)| *k == n).map(|(_, f)| f.clone());
        let stdio = [file(0), file(1), file(2)];
        match applet.run {
            AppletRun::Globals(run) => globals_in_process(run, spec.argv, spec.cwd, stdio),
            AppletRun::Ctx(_) => {
                let start = AppletStart {
                    argv: spec.argv.to_vec(),
                    env: spec.env.iter().cloned().collect::<Env>(),
                    cwd: spec.cwd.to_path_buf(),
                    stdio,
                    extra_fds: spec.fds.iter().filter(|(n, _)| *n > 2).cloned().collect(),
                };
                Ok(in_ctx(applet, start, self))
            }
        }
    }
}

impl box_sys::FileSystem for InProcess {}

impl Processes for InProcess {
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid> {
        if self.depth.get() >= MAX_DEPTH {
            return Err(io::Error::from_raw_os_error(code::EAGAIN));
        }
        self.depth.set(self.depth.get() + 1);
        let status = self.run(spec);
        self.depth.set(self.depth.get() - 1);
        let pid = self.last.get() + 1;
        self.last.set(pid);
        self.ended.borrow_mut().insert(pid, WaitStatus::Exited(status?));
        Ok(pid)
    }

    fn wait(&self, pid: Pid) -> io::Result<WaitStatus> {
        let ended = self.ended.borrow_mut().remove(&pid);
        ended.ok_or_else(|| io::Error::from_raw_os_error(code::ECHILD))
    }

    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.wait(pid).map(Some)
    }

    fn kill(&self, _: Pid, _: u8) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(code::ESRCH))
    }

    fn pipe(&self) -> io::Result<(File, File)> {
        self.os.pipe()
    }

    fn dup(&self, file: &File) -> io::Result<File> {
        self.os.dup(file)
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
