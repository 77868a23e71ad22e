//! `execute_python`, `execute_javascript` and `reset`: cells of the session's interpreters, which stay.

use crate::client::Call;
use crate::refusal::Refusal;
use crate::show::{self, How, Ran};
use crate::tool::{Action, Done};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wasibox::Exec;

/// A cell of Python.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExecutePython(Cell);

/// A cell of JavaScript.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ExecuteJavascript(Cell);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cell {
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

impl Action for ExecutePython {
    type Answer = Ran;

    fn act(self, call: &Call<'_>) -> Result<Done<Ran>, Refusal> {
        self.0.run(call, Exec::python)
    }
}

impl Action for ExecuteJavascript {
    type Answer = Ran;

    fn act(self, call: &Call<'_>) -> Result<Done<Ran>, Refusal> {
        self.0.run(call, Exec::javascript)
    }
}

impl Cell {
    fn run(self, call: &Call<'_>, make: fn(String) -> Exec) -> Result<Done<Ran>, Refusal> {
        let session = call.session()?;
        let mut exec = make(self.code);
        let (timeout, max_output) = (self.timeout, self.max_output);
        let how = How { timeout, stdin: self.stdin.as_deref(), env: None };
        how.apply(call, &mut exec)?;
        let outcome = call.exec(&session, exec)?;
        Ok(show::ran(&session, outcome, max_output))
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

impl Action for Reset {
    type Answer = WasReset;

    fn act(self, call: &Call<'_>) -> Result<Done<WasReset>, Refusal> {
        let session = call.session()?;
        session.reset()?;
        let commit = session.head()?.number;
        Ok(Done::new(WasReset { commit }, "the next cell begins a new interpreter"))
    }
}
