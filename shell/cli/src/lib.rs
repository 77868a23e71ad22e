//! The `sh` and `bash` applets (bash manual 6.1, POSIX XCU sh), and `man`, which also shows the
//! pages of builtins.
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `analyze` | `--analyze` |
//! | `edit` | the line editor of an interactive shell |
//! | `man` | `man`, `apropos`, `whatis` |
//! | `start` | starts a shell in the context of an applet |
//!
//! A spawned shell that continues the work of another one is recognised by its first argument
//! ([`sh_exec::STATE_OPTION`]) and receives its state through a pipe.
#![forbid(unsafe_code)]

mod analyze;
mod edit;
mod man;
mod options;
mod start;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("apropos", man::run_apropos, "find commands by words of their description"),
    Applet::new("bash", start::run_bash, "command interpreter, as GNU bash 5.2"),
    Applet::new("man", man::run_man, "show the help of a command or a builtin"),
    Applet::new("sh", start::run_sh, "command interpreter in POSIX mode"),
    Applet::new("whatis", man::run_whatis, "describe commands in one line each"),
];
