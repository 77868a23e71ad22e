//! The Model Context Protocol over the tools of `wasibox-actions`, on the official SDK.
//!
//! | file | what |
//! |---|---|
//! | `server` | one client's connection: what it is told, its calls |
//! | `client` | the other side: tools of other servers as host tools |
//! | `content` | results as blocks of content |
//! | `resources` | files of the session as resources; which were changed |
//! | `roots` | folders that a client names, as mounts |
//! | `progress` | output of a call as notifications of progress |
//! | `stdio` | the transport over standard streams |
//! | `streamable` | the transport over HTTP, as a service for whoever has a server |
//!
//! # Invariants
//! - A connection has one client, bound at its first request, and acts for no other.
//! - A call runs on a thread of its own; when it is cancelled, or its connection ends, its command ends.
//! - What a tool refuses is a result with `isError`, so that the model reads why. Protocol errors are for requests that are none.
//!
//! # Deliberately absent
//! Protocol versions without a handshake (2026-07-28 and later) over HTTP: they have no connection that a session could be of, and
//! clients are told which versions there are. Over standard streams all versions are spoken. Roots of clients that come by HTTP are
//! not mounted: what guests see of a server's host is its policy's business, not a client's.
#![forbid(unsafe_code)]

mod client;
mod content;
mod progress;
mod resources;
mod roots;
mod server;
mod stdio;
mod streamable;

pub use client::{ToolServer, ToolServerError, ToolServers, name_cryptography};
pub use content::{call_result, refusal_result, resource_contents};
pub use roots::{FOLDER as ROOTS, RootsMode};
pub use server::{Bind, ConnectionClient, McpServer};
pub use stdio::{StdioError, serve_stdio};
pub use streamable::{Streamable, StreamableOptions, handler_service, streamable_service};
