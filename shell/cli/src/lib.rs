//! The `sh` and `bash` applets (bash manual 6.1, POSIX XCU sh).
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `analyze` | `--analyze` |
//! | `start` | from an applet's surroundings to a running shell |
//!
//! A spawned shell that continues the work of another one is recognised by its first argument
//! ([`sh_exec::STATE_OPTION`]) and gets everything from the state sent along.
#![forbid(unsafe_code)]

mod analyze;
mod options;
mod start;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("bash", start::run_bash, "command interpreter, as GNU bash 5.2"),
    Applet::new("sh", start::run_sh, "command interpreter in POSIX mode"),
];
