//! `sandbox_exec`: runs a script in the session's shell.

use crate::client::ClientCall;
use crate::show::{self, CommandAnswer};
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use wasibox::CallOptions;
use wasibox::Refusal;

/// The arguments of `sandbox_exec`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxExec {
    /// Script for bash: pipes, loops, several lines.
    command: String,
    /// Seconds.
    #[serde(default)]
    timeout: Option<f64>,
    /// Standard input.
    #[serde(default)]
    stdin: Option<String>,
    /// Directory to go to; by default where the last call has left.
    #[serde(default)]
    cwd: Option<String>,
    /// Variables to export.
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    /// Let processes started with & continue after the call.
    #[serde(default)]
    background: bool,
    /// The maximum bytes of each stream, 32 KiB by default; more is cut to beginning and end.
    #[serde(default)]
    max_output: Option<u64>,
}

impl ToolAction for SandboxExec {
    type Answer = CommandAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<CommandAnswer>, Refusal> {
        let session = call.session()?;
        let options = CallOptions {
            script: Some(self.command),
            env: self.env.unwrap_or_default(),
            cwd: self.cwd,
            timeout: self.timeout,
            keep_background: self.background,
            ..CallOptions::default()
        };
        let exec = call.make_exec(options, self.stdin)?;
        let outcome = call.exec(&session, exec)?;
        Ok(show::command_result(&session, outcome, self.max_output))
    }
}
