//! A session.

use crate::action::{Action, Exec, HOME, JAVASCRIPT, PYTHON};
use crate::awake::{AwakeGuard, Sleeper};
use crate::control::{Interrupt, SandboxControl};
use crate::kept::{CallNote, StateLocation};
use crate::live::{FilesResult, LocalSandbox, RunningSandbox, Touched};
use crate::outcome::Outcome;
use crate::requests::{BridgeRequests, BridgeThread, Services};
use crate::run::InheritedStreams;
use crate::tools::{HostTool, MAX_TOOLS, ToolCalls, ToolDefinitionError};
use crate::worker::link::WorkerLink;
use crate::worker::pool::{PoolOptions, WorkerPool};
use crate::workspace::{self, WorkspaceHandle, WorkspaceMismatch, WorkspaceSource};
use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use wasibox_files as files;
use wasibox_image::{Image, ImageError};
use wasibox_sandbox::{Policy, SandboxError, SessionSandbox};
use wasibox_vfs::lock_mutex;
use wasibox_worker::channel::ChannelError;
use wasibox_worker::filter::NewCode;
use wasibox_worker::jail::{Jail, Walls};
use wasibox_workspace::{ApplyReport, Diff, WorkspaceError};

/// The key-value that lists the names of the host tools that a session has had.
const TOOLS: &[u8] = b"wasibox.tools";

