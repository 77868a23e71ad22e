//! `find` and `xargs` after POSIX XCU and GNU findutils 4.9.
//!
//! | module | contents |
//! |---|---|
//! | `find` | expression parser, tests, actions, the walk |
//! | `xargs` | splitting of input, building and running of command lines |
#![forbid(unsafe_code)]

mod find;
mod xargs;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("find", find::run, "find files by name, age, size and more"),
    Applet::new("xargs", xargs::run, "build and run command lines from standard input"),
];
