//! The result of a call for the page, as JSON.

use serde::Serialize;
use wasibox_protocol::{Outcome, Refusal};

/// The way a call ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallEnd {
    Outcome(Box<Outcome>),
    Failed(Refusal),
}

/// Returns a value as JSON. None of these values can fail to serialise.
pub fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
