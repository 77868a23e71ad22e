//! The command line: turns arguments into one `Action` on a session.
//!
//! | file | what |
//! |---|---|
//! | `options` | the options, declared once; parsing and `--help` derive from them |
//! | `values` | sizes, times, mounts, variables |
//! | `exec` | `runner exec` |
//! | `inspect` | `runner inspect` and `runner compile` |
//! | `doctor` | `runner doctor` |
//! | `message` | what the runner itself says, and how names are shown in it |
//!
//! Statuses of its own: 2 for a wrong command line, 125 if the sandbox cannot be made,
//! 126 and 127 for a command that cannot be run or found, 124 after the time limit, 130
//! after Ctrl-C. Anything else is the command's.
#![forbid(unsafe_code)]

mod doctor;
mod exec;
mod inspect;
mod message;
mod options;
mod values;

use std::process::ExitCode;

/// A message for the user, and the status that goes with it.
struct Failure {
    status: u8,
    text: String,
    is_usage: bool,
}

impl Failure {
    fn new(status: u8, text: impl std::fmt::Display) -> Failure {
        Failure { status, text: text.to_string(), is_usage: false }
    }

    /// A wrong command line.
    fn usage(text: impl std::fmt::Display) -> Failure {
        Failure { is_usage: true, ..Failure::new(2, text) }
    }
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|a| a == wasibox::WORKER_ARGUMENT) {
        std::panic::set_hook(Box::new(|_| {}));
        return wasibox::worker_main();
    }
    wasibox::use_huge_pages();
    // One line instead of Rust's report, should a damaged image make a reader panic.
    std::panic::set_hook(Box::new(|_| {}));
    wasibox::ignore_file_size_signal();
    match options::parse(lexopt::Parser::from_env()).and_then(run) {
        Ok(status) => ExitCode::from(status),
        Err(f) => {
            message::say(&f.text);
            if f.is_usage {
                message::hint("Try 'runner --help' for more information.");
            }
            ExitCode::from(f.status)
        }
    }
}

fn run(command: options::Command) -> Result<u8, Failure> {
    match command {
        options::Command::Print(text) => {
            print(&text)?;
            Ok(0)
        }
        options::Command::Exec(e) => exec::run(*e),
        options::Command::Inspect { image, json } => inspect::inspect(&image, json),
        options::Command::Compile { image } => inspect::compile(&image),
        options::Command::Doctor => doctor::run(),
    }
}

/// Writes to standard output; a reader that has left is no failure worth telling.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(125, e)),
        _ => Ok(()),
    }
}

/// Tells the user what takes time.
fn progress() -> std::sync::Arc<dyn Fn(&str) + Send + Sync> {
    std::sync::Arc::new(message::say)
}
