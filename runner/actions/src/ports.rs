//! `expose_port`: the address by which a client reaches a server of its session.

use crate::exec::ClientCall;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wasibox::{Refusal, RefusalKind, Session};

/// A port of a session that a client wants to reach.
pub struct PortQuestion<'a> {
    pub session: &'a Arc<Session>,
    pub name: &'a str,
    pub port: u16,
    /// The life of the address in seconds, if the client names one.
    pub seconds: Option<u64>,
}

/// The address of a session's port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortAddress {
    pub url: String,
    /// Seconds since the epoch; none if it lasts as long as the server.
    pub expires: Option<u64>,
}

/// A server's way from outside to ports of sessions.
pub trait PortDoor: Send + Sync {
    /// Returns an address that leads to a port.
    ///
    /// # Errors
    /// The reason why there is none.
    fn port_address(&self, asked: &PortQuestion<'_>) -> Result<PortAddress, Refusal>;
}

/// The arguments of `expose_port`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExposePort {
    port: u16,
    /// The life of the address, an hour by default.
    #[serde(default)]
    seconds: Option<u64>,
}

/// The address of a port.
#[derive(Serialize, JsonSchema)]
pub struct ExposedAnswer {
    port: u16,
    url: String,
    /// Seconds since the epoch; null if it lasts as long as the server.
    expires: Option<u64>,
    /// Whether a program listens at the port now.
    listening: bool,
}

impl ToolAction for ExposePort {
    type Answer = ExposedAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<ExposedAnswer>, Refusal> {
        let ExposePort { port, seconds } = self;
        let door = call.client.port_door().ok_or_else(|| {
            let text = "this server gives out no addresses of ports; \
                runner serve does, and runner mcp with --expose-ports";
            Refusal::new(RefusalKind::Denied, text)
        })?;
        if port == 0 {
            return Err(Refusal::invalid_request("port: 1 to 65535"));
        }
        let (session, name) = (call.session()?, call.client.name());
        let asked = PortQuestion { session: &session, name: &name, port, seconds };
        let PortAddress { url, expires } = door.port_address(&asked)?;
        let listening = session.ports()?.iter().any(|open| open.port == port);
        let note = if listening { "" } else { " (nothing listens there yet)" };
        let text = format!("{url} leads to port {port}{note}");
        Ok(ToolResult::new(ExposedAnswer { port, url, expires, listening }, text))
    }
}
