//! `kv_get` and `kv_set`: reads and writes the session's key-value table.

use crate::exec::ClientCall;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wasibox::{Answer, Request, Streams, ValueRequest};
use wasibox::{Refusal, RefusalKind};

/// The maximum number of bytes of a value that is read.
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
        let ask = |request| session.apply(Request::Values(request), Streams::default());
        let Some(key) = self.key else {
            let Answer::Keys(keys) = ask(ValueRequest::List)? else {
                return Err(Refusal::mismatch());
            };
            let keys = keys.iter().map(|key| String::from_utf8_lossy(key).into_owned());
            let keys: Vec<String> = keys.collect();
            let shown = keys.join("\n");
            return Ok(ToolResult::new(GetValueAnswer { value: None, keys: Some(keys) }, shown));
        };
        let Answer::Value(value) = ask(ValueRequest::Get(key.clone().into()))? else {
            return Err(Refusal::mismatch());
        };
        let value = value.ok_or_else(|| {
            Refusal::new(RefusalKind::Missing, format!("there is no value of '{key}'"))
        })?;
        let value = value.0;
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
        let (key, session) = (self.key, call.session()?);
        let ask = |request| session.apply(Request::Values(request), Streams::default());
        let is_set = self.value.is_some();
        let text = match self.value {
            Some(value) => {
                let bytes = value.len();
                ask(ValueRequest::Set { key: key.clone().into(), value: value.into() })?;
                format!("{key} is set, {bytes} bytes")
            }
            None => match ask(ValueRequest::Remove(key.clone().into()))? {
                Answer::Removed(true) => format!("{key} is removed"),
                _ => format!("there was no value of {key}"),
            },
        };
        Ok(ToolResult::new(SetValueAnswer { key, is_set }, text))
    }
}
