//! Host tools: functions of the embedder that guests call by name, with JSON in and JSON out.
//!
//! Guests reach them through the command `tool` and through the module `tools` of Python and
//! JavaScript; `docs/host-tools.md` describes both. A result goes only to the program that
//! requested it.
//!
//! ```no_run
//! use serde_json::{Value, json};
//! use wasibox::{Engine, HostTool, Policy, ToolError};
//!
//! let schema = json!({
//!     "properties": {"city": {"type": "string"}},
//!     "required": ["city"],
//!     "additionalProperties": false,
//! });
//! let weather = HostTool::new("weather", "The weather of a city.", schema, |arguments, _| async move {
//!     match arguments["city"].as_str() {
//!         Some("Bern") => Ok(json!({"degrees": 21})),
//!         _ => Err(ToolError::new("no station there")),
//!     }
//! })?;
//! let session = Engine::open("image.webc".as_ref())?.session(Policy::default())?;
//! session.set_tools([weather])?;
//! assert_eq!(session.exec("tool weather --city Bern")?.stdout, b"{\"degrees\":21}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Stages
//! A guest's request arrives at the node `/.box/tools` and is passed, in the embedder's process, to
//! [`calls`], which checks the policy and assigns a thread to the call. There the arguments are
//! parsed and validated against the schema ([`schema`]), the tool's future is polled ([`drive`]),
//! and its result is checked in turn.
//!
//! # Invariants
//! - Arguments are bounded in bytes, depth and number of values before they are parsed
//!   ([`bounds`]).
//! - The cost of a schema's `pattern` is linear in the length of the text, because guests choose
//!   the text.
//! - A call ends when its caller stops waiting, when the session's call ends, or when its time is
//!   up. A future is dropped then; a blocking function is asked to stop
//!   ([`ToolContext::is_cancelled`]) and counts as running until it does.
//! - Every call, including a refused one, is in the session's log.
//!
//! # Deliberately absent
//! Schemas that refer to others by URL; results that arrive in parts.

mod bounds;
mod calls;
mod drive;
mod schema;

pub(crate) use calls::{ToolCalls, by_name};

use box_abi::tools::{MAX_DESCRIPTION, MAX_NAME};
use drive::{CallSlot, Ticket};
use schema::Schema;
use serde_json::{Value, json};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wasibox_protocol::ToolSummary;

/// Maximum number of host tools of a session.
pub const MAX_TOOLS: usize = 1000;

/// The reason why a function cannot be a host tool.
#[derive(Debug, thiserror::Error)]
pub enum ToolDefinitionError {
    #[error(
        "'{0}' cannot be a tool's name: 1 to 128 letters, digits and _ . - / :, the first one a letter, a digit or _"
    )]
    Name(String),
    #[error("{name}: {why}")]
    Schema { name: String, why: String },
    #[error("{0}: its description and schemas have more than 64 KiB")]
    TooLong(String),
    #[error("there are two tools '{0}'")]
    Twice(String),
    #[error("there are more than {MAX_TOOLS} tools")]
    TooMany,
}

/// The failure of a tool: a text for the program that called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(String);

impl ToolError {
    /// Makes an error from the text that the guest is shown.
    pub fn new(why: impl Into<String>) -> ToolError {
        ToolError(why.into())
    }

    /// Returns the text.
    pub fn message(&self) -> &str {
        &self.0
    }
}

/// Converts any displayable value, so that `?` works in tools.
impl<E: fmt::Display> From<E> for ToolError {
    fn from(e: E) -> ToolError {
        ToolError(e.to_string())
    }
}

/// A call, as its tool sees it. Clones refer to the same call.
#[derive(Clone)]
pub struct ToolContext {
    ticket: Arc<Ticket>,
    /// The call counts as running as long as this exists.
    _slot: Arc<CallSlot>,
}

impl ToolContext {
    /// Returns whether the caller has stopped waiting for the result. A future need not check this,
    /// because it is dropped then.
    pub fn is_cancelled(&self) -> bool {
        self.ticket.is_cancelled()
    }
}

type Acting = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>>;
type Act = Arc<dyn Fn(Value, ToolContext) -> Acting + Send + Sync>;

/// A function that guests may call. Clones refer to the same tool.
#[derive(Clone)]
pub struct HostTool(Arc<ToolDefinition>);

#[derive(Clone)]
struct ToolDefinition {
    name: String,
    description: String,
    input: Arc<Schema>,
    output: Option<Arc<Schema>>,
    timeout: Option<Duration>,
    act: Act,
    /// The encoded definition without the function, as guests see it.
    json: Vec<u8>,
}

impl From<&HostTool> for ToolSummary {
    fn from(tool: &HostTool) -> ToolSummary {
        ToolSummary { name: tool.name().into(), description: tool.description().into() }
    }
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostTool({})", self.0.name)
    }
}

