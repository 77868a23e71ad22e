//! Copying and moving: the code that `cp`, `mv` and `install` share.
//!
//! | file | contents |
//! |---|---|
//! | `targets` | operands to pairs of source and destination |
//! | `engine` | copying files and trees, with the attributes to preserve |
//! | `cp`, `mv`, `install` | the tools |

pub(crate) mod cp;
mod engine;
pub(crate) mod install;
pub(crate) mod mv;
mod targets;
