//! Wasibox's annotation in the image's manifest.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The annotation's key among the package's annotations.
pub const KEY: &str = "wasibox";

/// The facts for which the package format has no field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestExtra {
    /// Version of this annotation.
    pub schema: u32,
    /// Modification time of every file, in seconds since the epoch.
    #[serde(default)]
    pub time: u64,
    /// Files whose mode is not 0644, by absolute path.
    #[serde(default)]
    pub modes: BTreeMap<String, u16>,
    /// SHA-256 over the root file system, in hexadecimal; see [`crate::TreeDigest`].
    #[serde(default)]
    pub tree: String,
    /// Components with their versions, such as `cpython` and `3.13.15`.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
    /// The components and their licences.
    #[serde(default)]
    pub licenses: Vec<License>,
    /// Further annotations of the packer.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
}

/// The licence of a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct License {
    pub component: String,
    /// SPDX expression.
    pub license: String,
}
