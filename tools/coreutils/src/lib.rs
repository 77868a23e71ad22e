//! The coreutils of the multicall program `box`, and small tools that people expect beside them.
//!
//! | folder | contents |
//! |---|---|
//! | `table` | the list of applets that `tools/box` merges |
//! | `own` | our own tools; they use only [`box_applet::Ctx`], so that the shell can run the small ones in its own process |
//! | `uutils` | adapters of those tools of uutils coreutils that behave as GNU's and need nothing that WASI lacks |
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