/// The error of an action that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("standard streams: {0}")]
    Streams(#[from] std::io::Error),
    /// No program that serves as a worker was found, see [`PoolOptions::program`].
    #[error("no program for workers: put `runner` beside this one, or name it in WASIBOX_WORKER")]
    NoWorker,
    /// The session's process is gone, and with it the running call. The session's state is as it
    /// was before that call.
    #[error("the process of the session {0}")]
    Worker(String),
    /// The session's process refused or failed to do something.
    #[error("{0}")]
    Refused(String),
    /// The policy requires walls ([`PoolOptions::require_walls`]) that this host lacks.
    #[error("this host lacks walls that are required: {0}")]
    Walls(String),
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error(transparent)]
    Store(#[from] wasibox_store::StoreError),
    /// The caller gave up on the call before it could begin.
    #[error("nobody waits for the call any more")]
    Cancelled,
    /// Another call of the session is running ([`Session::try_exec`]).
    #[error("the session is busy")]
    Busy,
    /// A request to [`Session::files`] failed.
    #[error(transparent)]
    Files(#[from] files::FilesError),
    /// A kept interpreter cannot be restored, for the reason given. Files and shell are intact, and
    /// [`Session::reset`] starts a new one.
    #[error("the interpreter cannot come back: {0}; reset it to begin a new one")]
    Cell(String),
    /// The workspace cannot be opened or saved. A call whose result could not be saved is
    /// nevertheless complete and in the history; the next call that changes files saves it as well.
    #[error("workspace: {0}")]
    Workspace(#[from] WorkspaceError),
    /// The session and the workspace do not belong together.
    #[error("workspace: {0}")]
    Unfit(#[from] WorkspaceMismatch),
    /// A rule or a secret of the policy is unusable; the text names it and the reason.
    #[error("network policy: {0}")]
    Network(String),
    /// A host tool has an invalid definition.
    #[error("host tool: {0}")]
    Tool(#[from] ToolDefinitionError),
    /// The session has no history because it was made to run commands only.
    #[error("the session has no history")]
    NoHistory,
}

impl From<ImageError> for Error {
    fn from(e: ImageError) -> Error {
        Error::Sandbox(e.into())
    }
}

/// An image, a policy, and the state that each command leaves for the next.
///
/// Between two calls a session is data. Clones refer to the same session.
#[derive(Clone)]
pub struct Session(pub(crate) Arc<SessionInner>);

pub(crate) struct SessionInner {
    origin: SandboxOrigin,
    pub policy: Policy,
    workspace: Option<WorkspaceHandle>,
    /// The requests that its guests may make to the outside, set at the first use.
    requests: OnceLock<Option<Arc<BridgeRequests>>>,
    /// The embedder's functions that guests can call.
    pub(crate) tools: ToolCalls,
    inner: Mutex<SessionRuntime>,
    interrupt: Interrupt,
    /// The process ID of the worker, 0 for none. It is atomic so that it can be read while the
    /// session is busy.
    pid: AtomicU32,
}

/// The source of the session's sandboxes.
pub(crate) enum SandboxOrigin {
    /// A sandbox made together with the session.
    Once,
    Pool(Arc<WorkerPool>),
    Engine(Arc<crate::engine::EngineInner>),
}

pub(crate) struct SessionRuntime {
    live: Option<RunningSandbox>,
    pub kept: StateLocation,
    walls: Option<Walls>,
    /// The session's place among those that are awake.
    slot: Option<AwakeGuard>,
}

/// Tracks whether the caller of [`Session::exec_unless`] still waits for its call, so that a
/// cancellation ends that call and no other.
#[derive(Default)]
pub struct Cancel(Mutex<CancelState>);

#[derive(Default)]
struct CancelState {
    is_cancelled: bool,
    is_running: bool,
}

impl Cancel {
    /// Cancels the call: ends it through the session's handle if it is running, and otherwise keeps
    /// it from starting.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Cancel, Exec};
    ///
    /// let cancel = Cancel::default();
    /// let interrupt = session.interrupter();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| session.exec_unless(Exec::script("sleep 60"), &cancel, None));
    ///     cancel.cancel(&interrupt);
    /// });
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn cancel(&self, interrupt: &Interrupt) {
        let mut waited = lock_mutex(&self.0);
        // Only once, because a second interrupt could reach the worker after this call has ended,
        // and end the next one.
        let is_first = !std::mem::replace(&mut waited.is_cancelled, true);
        if is_first && waited.is_running {
            interrupt.interrupt();
        }
    }

    fn begin_call(&self) -> bool {
        let mut waited = lock_mutex(&self.0);
        waited.is_running = !waited.is_cancelled;
        waited.is_running
    }

    /// Marks the call as over, after which it cannot be interrupted, and returns whether it was
    /// cancelled before.
    fn end_call(&self) -> bool {
        let mut waited = lock_mutex(&self.0);
        waited.is_running = false;
        waited.is_cancelled
    }
}

impl Session {
    /// Returns the engine that the session belongs to, or `None` if it was made without one.
    ///
    /// ```no_run
    /// use wasibox::{Policy, Sandbox};
    ///
    /// let first = Sandbox::builder("image.webc").build()?;
    /// let engine = first.engine().expect("the builder has made one");
    /// let second = engine.session(Policy::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn engine(&self) -> Option<crate::Engine> {
        match &self.0.origin {
            SandboxOrigin::Engine(engine) => Some(crate::Engine::from_inner(engine)),
            SandboxOrigin::Once | SandboxOrigin::Pool(_) => None,
        }
    }

    /// Runs a command unless `cancel` is cancelled, on the caller's descriptors if there are any,
    /// as [`Session::exec_on`] does.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Cancel, Exec};
    ///
    /// let outcome = session.exec_unless(Exec::script("echo hi"), &Cancel::default(), None)?;
    /// assert_eq!(outcome.stdout, b"hi\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was cancelled before it could begin; otherwise as
    /// [`Session::apply`].
    pub fn exec_unless(
        &self,
        exec: Exec,
        cancel: &Cancel,
        streams: Option<&InheritedStreams<'_>>,
    ) -> Result<Outcome, Error> {
        let mut inner = lock_mutex(&self.0.inner);
        if !cancel.begin_call() {
            return Err(Error::Cancelled);
        }
        let result = self.0.run_call(&mut inner, exec, streams);
        let was_ended = matches!(&result, Ok(outcome) if outcome.exit_code == 130);
        if cancel.end_call() && !was_ended {
            // The call may have ended by itself just then, so the interrupt must not hit the next
            // one.
            self.0.put_to_sleep(&mut inner);
        }
        result
    }

    /// Opens a session on the image at `path`, in a process of its own. Its state ends with it. To
    /// open several sessions, make an [`Engine`](crate::Engine).
    ///
    /// ```no_run
    /// use wasibox::{Policy, Session};
    ///
    /// let session = Session::open("image.webc".as_ref(), Policy::default())?;
    /// assert_eq!(session.exec("echo hi | wc -c")?.stdout, b"3\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the image is missing or damaged, a mount cannot be made, or no worker can be started.
    pub fn open(path: &Path, policy: Policy) -> Result<Session, Error> {
        let options = PoolOptions { warm: 0, ..PoolOptions::new(path) };
        Session::on(&WorkerPool::new(options)?, policy)
    }

    /// Opens a session in a worker of the pool. Its state ends with it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use wasibox::{Policy, Session};
    ///
    /// let pool = engine.pool().expect("sessions have processes by default");
    /// let session = Session::on(pool, Policy::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn on(pool: &Arc<WorkerPool>, policy: Policy) -> Result<Session, Error> {
        no_workspace(&policy)?;
        let session =
            Session::new(SandboxOrigin::Pool(pool.clone()), policy, StateLocation::in_layer());
        session.0.wake_up(&mut lock_mutex(&session.0.inner))?;
        Ok(session)
    }

    /// Opens a session on threads of this process. It starts faster, but has one wall only: a fault
    /// of the sandbox or of the engine is a fault of this process. Its state ends with it. The
    /// arguments say where machine code is kept (`None`: nowhere) and which function receives a
    /// line of text for each program that must be compiled first.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use std::sync::Arc;
    /// use wasibox::{Policy, Session};
    ///
    /// let image = engine.image().clone();
    /// let progress = Arc::new(|line: &str| eprintln!("{line}"));
    /// let session = Session::with(image, Policy::default(), wasibox::default_artifact_dir(), progress)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the image is damaged or a mount cannot be made.
    pub fn with(
        image: Arc<Image>,
        policy: Policy,
        artifacts: Option<PathBuf>,
        progress: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Session, Error> {
        no_workspace(&policy)?;
        let sandbox = SessionSandbox::new(image, policy.clone(), artifacts, progress)?;
        let session = Session::new(SandboxOrigin::Once, policy, StateLocation::Nothing);
        let mut live = RunningSandbox::Threads(Box::new(LocalSandbox::new(sandbox)));
        session.0.serve_guests(&StateLocation::Nothing, &mut live)?;
        session.0.set_live(&mut lock_mutex(&session.0.inner), live)?;
        Ok(session)
    }

    fn new(origin: SandboxOrigin, policy: Policy, kept: StateLocation) -> Session {
        Session::from_parts(origin, policy, kept, None)
    }

    pub(crate) fn from_parts(
        origin: SandboxOrigin,
        policy: Policy,
        kept: StateLocation,
        workspace: Option<WorkspaceHandle>,
    ) -> Session {
        let inner = SessionRuntime { live: None, kept, walls: None, slot: None };
        let tools = ToolCalls::new(policy.host_tools.clone());
        Session(Arc::new(SessionInner {
            origin,
            tools,
            policy,
            workspace,
            requests: OnceLock::new(),
            inner: Mutex::new(inner),
            interrupt: Interrupt::default(),
            pid: AtomicU32::new(0),
        }))
    }

    /// Replaces the functions that guests may call; waits for a running call. A session that is
    /// opened elsewhere needs this call there again, because the rights of guests are never read
    /// from a store.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use serde_json::json;
    /// use wasibox::HostTool;
    ///
    /// let now = HostTool::new_blocking("now", "The host's time", json!({"type": "object"}), |_, _| {
    ///     Ok(json!("12:00"))
    /// })
    /// .expect("the schema is valid");
    /// session.set_tools([now])?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If two have one name, if there are too many, or if the session's process cannot be reached.
    pub fn set_tools(&self, tools: impl IntoIterator<Item = HostTool>) -> Result<(), Error> {
        let mut inner = lock_mutex(&self.0.inner);
        self.0.tools.set(tools)?;
        let SessionRuntime { live, kept, .. } = &mut *inner;
        live.as_mut().map_or(Ok(()), |live| self.0.serve_guests(kept, live))
    }

    /// Returns the functions that guests may call, by name.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// assert!(session.tools().is_empty());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn tools(&self) -> Vec<HostTool> {
        self.0.tools.all_tools()
    }

    /// Returns a handle that ends the running call from another thread.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// let interrupt = session.interrupter();
    /// std::thread::spawn(move || interrupt.interrupt());
    /// session.exec("sleep 60")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn interrupter(&self) -> Interrupt {
        self.0.interrupt.clone()
    }

    /// Connects to a port on the session's own loopback, where a guest's server listens. This also
    /// works from another thread while a call runs. Dropping the stream closes the connection.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use std::io::{Read, Write};
    /// use wasibox::Exec;
    ///
    /// let mut serve = Exec::script("python3 -m http.server 8000 &");
    /// serve.keep_background = true;
    /// session.exec(serve)?;
    /// let mut stream = session.connect(8000).expect("a server listens");
    /// write!(stream, "GET / HTTP/1.0\r\n\r\n").expect("a request");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`std::io::ErrorKind::ConnectionRefused`] if no server listens there, or the session is
    /// asleep.
    pub fn connect(&self, port: u16) -> std::io::Result<UnixStream> {
        self.0.interrupt.connect(port)
    }

    /// Returns the walls around the session's process, or `None` if it runs in this one. For a
    /// session that sleeps, returns those around its last process.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// if let Some(walls) = session.walls() {
    ///     println!("system calls are limited: {}", walls.system_calls);
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn walls(&self) -> Option<Walls> {
        lock_mutex(&self.0.inner).walls
    }

    /// Returns the process ID of the session's worker, or `None` if it has no process of its own.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("true")?;
    /// println!("the worker is process {:?}", session.worker());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn worker(&self) -> Option<u32> {
        Some(self.0.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// Returns the session's policy.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// assert!(session.policy().mounts.is_empty());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Releases the process, its threads and its mappings until the next call; waits for a running
    /// call. Has no effect on a session of [`Session::with`], because its state exists nowhere
    /// else.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("x=1")?;
    /// session.park();
    /// assert_eq!(session.exec("echo $x")?.stdout, b"1\n"); // It wakes up.
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn park(&self) {
        self.0.put_to_sleep(&mut lock_mutex(&self.0.inner));
    }

    /// Returns whether the session has a process or threads now.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("true")?;
    /// assert!(session.is_awake());
    /// session.park();
    /// assert!(!session.is_awake());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn is_awake(&self) -> bool {
        lock_mutex(&self.0.inner).live.is_some()
    }

    /// Closes a jail around this whole process, which must have one thread. It is meant for
    /// programs that serve a single session, for example `runner exec`. The session's mounts,
    /// machine code and image remain reachable. A session with a process of its own does not need
    /// it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use std::sync::Arc;
    /// use wasibox::{Policy, Session};
    ///
    /// let image = engine.image().clone();
    /// let session = Session::with(image, Policy::default(), None, Arc::new(|_: &str| {}))?;
    /// let walls = session.close_jail()?;
    /// assert!(walls.no_new_privs);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the host has a wall that cannot be set up.
    pub fn close_jail(&self) -> Result<Walls, Error> {
        let inner = lock_mutex(&self.0.inner);
        let Some(RunningSandbox::Threads(here)) = &inner.live else { return Ok(Walls::default()) };
        let paths = |writable| {
            let some = self.0.policy.mounts.iter().filter(move |m| m.writable == writable);
            some.map(|m| m.host.clone())
        };
        let own = here.sandbox.own_files().into_iter().filter(|path| path.exists());
        let jail = Jail {
            read: paths(false).chain(own).collect(),
            write: paths(true).collect(),
            code: NewCode::Mapped,
        };
        jail.close().map_err(|e| Error::Refused(e.to_string()))
    }

    /// Returns the names of the image's programs whose machine code or prepared memory is not kept
    /// yet, or `None` if nothing can be kept. A session with a process of its own starts with all
    /// of it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// if let Some(names) = session.unready_programs() {
    ///     println!("to be compiled at first use: {names:?}");
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn unready_programs(&self) -> Option<Vec<String>> {
        match &lock_mutex(&self.0.inner).live {
            Some(RunningSandbox::Threads(here)) => here.sandbox.unready_programs(),
            _ => Some(Vec::new()),
        }
    }

    /// Performs an action and waits for it; a call before it is waited for first.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Action, Exec};
    ///
    /// let outcome = session.apply(Action::Exec(Exec::new(["uname", "-o"])))?;
    /// assert_eq!(outcome.exit_code, 0);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the action could not be started, or the session's process died during it; the session is
    /// then as it was before the call. A command that fails is an outcome, not an error.
    pub fn apply(&self, action: Action) -> Result<Outcome, Error> {
        match action {
            Action::Exec(exec) => self.exec(exec),
        }
    }

    /// Runs a command. A string is taken as a script for the session's shell.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::Exec;
    ///
    /// assert_eq!(session.exec("seq 3 | paste -sd+ | bc")?.stdout, b"6\n");
    /// assert_eq!(session.exec(Exec::new(["printf", "%s", "$HOME"]))?.stdout, b"$HOME");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn exec(&self, exec: impl Into<Exec>) -> Result<Outcome, Error> {
        self.0.run_call(&mut lock_mutex(&self.0.inner), exec.into(), None)
    }

    /// Runs a cell in the session's Python interpreter, which stays alive for the next cells.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.python("import statistics as s; data = [1, 2, 4]")?;
    /// assert_eq!(session.python("s.median(data)")?.value.as_deref(), Some("2"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::apply`]; [`Error::Cell`] if the interpreter cannot be restored.
    pub fn python(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::python(code))
    }

    /// Runs a cell in the session's JavaScript interpreter, which stays alive for the next cells.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.javascript("const data = [1, 2, 4]")?;
    /// assert_eq!(session.javascript("data.length")?.value.as_deref(), Some("3"));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::python`].
    pub fn javascript(&self, code: impl Into<Vec<u8>>) -> Result<Outcome, Error> {
        self.exec(Exec::javascript(code))
    }

    /// Ends the interpreters; the next cell starts a new one. With a history this is a commit.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// session.python("x = 1")?;
    /// session.reset()?;
    /// assert_ne!(session.python("x")?.exit_code, 0);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the change cannot be kept.
    pub fn reset(&self) -> Result<(), Error> {
        let mut inner = lock_mutex(&self.0.inner);
        let SessionRuntime { live, kept, .. } = &mut *inner;
        kept.reset_cells(live.as_mut(), &[PYTHON, JAVASCRIPT])
    }

    /// Reads or changes the session's files without running a guest, with a guest's rights.
    /// Relative paths start at the shell's current directory. A request that changes files is a
    /// commit.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::files::Request;
    ///
    /// session.files(&Request::MakeDir { path: "/tmp/new".into() })?;
    /// assert_eq!(session.exec("ls /tmp")?.stdout, b"new\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Files`] with the mistake and a way to proceed; otherwise as [`Session::apply`].
    pub fn files(&self, request: &files::Request) -> Result<files::Answer, Error> {
        self.0.run_files(&mut lock_mutex(&self.0.inner), request)
    }

    /// Runs a command if no other call is running.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// match session.try_exec("date") {
    ///     Ok(outcome) => println!("{}", String::from_utf8_lossy(&outcome.stdout)),
    ///     Err(e) => println!("not now: {e}"),
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Busy`] if one is; otherwise as [`Session::apply`].
    pub fn try_exec(&self, exec: impl Into<Exec>) -> Result<Outcome, Error> {
        let mut inner = self.0.try_lock().ok_or(Error::Busy)?;
        self.0.run_call(&mut inner, exec.into(), None)
    }

    /// Runs a command whose [`Input::Inherit`](crate::Input::Inherit) and
    /// [`Output::Inherit`](crate::Output::Inherit) refer to these descriptors instead of this
    /// process's streams: pipes, for example, that other threads feed and read while it runs.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Exec, InheritedStreams, Output};
    ///
    /// let (reader, writer) = std::io::pipe().expect("a pipe");
    /// let mut exec = Exec::script("seq 1000000");
    /// exec.output = Output::Inherit;
    /// std::thread::spawn(move || std::io::copy(&mut { reader }, &mut std::io::stderr()));
    /// let (stdin, stderr) = (std::io::stdin(), std::io::stderr());
    /// let streams = InheritedStreams { stdin: &stdin, stdout: &writer, stderr: &stderr };
    /// session.exec_on(exec, &streams)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::apply`].
    pub fn exec_on(&self, exec: Exec, streams: &InheritedStreams<'_>) -> Result<Outcome, Error> {
        self.0.run_call(&mut lock_mutex(&self.0.inner), exec, Some(streams))
    }

    /// Returns the changes to a host's folder ([`WorkspaceKind::Overlay`](crate::WorkspaceKind)) in
    /// git's diff format, limited to `paths` and everything below them (all changes if `paths` is
    /// empty).
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("project")).build()?;
    /// session.exec("echo more >> README.md")?;
    /// println!("{}", String::from_utf8_lossy(&session.workspace_diff(&[])?.text));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the session has no such workspace, or the folder is no longer as it was when the session
    /// began.
    pub fn workspace_diff(&self, paths: &[&str]) -> Result<Diff, Error> {
        let inner = lock_mutex(&self.0.inner);
        let (workspace, engine, stored) = self.0.overlay_parts(&inner)?;
        workspace.diff_text(engine.image(), &self.0.policy, stored, paths)
    }

    /// Applies the session's changes to the host's folder, limited to `paths` and everything below
    /// them (all changes if `paths` is empty). Files that have changed on the host in the meantime
    /// are skipped and reported. The session cannot run anything afterwards: start a new one.
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("project")).build()?;
    /// session.exec("mkdir src; touch src/a b")?;
    /// let report = session.workspace_apply(&["src"])?;
    /// assert!(report.left.is_empty());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::workspace_diff`]. If something cannot be written, nothing is changed.
    pub fn workspace_apply(&self, paths: &[&str]) -> Result<ApplyReport, Error> {
        let mut inner = lock_mutex(&self.0.inner);
        let (workspace, engine, stored) = self.0.overlay_parts(&inner)?;
        let done = workspace.apply_changes(engine.image(), &self.0.policy, stored, paths)?;
        // Because the running sandbox still has the folder as it was.
        self.0.drop_live(&mut inner);
        Ok(done)
    }

    /// Returns the paths that the zip format could not represent at the last save, each with the
    /// reason.
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("work.zip")).build()?;
    /// session.exec("mkfifo pipe")?;
    /// for (path, reason) in session.workspace_left_out() {
    ///     println!("{path}: {reason}");
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn workspace_left_out(&self) -> Vec<(String, String)> {
        self.0.workspace.as_ref().map_or_else(Vec::new, WorkspaceHandle::left_out)
    }

    pub(crate) fn has_workspace(&self) -> bool {
        self.0.workspace.is_some()
    }

    pub(crate) fn home(&self) -> &str {
        self.0.home_dir()
    }

    pub(crate) fn save_workspace(&self) -> Result<(), Error> {
        self.0.save_workspace(&lock_mutex(&self.0.inner))
    }

    pub(crate) fn lock_runtime(&self) -> MutexGuard<'_, SessionRuntime> {
        lock_mutex(&self.0.inner)
    }
}

