//! The sandbox that runs a session's calls while it is awake: in this process, or in a worker.

use crate::error::Error;
use crate::local::{Asked, CallResult, CellHead, FilesResult, LocalSandbox};
use crate::run::InheritedStreams;
use crate::spawned::{self, SpawnEnds, TerminalSize};
use crate::worker::link::WorkerLink;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use wasibox_sandbox::PlacedExec;
use wasibox_vfs::Service;
use wasibox_vfs::delta::Delta;
use wasibox_worker::jail::Walls;

/// The sandbox of a session that is awake. Dropping it loses the changes that were not reported.
pub enum RunningSandbox {
    Threads(Box<LocalSandbox>),
    Process(Box<WorkerLink>),
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
