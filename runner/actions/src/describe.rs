//! A description of the machine for models: what its image contains, and what its policy grants.
//!
//! [`MachineDescription::new`] reads the image and the policy; [`MachineDescription::prompt`] says
//! the same as a text for a system prompt. Names and versions are those of the image, so that an
//! image without Python says nothing of Python.
//!
//! # Deliberately absent
//! Paths of the host, secrets and proxies, because a model that knows them may tell of them.

mod contents;
mod prompt;

use contents::ImageContents;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use wasibox::{HOME, Image, ImageError, Policy, WorkspaceKind};

/// The folder whose files are results for the user.
const RESULTS: &str = "/output";

/// What a model may know about the machine that it works on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineDescription {
    /// The image's name and version.
    pub image: String,
    pub version: String,
    /// The directory in which a session begins.
    pub home: String,
    /// The folder whose files are results for the user.
    pub results: String,
    /// Folders that belong to the user.
    pub folders: Vec<GrantedFolder>,
    /// All commands, by name.
    pub commands: Vec<String>,
    pub python: Option<PythonDescription>,
    pub javascript: Option<JavascriptDescription>,
    pub network: NetworkDescription,
    /// Names of the host's functions that programs in the machine can call.
    pub host_tools: Vec<String>,
    pub limits: LimitDescription,
    pub history: HistoryDescription,
}

/// A folder of the user that the guest sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrantedFolder {
    pub path: String,
    pub kind: FolderKind,
    pub writable: bool,
    /// Bytes that may be added.
    pub quota: Option<u64>,
}

/// The effect of changes in a folder of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FolderKind {
    /// The user has the changes at once.
    Mount,
    /// The user's folder stays as it is until changes are brought back.
    Overlay,
    /// The user's zip is saved after each call.
    Zip,
}

/// The Python of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PythonDescription {
    pub version: Option<String>,
    pub packages: Vec<PackageDescription>,
}

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PackageDescription {
    pub name: String,
    pub version: String,
}

/// The JavaScript of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JavascriptDescription {
    /// The version of Node's library.
    pub node: Option<String>,
    /// Whether `eval` and its like are refused.
    pub forbids_eval: bool,
}

/// The rules of requests to hosts outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkDescription {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    /// The number of requests of a session, if the policy limits it.
    pub requests: Option<u64>,
}

/// The limits of calls and of files. `None` is no limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitDescription {
    /// Seconds of a call that asks for none, if that is less than `timeout`.
    pub default_timeout: Option<f64>,
    pub timeout: Option<f64>,
    pub cpu: Option<f64>,
    pub memory: u64,
    pub disk: u64,
    pub inodes: u64,
    pub file_size: Option<u64>,
    pub output: Option<u64>,
    pub processes: usize,
}

/// The steps that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryDescription {
    /// The newest steps that are kept when there are more than `most`.
    pub keep: usize,
    pub most: Option<usize>,
}

impl MachineDescription {
    /// Describes an image and the grants of a policy.
    ///
    /// # Errors
    /// Returns an error if the image is damaged.
    pub fn new(image: &Arc<Image>, policy: &Policy) -> Result<MachineDescription, ImageError> {
        let ImageContents { commands, packages } = ImageContents::read(image)?;
        let versions = &image.extra().versions;
        let has = |name: &str| commands.binary_search_by(|c| c.as_str().cmp(name)).is_ok();
        let (name, version) = image.name_version();
        let python = has("python3")
            .then(|| PythonDescription { version: versions.get("cpython").cloned(), packages });
        let javascript = has("node").then(|| JavascriptDescription {
            node: versions.get("node").cloned(),
            forbids_eval: policy.no_javascript_eval,
        });
        let finite = |n: u64| (n != u64::MAX).then_some(n);
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let (limits, growth) = (&policy.limits, &policy.growth);
        Ok(MachineDescription {
            image: name,
            version,
            home: HOME.to_owned(),
            results: RESULTS.to_owned(),
            folders: granted_folders(policy),
            python,
            javascript,
            commands,
            network: NetworkDescription {
                allow: policy.network.allow.clone(),
                deny: policy.network.deny.clone(),
                requests: policy.network.limits.requests.and_then(finite),
            },
            host_tools: Vec::new(),
            limits: LimitDescription {
                default_timeout: None,
                timeout: seconds(limits.timeout),
                cpu: seconds(limits.cpu),
                memory: limits.memory,
                disk: limits.disk.bytes,
                inodes: limits.disk.entries,
                file_size: finite(limits.disk.file),
                output: limits.output,
                processes: limits.processes,
            },
            history: HistoryDescription {
                keep: growth.kept_commits,
                most: (growth.most_commits != usize::MAX).then_some(growth.most_commits),
            },
        })
    }

    /// Adds the time limit of calls that ask for none.
    #[must_use]
    pub fn with_default_timeout(mut self, default: Duration) -> MachineDescription {
        let seconds = default.as_secs_f64();
        let is_less = self.limits.timeout.is_none_or(|most| seconds < most);
        self.limits.default_timeout = is_less.then_some(seconds);
        self
    }

    /// Adds the functions of the host that programs in the machine can call, by name.
    #[must_use]
    pub fn with_host_tools(mut self, names: Vec<String>) -> MachineDescription {
        self.host_tools = names;
        self
    }

    /// Returns the description as a text for a system prompt.
    pub fn prompt(&self) -> String {
        prompt::write_prompt(self)
    }

    /// Returns the same in a few lines: without most commands and without versions of packages.
    pub fn summary(&self) -> String {
        prompt::write_summary(self)
    }
}

fn granted_folders(policy: &Policy) -> Vec<GrantedFolder> {
    let mount = |m: &wasibox::MountSpec| GrantedFolder {
        path: m.guest.clone(),
        kind: FolderKind::Mount,
        writable: m.writable,
        quota: m.quota,
    };
    let workspace = policy.workspace.iter().map(|w| GrantedFolder {
        path: w.guest.clone(),
        kind: match w.kind {
            WorkspaceKind::Zip => FolderKind::Zip,
            WorkspaceKind::Overlay => FolderKind::Overlay,
        },
        writable: true,
        quota: None,
    });
    let mut folders: Vec<GrantedFolder> =
        policy.mounts.iter().map(mount).chain(workspace).collect();
    folders.sort_by(|a, b| a.path.cmp(&b.path));
    folders
}

#[cfg(test)]
mod tests;
