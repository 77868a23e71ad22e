//! What a guest may have.

use crate::host_tools::HostToolPolicy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use wasibox_vfs::MountSpec;

pub use wasibox_kernel::Limits;

/// Everything that is granted to a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Host paths the guest can see; none by default.
    pub mounts: Vec<MountSpec>,
    /// The folder that it works in, if that is a zip or is not to be changed. A sandbox by itself has no use for
    /// this: who makes one opens it and gives its files ([`crate::Prepared::open_over`]).
    pub workspace: Option<Workspace>,
    /// Requests to the world outside; none by default. A sandbox by itself makes none: who has one serves them
    /// ([`wasibox_vfs::Service`]).
    pub network: NetworkPolicy,
    /// The embedder's functions; those that are registered by default.
    pub host_tools: HostToolPolicy,
    /// How much of each resource it may use.
    pub limits: Limits,
    /// Programs begin at their beginning, never from a snapshot: slower, but with nothing in their
    /// memory that another process has, too. `docs/python-start.md` tells what that is in Python.
    pub fresh_programs: bool,
    /// The image's JavaScript makes no code of strings: neither by `eval` and constructors of functions nor by `vm` and modules of
    /// `data:` URLs. Guests cannot change it ([`wasibox_vfs::Vfs::forbid_code_from_strings`]).
    pub no_javascript_eval: bool,
    /// Absolute paths of the image that are not there.
    pub hidden: Vec<String>,
}

impl Default for Policy {
    /// No mounts, [`Limits::default`], snapshots where there are any.
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
        }
    }
}

/// What may be asked of hosts outside, in the words of the command line (`docs/network.md`). Texts, since only the
/// bridge knows what they mean; whoever runs guests never gets them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPolicy {
    /// Rules, such as `GET,POST https://*.example.com/api/`. Without one nothing is allowed.
    pub allow: Vec<String>,
    /// The same, before those.
    pub deny: Vec<String>,
    /// Headers that guests do not see: `HOST: NAME=VALUE`, with `${env:KEY}` and `${file:PATH}`.
    pub secrets: Vec<String>,
}

/// A folder of the session that begins as something of the host's, which the guest does not write to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    pub kind: WorkspaceKind,
    /// The zip or the folder on the host.
    #[serde(with = "wasibox_vfs::host_path")]
    pub path: PathBuf,
    /// Absolute path in the guest.
    pub guest: String,
}

/// What a [`Workspace`] is on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkspaceKind {
    /// A zip, which is replaced after each call that has changed files. It is made if it is not there.
    Zip,
    /// A folder, which stays as it is until changes are brought back.
    Overlay,
}

impl Workspace {
    /// Where a workspace is in the guest unless it is said.
    pub const GUEST: &str = "/work";

    /// A folder if the path is one now, else a zip; at [`Workspace::GUEST`].
    pub fn of(path: impl Into<PathBuf>) -> Workspace {
        let path = path.into();
        let kind = if path.is_dir() { WorkspaceKind::Overlay } else { WorkspaceKind::Zip };
        Workspace { kind, path, guest: Workspace::GUEST.into() }
    }
}
