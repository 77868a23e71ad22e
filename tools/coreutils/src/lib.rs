//! The coreutils of the multicall program `box`, and small tools that users expect with them.
//!
//! | folder | contents |
//! |---|---|
//! | `table` | the list of applets that `tools/box` merges |
//! | `own` | our own tools |
//! | `uutils` | adapters of tools of uutils coreutils |
//! | `common` | code that several tools share |
//!
//! Our own tools use only [`box_applet::Ctx`], so the shell can run the small ones in its own
//! process. A tool of uutils is adapted if it behaves as GNU's does and needs nothing that WASI
//! lacks.
//!
//! Output, messages and statuses follow GNU coreutils 9.1 on Linux with byte-order collation.
//! Deliberately absent: SELinux contexts, extended attributes, terminal control.
#![forbid(unsafe_code)]

mod common;
mod own;
mod table;
mod uutils;

pub use table::APPLETS;
