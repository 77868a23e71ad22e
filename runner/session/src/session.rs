//! A session: its parts, its construction, and the beginning and end of its sandboxes.

mod apply;
mod calls;
mod cancel;
mod folder;
mod managed;
mod process;
mod spawn;
mod streams;

pub use cancel::Cancel;
pub use streams::Streams;

use crate::awake::{AwakeGuard, Sleeper};
use crate::control::{Interrupt, SandboxControl};
use crate::error::{Error, WorkspaceMismatch};
use crate::kept::{CallNote, StateLocation};
use crate::live::RunningSandbox;
use crate::local::{self, FilesResult, LocalSandbox, Touched};
use crate::processes::ManagedTable;
use crate::requests::{BridgeRequests, BridgeThread, Services};
use crate::run::InheritedStreams;
use crate::tenant::Tenant;
use crate::tools::{HostTool, MAX_TOOLS, ToolCalls};
use crate::worker::link::WorkerLink;
use crate::worker::pool::{PoolOptions, WorkerPool};
use crate::workspace::{self, WorkspaceHandle, WorkspaceSource};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use wasibox_files as files;
use wasibox_image::Image;
use wasibox_protocol::{Exec, Outcome};
use wasibox_sandbox::{PlacedExec, Policy, SessionSandbox};
use wasibox_vfs::around::{HOME, ShellSurroundings};
use wasibox_vfs::lock_mutex;
use wasibox_worker::jail::Walls;

