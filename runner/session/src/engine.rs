//! The parts that all sessions of an image share.

use crate::awake::Awake;
use crate::error::Error;
use crate::kept::{StateLocation, TemporarySession};
use crate::live::RunningSandbox;
use crate::local::LocalSandbox;
use crate::requests::BridgeThread;
use crate::session::{SandboxOrigin, Session};
use crate::tools::{self, HostTool};
use crate::worker::check::{self, ForeignFile, check_snapshot};
use crate::worker::link::WorkerLink;
use crate::worker::pool::{PoolOptions, WorkerPool};
use crate::workspace::{CheckZip, WorkspaceHandle, carried_limits};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use wasibox_image::Image;
use wasibox_sandbox::{Policy, PreparedImage};
use wasibox_store::snapshot::Digest;
use wasibox_store::{Info, SnapshotLimits, Store};
use wasibox_vfs::lock_mutex;

/// The isolation between sessions and the embedder's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// A process with a jail for each session that is awake.
    #[default]
    Process,
    /// Threads of this process, which start faster; WebAssembly is the only wall.
    Threads,
}

/// The options of an [`Engine`].
#[derive(Clone)]
pub struct EngineOptions {
    pub isolation: Isolation,
    /// Image, machine code, the worker program, the number of workers kept ready, progress, walls.
    pub pool: PoolOptions,
    /// Maximum number of sessions that are awake at once. A call of another one puts the least
    /// recently used session to sleep, or waits.
    pub awake: usize,
    /// The time without a call after which a session goes to sleep; `None`: it stays awake.
    pub idle: Option<Duration>,
}

impl EngineOptions {
    /// Returns the defaults: processes, [`PoolOptions::new`], 32 sessions awake, asleep after a
    /// minute.
    ///
    /// ```no_run
    /// use wasibox::{Engine, EngineOptions};
    ///
    /// let mut options = EngineOptions::new("image.webc");
    /// options.awake = 8;
    /// let engine = Engine::new(options)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn new(image: impl Into<PathBuf>) -> EngineOptions {
        EngineOptions {
            isolation: Isolation::default(),
            pool: PoolOptions::new(image),
            awake: 32,
            idle: Some(Duration::from_secs(60)),
        }
    }
}

/// An image and the parts that its sessions share: machine code, workers, the limit of awake
/// sessions. Clones refer to the same engine. Several engines, of the same or of different images,
/// can exist at once.
///
/// ```no_run
/// use wasibox::{Engine, Policy};
///
/// let engine = Engine::open("image.webc".as_ref())?;
/// let s = engine.session(Policy::default())?;
/// s.exec("cd /tmp; x=41")?;
/// assert_eq!(s.exec("echo $((x + 1)) in $PWD")?.stdout, b"42 in /tmp\n");
/// s.undo()?;
///
/// let store = engine.store("work.wbx".as_ref())?;
/// let a = store.create("a", Policy::default())?;
/// a.exec("echo hi > note")?;
/// # Ok::<(), wasibox::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<EngineInner>);

pub(crate) struct EngineInner {
    image: Arc<Image>,
    options: EngineOptions,
    pool: Option<Arc<WorkerPool>>,
    /// The prepared image of sessions on threads, one for each stack size in use.
    prepared: Mutex<Vec<PreparedImage>>,
    /// The thread that serves its sessions' requests.
    pub outside: BridgeThread,
    /// The functions that guests of new sessions may call.
    tools: Mutex<Vec<HostTool>>,
    pub awake: Awake<crate::session::SessionInner>,
    /// The in-memory store of sessions without a store of their own, and the number of sessions
    /// that it has had.
    memory: OnceLock<Store>,
    unnamed: AtomicU64,
}

impl EngineInner {
    /// Returns the image.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Starts a new sandbox.
    pub fn begin_sandbox(
        &self,
        policy: &Policy,
        workspace: Option<&WorkspaceHandle>,
    ) -> Result<RunningSandbox, Error> {
        if let Some(pool) = &self.pool {
            let given =
                workspace.map(WorkspaceHandle::worker_source).transpose()?.unwrap_or_default();
            return Ok(RunningSandbox::Process(Box::new(WorkerLink::begin_session(
                pool, policy, given,
            )?)));
        }
        let opened = workspace.map(WorkspaceHandle::open_here).transpose()?;
        let (base, overlay) = opened.map_or((None, None), |o| (Some(o.base), o.overlay));
        let sandbox = self.prepared_image(policy.limits.stack).open_over(policy.clone(), base)?;
        Ok(RunningSandbox::Threads(Box::new(LocalSandbox::with_overlay(sandbox, overlay))))
    }

