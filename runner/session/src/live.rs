//! The sandbox that runs a session's calls while it is awake: in this process, or in a worker.

use crate::error::Error;
use crate::run::{self, InheritedStreams};
use crate::spawned::{self, SpawnEnds, TerminalSize};
use crate::worker::link::WorkerLink;
use crate::worker::message::{Answered, Asked, CellHead, CellTail};
use crate::workspace;
use serde_bytes::ByteBuf;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use wasibox_protocol::{Command, Exec, Outcome};
use wasibox_sandbox::{PlacedExec, SandboxError, SessionSandbox};
use wasibox_vfs::Service;
use wasibox_vfs::delta::{self, Delta, TreeVersion};
use wasibox_worker::jail::Walls;
use wasibox_workspace::{OriginalEntry, Overlay};

/// The sandbox of a session that is awake. Dropping it loses the changes that were not reported.
pub enum RunningSandbox {
    Threads(Box<LocalSandbox>),
    Process(Box<WorkerLink>),
}

/// A sandbox in this process.
pub struct LocalSandbox {
    pub sandbox: SessionSandbox,
    /// The files as last reported.
    known: TreeVersion,
    /// The shell's state as last reported.
    shell: Option<Arc<[u8]>>,
    /// The host's folder that the session works in, and the folder's path in the guest.
    overlay: Option<(Overlay, String)>,
    /// The folder's original entries where something was changed.
    touched: Touched,
}

/// The original entries of a host's folder, by path.
pub type Touched = Vec<(ByteBuf, OriginalEntry)>;

/// The result of a call.
pub struct CallResult {
    pub result: Result<Outcome, Error>,
    /// The changes to the files, in parts.
    pub changed: Vec<Delta>,
    /// The workspace's original entries at the changed paths.
    pub touched: Touched,
    /// The shell's new state, if it has changed.
    pub shell: Option<Arc<[u8]>>,
    /// The state of the interpreter that ran, if one did and is still alive.
    pub cell: Option<CellUpdate>,
    /// Whether the sandbox is unusable and the call's changes are lost.
    pub is_gone: bool,
}

/// The change of an interpreter.
pub struct CellUpdate {
    pub tail: CellTail,
    /// The layer of its memory on top of those that are kept.
    pub layer: Vec<u8>,
}

/// The result of a request about files.
pub struct FilesResult {
    pub answer: Answered,
    /// The changes to the files, in parts.
    pub changed: Vec<Delta>,
    /// The workspace's original entries at the changed paths.
    pub touched: Touched,
}

/// Returns the name of the interpreter that a call is for.
pub fn interpreter_of(exec: &Exec) -> Option<&'static str> {
    match &exec.command {
        Command::Cell { language, .. } => Some(language.interpreter()),
        Command::Program(_) | Command::Script(_) => None,
    }
}

impl CallResult {
    /// Returns the result of a call that has changed nothing in its sandbox.
    pub fn unchanged(result: Result<Outcome, Error>) -> CallResult {
        let (changed, touched) = (Vec::new(), Vec::new());
        CallResult { result, changed, touched, shell: None, cell: None, is_gone: false }
    }

    /// Returns the result of a call that was lost together with its sandbox.
    pub fn lost(result: Result<Outcome, Error>) -> CallResult {
        CallResult { is_gone: true, ..CallResult::unchanged(result) }
    }
}

impl RunningSandbox {
    /// Returns the walls around the sandbox, or `None` if it is in this process.
    pub fn walls(&self) -> Option<Walls> {
        match self {
            RunningSandbox::Threads(_) => None,
            RunningSandbox::Process(link) => Some(link.walls()),
        }
    }

    /// Returns the process ID of the worker, or `None` if the sandbox is in this process.
    pub fn pid(&self) -> Option<u32> {
        match self {
            RunningSandbox::Threads(_) => None,
            RunningSandbox::Process(link) => Some(link.pid()),
        }
    }

