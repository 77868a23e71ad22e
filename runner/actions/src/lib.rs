//! What can be done with sessions through a door: one table of tools, from which MCP, HTTP and whatever comes after
//! them are generated.
//!
//! | file | what |
//! |---|---|
//! | `machine` | an engine, a policy and a store, shared by all clients; [`SessionSpace`]: the sessions that one of them may use |
//! | `client` | who calls, and which session is its own; [`ClientCall`]: one call, which can be stopped and told of |
//! | `tool` | what a tool is: name, words, schemas, [`ToolScope`], [`Hints`]; `Action`: what it does |
//! | `table` | all tools |
//! | `registry` | those that a door has, with schemas and descriptions as this image has them |
//! | `exec`, `python`, `packages`, `history`, `values`, `sessions`, `files`, `code`, `calculate` | the tools |
//! | `code::modules` | what programs of `execute_code` may import |
//! | `stream` | a call whose output is told while it runs |
//! | `show` | results for models: text, pictures, links |
//! | `schema` | JSON Schemas as short as they can be |
//! | `refusal` | why a call was not done |
//!
//! # Invariants
//! - Everything blocks the calling thread; doors with a runtime give a thread to each call.
//! - A tool acts on sessions of its [`SessionSpace`] only: names of others cannot be said.
//! - What a tool answers is bounded, whatever guests print or write.
//!
//! # Deliberately absent
//! Protocols, sockets, tokens: those are the doors' business.
#![forbid(unsafe_code)]

mod calculate;
mod client;
mod code;
mod exec;
mod files;
mod history;
mod machine;
mod packages;
mod python;
mod refusal;
mod registry;
mod schema;
mod sessions;
mod show;
mod stream;
mod table;
mod tool;
mod values;

pub use calculate::{CalculateAnswer, calculate};
pub use client::{CallEvent, CallStop, Client, ClientCall};
pub use history::diff_commits;
pub use machine::{Machine, MachineOptions, SessionInfo, SessionSpace};
pub use refusal::{Refusal, RefusalKind};
pub use registry::{ListedTool, Registry, UnknownTool};
pub use table::TOOLS;
pub use tool::{AnswerPart, Hints, ToolEntry, ToolResult, ToolScope};