    fn prepared_image(&self, stack: usize) -> PreparedImage {
        let mut all = lock_mutex(&self.prepared);
        if let Some(found) = all.iter().find(|p| p.stack() == stack) {
            return found.clone();
        }
        // The number is bounded, because each entry maps all machine code, and policies may ask for
        // any stack size.
        const MOST: usize = 4;
        all.truncate(MOST - 1);
        let PoolOptions { artifacts, progress, .. } = &self.options.pool;
        let (image, artifacts) = (self.image.clone(), artifacts.clone());
        let made = PreparedImage::new(image, artifacts, progress.clone(), stack);
        all.insert(0, made.clone());
        made
    }
}

impl Engine {
    /// Opens an engine with [`EngineOptions::new`].
    ///
    /// ```no_run
    /// use wasibox::{Engine, Policy};
    ///
    /// let engine = Engine::open("image.webc".as_ref())?;
    /// let session = engine.session(Policy::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the image is missing or damaged, or there is no worker program.
    pub fn open(image: &Path) -> Result<Engine, Error> {
        Engine::new(EngineOptions::new(image))
    }

    /// Makes an engine with these options.
    ///
    /// ```no_run
    /// use wasibox::{Engine, EngineOptions, Isolation};
    ///
    /// let options = EngineOptions { isolation: Isolation::Threads, ..EngineOptions::new("image.webc") };
    /// let engine = Engine::new(options)?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Engine::open`].
    pub fn new(options: EngineOptions) -> Result<Engine, Error> {
        let image = Arc::new(Image::open(&options.pool.image)?);
        let pool = match options.isolation {
            Isolation::Process => Some(WorkerPool::new(options.pool.clone())?),
            Isolation::Threads => None,
        };
        let awake = Awake::new(options.awake, options.idle)?;
        let (memory, unnamed) = (OnceLock::new(), AtomicU64::new(0));
        let (prepared, outside, tools) = Default::default();
        Ok(Engine(Arc::new(EngineInner {
            image,
            options,
            pool,
            prepared,
            outside,
            tools,
            awake,
            memory,
            unnamed,
        })))
    }

    /// Returns the image.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// let names: Vec<&str> = engine.image().commands().iter().map(|c| c.name.as_str()).collect();
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn image(&self) -> &Arc<Image> {
        &self.0.image
    }

