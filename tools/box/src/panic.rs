//! Turns a panic in a tool into one line and status 134 (128 + SIGABRT), the status of an aborted
//! program, instead of a trap with a backtrace.

use std::io::Write;
use std::panic::PanicHookInfo;

/// The exit status of a tool that panicked.
const ABORTED: i32 = 134;
/// The exit status after writing to a closed pipe: 128 + SIGPIPE.
const SIGPIPE: i32 = 141;

/// Installs the panic hook. `main` must call it first.
pub fn install_hook() {
    std::panic::set_hook(Box::new(report_panic));
}

fn report_panic(info: &PanicHookInfo<'_>) {
    let text = info
        .payload()
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| info.payload().downcast_ref::<&str>().copied())
        .unwrap_or("unknown error");
    // std's print macros panic when stdout is a closed pipe; adapted tools use them.
    if text.starts_with("failed printing to std") {
        std::process::exit(if text.contains("os error") && text.contains("ipe") {
            SIGPIPE
        } else {
            1
        });
    }
    let name = std::env::args().next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let place =
        info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
    let _ = writeln!(std::io::stderr(), "{name}: internal error: {text}{place}");
    std::process::exit(ABORTED);
}