/// Rejects a policy with a workspace, because only an engine can open one.
fn no_workspace(policy: &Policy) -> Result<(), Error> {
    match policy.workspace {
        Some(_) => Err(WorkspaceMismatch::NoEngine.into()),
        None => Ok(()),
    }
}

impl SessionInner {
    /// Returns the directory in which the session's first command starts.
    fn home_dir(&self) -> &str {
        self.workspace.as_ref().map_or(HOME, WorkspaceHandle::guest_path)
    }

    /// Saves a workspace that is saved after each change.
    fn save_workspace(&self, inner: &SessionRuntime) -> Result<(), Error> {
        let (Some(workspace), SandboxOrigin::Engine(engine)) = (&self.workspace, &self.origin)
        else {
            return Ok(());
        };
        let Some((stored, is_elsewhere)) = inner.kept.in_store() else { return Ok(()) };
        workspace.save_zip(engine.image(), &self.policy, stored, is_elsewhere)
    }

    /// Records the host's original files before the change that touches them is kept.
    fn note_touched(&self, inner: &SessionRuntime, touched: Touched) -> Result<(), Error> {
        match (&self.workspace, inner.kept.in_store()) {
            (Some(workspace), Some((stored, _))) => workspace.note_originals(stored, touched),
            _ => Ok(()),
        }
    }

