//! Code that several tools share.
//!
//! | file | contents |
//! |---|---|
//! | `choice` | option arguments that are words, in full or abbreviated |
//! | `files0` | `--files0-from` |
//! | `input` | operands and standard input as one reader; lines without copying; messages |
//! | `quote` | file names in messages and listings, in GNU's quoting styles |
//! | `number` | counts and sizes with suffixes, human-readable sizes |
//! | `locale` | widths on a terminal |
//! | `paths` | resolution of symbolic links, backups, prompts |
//! | `tree` | walks of directory trees, without recursion |

pub(crate) mod choice;
pub(crate) mod files0;
pub(crate) mod input;
pub(crate) mod locale;
pub(crate) mod number;
pub(crate) mod paths;
pub(crate) mod quote;
pub(crate) mod tree;
