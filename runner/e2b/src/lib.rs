//! The interface of E2B's packages to sessions: a sandbox of theirs is a session of the store.
//!
//! | file | contents |
//! |---|---|
//! | `app` | the state of the door; where a request goes, by host, headers and path |
//! | `fault` | refusals, in the two forms that the packages read |
//! | `record` | the record of a sandbox, kept with its session |
//! | `sandbox`, `registry` | sandboxes that run or sleep; their ends by time |
//! | `control` | the control plane: create, list, kill, pause, connect, fork, snapshots |
//! | `time` | dates as texts |
//! | `rpc` | Connect's protocol: codecs, envelopes, errors; the messages |
//! | `envd` | the services in a sandbox: processes, files, watching, uploads |
//! | `interpreter` | the code interpreter: contexts, running code, rich results |
//! | `ports` | requests to the servers of a sandbox |
//!
//! # Invariants
//! - An API key is a token of the server, and its owner sees no sandbox of another owner. A request
//!   to a sandbox carries the sandbox's own token, made when the sandbox was created.
//! - Everything that a client sends is bounded: heads, bodies, envelopes, numbers of processes,
//!   watchers and contexts. No input is answered with a status of 500.
//!
//! # Deliberately absent
//! Templates that are built, volumes, secrets, teams. Terminals: the kernel has none.
#![forbid(unsafe_code)]

mod app;
mod control;
mod envd;
mod fault;
mod interpreter;
mod ports;
mod record;
mod registry;
mod rpc;
mod sandbox;
mod time;

pub use app::e2b_router;
