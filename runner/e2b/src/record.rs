//! The record of a sandbox, which is kept with its session.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wasibox::Session;

use crate::fault::Fault;
use crate::time::now_ms;

/// The key-value that has the record; its prefix keeps it from guests.
pub const KEY: &[u8] = b"wasibox.e2b";
/// The seconds that a sandbox runs if its request names none, and at most.
pub const TIMEOUT: u64 = 300;
pub const LONGEST: u64 = 24 * 3600;

/// The treatment of a sandbox when its time is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnTimeout {
    #[default]
    Kill,
    Pause,
}

/// The kind of a stored session of this door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    #[default]
    Sandbox,
    /// A state from which sandboxes are created.
    Snapshot,
}

/// A sandbox, as it is stored with its session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SandboxRecord {
    #[serde(default)]
    pub kind: RecordKind,
    pub template: String,
    /// The token of requests to the sandbox.
    pub token: String,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    #[serde(default)]
    pub envs: BTreeMap<String, String>,
    /// Milliseconds since the epoch.
    pub started: u64,
    pub end: u64,
    #[serde(default)]
    pub on_timeout: OnTimeout,
    /// Whether a request to the sandbox wakes it up.
    #[serde(default)]
    pub auto_resume: bool,
    /// The token of requests to the sandbox's ports, if they are not public.
    #[serde(default)]
    pub traffic_token: Option<String>,
    /// The names of a snapshot, and the sandbox that it was made from.
    #[serde(default)]
    pub names: Vec<String>,
    #[serde(default)]
    pub source: Option<String>,
}

impl SandboxRecord {
    /// Makes the record of a sandbox that begins now.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn begin(template: String, timeout: u64) -> Result<SandboxRecord, Fault> {
        let started = now_ms();
        Ok(SandboxRecord {
            kind: RecordKind::Sandbox,
            template,
            token: random_text(32)?,
            metadata: BTreeMap::new(),
            envs: BTreeMap::new(),
            started,
            end: started + timeout * 1000,
            on_timeout: OnTimeout::Kill,
            auto_resume: false,
            traffic_token: None,
            names: Vec::new(),
            source: None,
        })
    }

    /// Reads the record of a session; `None` if the session is none of this door's.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load(session: &Session) -> Result<Option<SandboxRecord>, Fault> {
        let value = session.value(KEY)?;
        Ok(value.and_then(|value| serde_json::from_slice(&value).ok()))
    }

    /// Writes the record.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn save(&self, session: &Session) -> Result<(), Fault> {
        let value = serde_json::to_vec(self).map_err(|_| Fault::internal())?;
        Ok(session.set_value(KEY, &value)?)
    }
}

/// Returns `n` random lower-case letters and digits.
///
/// # Errors
/// If the system has no random bytes.
pub fn random_text(n: usize) -> Result<String, Fault> {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = vec![0; n];
    getrandom::fill(&mut bytes).map_err(|_| Fault::internal())?;
    Ok(bytes.iter().map(|b| DIGITS[usize::from(b % 32)] as char).collect())
}

/// Returns whether a session's name is one of this door's.
pub fn is_id(name: &str) -> bool {
    let (kind, rest) = name.split_at_checked(1).unwrap_or(("", ""));
    matches!(kind, "i" | "s")
        && rest.len() == 20
        && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}
