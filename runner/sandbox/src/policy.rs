//! The grants and limits of a guest.

use crate::host_tools::HostToolPolicy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use wasibox_vfs::MountSpec;

pub use wasibox_kernel::Limits;

/// Everything that is granted to a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Host paths that the guest can see; none by default.
    pub mounts: Vec<MountSpec>,
    /// The folder that the guest works in, if it is a zip or a folder of the host that must not be
    /// changed. The sandbox itself does not use this; its owner opens the workspace and passes its
    /// files ([`crate::PreparedImage::open_over`]).
    pub workspace: Option<Workspace>,
    /// The permitted requests to hosts outside; none by default. The sandbox itself makes no
    /// requests; its owner serves them ([`wasibox_vfs::Service`]).
    pub network: NetworkPolicy,
    /// The embedder's functions; all registered ones by default.
    pub host_tools: HostToolPolicy,
    /// The limits on the resources that it may use.
    pub limits: Limits,
    /// Whether programs never start from prepared memory. They then start more slowly, but their
    /// memory has nothing in common with other processes. `docs/python-start.md` lists the shared
    /// state in Python.
    pub fresh_programs: bool,
    /// Whether the image's JavaScript refuses to make code of strings, by `eval`, constructors of
    /// functions, `vm` or modules of `data:` URLs. Guests cannot change it
    /// ([`wasibox_vfs::Vfs::forbid_code_from_strings`]).
    pub no_javascript_eval: bool,
    /// The budget with which shells start (`docs/budgets.md`), as for the shell's `--budget`; `None`
    /// is the shell's default. A script may choose another one.
    #[serde(default)]
    pub shell_budget: Option<String>,
    /// Absolute paths of the image that guests do not see.
    pub hidden: Vec<String>,
    /// The limits of the session's history and log in its store. Only the store's owner uses them.
    #[serde(skip)]
    pub growth: GrowthLimits,
}

/// Upper bounds of a session's history and log in its store. The oldest parts beyond them are
/// removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowthLimits {
    /// The bytes that its commits have added to the store.
    pub history: u64,
    /// The bytes of its log.
    pub audit: u64,
    /// The number of newest commits that stay when there are more than `most_commits`, which is
    /// `usize::MAX` for no limit.
    pub kept_commits: usize,
    pub most_commits: usize,
}

impl Default for GrowthLimits {
    fn default() -> GrowthLimits {
        GrowthLimits { history: 2 << 30, audit: 64 << 20, kept_commits: 50, most_commits: 200 }
    }
}

impl Default for Policy {
    /// Grants no mounts, [`Limits::default`], and prepared memory if there is any.
    fn default() -> Policy {
        Policy {
            mounts: Vec::new(),
            workspace: None,
            network: NetworkPolicy::default(),
            host_tools: HostToolPolicy::default(),
            limits: Limits::default(),
            fresh_programs: false,
            no_javascript_eval: false,
            shell_budget: None,
            hidden: Vec::new(),
            growth: GrowthLimits::default(),
        }
    }
}

/// Permitted requests to hosts outside, in the syntax of the command line (`docs/network.md`). The
/// rules are strings, because only the bridge interprets them; the process that runs guests never
/// gets them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPolicy {
    /// Rules, such as `GET,POST https://*.example.com/api/` or `git-push https://example.com/r.git
    /// refs/heads/agent/*`. Without a rule nothing is allowed.
    pub allow: Vec<String>,
    /// Rules that deny; these take precedence.
    pub deny: Vec<String>,
    /// Headers that guests do not see: `HOST: NAME=VALUE`, with `${env:KEY}` and `${file:PATH}`.
    pub secrets: Vec<String>,
    /// The proxy through which requests go: `http://HOST:PORT`, or `environment` for the proxies
    /// that the host's environment names.
    #[serde(default)]
    pub proxy: Option<String>,
    #[serde(default)]
    pub limits: NetworkLimits,
}

/// Limits of the requests to hosts outside that replace the bridge's own (`docs/network.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkLimits {
    /// The number of requests of a session.
    pub requests: Option<u64>,
    /// The number of requests of one call.
    pub requests_per_call: Option<u64>,
    /// The number of requests that run at the same time.
    pub concurrent: Option<u32>,
    /// The bytes of a request's body, and of a response's.
    pub upload: Option<u64>,
    pub download: Option<u64>,
    /// The bytes of all bodies of a session.
    pub session_upload: Option<u64>,
    pub session_download: Option<u64>,
    /// The time of a request with its redirects.
    pub timeout: Option<Duration>,
}

impl NetworkLimits {
    /// Returns the limits, with those of `other` where these have none.
    #[must_use]
    pub fn merge_over(&self, other: &NetworkLimits) -> NetworkLimits {
        NetworkLimits {
            requests: self.requests.or(other.requests),
            requests_per_call: self.requests_per_call.or(other.requests_per_call),
            concurrent: self.concurrent.or(other.concurrent),
            upload: self.upload.or(other.upload),
            download: self.download.or(other.download),
            session_upload: self.session_upload.or(other.session_upload),
            session_download: self.session_download.or(other.session_download),
            timeout: self.timeout.or(other.timeout),
        }
    }
}

/// A folder of the session that starts with files of the host; the guest does not write to those.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    pub kind: WorkspaceKind,
    /// The zip or the folder on the host.
    #[serde(with = "wasibox_vfs::host_path")]
    pub path: PathBuf,
    /// Absolute path in the guest.
    pub guest: String,
}

/// The kind of a [`Workspace`] on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkspaceKind {
    /// A zip, which is replaced after each call that has changed files. It is created if it does
    /// not exist.
    Zip,
    /// A folder, which stays as it is until changes are applied.
    Overlay,
}

impl Workspace {
    /// The default path of a workspace in the guest.
    pub const GUEST: &str = "/work";

    /// Returns an overlay if the path is a folder now, otherwise a zip; at [`Workspace::GUEST`].
    pub fn of(path: impl Into<PathBuf>) -> Workspace {
        let path = path.into();
        let kind = if path.is_dir() { WorkspaceKind::Overlay } else { WorkspaceKind::Zip };
        Workspace { kind, path, guest: Workspace::GUEST.into() }
    }
}
