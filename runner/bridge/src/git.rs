//! Rules for git: the parts of smart HTTP, and the effects of a push.
//!
//! # Stages
//! [`GitRequest`] says which repository and service a request means, if it has the one form that
//! git's own client sends ([`mod@endpoint`]). [`PushParser`] reads the list of commands at the
//! beginning of a push, piece by piece, before anything is sent ([`mod@commands`]). The rules judge
//! each command ([`mod@operation`], with patterns of refs in [`mod@pattern`]). A push of which a
//! command is refused is answered here, in the words of a server ([`mod@report`]).
//!
//! # Invariants
//! - A push is judged from the bytes that the server gets: a list with more than one
//!   reading is refused.
//! - A push is allowed as a whole or not at all.
//! - Memory and time are bounded by [`MAX_LIST`]; the pack is neither read nor kept.
//!
//! # Deliberately absent
//! Whether an update is a fast-forward: the list has two object ids, and a proof of their relation
//! would need the server's objects. So no rule promises it; `create` alone never changes a ref that
//! exists, because the server compares the old id.

mod commands;
pub(crate) mod endpoint;
pub(crate) mod operation;
mod pattern;
mod report;

pub use commands::{MAX_COMMANDS, MAX_LIST, PushCommand, PushFault, PushList, PushParser};
pub(crate) use endpoint::{GitRequest, GitService};
pub(crate) use operation::{GitOperation, OperationFault};
pub use pattern::is_ref_name;
pub use report::{PushAction, PushedRef};
pub(crate) use report::{refusal_report, report_head};
