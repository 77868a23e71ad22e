//! The tools that act on sessions, in one table. MCP, HTTP and any later protocol are generated
//! from it.
//!
//! | file | contents |
//! |---|---|
//! | `machine` | an engine, a policy and a store, shared by all clients; [`SessionSpace`]: the sessions that a client may use |
//! | `client` | a client and its own session |
//! | `exec` | [`ClientCall`]: one call of a client, which can be stopped and emits events; the tool `sandbox_exec` |
//! | `tool` | a tool: name, descriptions, schemas, [`ToolScope`], [`Hints`]; `Action`: its implementation |
//! | `table` | all tools |
//! | `registry` | the tools that a server offers, with schemas and descriptions that fit its image |
//! | `describe` | what models are told about the machine: its image, its policy |
//! | `python`, `packages`, `history`, `values`, `sessions`, `files`, `code`, `calculate` | the tools |
//! | `ports` | a tool, too; [`PortDoor`]: a server's way to ports of sessions |
//! | `web` | tools that use servers of others; they are off unless the settings switch them on |
//! | `settings` | a tool with its settings, as people see it |
//! | `category` | the group and the picture of each tool in lists for people |
//! | `code::modules` | the modules that programs of `execute_code` may import |
//! | `show` | results for models: text, pictures, links |
//! | `schema` | JSON Schemas as short as they can be |
//!
//! # Invariants
//! - Every function blocks the calling thread; servers with a runtime give each call a thread.
//! - A tool acts only on sessions of its [`SessionSpace`], because names of other sessions cannot
//!   be expressed.
//! - The size of an answer is limited, even if guests print or write without end.
//!
//! # Deliberately absent
//! Protocols, sockets and tokens, which belong to the servers.
#![forbid(unsafe_code)]

mod calculate;
mod category;
mod client;
mod code;
mod describe;
mod exec;
mod files;
mod history;
mod machine;
mod packages;
mod ports;
mod processes;
mod python;
mod registry;
mod schema;
mod sessions;
mod settings;
mod show;
mod table;
mod tool;
mod values;
mod web;

pub use calculate::{CalculateAnswer, calculate};
pub use category::ToolCategory;
pub use client::Client;
pub use describe::{
    FolderKind, GrantedFolder, HistoryDescription, JavascriptDescription, LimitDescription,
    MachineDescription, NetworkDescription, PackageDescription, PythonDescription,
};
pub use exec::{CallStop, ClientCall};
pub use history::diff_commits;
pub use machine::{Machine, MachineOptions, SessionInfo, SessionSpace};
pub use ports::{PortAddress, PortDoor, PortQuestion};
pub use registry::{ListedTool, Registry, RegistryError, ToolState};
pub use settings::{ToolSheet, ToolTest, test_web_tool};
pub use table::TOOLS;
pub use tool::{AnswerPart, Hints, ToolEntry, ToolResult, ToolScope};
pub use wasibox::{CallEvent, Refusal, RefusalKind};
pub use web::provider_refusal;
