//! Code that several tools share.
//!
//! | file | contents |
//! |---|---|
//! | `choice` | words that an option takes, abbreviated |
//! | `files0` | `--files0-from` |
//! | `input` | operands and standard input as one reader; lines without copying |
//! | `quote` | file names in messages and listings, GNU's quoting styles |
//! | `number` | counts and sizes with suffixes, sizes for people |
//! | `locale` | UTF-8 or bytes; widths on a terminal |
//! | `paths` | symbolic links resolved, backups, prompts |
//! | `tree` | directory trees walked without recursion |

pub(crate) mod choice;
pub(crate) mod files0;
pub(crate) mod input;
pub(crate) mod locale;
pub(crate) mod number;
pub(crate) mod paths;
pub(crate) mod quote;
pub(crate) mod tree;