/// The key-value that lists the names of the host tools that a session has had.
const TOOLS: &[u8] = b"wasibox.tools";

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
    tenant: OnceLock<Arc<Tenant>>,
    interrupt: Interrupt,
    /// The processes that requests have begun.
    pub(crate) processes: ManagedTable,
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
    /// The programs that run beside calls in `live`.
    spawned: spawn::SpawnedTable,
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
    /// The same as [`Session::open`].
    pub fn on(pool: &Arc<WorkerPool>, policy: Policy) -> Result<Session, Error> {
        no_workspace(&policy)?;
        let session =
            Session::new(SandboxOrigin::Pool(pool.clone()), policy, StateLocation::in_layer());
        session.0.wake_up(&mut lock_mutex(&session.0.inner))?;
        Ok(session)
    }

    /// Opens a session on threads of this process. It starts faster, but has one wall only: a fault
    /// of the sandbox or of the engine is a fault of this process. Its state ends with it. Machine
    /// code is kept in the folder `artifacts`, if there is one. `progress` receives a line of text
    /// for each program that must be compiled first.
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
        let inner = SessionRuntime {
            live: None,
            kept,
            walls: None,
            slot: None,
            spawned: spawn::SpawnedTable::default(),
        };
        let tools = ToolCalls::new(policy.host_tools.clone());
        Session(Arc::new(SessionInner {
            origin,
            tools,
            policy,
            workspace,
            requests: OnceLock::new(),
            inner: Mutex::new(inner),
            tenant: OnceLock::new(),
            interrupt: Interrupt::default(),
            processes: ManagedTable::default(),
            pid: AtomicU32::new(0),
        }))
    }

    /// Replaces the functions that guests may call; waits for a running call. A session that is
    /// opened elsewhere must get its functions again there, because the rights of guests are never
    /// read from a store.
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

    /// Makes the session one of a tenant, whose limits hold for all of its sessions together, from
    /// the next time that the session wakes up. A session that has a tenant keeps it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use wasibox::{Policy, Tenant, TenantLimits};
    ///
    /// let tenant = Tenant::new(TenantLimits { awake: 4, memory: 4 << 30 });
    /// let sessions = [engine.session(Policy::default())?, engine.session(Policy::default())?];
    /// sessions.iter().for_each(|session| session.set_tenant(&tenant));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn set_tenant(&self, tenant: &Arc<Tenant>) {
        self.0.tenant.get_or_init(|| tenant.clone());
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

    /// Returns whether the session must be opened again, because another worker has taken it up, or
    /// its bucket did not answer. False while a call runs.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// let sessions = engine.store("s3://agents/sessions".as_ref())?;
    /// let mut session = sessions.session("a", wasibox::Policy::default())?;
    /// if session.is_lost() {
    ///     drop(session);
    ///     session = sessions.session("a", wasibox::Policy::default())?;
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn is_lost(&self) -> bool {
        let inner = self.0.try_lock();
        inner.is_some_and(|inner| inner.kept.in_store().is_some_and(|(stored, _)| stored.is_lost()))
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

    /// Saves the workspace if it is a zip.
    fn save_workspace(&self, inner: &SessionRuntime) -> Result<(), Error> {
        let (Some(workspace), SandboxOrigin::Engine(engine)) = (&self.workspace, &self.origin)
        else {
            return Ok(());
        };
        let Some((stored, is_elsewhere)) = inner.kept.in_store() else { return Ok(()) };
        workspace.save_zip(engine.image(), &self.policy, stored, is_elsewhere)
    }

    /// Records the original entries of the host's folder before the changes to them are kept.
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
        // Processes that still run are ended, but their changes stay. A failure means that
        // the worker is gone.
        let _ = self.keep_all(inner);
        self.drop_live(inner)
    }

    /// Discards an interrupt that came too late for its call, because it must not end another one.
    fn forget_interrupt(&self, inner: &mut SessionRuntime) {
        match &inner.live {
            Some(RunningSandbox::Threads(here)) => here.sandbox.forget_interrupt(),
            // The interrupt may be on its way to the worker.
            Some(RunningSandbox::Process(_)) => drop(self.put_to_sleep(inner)),
            None => self.interrupt.forget(),
        }
    }

    fn drop_live(&self, inner: &mut SessionRuntime) -> bool {
        self.processes.lose_all();
        self.interrupt.set(None);
        self.pid.store(0, Ordering::Relaxed);
        inner.kept.note_asleep();
        let was = inner.live.take().is_some();
        inner.slot = None;
        if !std::mem::take(&mut inner.spawned).is_empty() {
            let requests = self.requests.get().cloned().flatten();
            let mut entries = requests.map(|requests| requests.end_call()).unwrap_or_default();
            entries.extend(self.tools.end_call());
            // A failure is ignored, because the next call reports that the store is unusable.
            let _ = inner.kept.add_to_log(&entries);
        }
        was
    }

    fn set_live(&self, inner: &mut SessionRuntime, live: RunningSandbox) -> Result<(), Error> {
        inner.walls = live.walls();
        let control = match &live {
            RunningSandbox::Threads(here) => {
                let sandbox = &here.sandbox;
                let (interrupt, doors) = (sandbox.interrupt_handle(), sandbox.doors());
                SandboxControl::Threads(interrupt, doors, sandbox.process_signals())
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
            SandboxOrigin::Once => return Err(Error::Worker("cannot serve another call".into())),
            SandboxOrigin::Pool(pool) => RunningSandbox::Process(Box::new(
                WorkerLink::begin_session(pool, &self.policy, WorkspaceSource::default())?,
            )),
            SandboxOrigin::Engine(engine) => {
                inner.slot = Some(engine.awake.take_place(self));
                engine.begin_sandbox(&self.policy, self.workspace.as_ref())?
            }
        };
        if let (RunningSandbox::Process(link), Some(tenant)) = (&mut live, self.tenant.get()) {
            link.count_for(tenant);
        }
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

    /// Records the names of the tools that the session has had. A call of a tool that is no longer
    /// registered then gets an error that says so.
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
        let note = CallNote::begin(&exec.command);
        self.live_or_begin(inner)?;
        let cwd = |state| ShellSurroundings::from_state(state)?.cwd;
        if self.workspace.is_some() && inner.kept.shell().and_then(cwd).is_none() {
            exec.cwd.get_or_insert_with(|| self.home_dir().to_owned());
        }
        let cell = local::interpreter_of(&exec);
        let mut exec = PlacedExec::new(exec, inner.kept.shell());
        let is_kept = !matches!(inner.kept, StateLocation::Nothing);
        let Some(live) = &mut inner.live else { return Err(Error::NoWorker) };
        let given = match cell {
            Some(name) => inner.kept.give_cell(live, name),
            None => inner.kept.give_shell(live, &mut exec),
        };
        if let Err(e) = given {
            if matches!(e, Error::Worker(_)) {
                self.drop_live(inner);
            }
            return Err(e);
        }
        let requests = self.requests.get().cloned().flatten();
        // The requests of processes beside this call are counted with its own.
        let is_alone = inner.spawned.is_empty();
        if is_alone {
            if let Some(requests) = &requests {
                requests.begin_call();
            }
            self.tools.begin_call();
        }
        let mut called = match streams {
            Some(streams) => live.run_call(exec, streams, is_kept),
            None => {
                let (stdin, stdout, stderr) =
                    (std::io::stdin(), std::io::stdout(), std::io::stderr());
                let streams = InheritedStreams { stdin: &stdin, stdout: &stdout, stderr: &stderr };
                live.run_call(exec, &streams, is_kept)
            }
        };
        let entries_of = |requests: Arc<BridgeRequests>| {
            if is_alone { requests.end_call() } else { requests.take_log() }
        };
        let mut entries = requests.map(entries_of).unwrap_or_default();
        entries.extend(if is_alone { self.tools.end_call() } else { self.tools.take_log() });
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
        // A sandbox with changes that could not be kept must not run another call.
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
        let cwd = ShellSurroundings::from_state(inner.kept.shell().unwrap_or_default());
        let cwd = cwd.and_then(|place| String::from_utf8(place.cwd?).ok());
        let Some(live) = &mut inner.live else { return Err(Error::NoWorker) };
        let looked =
            live.run_files((cwd.unwrap_or_else(|| self.home_dir().into()), request.clone()));
        let mut has_changed = false;
        let kept = looked.and_then(|FilesResult { answer, changed, touched }| {
            let error = answer.as_ref().err().map(ToString::to_string);
            has_changed = !changed.is_empty();
            self.note_touched(inner, touched)?;
            let beside = inner.spawned.note_of_changes(request).filter(|_| has_changed);
            let note = beside.unwrap_or(note);
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
        // Changes of programs that have just ended are a commit of their own.
        self.keep_ended(&mut inner)?;
        let running = self.processes.running();
        let SessionRuntime { live, kept, .. } = &mut *inner;
        // A caller that waits for their ends must not see them before the reason is known.
        running.iter().for_each(|process| process.set_lost(true));
        let turned = kept.turn_to(live.as_mut(), act);
        let (done, is_broken) =
            turned.inspect_err(|_| running.iter().for_each(|process| process.set_lost(false)))?;
        if is_broken {
            self.drop_live(&mut inner);
        }
        self.save_workspace(&inner)?;
        Ok(done)
    }
}

impl Sleeper for SessionInner {
    fn try_sleep(&self) -> bool {
        self.try_lock().is_some_and(|mut inner| self.put_to_sleep(&mut inner))
    }

    fn tenant(&self) -> Option<&Arc<Tenant>> {
        self.tenant.get()
    }
}