impl HostTool {
    /// Makes a tool from an async function. `schema` is a JSON Schema (2020-12) of the arguments,
    /// which are an object; the function receives only arguments that match it. The future is
    /// polled on a thread of its own and dropped when the caller stops waiting. A future that needs
    /// a runtime's clock or sockets is made with [`crate::tokio::host_tool`].
    ///
    /// # Errors
    /// If the name or the schema is invalid.
    pub fn new<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        act: F,
    ) -> Result<HostTool, ToolDefinitionError>
    where
        F: Fn(Value, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        let act = Arc::new(move |arguments, context| Box::pin(act(arguments, context)) as Acting);
        ToolDefinition::new_checked(name.into(), description.into(), schema, act)
    }

    /// Makes a tool from a blocking function, which gets a thread of its own. It cannot be ended
    /// from outside: a long one should check [`ToolContext::is_cancelled`] now and then.
    ///
    /// # Errors
    /// The same as [`HostTool::new`].
    pub fn new_blocking<F>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        act: F,
    ) -> Result<HostTool, ToolDefinitionError>
    where
        F: Fn(Value, &ToolContext) -> Result<Value, ToolError> + Send + Sync + 'static,
    {
        let act = Arc::new(act);
        HostTool::new(name, description, schema, move |arguments, context| {
            let act = act.clone();
            drive::on_thread(move || act(arguments, &context))
        })
    }

    /// Adds a schema for the results: a result that does not match it is a failure of the tool.
    ///
    /// # Errors
    /// If the schema is invalid.
    pub fn with_output(self, schema: Value) -> Result<HostTool, ToolDefinitionError> {
        let mut definition = Arc::unwrap_or_clone(self.0);
        definition.output = Some(Arc::new(Schema::new(&definition.name, schema)?));
        definition.encode_description()?;
        Ok(HostTool(Arc::new(definition)))
    }

    /// Sets a time limit for this tool, in place of the policy's.
    pub fn with_timeout(self, timeout: Duration) -> HostTool {
        let mut definition = Arc::unwrap_or_clone(self.0);
        definition.timeout = Some(timeout);
        HostTool(Arc::new(definition))
    }

    /// Returns the name by which guests call the tool.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the description, which is meant for the tool's callers.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// Returns the schema of the tool's arguments.
    pub fn schema(&self) -> &Value {
        self.0.input.text()
    }
}

impl ToolDefinition {
    fn new_checked(
        name: String,
        description: String,
        mut schema: Value,
        act: Act,
    ) -> Result<HostTool, ToolDefinitionError> {
        let is_first = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let fits = |b: u8| is_first(&b) || b".-/:".contains(&b);
        let bytes = name.as_bytes();
        if bytes.len() > MAX_NAME
            || !bytes.first().is_some_and(is_first)
            || !bytes.iter().all(|b| fits(*b))
        {
            return Err(ToolDefinitionError::Name(name));
        }
        let wrong = |why: &str| ToolDefinitionError::Schema { name: name.clone(), why: why.into() };
        let object = schema.as_object_mut().ok_or_else(|| wrong("its schema is no object"))?;
        match object.get("type") {
            None => drop(object.insert("type".into(), json!("object"))),
            Some(kind) if kind == "object" => {}
            Some(_) => return Err(wrong("its arguments are not an object: the schema's `type`")),
        }
        let input = Arc::new(Schema::new(&name, schema)?);
        let (output, timeout, json) = Default::default();
        let mut definition =
            ToolDefinition { name, description, input, output, timeout, act, json };
        definition.encode_description()?;
        Ok(HostTool(Arc::new(definition)))
    }

    fn encode_description(&mut self) -> Result<(), ToolDefinitionError> {
        let mut json = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input.text(),
        });
        if let Some(output) = &self.output {
            json["outputSchema"] = output.text().clone();
        }
        self.json = json.to_string().into_bytes();
        if self.json.len() <= MAX_DESCRIPTION {
            Ok(())
        } else {
            Err(ToolDefinitionError::TooLong(self.name.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, schema: Value) -> Result<HostTool, String> {
        let act = |arguments, _| async move { Ok(arguments) };
        HostTool::new(name, "", schema, act).map_err(|e| e.to_string())
    }

    #[test]
    fn what_cannot_be_a_tool_is_refused() {
        for name in ["a", "_", "get-weather", "github.issues/list", "x:y", &"n".repeat(128)] {
            assert!(made(name, json!({})).is_ok(), "{name}");
        }
        for name in ["", "-a", ".a", "a b", "a\n", "ä", &"n".repeat(129)] {
            assert!(made(name, json!({})).unwrap_err().contains("name"), "{name}");
        }
        for (schema, why) in [
            (json!(true), "no object"),
            (json!({"type": "string"}), "not an object"),
            (json!({"properties": {"a": {"type": "strin"}}}), "strin"),
            (json!({"properties": {"a": {"$ref": "https://example.com/s.json"}}}), "example.com"),
            (json!({"properties": {"a": {"pattern": "(?=x)"}}}), "(?=x)"),
            (json!({"description": "d".repeat(70_000)}), "64 KiB"),
        ] {
            let said = made("a", schema.clone()).unwrap_err();
            assert!(said.contains(why), "{schema}: {said}");
        }
        let tool = made("a", json!({})).unwrap();
        assert_eq!(tool.schema()["type"], "object");
        assert!(tool.with_output(json!({"type": 7})).is_err());
    }
}
