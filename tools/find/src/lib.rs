//! `find` and `xargs` after POSIX XCU and GNU findutils 4.9; `fd` after fd 10.
//!
//! | module | contents |
//! |---|---|
//! | `fd` | names by patterns, without what lists of ignored files name |
//! | `find` | expression parser, tests, actions, the walk |
//! | `xargs` | splitting of input, building and running of command lines |
#![forbid(unsafe_code)]

mod fd;
mod find;
mod xargs;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("fd", fd::run, "find files by a pattern of their names"),
    Applet::new("fdfind", fd::run, "find files by a pattern of their names"),
    Applet::new("find", find::run, "find files by name, age, size and more"),
    Applet::new("xargs", xargs::run, "build and run command lines from standard input"),
];
