//! A builder that opens a session in one expression.

use crate::engine::{Engine, EngineOptions, Isolation};
use crate::error::Error;
use crate::session::Session;
use crate::tools::HostTool;
use std::path::PathBuf;
use wasibox_sandbox::{Limits, MountSpec, Policy, Workspace};

/// The entry point for a session that has an engine of its own. Sessions that share an engine are
/// opened with [`Engine::session`].
///
/// ```no_run
/// use wasibox::{Sandbox, Workspace};
///
/// let session = Sandbox::builder("image.webc")
///     .mount("data", "/data")
///     .workspace(Workspace::of("project.zip"))
///     .store("work.wbx", "a")
///     .build()?;
/// assert_eq!(session.exec("pwd")?.stdout, b"/work\n");
/// # Ok::<(), wasibox::Error>(())
/// ```
pub struct Sandbox(());

impl Sandbox {
    /// Returns a builder for a session of an image. By default it is granted nothing, and has
    /// [`Limits::default`], a process of its own and its history in memory.
    ///
    /// ```no_run
    /// use wasibox::Sandbox;
    ///
    /// let session = Sandbox::builder("image.webc").build()?;
    /// assert_eq!(session.exec("echo hi")?.stdout, b"hi\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn builder(image: impl Into<PathBuf>) -> Builder {
        let options = EngineOptions::new(image);
        Builder { options, policy: Policy::default(), store: None, tools: Vec::new() }
    }
}

/// The settings of a session; see [`Sandbox::builder`].
#[derive(Clone)]
pub struct Builder {
    options: EngineOptions,
    policy: Policy,
    store: Option<(PathBuf, String)>,
    tools: Vec<HostTool>,
}

impl Builder {
    /// Sets the whole policy, which replaces earlier mounts, limits and workspaces.
    ///
    /// ```no_run
    /// use wasibox::{Limits, Policy, Sandbox};
    ///
    /// let limits = Limits { memory: 256 << 20, ..Limits::default() };
    /// let policy = Policy { limits, fresh_programs: true, ..Policy::default() };
    /// let session = Sandbox::builder("image.webc").policy(policy).build()?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn policy(mut self, policy: Policy) -> Builder {
        self.policy = policy;
        self
    }

    /// Sets the limits.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use wasibox::{Limits, Sandbox};
    ///
    /// let limits = Limits { timeout: Some(Duration::from_secs(10)), ..Limits::default() };
    /// let session = Sandbox::builder("image.webc").limits(limits).build()?;
    /// assert_eq!(session.exec("sleep 60")?.exit_code, 124);
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Builder {
        self.policy.limits = limits;
        self
    }

    /// Mounts a host file or folder read-only.
    ///
    /// ```no_run
    /// use wasibox::Sandbox;
    ///
    /// let session = Sandbox::builder("image.webc").mount("data", "/data").build()?;
    /// session.exec("wc -l /data/*.csv")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn mount(self, host: impl Into<PathBuf>, guest: impl Into<String>) -> Builder {
        let (host, guest) = (host.into(), guest.into());
        self.mounted(MountSpec { host, guest, writable: false, quota: None })
    }

    /// Mounts a host file or folder to which the guest may write, and add at most `quota` bytes.
    ///
    /// ```no_run
    /// use wasibox::Sandbox;
    ///
    /// let session = Sandbox::builder("image.webc")
    ///     .mount_writable("results", "/results", Some(10 << 20))
    ///     .build()?;
    /// session.exec("date > /results/started")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn mount_writable(
        self,
        host: impl Into<PathBuf>,
        guest: impl Into<String>,
        quota: Option<u64>,
    ) -> Builder {
        let (host, guest) = (host.into(), guest.into());
        self.mounted(MountSpec { host, guest, writable: true, quota })
    }

    fn mounted(mut self, mount: MountSpec) -> Builder {
        self.policy.mounts.push(mount);
        self
    }

    /// Sets the folder in which the session works.
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("project")).build()?;
    /// assert_eq!(session.exec("pwd")?.stdout, b"/work\n");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn workspace(mut self, workspace: Workspace) -> Builder {
        self.policy.workspace = Some(workspace);
        self
    }

    /// Adds a function that guests may call.
    ///
    /// ```no_run
    /// use serde_json::json;
    /// use wasibox::{HostTool, Sandbox};
    ///
    /// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    /// let weather = HostTool::new_blocking("weather", "The weather of a city", schema, |_, _| {
    ///     Ok(json!("sunny"))
    /// })
    /// .expect("the schema is valid");
    /// let session = Sandbox::builder("image.webc").tool(weather).build()?;
    /// session.exec("tool weather --city Bern")?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn tool(mut self, tool: HostTool) -> Builder {
        self.tools.push(tool);
        self
    }

    /// Keeps the session in a store: opens the session of that name if it exists, and creates it
    /// otherwise.
    ///
    /// ```no_run
    /// use wasibox::Sandbox;
    ///
    /// let session = Sandbox::builder("image.webc").store("work.wbx", "a").build()?;
    /// session.exec("echo hi > note")?; // Still there in the next run of this program.
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn store(mut self, path: impl Into<PathBuf>, name: impl Into<String>) -> Builder {
        self.store = Some((path.into(), name.into()));
        self
    }

    /// Sets the isolation between the session and this process.
    ///
    /// ```no_run
    /// use wasibox::{Isolation, Sandbox};
    ///
    /// let session = Sandbox::builder("image.webc").isolation(Isolation::Threads).build()?;
    /// assert!(session.walls().is_none());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn isolation(mut self, isolation: Isolation) -> Builder {
        self.options.isolation = isolation;
        self
    }

    /// Changes other options of the engine.
    ///
    /// ```no_run
    /// use wasibox::Sandbox;
    ///
    /// let session = Sandbox::builder("image.webc").options(|o| o.idle = None).build()?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn options(mut self, change: impl FnOnce(&mut EngineOptions)) -> Builder {
        change(&mut self.options);
        self
    }

    /// Opens the session. [`Session::engine`] returns its engine.
    ///
    /// ```no_run
    /// use wasibox::Sandbox;
    ///
    /// let first = Sandbox::builder("image.webc").build()?;
    /// let engine = first.engine().expect("the builder has made one");
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Engine::open`] and [`Sessions::session`](crate::Sessions::session).
    pub fn build(self) -> Result<Session, Error> {
        let engine = Engine::new(self.options)?;
        engine.set_tools(self.tools)?;
        let Some((path, name)) = self.store else { return engine.session(self.policy) };
        let sessions = engine.store(&path)?;
        if sessions.list()?.iter().any(|info| info.name == name) {
            sessions.session(&name, self.policy)
        } else {
            sessions.create(&name, self.policy)
        }
    }
}