    /// Returns the digest that identifies the image.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// println!("the image is {}", engine.digest());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn digest(&self) -> Digest {
        Digest(self.0.image.identity())
    }

    /// Replaces the functions that guests may call in sessions opened from now on.
    /// [`Session::set_tools`] sets those of one session.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use serde_json::json;
    /// use wasibox::{HostTool, Policy};
    ///
    /// let now = HostTool::new_blocking("now", "The host's time", json!({"type": "object"}), |_, _| {
    ///     Ok(json!("12:00"))
    /// })
    /// .expect("the schema is valid");
    /// engine.set_tools([now])?;
    /// engine.session(Policy::default())?.exec("tool now")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If two have one name, or there are too many.
    pub fn set_tools(&self, tools: impl IntoIterator<Item = HostTool>) -> Result<(), Error> {
        let tools = tools::by_name(tools)?.into_values().collect();
        *lock_mutex(&self.0.tools) = tools;
        Ok(())
    }

    /// Returns the functions that sessions begin with, by name.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// assert!(engine.tools().is_empty());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn tools(&self) -> Vec<HostTool> {
        lock_mutex(&self.0.tools).clone()
    }

    /// Returns the pool of workers, or `None` if sessions run on threads.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// assert!(engine.pool().is_some(), "sessions have processes by default");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn pool(&self) -> Option<&Arc<WorkerPool>> {
        self.0.pool.as_ref()
    }

    /// Returns the number of sessions that have a process or threads now.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// let session = engine.session(wasibox::Policy::default())?;
    /// session.exec("true")?;
    /// assert_eq!(engine.awake(), 1);
    /// session.park();
    /// assert_eq!(engine.awake(), 0);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn awake(&self) -> usize {
        self.0.awake.count()
    }

    /// Opens a new session whose history is in memory. The history is dropped together with the
    /// last clone of the session.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use wasibox::Policy;
    ///
    /// let session = engine.session(Policy::default())?;
    /// session.exec("echo hi > note")?;
    /// session.undo()?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory cannot be allocated. Errors in the policy are reported by the first call.
    pub fn session(&self, policy: Policy) -> Result<Session, Error> {
        let store = self.memory_store()?;
        let name = self.unnamed_name();
        let mut workspace = self.open_workspace(&policy)?;
        let (session, begun) = self.make_session(store, &name, workspace.as_mut())?;
        let temporary = TemporarySession { store: store.clone(), name };
        Ok(self.session_over(session, begun, policy, Some(temporary), workspace))
    }

    /// Returns the program that reads files from elsewhere in a jail, if sessions have processes.
    fn checker(&self) -> Option<&Path> {
        self.0.pool.as_ref()?.options().program.as_deref()
    }

    /// Reads a snapshot in a jailed process, with these limits, before it is imported. Does nothing
    /// if sessions run on threads.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// let file = std::fs::File::open("a.wbs").expect("a snapshot");
    /// engine.check_snapshot(&file, &wasibox::store::SnapshotLimits::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is not a snapshot, exceeds the limits, or takes too much memory or time.
    pub fn check_snapshot(&self, file: &File, limits: &SnapshotLimits) -> Result<(), Error> {
        match self.checker() {
            Some(program) => check_snapshot(program, file, limits),
            None => Ok(()),
        }
    }

    /// Opens the workspace of a policy, if it has one.
    fn open_workspace(&self, policy: &Policy) -> Result<Option<WorkspaceHandle>, Error> {
        let EngineInner { image, options, .. } = &*self.0;
        let check = self
            .checker()
            .map(|program| move |file: &File| check::check_file(program, file, ForeignFile::Zip));
        WorkspaceHandle::open(
            policy,
            wasibox_sandbox::protected_paths(image, options.pool.artifacts.as_deref()),
            check.as_ref().map(|check| check as &CheckZip<'_>),
        )
    }

    /// Makes a new session, or the one that a zip carries.
    fn make_session(
        &self,
        store: &Store,
        name: &str,
        workspace: Option<&mut WorkspaceHandle>,
    ) -> Result<(wasibox_store::StoreSession, Option<Digest>), Error> {
        let digest = Some(self.digest());
        let Some(workspace) = workspace else { return Ok((store.create(name, digest)?, digest)) };
        if let Some(history) = workspace.carried_history() {
            match store.import(name, &*history, &carried_limits()) {
                Err(e @ wasibox_store::StoreError::Exists(_)) => return Err(e.into()),
                // A damaged history is ignored, because the zip has the files without it.
                Err(_) => {}
                Ok(()) => {
                    let session = store.session(name)?;
                    if workspace.take_carried(&session)? {
                        return Ok((session, store.session_info(name)?.image));
                    }
                    drop(session);
                    store.remove(name)?;
                }
            }
        }
        let session = store.create(name, digest)?;
        workspace.take_new(&session)?;
        Ok((session, digest))
    }

    /// Opens the sessions of a store, a file that is created if it does not exist.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use wasibox::Policy;
    ///
    /// let sessions = engine.store("work.wbx".as_ref())?;
    /// let a = sessions.create("a", Policy::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it cannot be opened or is not a store.
    pub fn store(&self, path: &Path) -> Result<Sessions, Error> {
        Ok(Sessions { engine: self.clone(), store: Store::open(path)? })
    }

    /// Returns the sessions of an open store.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// use wasibox::store::Store;
    ///
    /// let sessions = engine.sessions(Store::open("work.wbx".as_ref())?);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn sessions(&self, store: Store) -> Sessions {
        Sessions { engine: self.clone(), store }
    }

    fn memory_store(&self) -> Result<&Store, Error> {
        if let Some(store) = self.0.memory.get() {
            return Ok(store);
        }
        let made = Store::in_memory()?;
        Ok(self.0.memory.get_or_init(|| made))
    }

    fn unnamed_name(&self) -> String {
        format!("s{}", self.0.unnamed.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn from_inner(shared: &Arc<EngineInner>) -> Engine {
        Engine(shared.clone())
    }

    pub(crate) fn session_over(
        &self,
        session: wasibox_store::StoreSession,
        begun: Option<Digest>,
        policy: Policy,
        temporary: Option<TemporarySession>,
        workspace: Option<WorkspaceHandle>,
    ) -> Session {
        session.limit_growth(policy.growth.history, policy.growth.audit);
        session.limit_commits(policy.growth.kept_commits, policy.growth.most_commits);
        let kept = StateLocation::from_store(session, self.digest(), begun, temporary);
        let session =
            Session::from_parts(SandboxOrigin::Engine(self.0.clone()), policy, kept, workspace);
        let tools = lock_mutex(&self.0.tools).clone();
        session.0.tools.replace_tools(tools);
        session
    }
}

/// The named sessions of a store, on an engine.
#[derive(Clone)]
pub struct Sessions {
    engine: Engine,
    store: Store,
}

impl Sessions {
    /// Returns the engine on which the sessions run.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// assert_eq!(sessions.engine().digest(), engine.digest());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the store itself: history, tags, values, log and snapshots of sessions that are not
    /// running.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// for info in sessions.store().sessions()? {
    ///     println!("{} is at commit {}", info.name, info.head);
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Creates an empty session and holds it.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// let session = sessions.create("a", wasibox::Policy::default())?;
    /// session.exec("echo hi > note")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is a session of that name, or the name is invalid.
    pub fn create(&self, name: &str, policy: Policy) -> Result<Session, Error> {
        let mut workspace = self.engine.open_workspace(&policy)?;
        let (session, begun) = self.engine.make_session(&self.store, name, workspace.as_mut())?;
        self.begin_session(session, begun, policy, workspace)
    }

    /// Starts a session of the store. A zip that is not yet marked as its workspace is saved.
    fn begin_session(
        &self,
        session: wasibox_store::StoreSession,
        begun: Option<Digest>,
        policy: Policy,
        workspace: Option<WorkspaceHandle>,
    ) -> Result<Session, Error> {
        let is_saved = workspace.as_ref().is_none_or(WorkspaceHandle::is_saved);
        let session = self.engine.session_over(session, begun, policy, None, workspace);
        if !is_saved {
            session.save_workspace()?;
        }
        Ok(session)
    }

    /// Opens a session and holds it until it is dropped.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// let session = sessions.session("a", wasibox::Policy::default())?;
    /// assert_eq!(session.exec("cat note")?.stdout, b"hi\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no session of that name, or another process has it.
    pub fn session(&self, name: &str, policy: Policy) -> Result<Session, Error> {
        let session = self.store.session(name)?;
        let begun = self.store.session_info(name)?.image;
        let mut workspace = self.engine.open_workspace(&policy)?;
        if let Some(workspace) = &mut workspace {
            workspace.take_session(&session)?;
        }
        self.begin_session(session, begun, policy, workspace)
    }

    /// Returns the sessions, sorted by name.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// let names: Vec<String> = sessions.list()?.into_iter().map(|info| info.name).collect();
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn list(&self) -> Result<Vec<Info>, Error> {
        Ok(self.store.sessions()?)
    }

    /// Removes a session that is not in use.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// sessions.remove("a")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no session of that name, or it is in use.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        Ok(self.store.remove(name)?)
    }

    /// Imports a session from a snapshot.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let sessions = engine.store("work.wbx".as_ref())?;
    /// let file = std::fs::File::open("a.wbs").expect("a snapshot");
    /// let session = sessions.import("copy of a", file, wasibox::Policy::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is not a snapshot, or there is a session of that name.
    pub fn import(
        &self,
        name: &str,
        from: impl std::io::Read,
        policy: Policy,
    ) -> Result<Session, Error> {
        let limits = SnapshotLimits::default();
        let check = |file: &File| self.engine.check_snapshot(file, &limits);
        self.store.import_checked(name, from, &limits, check)?;
        self.session(name, policy)
    }
}
