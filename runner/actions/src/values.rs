//! `kv_get` and `kv_set`: reads and writes the session's key-value table.

use crate::client::ClientCall;
use crate::refusal::{Refusal, RefusalKind};
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The prefix of keys that belong to the host.
const OWN: &[u8] = b"wasibox.";
/// Bytes of a value that is read.
const MOST: usize = 16 << 20;

/// The arguments of `kv_get`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KvGet {
    /// Without a key all keys are listed.
    #[serde(default)]
    key: Option<String>,
}

/// A value, or the keys.
#[derive(Serialize, JsonSchema)]
pub struct GetValueAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<String>>,
}

impl ToolAction for KvGet {
    type Answer = GetValueAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<GetValueAnswer>, Refusal> {
        let session = call.session()?;
        let Some(key) = self.key else {
            let text = |key: Vec<u8>| String::from_utf8_lossy(&key).into_owned();
            let keys = session.keys()?.into_iter().filter(|key| !key.starts_with(OWN));
            let keys: Vec<String> = keys.map(text).collect();
            let shown = keys.join("\n");
            return Ok(ToolResult::new(GetValueAnswer { value: None, keys: Some(keys) }, shown));
        };
        let missing =
            || Refusal::new(RefusalKind::Missing, format!("there is no value of '{key}'"));
        if key.as_bytes().starts_with(OWN) {
            return Err(missing());
        }
        let value = session.value(key.as_bytes())?.ok_or_else(missing)?;
        if value.len() > MOST {
            return Err(Refusal::new(
                RefusalKind::Limit,
                format!("the value has {} bytes", value.len()),
            ));
        }
        let value = String::from_utf8_lossy(&value).into_owned();
        Ok(ToolResult::new(GetValueAnswer { value: Some(value.clone()), keys: None }, value))
    }
}

/// A key and its new value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KvSet {
    key: String,
    /// Without a value the key is removed.
    #[serde(default)]
    value: Option<String>,
}

/// The result of setting a value.
#[derive(Serialize, JsonSchema)]
pub struct SetValueAnswer {
    key: String,
    /// The key has a value now.
    is_set: bool,
}

impl ToolAction for KvSet {
    type Answer = SetValueAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<SetValueAnswer>, Refusal> {
        let key = self.key;
        if key.is_empty() || key.as_bytes().starts_with(OWN) {
            return Err(Refusal::invalid_request(
                "a key has at least one byte and does not begin with wasibox.",
            ));
        }
        let session = call.session()?;
        let is_set = self.value.is_some();
        let text = match self.value {
            Some(value) => {
                session.set_value(key.as_bytes(), value.as_bytes())?;
                format!("{key} is set, {} bytes", value.len())
            }
            None => {
                if session.remove_value(key.as_bytes())? {
                    format!("{key} is removed")
                } else {
                    format!("there was no value of {key}")
                }
            }
        };
        Ok(ToolResult::new(SetValueAnswer { key, is_set }, text))
    }
}
