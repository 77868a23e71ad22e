//! The HTTP interface to sessions, and the endpoint of the Model Context Protocol.
//!
//! | file | contents |
//! |---|---|
//! | `tokens` | the token file: owners, their scopes and limits |
//! | `gate` | the checks of every request: its id, its sender, its origin, its count; logging and metrics |
//! | `app` | the routes |
//! | `body` | the object in a request's body |
//! | `tools` | a call of a tool, at once or as events |
//! | `sessions` | creating, listing, removing sessions; snapshots of them |
//! | `files` | uploads and downloads, in pieces |
//! | `sheets` | settings of tools, for tokens that may change them |
//! | `ports` | ports of sessions: their list, links, addresses |
//! | `links` | signed links to ports |
//! | `proxy` | a request passed on to a server in a session |
//! | `terminal` | a shell for people, over a WebSocket |
//! | `screen` | there a program on a terminal, which ends with the socket |
//! | `kept` | there a terminal that outlives the socket |
//! | `openapi` | the document that describes the interface, generated from the table of tools |
//! | `problem` | refusals, as RFC 9457 has them |
//! | `metrics` | counts, as Prometheus reads them |
//! | `telemetry` | spans to an OpenTelemetry collector, with the feature `opentelemetry` |
//! | `bridge` | bytes between blocking threads and asynchronous tasks |
//! | `room` | the limit of connections, and the choice of one that makes room |
//! | `server` | connections: accepting, deadlines, shutdown |
//!
//! Another door over the same sessions and tokens is a router of its own with an address of its own
//! ([`BesideDoor`]); `bridge`, `files` and the tokens serve it, too.
//!
//! # Invariants
//! - With tokens, a request acts as its token's owner and sees no session of another owner; a
//!   connection of the Model Context Protocol belongs to the owner that opened it.
//! - A request's body is held in memory up to a limit, and streamed where it may be longer.
//! - A guest's output is never served as a page of this origin: files are for downloading, and pages
//!   of ports have origins of their own.
//!
//! # Deliberately absent
//! TLS and HTTP/2, which the reverse proxy in front of a server provides. Cookies of this origin.
#![forbid(unsafe_code)]

mod app;
mod body;
pub mod bridge;
pub mod files;
mod gate;
mod kept;
mod links;
mod metrics;
mod openapi;
mod ports;
mod problem;
pub mod proxy;
mod room;
mod screen;
mod server;
mod sessions;
mod sheets;
#[cfg(feature = "opentelemetry")]
mod telemetry;
mod terminal;
mod tokens;
pub mod tools;

pub use openapi::openapi_document;
pub use server::{BesideDoor, HttpServer, IDLE, LogLevel, Serve, ServeError, serve_door};
pub use sessions::run_blocking;
pub use tokens::{Owner, RunningRequest, TokenError, TokenLimits, Tokens};

use std::sync::Arc;
use wasibox_actions::{Machine, Registry};

/// The configuration of a server.
pub struct Door {
    pub machine: Machine,
    pub registry: Arc<Registry>,
    /// The names that a request's `Host` may have in addition to the server's address. A server
    /// with tokens accepts any host if there are none.
    pub hosts: Vec<String>,
    /// The origins from which browsers may send requests, in addition to the server's own.
    pub origins: Vec<String>,
    /// The host below which ports of sessions have hosts of their own: `8000-NAME.HOST`.
    pub ports_host: Option<String>,
}
