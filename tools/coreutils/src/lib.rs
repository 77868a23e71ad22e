//! The coreutils of the box, and small tools people expect beside them.
//!
//! | folder | contents |
//! |---|---|
//! | `table` | the list of applets that `tools/box` merges |
//! | `own` | our own tools: through [`box_applet::Ctx`] only, so that the shell may run the small ones in-process |
//! | `uutils` | adapters of uutils coreutils, where its tools are faithful and need nothing WASI lacks |
//! | `common` | code that several tools share |
//!
//! The standard is GNU coreutils 9.1 on Linux with byte-order collation: output, messages and statuses.
//! Deliberately absent: SELinux contexts, extended attributes, terminal control.
#![forbid(unsafe_code)]

mod common;
mod own;
mod table;
mod uutils;

pub use table::APPLETS;
