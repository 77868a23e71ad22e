//! The class `_native.Engine`, and the function that unpacks an image.

use crate::failure::python_error;
use crate::own::ForkSafe;
use crate::session::Session;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;
use wasibox_sdk::{Opener, wasibox};

/// An image, and the state that its sessions share.
#[pyclass(frozen, module = "wasibox._native")]
pub struct Engine(ForkSafe<wasibox::Engine>);

/// Calls a Python function with a line. An exception is written to `sys.stderr`, because there is
/// no caller to raise it to.
fn call_progress(progress: &Py<PyAny>, line: &str) {
    Python::attach(|py| {
        if let Err(e) = progress.call1(py, (line,)) {
            e.write_unraisable(py, Some(progress.bind(py)));
        }
    });
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (options, progress=None))]
    fn new(py: Python<'_>, options: &str, progress: Option<Py<PyAny>>) -> PyResult<Engine> {
        let progress = move |line: &str| {
            if let Some(progress) = &progress {
                call_progress(progress, line);
            }
        };
        let made = py.detach(|| wasibox_sdk::engine_from_options(options, progress));
        made.map(|engine| Engine(ForkSafe::new(engine))).map_err(python_error)
    }

    /// Opens or creates a session. `opener` has its options in JSON.
    fn open(&self, py: Python<'_>, opener: &str) -> PyResult<Session> {
        let engine = self.0.get()?;
        let opened = py.detach(|| Opener::parse(opener)?.open(engine));
        opened.map(Session::new).map_err(python_error)
    }

    /// Creates a session from the bytes of a snapshot.
    fn load(&self, py: Python<'_>, opener: &str, from: &[u8]) -> PyResult<Session> {
        let engine = self.0.get()?;
        let opened = py.detach(|| Opener::parse(opener)?.load_snapshot(engine, from));
        opened.map(Session::new).map_err(python_error)
    }

    /// Creates a session from the file of a snapshot.
    fn load_file(&self, py: Python<'_>, opener: &str, path: PathBuf) -> PyResult<Session> {
        let engine = self.0.get()?;
        let opened = py.detach(|| {
            let file = std::fs::File::open(&path).map_err(|e| {
                wasibox_sdk::Refusal::invalid_request(format!("{}: {e}", path.display()))
            })?;
            Opener::parse(opener)?.load_snapshot(engine, file)
        });
        opened.map(Session::new).map_err(python_error)
    }

    /// Returns the names of a store's sessions.
    fn sessions(&self, py: Python<'_>, store: PathBuf) -> PyResult<Vec<String>> {
        let engine = self.0.get()?;
        let listed = py.detach(|| engine.store(&store)?.list());
        Ok(listed.map_err(python_error)?.into_iter().map(|info| info.name).collect())
    }

    /// Removes a session from a store.
    fn remove(&self, py: Python<'_>, store: PathBuf, name: &str) -> PyResult<()> {
        let engine = self.0.get()?;
        py.detach(|| engine.store(&store)?.remove(name)).map_err(python_error)
    }

    /// Returns the number of sessions that have a process now.
    fn awake(&self) -> PyResult<usize> {
        Ok(self.0.get()?.awake())
    }

    /// Waits until the warm workers are ready.
    fn warm_up(&self, py: Python<'_>) -> PyResult<()> {
        let engine = self.0.get()?;
        py.detach(|| {
            if let Some(pool) = engine.pool() {
                pool.warm_up();
            }
        });
        Ok(())
    }
}

/// Unpacks a bundle's image and machine code. Returns the path of the image.
#[pyfunction]
#[pyo3(signature = (bundle, images, artifacts=None, progress=None))]
pub fn unpack(
    py: Python<'_>,
    bundle: PathBuf,
    images: PathBuf,
    artifacts: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<OsString> {
    let artifacts = artifacts.or_else(wasibox::default_artifact_dir);
    let say = |step: wasibox::bundle::BundleStep| {
        if let Some(progress) = &progress {
            call_progress(progress, &step.to_string());
        }
    };
    // The path is returned as a text, because a `PathBuf` would become a `pathlib.Path`, whose
    // import takes 3 ms.
    py.detach(|| wasibox::bundle::unpack_bundle(&bundle, &images, artifacts.as_deref(), &say))
        .map(PathBuf::into_os_string)
        .map_err(python_error)
}
