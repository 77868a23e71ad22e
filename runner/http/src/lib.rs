//! Sessions by HTTP, and the endpoint of the Model Context Protocol beside them.
//!
//! | file | what |
//! |---|---|
//! | `tokens` | who may do what: the token file, limits of each |
//! | `gate` | what every request passes: its id, who sends it, from which page, how many; what is logged and counted |
//! | `app` | which path is whose |
//! | `tools` | a call of a tool, at once or as events |
//! | `sessions` | making, listing, removing sessions; snapshots of them |
//! | `files` | uploads and downloads, piece by piece |
//! | `terminal` | a shell for people, over a WebSocket |
//! | `openapi` | the document that tells of all this, made from the table of tools |
//! | `problem` | refusals, as RFC 9457 has them |
//! | `metrics` | counts, as Prometheus reads them |
//! | `telemetry` | spans to an OpenTelemetry collector, with the feature `opentelemetry` |
//! | `bridge` | bytes between threads that block and tasks that do not |
//! | `server` | connections: accepting, deadlines, the end |
//!
//! # Invariants
//! - With tokens, a request acts as its token's owner and sees no session of another; a connection of the Model Context
//!   Protocol belongs to the owner who began it.
//! - A request's body is held in memory up to a bound, and streamed where it may be longer.
//! - What a guest has written is never served as a page: it is data, to be saved.
//!
//! # Deliberately absent
//! TLS and HTTP/2, which whatever stands in front of a server on a network has. Cookies.
#![forbid(unsafe_code)]

mod app;
mod bridge;
mod files;
mod gate;
mod metrics;
mod openapi;
mod problem;
mod server;
mod sessions;
#[cfg(feature = "opentelemetry")]
mod telemetry;
mod terminal;
mod tokens;
mod tools;

pub use openapi::openapi_document;
pub use server::{HttpServer, LogLevel, Serve, ServeError, serve_door};
pub use tokens::{TokenError, Tokens};

use std::sync::Arc;
use wasibox_actions::{Machine, Registry};

/// What is served.
pub struct Door {
    pub machine: Machine,
    pub registry: Arc<Registry>,
    /// Names besides the address that a request's `Host` may have. With tokens any is taken if there are none.
    pub hosts: Vec<String>,
    /// Origins from which browsers may ask besides the server's own.
    pub origins: Vec<String>,
}
