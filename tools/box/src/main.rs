//! The multicall binary, which contains the shell and the tools and selects one by `argv[0]`.
//!
//! `box NAME [ARG...]` runs an applet by name, `box --list` prints all names. A new applet is added
//! to its crate's `APPLETS`, and only a new crate to `table.rs`.
//!
//! | file | content |
//! |---|---|
//! | `table` | all applets, sorted, merged at compile time |
//! | `dispatch` | from an applet's entry to its run: streams, directory, status |
//! | `in_process` | processes for runtimes that have none: applets run one after another |
//! | `panic` | a bug in a tool ends with one line and status 134, never a backtrace |
#![forbid(unsafe_code)]

mod dispatch;
mod in_process;
mod panic;
mod table;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use box_sys::{Os, PROGRAM_VARIABLE, Processes, path};

fn main() -> ExitCode {
    panic::install_hook();
    let mut argv: Vec<OsString> = std::env::args_os().collect();
    let given = std::env::var_os(PROGRAM_VARIABLE).map(path::os_into_bytes);
    let called = match given.filter(|name| table::TABLE.find(name).is_some()) {
        Some(name) => name,
        None => argv.first().map(|a| base_name(path::os_bytes(a)).to_vec()).unwrap_or_default(),
    };
    let applet = match table::TABLE.find(&called) {
        Some(a) => a,
        None => {
            let name = argv.get(1).map(|a| path::os_bytes(a).to_vec()).unwrap_or_default();
            match (name.as_slice(), table::TABLE.find(&name)) {
                (_, Some(a)) => {
                    argv.remove(0);
                    a
                }
                (b"" | b"--help" | b"--list", None) => return list_applets(),
                (_, None) => {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    let _ = writeln!(std::io::stderr(), "box: {name}: applet not found");
                    return ExitCode::from(127);
                }
            }
        }
    };
    let os = Os::with_applets(|name| table::TABLE.find(name).is_some());
    let in_process = in_process::InProcess::new(os);
    let procs: &dyn Processes = if os.concurrent() { &os } else { &in_process };
    ExitCode::from(dispatch::main(applet, argv, procs))
}

/// Returns the last component of a path without the suffix `.wasm` and the dash of a login shell.
fn base_name(arg0: &[u8]) -> &[u8] {
    let name = arg0.rsplit(|&c| c == b'/').next().unwrap_or_default();
    let name = name.strip_suffix(b".wasm").unwrap_or(name);
    name.strip_prefix(b"-").unwrap_or(name)
}

/// Prints all applets with their summaries.
fn list_applets() -> ExitCode {
    let mut out = std::io::stdout().lock();
    for a in table::TABLE.applets() {
        if writeln!(out, "{:<12} {}", a.name, a.summary).is_err() {
            return ExitCode::from(141);
        }
    }
    ExitCode::SUCCESS
}
