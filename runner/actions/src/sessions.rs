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
    /// The name of the new session. With `count`, the beginning of the names.
    name: String,
    /// Make so many sessions: NAME-1, NAME-2 and so on.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    count: Option<u32>,
    /// The commit to begin at; by default the session's present state.
    #[serde(default)]
    commit: Option<u64>,
}

/// The answer to `fork`.
#[derive(Serialize, JsonSchema)]
pub struct ForkAnswer {
    /// The name of the new session, or of the first one, for `use_session`.
    session: String,
    /// The names of all new sessions.
    sessions: Vec<String>,
}

/// Maximum number of sessions that one call makes.
const MAX_FORKS: u32 = 1000;

impl ToolAction for ForkArgs {
    type Answer = ForkAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ForkAnswer>, Refusal> {
        // This creates the session if it does not exist yet.
        let _session = call.session()?;
        let client = call.client;
        let (sessions, begin) = match self.count {
            None => (vec![self.name.clone()], "begins"),
            Some(count @ 1..=MAX_FORKS) => {
                ((1..=count).map(|n| format!("{}-{n}", self.name)).collect(), "begin")
            }
            Some(_) => {
                return Err(Refusal::invalid_request(format!("count: 1 to {MAX_FORKS}")));
            }
        };
        client.space().fork(&client.name(), self.commit, &sessions)?;
        let names = match sessions.as_slice() {
            [first, .., last] => format!("'{first}' to '{last}'"),
            _ => format!("'{}'", sessions.concat()),
        };
        let text = format!("{names} {begin} with the state of '{}'", client.name());
        Ok(ToolResult::new(ForkAnswer { session: sessions[0].clone(), sessions }, text))
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
