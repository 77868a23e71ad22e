//! The shell alone, with the host's own programs as commands: for comparing it with a real bash.
//!
//! With `BOX_SEQUENTIAL` in the environment nothing runs beside the shell: a spawned shell runs
//! in-process, a program is waited for at once, pipes are spool files. This is how the shell runs
//! where WASI has no processes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use box_applet::{AppletRun, AppletTable, Ctx, Env, InputSource, OutStream, OutputSink, StdInput};
use box_sys::{
    INHERITED_FDS, Os, Pid, Processes, SpawnSpec, WaitStatus, initial_cwd, path, take_inherited,
};

/// The environment variable that names the file in which a session's state is kept, instead of in
/// the node.
const SESSION_FILE: &str = "SESSION_FILE";

static TABLE: AppletTable = AppletTable::new(sh_cli::APPLETS, &[]);

#[cfg(target_os = "wasi")]
fn main() -> ExitCode {
    ExitCode::from(run())
}

#[cfg(not(target_os = "wasi"))]
fn main() -> ExitCode {
    // Debug builds have large frames; the limit on nesting assumes a large stack.
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    ExitCode::from(run.ok().and_then(|t| t.join().ok()).unwrap_or(134))
}

fn run() -> u8 {
    let argv: Vec<Vec<u8>> =
        std::env::args_os().map(|a: OsString| path::os_into_bytes(a)).collect();
    let fds = take_inherited();
    let mut env: Env = std::env::vars_os()
        .map(|(k, v)| (path::os_into_bytes(k), path::os_into_bytes(v)))
        .collect();
    env.unset(INHERITED_FDS.as_bytes());
    env.unset(SESSION_FILE.as_bytes());
    let os = Os::with_applets(|name| TABLE.find(name).is_some());
    let start = Begin { argv, env, cwd: initial_cwd(), stdio: fds.stdio, extra: fds.extra };
    if !os.concurrent() || std::env::var_os("BOX_SEQUENTIAL").is_some() {
        let procs = Sequential { os, last: Cell::new(100), ended: RefCell::default() };
        start.call(&procs)
    } else if let Some(file) = std::env::var_os(SESSION_FILE) {
        start.call(&InSession { os, file: file.into() })
    } else {
        start.call(&os)
    }
}

struct Begin {
    argv: Vec<Vec<u8>>,
    env: Env,
    cwd: PathBuf,
    stdio: [Option<Rc<File>>; 3],
    extra: Vec<(u32, Rc<File>)>,
}

impl Begin {
    fn call(self, procs: &dyn Processes) -> u8 {
        let mut argv = self.argv.into_iter();
        let arg0 = argv.next().unwrap_or_default();
        let name = arg0.rsplit(|c| *c == b'/').next().unwrap_or_default().to_vec();
        let applet = TABLE.find(&name).or_else(|| TABLE.find(b"bash"));
        let Some(AppletRun::Ctx(run)) = applet.map(|a| a.run) else { return 127 };
        let sink = |f: Option<Rc<File>>| f.map_or(OutputSink::Closed, OutputSink::File);
        let [stdin, stdout, stderr] = self.stdio;
        let mut ctx = Ctx {
            name: String::from_utf8_lossy(&name).into_owned(),
            applet: "bash",
            arg0: arg0.clone(),
            env: self.env,
            cwd: self.cwd,
            stdin: StdInput::new(stdin.map_or(InputSource::Closed, InputSource::File)),
            stdout: OutStream::buffered(sink(stdout)),
            stderr: OutStream::unbuffered(sink(stderr)),
            extra_fds: self.extra,
            procs,
            table: &TABLE,
        };
        let args: Vec<Vec<u8>> = argv.collect();
        let exit = run(&mut ctx, &args);
        ctx.finish(exit).0
    }
}

/// The system's processes, and a file for the state of a session.
struct InSession {
    os: Os,
    file: PathBuf,
}

