//! Commands that run beside the session's calls.
//!
//! A call runs to its end before the next one begins. A detached command is a run of its own that
//! begins between two calls and continues while others run; it ends by itself, by a signal, by a
//! limit, or with [`SessionSandbox::end_background`].

use crate::host::{Background, Kernel};
use crate::outcome::RunResult;
use crate::relay::TerminalStart;
use crate::sandbox::{RunSpec, SandboxError, SessionSandbox};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox_kernel::{CellOrigin, ChildStart, Cwd, OpenDescription, RunEnd, SpawnError};
use wasibox_vfs::{Errno, Loc, VfsFile};

/// A handle that sends signals to the processes between and beside calls.
#[derive(Clone)]
pub struct ProcessSignals(Arc<Background>);

impl ProcessSignals {
    /// Sends a signal to a process that runs beside calls, and to all others of its run if it is
    /// the first of them. Returns whether there is such a process.
    pub fn send_signal(&self, pid: u32, signal: u8) -> bool {
        self.0.send_signal(pid, signal)
    }
}

/// A command that has a terminal for its standard streams.
pub struct TerminalRun {
    pub argv: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
    pub cwd: Vec<u8>,
    pub timeout: Option<Duration>,
    pub terminal: TerminalStart,
}

/// The parts of a detached command that do not depend on its streams.
struct DetachedStart {
    argv: Vec<Vec<u8>>,
    env: Vec<Vec<u8>>,
    cwd: Vec<u8>,
    timeout: Option<Duration>,
}

impl SessionSandbox {
    /// Begins a command that runs beside calls, and returns the number of its process. `ended` is
    /// called on another thread when the process has ended. Of the limits of time only the
    /// command's own applies.
    ///
    /// # Errors
    /// If it could not be started; `ended` is not called then.
    pub fn begin_detached(
        &self,
        spec: RunSpec,
        ended: impl FnOnce(RunResult) + Send + 'static,
    ) -> Result<u32, SandboxError> {
        let RunSpec { argv, env, cwd, timeout, stdin, stdout, stderr, .. } = spec;
        let start = DetachedStart { argv, env, cwd, timeout };
        self.begin_with(start, || self.first_files(stdin, stdout, stderr), ended)
    }

    /// Does the same for a command on a new terminal, whose session and foreground group it leads.
    /// The limit of output does not apply: the terminal holds a bounded amount, and its programs
    /// wait for the client.
    ///
    /// # Errors
    /// The same as [`SessionSandbox::begin_detached`]; also if the session has too many terminals.
    pub fn begin_on_terminal(
        &self,
        run: TerminalRun,
        ended: impl FnOnce(RunResult) + Send + 'static,
    ) -> Result<u32, SandboxError> {
        let TerminalRun { argv, env, cwd, timeout, terminal } = run;
        let start = DetachedStart { argv, env, cwd, timeout };
        let opens = || {
            let slave = terminal.open(self.vfs())?;
            let open = OpenDescription::new(VfsFile::Slave(slave), true, true);
            Ok([open.clone(), open.clone(), open, OpenDescription::root(self.vfs())?])
        };
        self.begin_with(start, opens, ended)
    }

    fn begin_with(
        &self,
        spec: DetachedStart,
        opens: impl FnOnce() -> Result<[Arc<OpenDescription>; 4], Errno>,
        ended: impl FnOnce(RunResult) + Send + 'static,
    ) -> Result<u32, SandboxError> {
        self.check_stuck()?;
        let limits = crate::policy::Limits { timeout: spec.timeout, ..self.policy().limits };
        let root = Loc::Tree(wasibox_vfs::tree::ROOT);
        let (loc, path) = self.vfs().chdir(&root, &spec.cwd).map_err(|why| SandboxError::Cwd {
            path: String::from_utf8_lossy(&spec.cwd).into_owned(),
            why,
        })?;
        let found = self.find_program(&spec.argv, &spec.env, &loc)?;
        let name = String::from_utf8_lossy(&spec.argv[0]).into_owned();
        let cannot =
            |why: Errno| SandboxError::NotExecutable { name: name.clone(), why: why.text().into() };
        self.programs.get(found.program)?;
        let opens = opens().map_err(cannot)?;
        let start = found.to_start(self.vfs(), spec.argv, self.environment(spec.env));
        let kernel = Kernel::new(
            self.vfs().clone(),
            self.programs.clone(),
            limits,
            self.budget.clone(),
            CellOrigin::default(),
            self.background.clone(),
        );
        kernel.detach();
        let fds = crate::sandbox::add_files(opens, limits.descriptors).map_err(cannot)?;
        let child =
            ChildStart { parent: 1, start, fds, cwd: Cwd::new(loc, path), ignored: 0, held: None };
        let started = Instant::now();
        let pid = kernel.spawn_process(child).map_err(|e| match e {
            SpawnError::Errno(e) => cannot(e),
            SpawnError::Program(e) => e.into(),
        })?;
        self.background.begin_detached(kernel, move |end: RunEnd| {
            ended(RunResult {
                status: end.status,
                limit: end.limit,
                interrupted: end.interrupted,
                duration: started.elapsed(),
                cpu: end.cpu,
                peak_memory: 0,
                ended: end.ended,
                left: end.left,
                stuck: end.stuck,
            });
        });
        Ok(pid)
    }

    /// Returns a handle that sends signals.
    pub fn process_signals(&self) -> ProcessSignals {
        ProcessSignals(self.background.clone())
    }
}
