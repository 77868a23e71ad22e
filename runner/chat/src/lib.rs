//! A chat with a language model that works on a session: the loop of turns, the endpoint that a
//! model is reached by, and the log of a chat.
//!
//! | file | contents |
//! |---|---|
//! | `message` | the messages of a chat, in the form of the chat completions API |
//! | `endpoint` | requests to a server with that API, and its stream of events |
//! | `stream` | server-sent events to pieces of an answer |
//! | `record` | the log of a chat in a file, from which it is resumed |
//! | `turn` | [`Chat`]: a prompt, the model's answers, and the tools that it calls |
//! | `command` | the words that begin with a colon, such as `:undo` |
//!
//! # Invariants
//! - What a model sends is hostile: answers, tool calls and their arguments are bounded and only
//!   reach the tools of the registry.
//! - The key of an endpoint is a secret of the bridge, so it is in no log and no message.
//! - The log has a line for each message before the next step begins. A chat that was killed is
//!   resumed with the messages that it had; a call without a result gets one that says so.
//!
//! # Deliberately absent
//! Drawing, which belongs to the command line: a [`ChatView`] shows text and calls.
#![forbid(unsafe_code)]

mod command;
mod endpoint;
mod message;
mod record;
mod stream;
mod turn;

pub use command::{COMMANDS, ChatCommand, CommandError};
pub use endpoint::{Endpoint, EndpointError, EndpointOptions};
pub use message::{CalledFunction, ChatMessage, ChatRole, ModelCall, TokenCounts};
pub use record::{ChatRecord, RecordError};
pub use turn::{CallReport, Chat, ChatError, ChatOptions, ChatView, TurnEnd, TurnStop};
