//! Copying and moving: what `cp`, `mv` and `install` share.
//!
//! | file | what |
//! |---|---|
//! | `targets` | operands to pairs of source and destination |
//! | `engine` | copying files and trees, with what is preserved |
//! | `cp`, `mv`, `install` | the tools |

pub(crate) mod cp;
mod engine;
pub(crate) mod install;
pub(crate) mod mv;
mod targets;
