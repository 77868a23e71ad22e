//! What runs a session's calls while it is awake: a sandbox in this process, or a worker.

use crate::action::Exec;
use crate::outcome::Outcome;
use crate::run::{self, InheritedStreams};
use crate::session::Error;
use crate::worker::link::WorkerLink;
use crate::worker::message::{Answered, Asked, CellHead, CellTail};
use crate::workspace;
use serde_bytes::ByteBuf;
use std::convert::Infallible;
use std::sync::Arc;
use wasibox_sandbox::{SandboxError, SessionSandbox};
use wasibox_vfs::Service;
use wasibox_vfs::delta::{self, Delta, TreeVersion};
use wasibox_worker::jail::Walls;
use wasibox_workspace::{OriginalEntry, Overlay};

/// A session that is awake. Dropping it loses what was not told.
pub enum RunningSandbox {
    Threads(Box<LocalSandbox>),
    Process(Box<WorkerLink>),
}

/// A sandbox in this process.
pub struct LocalSandbox {
    pub sandbox: SessionSandbox,
    /// The files as they were last told.
    known: TreeVersion,
    /// The shell's state as it was last told.
    shell: Option<Arc<[u8]>>,
    /// The folder of the host that it works in, and where.
    overlay: Option<(Overlay, String)>,
    /// What that had where something was changed.
    touched: Touched,
}

/// What a host's folder had at paths of it.
pub type Touched = Vec<(ByteBuf, OriginalEntry)>;

/// What became of a call.
pub struct CallResult {
    pub result: Result<Outcome, Error>,
    /// What it has changed of the files, in parts.
    pub changed: Vec<Delta>,
    /// What its workspace had there.
    pub touched: Touched,
    /// What the shell knows now, if that is something else.
    pub shell: Option<Arc<[u8]>>,
    /// What the interpreter is now that ran, if one did and is still there.
    pub cell: Option<CellUpdate>,
    /// Nothing more can run here, and what the call did is lost.
    pub is_gone: bool,
}

/// An interpreter's change.
pub struct CellUpdate {
    pub tail: CellTail,
    /// The layer of its memory upon those that stay.
    pub layer: Vec<u8>,
}

/// What became of a request about files.
pub struct FilesResult {
    pub answer: Answered,
    /// What it has changed, in parts.
    pub changed: Vec<Delta>,
    /// What its workspace had there.
    pub touched: Touched,
}

impl CallResult {
    /// A call that was lost with what ran it.
    pub fn lost(result: Result<Outcome, Error>) -> CallResult {
        let (changed, touched) = (Vec::new(), Vec::new());
        CallResult { result, changed, touched, shell: None, cell: None, is_gone: true }
    }
}

impl RunningSandbox {
    /// The walls around it; `None` if it is in this process.
    pub fn walls(&self) -> Option<Walls> {
        match self {
            RunningSandbox::Threads(_) => None,
            RunningSandbox::Process(link) => Some(link.walls()),
        }
    }

    /// The process that it is, unless this one.
    pub fn pid(&self) -> Option<u32> {
        match self {
            RunningSandbox::Threads(_) => None,
            RunningSandbox::Process(link) => Some(link.pid()),
        }
    }

    /// Takes up a part of what the session was, or of what it is to be instead, between two calls. With
    /// `is_elsewhere` it was so with another image.
    ///
    /// # Errors
    /// If it does not fit; it is of no use then.
    pub fn restore_delta(&mut self, delta: Delta, is_elsewhere: bool) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => here.restore_delta(delta, is_elsewhere),
            RunningSandbox::Process(link) => link.restore_delta(delta, is_elsewhere),
        }
    }

    /// Has guests' requests served.
    pub fn set_service(&mut self, service: Arc<dyn Service>) {
        match self {
            RunningSandbox::Threads(here) => here.sandbox.vfs().set_service(Some(service)),
            RunningSandbox::Process(link) => link.set_service(service),
        }
    }

    /// Says what the shell knows.
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

    /// Reads or changes files, without a guest.
    ///
    /// # Errors
    /// If the worker is gone, and what it did with it.
    pub fn run_files(&mut self, asked: Asked) -> Result<FilesResult, Error> {
        match self {
            RunningSandbox::Threads(here) => {
                let (answer, mut changed) = (here.run_files(&asked), Vec::new());
                let Ok(()) = here.tell_files(&mut |part| {
                    changed.push(part);
                    Ok::<_, Infallible>(())
                });
                Ok(FilesResult { answer, changed, touched: here.take_touched() })
            }
            RunningSandbox::Process(link) => link.run_files(&asked),
        }
    }

    /// Brings an interpreter back with the layers of its memory.
    ///
    /// # Errors
    /// [`Error::Cell`] if it is of no use with this image, or damaged; if the worker is gone.
    pub fn restore_cell(&mut self, head: CellHead, layers: &[Vec<u8>]) -> Result<(), Error> {
        match self {
            RunningSandbox::Threads(here) => here.restore_cell(&head, layers).map_err(Error::Cell),
            RunningSandbox::Process(link) => link.restore_cell(head, layers),
        }
    }

    /// Ends what earlier calls have left running.
    ///
    /// # Errors
    /// If some of it does not end, or the worker is gone.
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

    /// Runs a command. With `is_kept`, what it changes is told.
    pub fn run_call(
        &mut self,
        exec: Exec,
        streams: &InheritedStreams<'_>,
        is_kept: bool,
    ) -> CallResult {
        match self {
            RunningSandbox::Threads(here) => here.run_call(exec, streams, is_kept),
            RunningSandbox::Process(link) => link.run_call(exec, streams),
        }
    }
}

