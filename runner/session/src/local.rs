//! The sandbox that runs a session's calls, in this process or in a worker's, and what a call, a
//! request about files or an interpreter leaves of it.

use crate::error::Error;
use crate::run::{self, InheritedStreams};
use crate::workspace;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::convert::Infallible;
use std::sync::Arc;
use wasibox_protocol::{Command, Exec, Outcome};
use wasibox_sandbox::{PlacedExec, SandboxError, SessionSandbox};
use wasibox_vfs::delta::{self, Delta, TreeVersion};
use wasibox_workspace::{OriginalEntry, Overlay};

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

/// A request about files, and the directory from which its relative paths start.
pub type Asked = (String, wasibox_files::Request);
/// The result of a request about files.
pub type Answered = Result<wasibox_files::Answer, wasibox_files::FilesError>;

/// An interpreter without its memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellHead {
    pub name: String,
    /// The digest of the module that its memory fits.
    pub module: [u8; 32],
    pub rest: ByteBuf,
    /// Whether it is a copy of an interpreter that may continue elsewhere.
    pub is_fork: bool,
}

/// The changes of an interpreter, without its memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellTail {
    pub name: String,
    pub module: [u8; 32],
    /// The number of memory layers, of those reported before, that remain valid.
    pub keep: usize,
    pub rest: ByteBuf,
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

    /// Runs a command. With `is_kept`, its changes are reported.
    pub fn run_call(
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
