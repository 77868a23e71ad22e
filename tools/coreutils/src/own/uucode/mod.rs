//! `uuencode` and `uudecode` (POSIX XCU; sharutils 4.15.2), which convert files to lines of
//! printable characters and back.
//!
//! | file | contents |
//! |---|---|
//! | `encode` | `uuencode` |
//! | `decode` | `uudecode` |

mod decode;
mod encode;

pub(crate) use decode::run as run_uudecode;
pub(crate) use encode::run as run_uuencode;

use box_applet::Exit;

/// The status of a command line that has too few or too many operands.
const BAD_OPERANDS: Exit = Exit(64);
