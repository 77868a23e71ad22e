//! Advice about commands that do not exist, which is added to `command not found`. A user who knows
//! only common systems, mostly a model, would otherwise try more names that do not exist either.
//!
//! | module | contents |
//! |---|---|
//! | `missing` | the list of commands and what serves instead |
//! | `neighbour` | commands with a similar name |
//!
//! The shell and tools of the guest use it, and the host for a command that no shell starts. A test
//! of `tools/box` checks the list: no name in it is a program of the image, and all programs that a
//! text refers to are. So a command that is added to the image must be removed from the list.
#![forbid(unsafe_code)]

pub mod missing;
pub mod neighbour;
