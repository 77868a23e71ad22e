//! Sessions for programs on [tokio](https://docs.rs/tokio), with the feature `tokio`.
//!
//! A call blocks a thread of the runtime's pool for blocking work as long as it runs; nothing else of the runtime waits. A call
//! whose future is dropped is ended, as by [`WorkerInterrupt`](crate::Interrupt), or is not begun if it still waits for
//! another call of its session. All else (files, history) is short, and comes to its end though nobody waits for it.
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

use crate::action::Exec;
use crate::outcome::Outcome;
use crate::session::{Cancel, Error, Session};
use crate::tools::{HostTool, ToolContext, ToolDefinitionError, ToolError};
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use wasibox_files as files;
use wasibox_store::snapshot::Commit;
use wasibox_workspace::{ApplyReport, Diff};

/// A session whose methods are futures. Clones are the same session, as is what it was made of.
#[derive(Clone)]
pub struct AsyncSession(Session);

impl From<Session> for AsyncSession {
    fn from(session: Session) -> AsyncSession {
        AsyncSession(session)
    }
}

/// Ends a task when nobody waits for it any more.
struct TaskGuard<T>(::tokio::task::JoinHandle<T>);

impl<T> Drop for TaskGuard<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A [`HostTool`] whose futures are tasks of the runtime that this is called in, so that they have its clock and its
/// sockets. A task is aborted when nobody waits for its result any more.
///
/// # Errors
/// As [`HostTool::new`].
///
/// # Panics
/// Outside of a runtime.
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

/// Ends a call when it is dropped before the call has ended.
struct CancelGuard {
    cancel: Arc<Cancel>,
    session: Session,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.cancel.cancel(&self.session.interrupter());
    }
}

/// Does what would block on a thread for that.
async fn run_blocking<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    match ::tokio::task::spawn_blocking(act).await {
        Ok(done) => done,
        Err(e) => match e.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and who waits with it.
            Err(_) => std::future::pending().await,
        },
    }
}

impl AsyncSession {
    /// The session itself, for all that does not wait.
    pub fn session(&self) -> &Session {
        &self.0
    }

    /// Does something with the session on a thread on which it may wait.
    pub async fn with_session<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> T {
        let session = self.0.clone();
        run_blocking(move || act(&session)).await
    }

    /// [`Session::exec`]; dropping the future ends the command.
    ///
    /// # Errors
    /// As there.
    pub async fn exec(&self, exec: impl Into<Exec>) -> Result<Outcome, Error> {
        let (exec, session) = (exec.into(), self.0.clone());
        let cancel = Arc::new(Cancel::default());
        let _dropped = CancelGuard { cancel: cancel.clone(), session: session.clone() };
        run_blocking(move || session.exec_unless(exec, &cancel, None)).await
    }

    /// [`Session::python`]; dropping the future ends the cell.
    ///
    /// # Errors
    /// As there.
    pub async fn python(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::python(code)).await
    }

    /// [`Session::javascript`]; dropping the future ends the cell.
    ///
    /// # Errors
    /// As there.
    pub async fn javascript(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::javascript(code)).await
    }

    /// [`Session::reset`].
    ///
    /// # Errors
    /// As there.
    pub async fn reset(&self) -> Result<(), Error> {
        self.with_session(Session::reset).await
    }

    /// [`Session::files`].
    ///
    /// # Errors
    /// As there.
    pub async fn files(&self, request: files::Request) -> Result<files::Answer, Error> {
        self.with_session(move |s| s.files(&request)).await
    }

    /// [`Session::undo`].
    ///
    /// # Errors
    /// As there.
    pub async fn undo(&self) -> Result<Commit, Error> {
        self.with_session(Session::undo).await
    }

    /// [`Session::redo`].
    ///
    /// # Errors
    /// As there.
    pub async fn redo(&self) -> Result<Commit, Error> {
        self.with_session(Session::redo).await
    }

    /// [`Session::restore`].
    ///
    /// # Errors
    /// As there.
    pub async fn restore(&self, number: u64) -> Result<Commit, Error> {
        self.with_session(move |s| s.restore(number)).await
    }

    /// [`Session::history`].
    ///
    /// # Errors
    /// As there.
    pub async fn history(&self) -> Result<Vec<Commit>, Error> {
        self.with_session(Session::history).await
    }

    /// [`Session::fork`].
    ///
    /// # Errors
    /// As there.
    pub async fn fork(&self, name: impl Into<String>) -> Result<AsyncSession, Error> {
        let name = name.into();
        Ok(self.with_session(move |s| s.fork(&name)).await?.into())
    }

    /// [`Session::snapshot`], as bytes.
    ///
    /// # Errors
    /// As there.
    pub async fn snapshot(&self, all: bool) -> Result<Vec<u8>, Error> {
        let write = move |s: &Session| {
            let mut out = Vec::new();
            s.snapshot(all, &mut out).map(|()| out)
        };
        self.with_session(write).await
    }

    /// [`Session::workspace_diff`].
    ///
    /// # Errors
    /// As there.
    pub async fn workspace_diff(&self, paths: Vec<String>) -> Result<Diff, Error> {
        self.with_session(move |s| s.workspace_diff(&as_strs(&paths))).await
    }

    /// [`Session::workspace_apply`].
    ///
    /// # Errors
    /// As there.
    pub async fn workspace_apply(&self, paths: Vec<String>) -> Result<ApplyReport, Error> {
        self.with_session(move |s| s.workspace_apply(&as_strs(&paths))).await
    }

    /// [`Session::park`].
    pub async fn park(&self) {
        self.with_session(Session::park).await;
    }
}

fn as_strs(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}