impl box_sys::FileSystem for InSession {}

impl Processes for InSession {
    fn session_state(&self) -> io::Result<Vec<u8>> {
        std::fs::read(&self.file)
    }

    fn keep_session_state(&self, state: &[u8]) -> io::Result<()> {
        write(&self.file, state)
    }

    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid> {
        self.os.spawn(spec)
    }

    fn wait(&self, pid: Pid) -> io::Result<WaitStatus> {
        self.os.wait(pid)
    }

    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.os.try_wait(pid)
    }

    fn wait_or_signal(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.os.wait_or_signal(pid)
    }

    fn kill(&self, pid: Pid, signal: u8) -> io::Result<()> {
        self.os.kill(pid, signal)
    }

    fn kill_tree(&self, pid: Pid, signal: u8) -> io::Result<()> {
        self.os.kill_tree(pid, signal)
    }

    fn kill_group(&self, group: Pid, signal: u8) -> io::Result<()> {
        self.os.kill_group(group, signal)
    }

    fn exec(&self, spec: &SpawnSpec<'_>) -> io::Error {
        self.os.exec(spec)
    }

    fn pipe(&self) -> io::Result<(File, File)> {
        self.os.pipe()
    }

    fn dup(&self, file: &File) -> io::Result<File> {
        self.os.dup(file)
    }

    fn concurrent(&self) -> bool {
        self.os.concurrent()
    }

    fn pid(&self) -> Pid {
        self.os.pid()
    }

    fn parent_pid(&self) -> Pid {
        self.os.parent_pid()
    }
}

/// Writes a session's state as the node does: the whole state, or none of it.
fn write(file: &Path, state: &[u8]) -> io::Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, state)?;
    std::fs::rename(new, file)
}

/// A process system in which processes end before `spawn` returns.
struct Sequential {
    os: Os,
    last: Cell<Pid>,
    ended: RefCell<HashMap<Pid, WaitStatus>>,
}

impl box_sys::FileSystem for Sequential {}

impl Processes for Sequential {
    fn spawn(&self, spec: &SpawnSpec<'_>) -> io::Result<Pid> {
        let ours = matches!(
            path::to_bytes(spec.program),
            b"/bin/bash" | b"/bin/sh" | b"/usr/bin/bash" | b"/usr/bin/sh"
        );
        let status = if ours {
            let file = |n: u32| spec.fds.iter().find(|(k, _)| *k == n).map(|(_, f)| f.clone());
            let start = Begin {
                argv: spec.argv.to_vec(),
                env: spec.env.iter().cloned().collect(),
                cwd: spec.cwd.to_path_buf(),
                stdio: [file(0), file(1), file(2)],
                extra: spec.fds.iter().filter(|(n, _)| *n > 2).cloned().collect(),
            };
            WaitStatus::Exited(start.call(self))
        } else {
            let pid = self.os.spawn(spec)?;
            self.os.wait(pid)?
        };
        let pid = self.last.get() + 1;
        self.last.set(pid);
        self.ended.borrow_mut().insert(pid, status);
        Ok(pid)
    }

    fn wait(&self, pid: Pid) -> io::Result<WaitStatus> {
        self.ended.borrow_mut().remove(&pid).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn try_wait(&self, pid: Pid) -> io::Result<Option<WaitStatus>> {
        self.wait(pid).map(Some)
    }

    fn kill(&self, _: Pid, _: u8) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(box_sys::errno::code::ESRCH))
    }

    fn pipe(&self) -> io::Result<(File, File)> {
        box_sys::preview1::spool()
    }

    fn dup(&self, file: &File) -> io::Result<File> {
        self.os.dup(file)
    }

    fn concurrent(&self) -> bool {
        false
    }

    fn pid(&self) -> Pid {
        self.os.pid()
    }

    fn parent_pid(&self) -> Pid {
        self.os.parent_pid()
    }
}
