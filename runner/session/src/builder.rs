//! A session in one expression.

use crate::engine::{Engine, EngineOptions, Isolation};
use crate::session::{Error, Session};
use crate::tools::HostTool;
use std::path::PathBuf;
use wasibox_sandbox::{Limits, MountSpec, Policy, Workspace};

/// Where a session begins that needs an engine for itself alone. What shares one takes [`Engine::session`].
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
    /// A session of an image, which is granted nothing, has [`Limits::default`], a process of its own and its
    /// history in memory, unless more is said.
    pub fn builder(image: impl Into<PathBuf>) -> Builder {
        let options = EngineOptions::new(image);
        Builder { options, policy: Policy::default(), store: None, tools: Vec::new() }
    }
}

/// What a session is to be; see [`Sandbox::builder`].
#[derive(Clone)]
pub struct Builder {
    options: EngineOptions,
    policy: Policy,
    store: Option<(PathBuf, String)>,
    tools: Vec<HostTool>,
}

impl Builder {
    /// All that is granted: replaces what was said of mounts, limits and workspace before.
    pub fn policy(mut self, policy: Policy) -> Builder {
        self.policy = policy;
        self
    }

    /// How much it may use.
    pub fn limits(mut self, limits: Limits) -> Builder {
        self.policy.limits = limits;
        self
    }

    /// Shows a host file or folder, read-only.
    pub fn mount(self, host: impl Into<PathBuf>, guest: impl Into<String>) -> Builder {
        let (host, guest) = (host.into(), guest.into());
        self.mounted(MountSpec { host, guest, writable: false, quota: None })
    }

    /// Shows a host file or folder that the guest may write to, and add so many bytes to.
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

    /// The folder that it works in.
    pub fn workspace(mut self, workspace: Workspace) -> Builder {
        self.policy.workspace = Some(workspace);
        self
    }

    /// A function that guests may call.
    pub fn tool(mut self, tool: HostTool) -> Builder {
        self.tools.push(tool);
        self
    }

    /// Keeps it in a store by a name: the session of that name if there is one, else a new one.
    pub fn store(mut self, path: impl Into<PathBuf>, name: impl Into<String>) -> Builder {
        self.store = Some((path.into(), name.into()));
        self
    }

    /// What stands between it and this process.
    pub fn isolation(mut self, isolation: Isolation) -> Builder {
        self.options.isolation = isolation;
        self
    }

    /// All else of its engine, but for the image.
    pub fn options(mut self, change: impl FnOnce(&mut EngineOptions)) -> Builder {
        change(&mut self.options);
        self
    }

    /// The session. Its engine is [`Session::engine`].
    ///
    /// # Errors
    /// As [`Engine::open`], [`Sessions::session`](crate::Sessions::session).
    pub fn build(self) -> Result<Session, Error> {
        let engine = Engine::new(self.options)?;
        engine.set_tools(self.tools)?;
        let Some((path, name)) = self.store else { return engine.session(self.policy) };
        let sessions = engine.store(&path)?;
        match sessions.list()?.iter().any(|info| info.name == name) {
            true => sessions.session(&name, self.policy),
            false => sessions.create(&name, self.policy),
        }
    }
}
