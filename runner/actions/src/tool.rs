//! The description of a tool.

use crate::exec::ClientCall;
use crate::machine::Machine;
use crate::{files, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wasibox::Refusal;

/// The permission that a client needs to use a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolScope {
    /// Tools that only read.
    Read,
    /// Tools that change files and values.
    Write,
    /// Tools that run programs.
    Run,
    /// Tools that create sessions, switch between them, and move them to other states.
    Manage,
}

impl ToolScope {
    /// All scopes.
    pub const ALL: [ToolScope; 4] =
        [ToolScope::Read, ToolScope::Write, ToolScope::Run, ToolScope::Manage];

    /// Returns the scope's name in token files.
    pub fn name(self) -> &'static str {
        match self {
            ToolScope::Read => "read",
            ToolScope::Write => "write",
            ToolScope::Run => "run",
            ToolScope::Manage => "manage",
        }
    }

    /// Returns the scope with a name.
    pub fn from_name(name: &str) -> Option<ToolScope> {
        ToolScope::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// Facts about a tool that a client may know beforehand, in MCP's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May change or remove existing files.
    pub destructive: bool,
    /// Calling it twice has the same effect as calling it once.
    pub idempotent: bool,
    /// May reach hosts outside of the session, if the policy allows it.
    pub open_world: bool,
}

impl Hints {
    /// Only reads.
    pub const LOOKS: Hints =
        Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Adds, and removes nothing.
    pub const ADDS: Hints =
        Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// Replaces existing files.
    pub const CHANGES: Hints = Hints { destructive: true, ..Hints::ADDS };
    /// Replaces existing files, with the same result when it is repeated.
    pub const SETS: Hints = Hints { idempotent: true, ..Hints::CHANGES };
    /// Runs programs.
    pub const RUNS: Hints = Hints { open_world: true, ..Hints::CHANGES };
}

/// A part of a result in the form for models.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerPart {
    Text(String),
    /// A picture.
    Image {
        mime: String,
        data: Vec<u8>,
    },
    /// Bytes of a file.
    Blob {
        path: String,
        mime: String,
        data: Vec<u8>,
    },
    /// A file that can be fetched.
    Link {
        path: String,
        mime: Option<String>,
        size: u64,
    },
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult<T = Value> {
    /// The answer for programs, in the form of the tool's schema of answers.
    pub answer: T,
    /// The parts for models.
    pub parts: Vec<AnswerPart>,
    /// JSON pointers to values of the answer that are bytes (as base64) and also among the parts.
    pub doubled: Vec<&'static str>,
}

impl<T> ToolResult<T> {
    /// Creates a result from an answer and the same answer as text.
    pub fn new(answer: T, text: impl Into<String>) -> ToolResult<T> {
        ToolResult { answer, parts: vec![AnswerPart::Text(text.into())], doubled: Vec::new() }
    }
}

/// The action of a tool. The type is its arguments.
pub(crate) trait ToolAction: DeserializeOwned + JsonSchema {
    type Answer: Serialize + JsonSchema;

    /// Performs the action.
    ///
    /// # Errors
    /// The reason why the action was refused.
    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<Self::Answer>, Refusal>;
}

/// A tool.
pub struct ToolEntry {
    pub name: &'static str,
    /// The title that people see in a list.
    pub title: &'static str,
    /// The tool's exact effect, for models.
    pub text: &'static str,
    pub scope: ToolScope,
    pub hints: Hints,
    pub(crate) how: ToolRunner,
    /// Whether the machine has what it needs: programs of the image, rules, a provider.
    pub(crate) is_there: fn(&Machine) -> bool,
    /// Whether it is off unless the settings switch it on.
    pub is_off: bool,
}

/// The function that executes a tool.
pub(crate) enum ToolRunner {
    Action {
        input: fn() -> Value,
        output: fn() -> Value,
        run: fn(Value, &ClientCall<'_>) -> Result<ToolResult, Refusal>,
    },
    /// A request about files, by the names of its variant and of its answer's.
    Files(files::FileToolNames),
}

impl ToolEntry {
    pub(crate) const fn from_action<A: ToolAction>(
        name: &'static str,
        title: &'static str,
        text: &'static str,
        scope: ToolScope,
        hints: Hints,
    ) -> ToolEntry {
        let how = ToolRunner::Action {
            input: schema::input_schema_of::<A>,
            output: schema::of_answer::<A::Answer>,
            run: run::<A>,
        };
        ToolEntry { name, title, text, scope, hints, how, is_there: |_| true, is_off: false }
    }

    /// Returns the schema of the tool's arguments, in its shortest form.
    pub fn input_schema(&self) -> Map<String, Value> {
        schema::shorten_input(match &self.how {
            ToolRunner::Action { input, .. } => input(),
            ToolRunner::Files(names) => names.input(),
        })
    }

    /// Returns the schema of the tool's answers.
    pub fn output_schema(&self) -> Map<String, Value> {
        schema::shorten_output(match &self.how {
            ToolRunner::Action { output, .. } => output(),
            ToolRunner::Files(names) => names.output(),
        })
    }

    /// Performs the action; blocks until it is done.
    ///
    /// # Errors
    /// The reason why the action was refused.
    pub fn run(
        &self,
        arguments: Map<String, Value>,
        call: &ClientCall<'_>,
    ) -> Result<ToolResult, Refusal> {
        match &self.how {
            ToolRunner::Action { run, .. } => run(Value::Object(arguments), call),
            ToolRunner::Files(names) => names.run(arguments, call),
        }
    }
}

fn run<A: ToolAction>(arguments: Value, call: &ClientCall<'_>) -> Result<ToolResult, Refusal> {
    let action: A = serde_json::from_value(arguments).map_err(Refusal::invalid_request)?;
    let ToolResult { answer, parts, doubled } = action.run_action(call)?;
    let answer = serde_json::to_value(answer)
        .map_err(|e| Refusal::new(wasibox::RefusalKind::Internal, e))?;
    Ok(ToolResult { answer, parts, doubled })
}
