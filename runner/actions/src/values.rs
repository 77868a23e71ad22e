//! `kv_get` and `kv_set`: the session's key-values.

use crate::client::Call;
use crate::refusal::{Kind, Refusal};
use crate::tool::{Action, Done};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How keys begin that are the host's own.
const OWN: &[u8] = b"wasibox.";
/// Bytes of a value that is read.
const MOST: usize = 16 << 20;

/// Which value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KvGet {
    /// Without a key all keys are listed.
    #[serde(default)]
    key: Option<String>,
}

/// A value, or the keys.
#[derive(Serialize, JsonSchema)]
pub struct Got {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<String>>,
}

impl Action for KvGet {
    type Answer = Got;

    fn act(self, call: &Call<'_>) -> Result<Done<Got>, Refusal> {
        let session = call.session()?;
        let Some(key) = self.key else {
            let text = |key: Vec<u8>| String::from_utf8_lossy(&key).into_owned();
            let keys = session.keys()?.into_iter().filter(|key| !key.starts_with(OWN));
            let keys: Vec<String> = keys.map(text).collect();
            let shown = keys.join("\n");
            return Ok(Done::new(Got { value: None, keys: Some(keys) }, shown));
        };
        let missing = || Refusal::new(Kind::Missing, format!("there is no value of '{key}'"));
        if key.as_bytes().starts_with(OWN) {
            return Err(missing());
        }
        let value = session.value(key.as_bytes())?.ok_or_else(missing)?;
        if value.len() > MOST {
            return Err(Refusal::new(Kind::Limit, format!("the value has {} bytes", value.len())));
        }
        let value = String::from_utf8_lossy(&value).into_owned();
        Ok(Done::new(Got { value: Some(value.clone()), keys: None }, value))
    }
}

/// What value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KvSet {
    key: String,
    /// Without a value the key is removed.
    #[serde(default)]
    value: Option<String>,
}

/// What was done.
#[derive(Serialize, JsonSchema)]
pub struct Set {
    key: String,
    /// The key has a value now.
    is_set: bool,
}

impl Action for KvSet {
    type Answer = Set;

    fn act(self, call: &Call<'_>) -> Result<Done<Set>, Refusal> {
        let key = self.key;
        if key.is_empty() || key.as_bytes().starts_with(OWN) {
            return Err(Refusal::invalid(
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
            None => match session.remove_value(key.as_bytes())? {
                true => format!("{key} is removed"),
                false => format!("there was no value of {key}"),
            },
        };
        Ok(Done::new(Set { key, is_set }, text))
    }
}
