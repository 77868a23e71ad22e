//! The grants and limits of a guest.

use crate::host_tools::HostToolPolicy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
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
    /// Absolute paths of the image that guests do not see.
    pub hidden: Vec<String>,
    /// The limits of the session's history and log in its store. Only the store's owner uses them.
    #[serde(skip)]
    pub growth: GrowthLimits,
}

/// Upper bounds of a session's history and log in its store, in bytes. The oldest parts beyond them
/// are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowthLimits {
    /// The bytes that its commits have added to the store.
    pub history: u64,
    /// The bytes of its log.
    pub audit: u64,
}

impl Default for GrowthLimits {
    fn default() -> GrowthLimits {
        GrowthLimits { history: 2 << 30, audit: 64 << 20 }
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
