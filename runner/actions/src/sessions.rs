//! `fork` and `use_session`: creates and selects other sessions of the client.

use crate::exec::ClientCall;
use crate::machine::SessionInfo;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wasibox::Refusal;

/// The arguments of `fork`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkArgs {
    /// The name of the new session.
    name: String,
    /// The commit to begin at; by default the session's present state.
    #[serde(default)]
    commit: Option<u64>,
}

/// The answer to `fork`.
#[derive(Serialize, JsonSchema)]
pub struct ForkAnswer {
    /// The name of the new session, for `use_session`.
    session: String,
}

impl ToolAction for ForkArgs {
    type Answer = ForkAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ForkAnswer>, Refusal> {
        // This creates the session if it does not exist yet.
        let _session = call.session()?;
        let client = call.client;
        client.space().fork(&client.name(), self.commit, &self.name)?;
        let text = format!("'{}' begins with the state of '{}'", self.name, client.name());
        Ok(ToolResult::new(ForkAnswer { session: self.name }, text))
    }
}

/// The arguments of `use_session`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UseSession {
    /// Without a name sessions are only listed.
    #[serde(default)]
    name: Option<String>,
    /// Create the session if it does not exist.
    #[serde(default)]
    create: bool,
}

/// The list of sessions.
#[derive(Serialize, JsonSchema)]
pub struct SessionsAnswer {
    /// The session that calls now use.
    session: String,
    sessions: Vec<SessionInfo>,
}

impl ToolAction for UseSession {
    type Answer = SessionsAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<SessionsAnswer>, Refusal> {
        let client = call.client;
        if let Some(name) = &self.name {
            client.use_session(name, self.create)?;
        }
        let all =
            SessionsAnswer { session: client.name(), sessions: client.space().list_sessions()? };
        let names: Vec<&str> = all.sessions.iter().map(|s| s.name.as_str()).collect();
        let text = format!("this is '{}'; there are: {}", all.session, names.join(" "));
        Ok(ToolResult::new(all, text))
    }
}