    /// Applies a part of the session's state, or of the state that replaces it, between two calls.
    /// If `is_elsewhere` is set, the state was made with another image.
    ///
    /// # Errors
    /// If the part does not fit; the sandbox is then unusable.
    pub fn restore_delta(&mut self, delta: Delta, is_elsewhere: bool) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => here.restore_delta(delta, is_elsewhere),
            RunningSandbox::Process(link) => link.restore_delta(delta, is_elsewhere),
        }
    }

    /// Sets the service that answers guests' requests.
    pub fn set_service(&mut self, service: Arc<dyn Service>) {
        match self {
            RunningSandbox::Threads(here) => here.sandbox.vfs().set_service(Some(service)),
            RunningSandbox::Process(link) => link.set_service(service),
        }
    }

    /// Sets the shell's state.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn set_shell(&mut self, state: &Arc<[u8]>) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => {
                here.set_shell(state.clone());
                Ok(())
            }
            RunningSandbox::Process(link) => link.set_shell(state),
        }
    }

    /// Reads or changes files without running a guest.
    ///
    /// # Errors
    /// If the worker is gone; its changes are then lost.
    pub fn run_files(&mut self, asked: Asked) -> Result<FilesResult, Error> {
        match self {
            RunningSandbox::Threads(here) => {
                let (answer, mut changed) = (here.run_files(&asked), Vec::new());
                let Ok(()) = here.emit_files(&mut |part| {
                    changed.push(part);
                    Ok::<_, Infallible>(())
                });
                Ok(FilesResult { answer, changed, touched: here.take_touched() })
            }
            RunningSandbox::Process(link) => link.run_files(&asked),
        }
    }

    /// Restores an interpreter from the layers of its memory.
    ///
    /// # Errors
    /// [`Error::Cell`] if the layers are damaged or do not fit this image, or another error if the
    /// worker is gone.
    pub fn restore_cell(&mut self, head: CellHead, layers: &[Vec<u8>]) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => here.restore_cell(&head, layers).map_err(Error::Cell),
            RunningSandbox::Process(link) => link.restore_cell(head, layers),
        }
    }

    /// Ends the processes that earlier calls have left running.
    ///
    /// # Errors
    /// If some of them do not end, or the worker is gone.
    pub fn end_background(&mut self) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => Ok(here.sandbox.end_background()?),
            RunningSandbox::Process(link) => link.end_background(),
        }
    }

    /// Ends an interpreter.
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn forget_cell(&mut self, name: &str) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => {
                here.sandbox.forget_cell(name);
                Ok(())
            }
            RunningSandbox::Process(link) => link.forget_cell(name),
        }
    }

    /// Runs a command. With `is_kept`, its changes are reported.
    pub fn run_call(
        &mut self,
        exec: PlacedExec,
        streams: &InheritedStreams<'_>,
        is_kept: bool,
    ) -> CallResult {
        match self {
            RunningSandbox::Threads(here) => here.run_call(exec, streams, is_kept),
            RunningSandbox::Process(link) => link.run_call(exec, streams),
        }
    }
}

impl RunningSandbox {
    /// Begins a program that runs beside calls. Returns the number of its process.
    ///
    /// # Errors
    /// If it cannot be started, or the worker is gone.
    pub fn spawn_process(
        &mut self,
        exec: PlacedExec,
        terminal: Option<TerminalSize>,
        ends: SpawnEnds,
    ) -> Result<u32, Error> {
        match self {
            RunningSandbox::Threads(here) => {
                spawned::begin_process(&here.sandbox, exec, terminal, ends, || {})
            }
            RunningSandbox::Process(link) => link.spawn_process(exec, terminal, &ends),
        }
    }

    /// Serves the requests of processes beside calls; see [`WorkerLink::serve_between`].
    ///
    /// # Errors
    /// If the worker is gone.
    pub fn serve_between(&mut self, time: Duration) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(_) => Ok(()),
            RunningSandbox::Process(link) => link.serve_between(time),
        }
    }
}

impl LocalSandbox {
    /// Wraps a sandbox of this process, whose current files count as reported.
    pub fn new(sandbox: SessionSandbox) -> LocalSandbox {
        let known = sandbox.vfs().tree_version();
        LocalSandbox { sandbox, known, shell: None, overlay: None, touched: Vec::new() }
    }

