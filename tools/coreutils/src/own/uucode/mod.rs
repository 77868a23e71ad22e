//! `uuencode` and `uudecode` (POSIX XCU; sharutils 4.15.2): files as lines of printable characters.
//!
//! | file | contents |
//! |---|---|
//! | `encode` | files to lines |
//! | `decode` | lines to files |

mod decode;
mod encode;

pub(crate) use decode::run as run_uudecode;
pub(crate) use encode::run as run_uuencode;

use box_applet::Exit;

/// The status of a command line that has too few or too many operands.
const BAD_OPERANDS: Exit = Exit(64);