    fn overlay_parts<'a>(
        &'a self,
        inner: &'a SessionRuntime,
    ) -> Result<
        (&'a WorkspaceHandle, &'a crate::engine::EngineInner, &'a wasibox_store::StoreSession),
        Error,
    > {
        match (&self.workspace, &self.origin, inner.kept.in_store()) {
            (Some(w), SandboxOrigin::Engine(engine), Some((stored, _))) => Ok((w, engine, stored)),
            _ => Err(WorkspaceMismatch::NoOverlay.into()),
        }
    }

    /// Returns the source of the session's sandboxes.
    pub fn origin(&self) -> &SandboxOrigin {
        &self.origin
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, SessionRuntime>> {
        match self.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(e)) => Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Drops the running sandbox if it can be restored, and returns whether the session was awake.
    fn put_to_sleep(&self, inner: &mut SessionRuntime) -> bool {
        if matches!(inner.kept, StateLocation::Nothing) {
            return false;
        }
        self.drop_live(inner)
    }

    fn drop_live(&self, inner: &mut SessionRuntime) -> bool {
        self.interrupt.set(None);
        self.pid.store(0, Ordering::Relaxed);
        inner.kept.note_asleep();
        let was = inner.live.take().is_some();
        inner.slot = None;
        was
    }

    fn set_live(&self, inner: &mut SessionRuntime, live: RunningSandbox) -> Result<(), Error> {
        inner.walls = live.walls();
        let control = match &live {
            RunningSandbox::Threads(here) => {
                SandboxControl::Threads(here.sandbox.interrupt_handle(), here.sandbox.doors())
            }
            RunningSandbox::Process(link) => SandboxControl::Process(link.interrupter()?),
        };
        self.interrupt.set(Some(control));
        self.pid.store(live.pid().unwrap_or(0), Ordering::Relaxed);
        inner.live = Some(live);
        Ok(())
    }

    /// Starts a sandbox and restores the session's state in it.
    fn wake_up(self: &Arc<SessionInner>, inner: &mut SessionRuntime) -> Result<(), Error> {
        match (&self.workspace, inner.kept.in_store()) {
            (Some(workspace), _) => workspace.check_host()?,
            (None, Some((stored, _))) => workspace::refuse_workspace(stored)?,
            (None, None) => {}
        }
        let mut live = match &self.origin {
            SandboxOrigin::Once => return Err(Error::Worker("cannot go on".into())),
            SandboxOrigin::Pool(pool) => RunningSandbox::Process(Box::new(
                WorkerLink::begin_session(pool, &self.policy, WorkspaceSource::default())?,
            )),
            SandboxOrigin::Engine(engine) => {
                inner.slot = Some(engine.awake.take_place(self));
                engine.begin_sandbox(&self.policy, self.workspace.as_ref())?
            }
        };
        self.serve_guests(&inner.kept, &mut live)?;
        inner.kept.give_to(&mut live)?;
        self.set_live(inner, live)
    }

    /// Starts serving the guests' requests.
    fn serve_guests(&self, kept: &StateLocation, live: &mut RunningSandbox) -> Result<(), Error> {
        if let Some((stored, _)) = kept.in_store() {
            self.remember_tools(stored)?;
        }
        let tools = Some(self.tools.clone()).filter(ToolCalls::is_of_use);
        let services =
            Services { values: kept.values(), requests: self.allowed_requests()?, tools };
        let Services { values, requests, tools } = &services;
        if values.is_some() || requests.is_some() || tools.is_some() {
            live.set_service(Arc::new(services));
        }
        Ok(())
    }

    /// Records the names of the tools that the session has had, so that a missing one can be
    /// reported elsewhere.
    fn remember_tools(&self, stored: &wasibox_store::StoreSession) -> Result<(), Error> {
        let before = stored.value(TOOLS)?.unwrap_or_default();
        // These are names only: nothing is granted by them.
        let formerly: BTreeSet<String> = serde_json::from_slice(&before).unwrap_or_default();
        let formerly = formerly.into_iter().take(MAX_TOOLS).collect();
        let Some(all) = self.tools.remember_former(formerly) else { return Ok(()) };
        let text = serde_json::to_vec(&all).map_err(|e| Error::Refused(e.to_string()))?;
        Ok(stored.set_value(TOOLS, &text)?)
    }

    /// Returns the requests that the policy allows.
    fn allowed_requests(&self) -> Result<Option<Arc<BridgeRequests>>, Error> {
        if let Some(requests) = self.requests.get() {
            return Ok(requests.clone());
        }
        let own = BridgeThread::default();
        let outside = match &self.origin {
            SandboxOrigin::Engine(engine) => &engine.outside,
            SandboxOrigin::Once | SandboxOrigin::Pool(_) => &own,
        };
        let made = BridgeRequests::new(&self.policy.network, outside)?.map(Arc::new);
        Ok(self.requests.get_or_init(|| made).clone())
    }

    /// Returns the running sandbox, and starts it first if the session sleeps.
    fn live_or_begin<'a>(
        self: &Arc<SessionInner>,
        inner: &'a mut SessionRuntime,
    ) -> Result<&'a mut RunningSandbox, Error> {
        if inner.live.is_none()
            && let Err(e) = self.wake_up(inner)
        {
            self.drop_live(inner);
            return Err(e);
        }
        if let Some(slot) = &inner.slot {
            slot.mark_used();
        }
        inner.live.as_mut().ok_or(Error::NoWorker)
    }

    fn run_call(
        self: &Arc<SessionInner>,
        inner: &mut SessionRuntime,
        mut exec: Exec,
        streams: Option<&InheritedStreams<'_>>,
    ) -> Result<Outcome, Error> {
        let note = CallNote::begin(&exec);
        self.live_or_begin(inner)?;
        let cwd = |state| crate::action::ShellSurroundings::from_state(state)?.cwd;
        if self.workspace.is_some() && inner.kept.shell().and_then(cwd).is_none() {
            exec.cwd.get_or_insert_with(|| self.home_dir().to_owned());
        }
        exec.go_on(inner.kept.shell());
        let is_kept = !matches!(inner.kept, StateLocation::Nothing);
        let Some(live) = &mut inner.live else { return Err(Error::NoWorker) };
        let given = match &exec.cell {
            Some(cell) => inner.kept.give_cell(live, &cell.name),
            None => inner.kept.give_shell(live, &mut exec),
        };
        if let Err(e) = given {
            if matches!(e, Error::Worker(_)) {
                self.drop_live(inner);
            }
            return Err(e);
        }
        let requests = self.requests.get().cloned().flatten();
        if let Some(requests) = &requests {
            requests.begin_call();
        }
        self.tools.begin_call();
        let mut called = match streams {
            Some(streams) => live.run_call(exec, streams, is_kept),
            None => {
                let (stdin, stdout, stderr) =
                    (std::io::stdin(), std::io::stdout(), std::io::stderr());
                let streams = InheritedStreams { stdin: &stdin, stdout: &stdout, stderr: &stderr };
                live.run_call(exec, &streams, is_kept)
            }
        };
        let mut entries = requests.map(|requests| requests.end_call()).unwrap_or_default();
        entries.extend(self.tools.end_call());
        let logged = inner.kept.add_to_log(&entries);
        if called.result.is_ok()
            && let Err(e) = logged
        {
            called.result = Err(e);
        }
        let (is_gone, has_changed) = (called.is_gone, !called.changed.is_empty());
        let noted = self.note_touched(inner, std::mem::take(&mut called.touched));
        let result = match noted {
            Ok(()) => inner.kept.keep_call(called, note, &self.policy.limits),
            Err(e) => Err(e),
        };
        // Changes that could not be kept must not be built upon.
        let is_unkept = matches!(result, Err(Error::Store(_) | Error::Worker(_)));
        if is_gone || (is_unkept && is_kept) {
            self.drop_live(inner);
            return result;
        }
        if has_changed {
            self.save_workspace(inner)?;
        }
        result
    }

    fn run_files(
        self: &Arc<SessionInner>,
        inner: &mut SessionRuntime,
        request: &files::Request,
    ) -> Result<files::Answer, Error> {
        let note = CallNote::from_command(request.summary().into_bytes());
        self.live_or_begin(inner)?;
        let cwd =
            crate::action::ShellSurroundings::from_state(inner.kept.shell().unwrap_or_default());
        let cwd = cwd.and_then(|place| String::from_utf8(place.cwd?).ok());
        let Some(live) = &mut inner.live else { return Err(Error::NoWorker) };
        let looked =
            live.run_files((cwd.unwrap_or_else(|| self.home_dir().into()), request.clone()));
        let mut has_changed = false;
        let kept = looked.and_then(|FilesResult { answer, changed, touched }| {
            let error = answer.as_ref().err().map(ToString::to_string);
            has_changed = !changed.is_empty();
            self.note_touched(inner, touched)?;
            inner.kept.keep_files(changed, &note, error, &self.policy.limits)?;
            Ok(answer?)
        });
        if matches!(kept, Err(Error::Store(_) | Error::Worker(_))) {
            self.drop_live(inner);
            return kept;
        }
        if has_changed {
            self.save_workspace(inner)?;
        }
        kept
    }

    /// Moves the session to another kept state and returns the result of `act`, if the session has
    /// a history.
    pub(crate) fn turn_to<T>(
        &self,
        act: impl FnOnce(&wasibox_store::StoreSession) -> Result<T, wasibox_store::StoreError>,
    ) -> Result<T, Error> {
        let mut inner = lock_mutex(&self.inner);
        let SessionRuntime { live, kept, .. } = &mut *inner;
        let result = kept.turn_to(live.as_mut(), act);
        if result.as_ref().is_err_and(|(_, is_broken)| *is_broken) {
            self.drop_live(&mut inner);
        }
        let done = result.map_err(|(e, _)| e)?;
        self.save_workspace(&inner)?;
        Ok(done)
    }
}

impl Sleeper for SessionInner {
    fn try_sleep(&self) -> bool {
        self.try_lock().is_some_and(|mut inner| self.put_to_sleep(&mut inner))
    }
}
