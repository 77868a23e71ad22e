//! Sessions for programs on [tokio](https://docs.rs/tokio), with the feature `tokio`.
//!
//! A call blocks a thread of the runtime's blocking pool while it runs, and nothing else of the
//! runtime. Dropping the future of a call ends the call, as by [`Interrupt`](crate::Interrupt), or
//! cancels it if it still waits for another call of its session. All other operations (files,
//! history) are short and are completed even if their future is dropped.
//!
//! ```no_run
//! use wasibox::tokio::AsyncSession;
//! use wasibox::{Engine, Policy};
//!
//! # async fn example() -> Result<(), wasibox::Error> {
//! let engine = Engine::open("image.webc".as_ref())?;
//! let session = AsyncSession::from(engine.session(Policy::default())?);
//! let outcome = session.exec("echo hi | wc -c").await?;
//! assert_eq!(outcome.stdout, b"3\n");
//! session.undo().await?;
//! # Ok(())
//! # }
//! ```

use crate::error::Error;
use crate::session::{Cancel, Session, Streams};
use crate::tools::{HostTool, ToolContext, ToolDefinitionError, ToolError};
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use wasibox_files as files;
use wasibox_protocol::{Exec, Outcome};
use wasibox_store::snapshot::Commit;
use wasibox_workspace::{ApplyReport, Diff};

/// A session whose methods are futures. Clones, and the session it was made from, refer to the same
/// session.
#[derive(Clone)]
pub struct AsyncSession(Session);

impl From<Session> for AsyncSession {
    fn from(session: Session) -> AsyncSession {
        AsyncSession(session)
    }
}

/// A guard that aborts a task when it is dropped.
struct TaskGuard<T>(::tokio::task::JoinHandle<T>);

impl<T> Drop for TaskGuard<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Makes a [`HostTool`] whose futures are tasks of the current runtime, so that they have its clock
/// and its sockets. A task is aborted when the caller stops waiting for its result.
///
/// # Errors
/// The same as [`HostTool::new`].
///
/// # Panics
/// If called outside of a runtime.
pub fn host_tool<F, R>(
    name: impl Into<String>,
    description: impl Into<String>,
    schema: Value,
    act: F,
) -> Result<HostTool, ToolDefinitionError>
where
    F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, ToolError>> + Send + 'static,
{
    let runtime = ::tokio::runtime::Handle::current();
    HostTool::new(name, description, schema, move |arguments, context| {
        let mut task = TaskGuard(runtime.spawn(act(arguments, context)));
        async move {
            match (&mut task.0).await {
                Ok(result) => result,
                Err(e) if e.is_panic() => Err(ToolError::new("the tool has panicked")),
                Err(_) => Err(ToolError::new("the host's runtime has ended")),
            }
        }
    })
}

/// A guard that cancels a call if it is dropped before the call has ended.
struct CancelGuard {
    cancel: Arc<Cancel>,
    session: Session,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.cancel.cancel(&self.session.interrupter());
    }
}

/// Runs blocking work on a thread of the blocking pool.
async fn run_blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    match ::tokio::task::spawn_blocking(act).await {
        Ok(done) => done,
        Err(e) => match e.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, so no task waits for the result.
            Err(_) => std::future::pending().await,
        },
    }
}

impl AsyncSession {
    /// Returns the session itself, for the methods that do not block.
    pub fn session(&self) -> &Session {
        &self.0
    }

    /// Runs `act` with the session on a thread that may block.
    pub async fn with_session<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> T {
        let session = self.0.clone();
        run_blocking(move || act(&session)).await
    }

    /// Runs [`Session::exec`]; dropping the future ends the command.
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn exec(&self, exec: impl Into<Exec>) -> Result<Outcome, Error> {
        let (exec, session) = (exec.into(), self.0.clone());
        let cancel = Arc::new(Cancel::default());
        let _dropped = CancelGuard { cancel: cancel.clone(), session: session.clone() };
        let call =
            move || session.call(exec, Streams { cancel: Some(&cancel), ..Streams::default() });
        run_blocking(call).await
    }

    /// Runs [`Session::python`]; dropping the future ends the cell.
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn python(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::python(code)).await
    }

    /// Runs [`Session::javascript`]; dropping the future ends the cell.
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn javascript(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::javascript(code)).await
    }

    /// Runs [`Session::reset`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn reset(&self) -> Result<(), Error> {
        self.with_session(Session::reset).await
    }

    /// Runs [`Session::files`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn files(&self, request: files::Request) -> Result<files::Answer, Error> {
        self.with_session(move |s| s.files(&request)).await
    }

    /// Runs [`Session::undo`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn undo(&self) -> Result<Commit, Error> {
        self.with_session(Session::undo).await
    }

    /// Runs [`Session::redo`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn redo(&self) -> Result<Commit, Error> {
        self.with_session(Session::redo).await
    }

    /// Runs [`Session::restore`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn restore(&self, number: u64) -> Result<Commit, Error> {
        self.with_session(move |s| s.restore(number)).await
    }

    /// Runs [`Session::history`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn history(&self) -> Result<Vec<Commit>, Error> {
        self.with_session(Session::history).await
    }

    /// Runs [`Session::fork`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn fork(&self, name: impl Into<String>) -> Result<AsyncSession, Error> {
        let name = name.into();
        Ok(self.with_session(move |s| s.fork(&name)).await?.into())
    }

    /// Runs [`Session::snapshot`] and returns the bytes.
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn snapshot(&self, all: bool) -> Result<Vec<u8>, Error> {
        let write = move |s: &Session| {
            let mut out = Vec::new();
            s.snapshot(all, &mut out).map(|()| out)
        };
        self.with_session(write).await
    }

    /// Runs [`Session::workspace_diff`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn workspace_diff(&self, paths: Vec<String>) -> Result<Diff, Error> {
        self.with_session(move |s| s.workspace_diff(&as_strs(&paths))).await
    }

    /// Runs [`Session::workspace_apply`].
    ///
    /// # Errors
    /// The errors of that method.
    pub async fn workspace_apply(&self, paths: Vec<String>) -> Result<ApplyReport, Error> {
        self.with_session(move |s| s.workspace_apply(&as_strs(&paths))).await
    }

    /// Runs [`Session::park`].
    pub async fn park(&self) {
        self.with_session(Session::park).await;
    }
}

fn as_strs(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}
