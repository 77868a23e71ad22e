//! `fork` and `use_session`: other sessions of the client's.

use crate::client::Call;
use crate::machine::SessionInfo;
use crate::refusal::Refusal;
use crate::tool::{Action, Done};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A second session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// Its name.
    name: String,
    /// The commit to begin at; by default what the session is now.
    #[serde(default)]
    commit: Option<u64>,
}

/// That it is there.
#[derive(Serialize, JsonSchema)]
pub struct Forked {
    /// The new session; `use_session` goes there.
    session: String,
}

impl Action for Fork {
    type Answer = Forked;

    fn act(self, call: &Call<'_>) -> Result<Done<Forked>, Refusal> {
        // It is there from now on.
        let _session = call.session()?;
        let client = call.client;
        client.space().fork(&client.name(), self.commit, &self.name)?;
        let text = format!("'{}' is what '{}' is", self.name, client.name());
        Ok(Done::new(Forked { session: self.name }, text))
    }
}

/// Another session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UseSession {
    /// Without a name sessions are only listed.
    #[serde(default)]
    name: Option<String>,
    /// Make it if it is not there.
    #[serde(default)]
    create: bool,
}

/// Which sessions there are.
#[derive(Serialize, JsonSchema)]
pub struct All {
    /// The one that calls are for.
    session: String,
    sessions: Vec<SessionInfo>,
}

impl Action for UseSession {
    type Answer = All;

    fn act(self, call: &Call<'_>) -> Result<Done<All>, Refusal> {
        let client = call.client;
        if let Some(name) = &self.name {
            client.use_session(name, self.create)?;
        }
        let all = All { session: client.name(), sessions: client.space().list()? };
        let names: Vec<&str> = all.sessions.iter().map(|s| s.name.as_str()).collect();
        let text = format!("this is '{}'; there are: {}", all.session, names.join(" "));
        Ok(Done::new(all, text))
    }
}
