//! Host tools: functions of the embedder's that guests call by name, with JSON in and JSON out.
//!
//! Guests have them as the command `tool` and as the module `tools` of Python and JavaScript; `docs/host-tools.md` tells
//! how they look there. A result goes to the program that has asked for it, and to nobody else.
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
//! A guest's request comes to the node `/.box/tools` and from there, in the process of the embedder, to [`calls`], which
//! looks at the policy and finds the call a thread. There the arguments are parsed and compared with the schema
//! ([`schema`]), the tool's future is polled ([`drive`]), and the result is looked at in turn.
//!
//! # Invariants
//! - Arguments are bounded in bytes, depth and number of values before they are parsed ([`bounds`]).
//! - What a schema's `pattern` costs is linear in the text: guests choose the text.
//! - A call ends with whoever waits for it, with the session's call, or after its time. A future is dropped then; a
//!   function that blocks is asked to end ([`ToolContext::is_cancelled`]) and counts among those that run until it does.
//! - Each call, also one that is refused, is in the session's log.
//!
//! # Deliberately absent
//! Schemas that refer to others by address; results that come bit by bit.

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

/// Most host tools of a session.
pub const MAX_TOOLS: usize = 1000;

/// Why a function cannot be a host tool.
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

/// Why a tool has no result: a text for the program that has called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(String);

impl ToolError {
    /// An error with the text that the guest is shown.
    pub fn new(why: impl Into<String>) -> ToolError {
        ToolError(why.into())
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.0
    }
}

/// Whatever can be said is a failure's text, so that `?` works in tools.
impl<E: fmt::Display> From<E> for ToolError {
    fn from(e: E) -> ToolError {
        ToolError(e.to_string())
    }
}

/// A call, as its tool sees it. Clones are of the same call.
#[derive(Clone)]
pub struct ToolContext {
    ticket: Arc<Ticket>,
    /// The call counts among those that run as long as somebody has this.
    _slot: Arc<CallSlot>,
}

impl ToolContext {
    /// Whether nobody waits for the result any more. A future is dropped then by itself.
    pub fn is_cancelled(&self) -> bool {
        self.ticket.is_cancelled()
    }
}

type Acting = Pin<Box<dyn Future<Output = Result<Value, ToolError>> + Send>>;
type Act = Arc<dyn Fn(Value, ToolContext) -> Acting + Send + Sync>;

/// A function that guests may call. Clones are the same tool.
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
    /// All but the function, as guests see it.
    told: Vec<u8>,
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostTool({})", self.0.name)
    }
}

impl HostTool {
    /// A tool of a function that gives a future. `schema` is a JSON Schema (2020-12) of the arguments, which are an
    /// object; the function gets only what fits it. The future is polled on a thread of its own and is dropped when
    /// nobody waits for it any more; one that needs a runtime's clock or sockets is given to it
    /// ([`crate::tokio::host_tool`]).
    ///
    /// # Errors
    /// If the name or the schema is none.
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

    /// The same of a function that blocks, on a thread of its own. It cannot be ended: it looks at
    /// [`ToolContext::is_cancelled`] where it takes long.
    ///
    /// # Errors
    /// As [`HostTool::new`].
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

    /// With a schema of the results: one that does not fit it is a failure of the tool.
    ///
    /// # Errors
    /// If it is none.
    pub fn with_output(self, schema: Value) -> Result<HostTool, ToolDefinitionError> {
        let mut definition = Arc::unwrap_or_clone(self.0);
        definition.output = Some(Arc::new(Schema::new(&definition.name, schema)?));
        definition.encode_description()?;
        Ok(HostTool(Arc::new(definition)))
    }

    /// With a time of its own, in place of the policy's.
    pub fn with_timeout(self, timeout: Duration) -> HostTool {
        let mut definition = Arc::unwrap_or_clone(self.0);
        definition.timeout = Some(timeout);
        HostTool(Arc::new(definition))
    }

    /// The name by which guests call it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it does, for whoever may call it.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The schema of its arguments.
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
        let (output, timeout, told) = Default::default();
        let mut definition =
            ToolDefinition { name, description, input, output, timeout, act, told };
        definition.encode_description()?;
        Ok(HostTool(Arc::new(definition)))
    }

    fn encode_description(&mut self) -> Result<(), ToolDefinitionError> {
        let mut told = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input.text(),
        });
        if let Some(output) = &self.output {
            told["outputSchema"] = output.text().clone();
        }
        self.told = told.to_string().into_bytes();
        match self.told.len() <= MAX_DESCRIPTION {
            true => Ok(()),
            false => Err(ToolDefinitionError::TooLong(self.name.clone())),
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
