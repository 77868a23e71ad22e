//! The Model Context Protocol over the tools of `wasibox-actions`, on the official SDK.
//!
//! | file | contents |
//! |---|---|
//! | `server` | one client's connection: its requests and its calls |
//! | `client` | the other side: tools of other servers as host tools |
//! | `connections` | the connections of an HTTP server, a table for each owner |
//! | `content` | results as blocks of content |
//! | `resources` | files of the session as resources, and the changes of these files |
//! | `roots` | folders that a client names, as mounts |
//! | `tasks` | calls that outlast their request |
//! | `progress` | output of a call as notifications of progress |
//! | `stdio` | the transport over standard streams |
//! | `streamable` | the transport over HTTP, as a service for an HTTP server |
//!
//! # Invariants
//! - A connection has one client, which is bound at the first request, and acts for no other
//!   client.
//! - A call runs on a thread of its own; its command ends when it is cancelled or its connection
//!   ends, unless it has become a task.
//! - A refusal of a tool is a result with `isError`, so that the model reads the reason. Protocol
//!   errors are for invalid requests.
//!
//! - Over HTTP, each request of a protocol version without a handshake (2026-07-28 and later) has a
//!   handler and a client of its own. Its session is the one that its address names.
//!
//! # Deliberately absent
//! `subscriptions/listen`, because a request without a connection has no client that lasts. Roots of
//! HTTP clients are not mounted, because the server's policy, not a client, decides which parts of
//! its host guests see.
#![forbid(unsafe_code)]

mod client;
mod connections;
mod content;
mod progress;
mod resources;
mod roots;
mod server;
mod stdio;
mod streamable;
mod tasks;

pub use client::{ToolServer, ToolServerError, ToolServers, name_cryptography};
pub use connections::{ConnectionOwner, ConnectionTable, ConnectionTimes};
pub use content::{call_result, refusal_result, resource_contents};
pub use roots::{FOLDER as ROOTS, RootsMode};
pub use server::{Bind, BindExtent, ConnectionClient, McpServer, SpendCpu};
pub use stdio::{StdioError, serve_stdio};
pub use streamable::{
    ConnectionError, ConnectionManager, Streamable, StreamableOptions, handler_service,
    streamable_service,
};
pub use tasks::{TaskOwner, TaskTable};
