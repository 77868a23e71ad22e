//! The classes `_native.Session`, `_native.ExposedPort` and `_native.Cancel`.

use crate::failure::python_error;
use crate::own::ForkSafe;
use crate::wait::wait_for;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use wasibox_sdk::lock_mutex;
use wasibox_sdk::{Chunk, Refusal, wasibox};

/// Cancels a call from another thread, or prevents it from beginning.
#[pyclass(frozen, module = "wasibox._native")]
#[derive(Default)]
pub struct Cancel {
    cancel: Arc<wasibox::Cancel>,
    /// Interrupts the call's session; `None` until the session is known.
    interrupt: Mutex<Option<wasibox::Interrupt>>,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel::default()
    }

    /// Cancels the call.
    fn cancel(&self) {
        let interrupt = lock_mutex(&self.interrupt).clone().unwrap_or_default();
        self.cancel.cancel(&interrupt);
    }
}

/// A port of the host that leads to a port of a session.
#[pyclass(frozen, module = "wasibox._native")]
pub struct ExposedPort(Mutex<Option<wasibox_sdk::wasibox::ExposedPort>>);

#[pymethods]
impl ExposedPort {
    fn port(&self) -> u16 {
        lock_mutex(&self.0).as_ref().map_or(0, |exposed| exposed.address().port())
    }

    fn close(&self, py: Python<'_>) {
        let exposed = lock_mutex(&self.0).take();
        py.detach(move || drop(exposed));
    }
}

/// A session; `None` once it is closed.
#[pyclass(frozen, module = "wasibox._native")]
pub struct Session(Mutex<Option<ForkSafe<wasibox::Session>>>);

/// The exit code, standard output, standard error, and the rest of the outcome as JSON.
type OutcomeParts<'py> = (u8, Bound<'py, PyBytes>, Bound<'py, PyBytes>, String);

impl Session {
    pub fn new(session: wasibox::Session) -> Session {
        Session(Mutex::new(Some(ForkSafe::new(session))))
    }

    fn get(&self) -> PyResult<wasibox::Session> {
        let session = lock_mutex(&self.0);
        let session = session.as_ref().ok_or_else(|| python_error(Refusal::closed()))?;
        Ok(session.get()?.clone())
    }

    /// Runs `act` without holding Python's global lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&wasibox::Session) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        let session = self.get()?;
        py.detach(move || act(&session)).map_err(python_error)
    }
}

