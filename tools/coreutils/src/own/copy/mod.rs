//! Copying and moving: the code that `cp`, `mv` and `install` share.
//!
//! | file | contents |
//! |---|---|
//! | `targets` | the sources and destinations that operands name |
//! | `engine` | copying files and trees, with the attributes to preserve |
//! | `cp`, `mv`, `install` | the tools |

pub(crate) mod cp;
mod engine;
pub(crate) mod install;
pub(crate) mod mv;
mod targets;