impl LocalSandbox {
    /// A sandbox of this process, as it is now.
    pub fn new(sandbox: SessionSandbox) -> LocalSandbox {
        let known = sandbox.vfs().tree_version();
        LocalSandbox { sandbox, known, shell: None, overlay: None, touched: Vec::new() }
    }

    /// A sandbox over a folder of the host's.
    pub fn with_overlay(sandbox: SessionSandbox, overlay: Option<Overlay>) -> LocalSandbox {
        let at = sandbox.policy().workspace.as_ref().map(|w| w.guest.clone());
        LocalSandbox { overlay: overlay.zip(at), ..LocalSandbox::new(sandbox) }
    }

    /// What the folder had where something was changed since this was last asked.
    pub fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Has the files become what the delta says. With `is_elsewhere` it was made over another image, and what does not fit is left out.
    ///
    /// # Errors
    /// If it does not fit, or there is no room.
    pub fn restore_delta(&mut self, delta: Delta, is_elsewhere: bool) -> Result<(), Error> {
        let vfs = self.sandbox.vfs();
        let fit = match is_elsewhere {
            // What is not there is found out by whoever looks for it.
            true => vfs.restore_elsewhere(delta, &mut Vec::new()),
            false => vfs.restore_delta(delta),
        };
        let fit = fit
            .map_err(|e| Error::Refused(format!("the session's state does not fit: {}", e.text())));
        self.known = self.sandbox.vfs().tree_version();
        fit
    }

    /// Has the next shell go on from this state.
    pub fn set_shell(&mut self, state: Arc<[u8]>) {
        self.sandbox.vfs().set_state(Some(state.clone()));
        self.shell = Some(state);
    }

    /// Why an interpreter cannot come back, if it cannot.
    pub fn restore_cell(&mut self, head: &CellHead, layers: &[Vec<u8>]) -> Result<(), String> {
        let CellHead { name, module, rest, is_fork } = head;
        let restored = self.sandbox.restore_cell(name, module, layers, rest, *is_fork);
        restored.map_err(|e| e.to_string())
    }

    /// Tells what has changed in an interpreter.
    pub fn tell_cell(&self, name: &str) -> Option<CellUpdate> {
        let change = self.sandbox.cell_changes(name, false)?;
        let (name, rest) = (name.into(), change.rest.into());
        let tail = CellTail { name, module: change.module, keep: change.keep, rest };
        Some(CellUpdate { tail, layer: change.layer })
    }

    fn run_call(
        &mut self,
        exec: Exec,
        streams: &InheritedStreams<'_>,
        is_kept: bool,
    ) -> CallResult {
        let cell = exec.cell.as_ref().map(|cell| cell.name.clone());
        let result = run::exec_command(&self.sandbox, exec, streams);
        if matches!(result, Err(Error::Sandbox(SandboxError::Stuck(_)))) {
            return CallResult::lost(result);
        }
        let mut called = CallResult { is_gone: false, ..CallResult::lost(result) };
        if is_kept {
            let changed = &mut called.changed;
            let Ok(shell) = self.emit_changes(&mut |part| {
                changed.push(part);
                Ok::<_, Infallible>(())
            });
            called.shell = shell;
            called.cell = cell.and_then(|name| self.tell_cell(&name));
            called.touched = self.take_touched();
        }
        called
    }

    /// Reads or changes files.
    pub fn run_files(&self, (cwd, request): &Asked) -> Answered {
        wasibox_files::apply_request(self.sandbox.vfs(), cwd, request)
    }

    /// Tells what has changed of the files since it was last told.
    ///
    /// # Errors
    /// What `emit` says first.
    pub fn tell_files<E>(&mut self, emit: &mut dyn FnMut(Delta) -> Result<(), E>) -> Result<(), E> {
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

    /// Tells what has changed since it was last told: of the files to `emit`, of the shell as the
    /// result.
    ///
    /// # Errors
    /// What `emit` says first.
    pub fn emit_changes<E>(
        &mut self,
        emit: &mut dyn FnMut(Delta) -> Result<(), E>,
    ) -> Result<Option<Arc<[u8]>>, E> {
        self.tell_files(emit)?;
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