#[pymethods]
impl Session {
    /// Runs a call. `on_output` is called with `(is_stderr, bytes)` on other threads.
    #[pyo3(signature = (options, stdin, on_output, cancel, is_main))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        options: &str,
        stdin: &[u8],
        on_output: Option<Py<PyAny>>,
        cancel: &Cancel,
        is_main: bool,
    ) -> PyResult<OutcomeParts<'py>> {
        let session = self.get()?;
        let exec = wasibox_sdk::parse_call(options, stdin.to_vec()).map_err(python_error)?;
        let interrupt = session.interrupter();
        *lock_mutex(&cancel.interrupt) = Some(interrupt.clone());
        let failed = Arc::new(Mutex::new(None));
        let (waiting, handle, noted) = (cancel.cancel.clone(), interrupt.clone(), failed.clone());
        let run = move || {
            let pass_chunk = |is_stderr: bool, bytes: &[u8]| {
                let Some(callback) = &on_output else { return };
                Python::attach(|py| {
                    let result = callback.call1(py, (is_stderr, PyBytes::new(py, bytes)));
                    if let Err(e) = result {
                        lock_mutex(&noted).get_or_insert(e);
                        // The first exception cancels the call; later ones are ignored.
                        waiting.cancel(&interrupt);
                    }
                });
            };
            let chunk: Option<Chunk<'_>> = on_output.is_some().then_some(&pass_chunk);
            let result = wasibox_sdk::run(&session, exec, &waiting, chunk);
            // `on_output` is a Python object, so it is returned to be dropped where Python's global
            // lock is held.
            (result, on_output)
        };
        let (result, on_output) = wait_for(py, is_main, || cancel.cancel.cancel(&handle), run)?;
        drop(on_output);
        if let Some(e) = lock_mutex(&failed).take() {
            return Err(e);
        }
        let outcome = result.map_err(python_error)?;
        let status = outcome.exit_code;
        let (stdout, stderr, rest) = wasibox_sdk::outcome_parts(outcome);
        Ok((status, PyBytes::new(py, &stdout), PyBytes::new(py, &stderr), rest))
    }

    /// Ends the running call or, if there is none, the next one.
    fn interrupt(&self) -> PyResult<()> {
        self.get()?.interrupter().interrupt();
        Ok(())
    }

    /// Sets the functions that guests may call: pairs of a description in JSON and a function as
    /// [`crate::tools::host_tool`] takes it.
    fn set_tools(&self, py: Python<'_>, tools: Vec<(String, Py<PyAny>)>) -> PyResult<()> {
        let tools =
            tools.into_iter().map(|(description, act)| crate::tools::host_tool(&description, act));
        let tools = tools.collect::<Result<Vec<_>, _>>().map_err(python_error)?;
        self.with(py, |s| Ok(s.set_tools(tools)?))
    }

    /// Carries out a request of the protocol; request and answer are JSON.
    fn apply(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        self.with(py, |s| wasibox_sdk::apply_request(s, request))
    }

    /// Carries out a request that may wait; Ctrl-C ends the wait.
    fn apply_until(
        &self,
        py: Python<'_>,
        request: String,
        cancel: &Cancel,
        is_main: bool,
    ) -> PyResult<String> {
        let (session, waiting) = (self.get()?, cancel.cancel.clone());
        let run = move || wasibox_sdk::apply_until(&session, &request, &waiting);
        let end = || cancel.cancel.cancel(&wasibox::Interrupt::default());
        wait_for(py, is_main, end, run)?.map_err(python_error)
    }

    fn read<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |s| wasibox_sdk::read_file(s, path))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (path, data, mode=None))]
    fn write(&self, py: Python<'_>, path: &str, data: &[u8], mode: Option<u16>) -> PyResult<()> {
        self.with(py, |s| wasibox_sdk::write_file(s, path, data, mode))
    }

    fn name(&self) -> PyResult<String> {
        self.get()?.name().map_err(python_error)
    }

    fn directory(&self, py: Python<'_>) -> PyResult<String> {
        let bytes = self.with(py, |s| Ok(s.directory()?))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn log(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, wasibox_sdk::session_log)
    }

    #[pyo3(signature = (name=None))]
    fn fork(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Session> {
        self.with(py, |s| wasibox_sdk::fork_session(s, name)).map(Session::new)
    }

    fn fork_many(&self, py: Python<'_>, count: u32) -> PyResult<Vec<Session>> {
        let forks = self.with(py, |s| wasibox_sdk::fork_sessions(s, count))?;
        Ok(forks.into_iter().map(Session::new).collect())
    }

    /// Suspends the limit of commits, or ends that, so that a block can be rolled back.
    fn keep_commits(&self, py: Python<'_>, is_begun: bool) -> PyResult<()> {
        self.with(py, |s| {
            let done = if is_begun { s.keep_commits() } else { s.release_commits() };
            done.map_err(Refusal::from)
        })
    }

    /// Returns a snapshot of the session as bytes.
    fn export<'py>(&self, py: Python<'py>, all: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |s| {
            let mut out = Vec::new();
            s.snapshot(all, &mut out)?;
            Ok(out)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a snapshot of the session to a file, which afterwards is complete or does not exist.
    fn export_file(&self, py: Python<'_>, path: PathBuf, all: bool) -> PyResult<()> {
        self.with(py, |s| wasibox_sdk::export_file(s, &path, all))
    }

    fn value<'py>(&self, py: Python<'py>, key: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let value = self.with(py, |s| Ok(s.value(key)?))?;
        Ok(value.map(|v| PyBytes::new(py, &v)))
    }

    fn set_value(&self, py: Python<'_>, key: &[u8], value: &[u8]) -> PyResult<()> {
        self.with(py, |s| Ok(s.set_value(key, value)?))
    }

    fn remove_value(&self, py: Python<'_>, key: &[u8]) -> PyResult<bool> {
        self.with(py, |s| Ok(s.remove_value(key)?))
    }

    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let keys = self.with(py, |s| Ok(s.keys()?))?;
        Ok(keys.iter().map(|k| PyBytes::new(py, k)).collect())
    }

    /// Listens at a port of the host that leads to a port of the session.
    fn expose(&self, port: u16, host_port: u16) -> PyResult<ExposedPort> {
        let exposed = wasibox_sdk::expose_port(&self.get()?, port, host_port);
        Ok(ExposedPort(Mutex::new(Some(exposed.map_err(python_error)?))))
    }

    /// Frees the session's process and memory until the next call.
    fn park(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |s| {
            s.park();
            Ok(())
        })
    }

    fn is_awake(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |s| Ok(s.is_awake()))
    }

    /// Returns the names of the walls that this host lacks; `None` if the session has no process of
    /// its own.
    fn missing_walls(&self, py: Python<'_>) -> PyResult<Option<Vec<&'static str>>> {
        self.with(py, |s| Ok(s.walls().map(|walls| walls.missing_walls())))
    }

    /// Closes the session. A running call still runs to its end.
    fn close(&self, py: Python<'_>) {
        let session = lock_mutex(&self.0).take();
        py.detach(move || drop(session));
    }

    fn is_closed(&self) -> bool {
        lock_mutex(&self.0).is_none()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ending a process takes a moment, and Python may be collecting garbage here.
        let Some(session) = lock_mutex(&self.0).take() else { return };
        Python::attach(|py| py.detach(move || drop(session)));
    }
}
