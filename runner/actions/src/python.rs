//! `execute_python`, `execute_javascript` and `reset`: cells of the session's interpreters, which
//! keep their state.

use crate::client::ClientCall;
use crate::refusal::Refusal;
use crate::show::{self, CallSettings, CommandAnswer};
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wasibox::Exec;

/// A cell of Python.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExecutePython(PythonArgs);

/// A cell of JavaScript.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExecuteJavascript(PythonArgs);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PythonArgs {
    code: String,
    /// Seconds.
    #[serde(default)]
    timeout: Option<f64>,
    /// Standard input.
    #[serde(default)]
    stdin: Option<String>,
    /// Bytes of each stream and of the value to give, 32 KiB by default: beginning and end of more.
    #[serde(default)]
    max_output: Option<u64>,
}

impl ToolAction for ExecutePython {
    type Answer = CommandAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<CommandAnswer>, Refusal> {
        self.0.run(call, Exec::python)
    }
}

impl ToolAction for ExecuteJavascript {
    type Answer = CommandAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<CommandAnswer>, Refusal> {
        self.0.run(call, Exec::javascript)
    }
}

impl PythonArgs {
    fn run(
        self,
        call: &ClientCall<'_>,
        make: fn(String) -> Exec,
    ) -> Result<ToolResult<CommandAnswer>, Refusal> {
        let session = call.session()?;
        let mut exec = make(self.code);
        let (timeout, max_output) = (self.timeout, self.max_output);
        let how = CallSettings { timeout, stdin: self.stdin.as_deref(), env: None };
        how.apply(call, &mut exec)?;
        let outcome = call.exec(&session, exec)?;
        Ok(show::command_result(&session, outcome, max_output))
    }
}

/// New interpreters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {}

/// That it is so.
#[derive(Serialize, JsonSchema)]
pub struct WasReset {
    /// The commit that the session is at.
    commit: u64,
}

impl ToolAction for Reset {
    type Answer = WasReset;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<WasReset>, Refusal> {
        let session = call.session()?;
        session.reset()?;
        let commit = session.head()?.number;
        Ok(ToolResult::new(WasReset { commit }, "the next cell begins a new interpreter"))
    }
}