    /// Wraps a sandbox over a host's folder.
    pub fn with_overlay(sandbox: SessionSandbox, overlay: Option<Overlay>) -> LocalSandbox {
        let at = sandbox.policy().workspace.as_ref().map(|w| w.guest.clone());
        LocalSandbox { overlay: overlay.zip(at), ..LocalSandbox::new(sandbox) }
    }

    /// Takes the folder's original entries at the paths that were changed since the last call.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Applies a delta to the files. If `is_elsewhere` is set, the delta was made over another
    /// image, and entries that do not fit are left out.
    ///
    /// # Errors
    /// If the delta does not fit, or there is no room.
    pub fn restore_delta(&mut self, delta: Delta, is_elsewhere: bool) -> Result<(), Error> {
        let vfs = self.sandbox.vfs();
        let fit = if is_elsewhere {
            // The list of entries that do not fit is dropped: a guest that opens one finds it
            // missing.
            vfs.restore_elsewhere(delta, &mut Vec::new())
        } else {
            vfs.restore_delta(delta)
        };
        let fit = fit
            .map_err(|e| Error::Refused(format!("the session's state does not fit: {}", e.text())));
        self.known = self.sandbox.vfs().tree_version();
        fit
    }

    /// Sets the state from which the next shell continues.
    pub fn set_shell(&mut self, state: Arc<[u8]>) {
        self.sandbox.vfs().set_state(Some(state.clone()));
        self.shell = Some(state);
    }

    /// Restores an interpreter. The error is the reason why it cannot be restored.
    pub fn restore_cell(&mut self, head: &CellHead, layers: &[Vec<u8>]) -> Result<(), String> {
        let CellHead { name, module, rest, is_fork } = head;
        let restored = self.sandbox.restore_cell(name, module, layers, rest, *is_fork);
        restored.map_err(|e| e.to_string())
    }

    /// Returns the changes of an interpreter, if it is alive.
    pub fn cell_update(&self, name: &str) -> Option<CellUpdate> {
        let change = self.sandbox.cell_changes(name, false)?;
        let (name, rest) = (name.into(), change.rest.into());
        let tail = CellTail { name, module: change.module, keep: change.keep, rest };
        Some(CellUpdate { tail, layer: change.layer })
    }

    fn run_call(
        &mut self,
        exec: PlacedExec,
        streams: &InheritedStreams<'_>,
        is_kept: bool,
    ) -> CallResult {
        let cell = interpreter_of(&exec.exec);
        let result = run::exec_command(&self.sandbox, exec, streams);
        if matches!(result, Err(Error::Sandbox(SandboxError::Stuck(_)))) {
            return CallResult::lost(result);
        }
        let mut called = CallResult::unchanged(result);
        if is_kept {
            let changed = &mut called.changed;
            let Ok(shell) = self.emit_changes(&mut |part| {
                changed.push(part);
                Ok::<_, Infallible>(())
            });
            called.shell = shell;
            called.cell = cell.and_then(|name| self.cell_update(name));
            called.touched = self.take_touched();
        }
        called
    }

    /// Reads or changes files.
    pub fn run_files(&self, (cwd, request): &Asked) -> Answered {
        wasibox_files::apply_request(self.sandbox.vfs(), cwd, request)
    }

    /// Emits the changes to the files since the last report.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn emit_files<E>(&mut self, emit: &mut dyn FnMut(Delta) -> Result<(), E>) -> Result<(), E> {
        let now = self.sandbox.vfs().tree_version();
        let LocalSandbox { known, overlay, touched, .. } = self;
        delta::emit_between(known, &now, &mut |part| {
            if let Some((overlay, at)) = overlay {
                touched.extend(workspace::touched_originals(overlay, at, &part, &now));
            }
            emit(part)
        })?;
        self.known = now;
        Ok(())
    }

    /// Reports the changes since the last report: passes those of the files to `emit`, and returns
    /// the shell's new state if it has changed.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn emit_changes<E>(
        &mut self,
        emit: &mut dyn FnMut(Delta) -> Result<(), E>,
    ) -> Result<Option<Arc<[u8]>>, E> {
        self.emit_files(emit)?;
        let shell = self.sandbox.vfs().session_state();
        let is_same = match (&shell, &self.shell) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if is_same {
            return Ok(None);
        }
        self.shell = shell;
        Ok(self.shell.clone())
    }
}
