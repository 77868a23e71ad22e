//! `execute_python`, `execute_javascript` and `reset`: cells of the session's interpreters, which
//! keep their state.

use crate::exec::ClientCall;
use crate::show;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wasibox::{CallOptions, Outcome, Refusal, Request, Streams};

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
    #[schemars(extend("default" = crate::schema::CALL_TIMEOUT))]
    timeout: Option<f64>,
    /// Standard input.
    #[serde(default)]
    stdin: Option<String>,
    /// The maximum bytes of each stream and of the value, 32 KiB by default; more is cut to
    /// beginning and end.
    #[serde(default)]
    max_output: Option<u64>,
}

impl ToolAction for ExecutePython {
    type Answer = Outcome;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<Outcome>, Refusal> {
        self.0.run(call, |code| CallOptions { python: Some(code), ..CallOptions::default() })
    }
}

impl ToolAction for ExecuteJavascript {
    type Answer = Outcome;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<Outcome>, Refusal> {
        self.0.run(call, |code| CallOptions { javascript: Some(code), ..CallOptions::default() })
    }
}

impl PythonArgs {
    fn run(
        self,
        call: &ClientCall<'_>,
        make: fn(String) -> CallOptions,
    ) -> Result<ToolResult<Outcome>, Refusal> {
        let session = call.session()?;
        let options = CallOptions { timeout: self.timeout, ..make(self.code) };
        let exec = call.make_exec(options, self.stdin)?;
        let outcome = call.exec(&session, exec)?;
        Ok(show::command_result(&session, outcome, self.max_output))
    }
}

/// New interpreters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {}

/// The result of a reset.
#[derive(Serialize, JsonSchema)]
pub struct WasReset {
    /// The commit that the session is at.
    commit: u64,
}

impl ToolAction for Reset {
    type Answer = WasReset;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<WasReset>, Refusal> {
        let session = call.session()?;
        session.apply(Request::Reset, Streams::default())?;
        let commit = session.head()?.number;
        Ok(ToolResult::new(WasReset { commit }, "the next cell begins a new interpreter"))
    }
}
